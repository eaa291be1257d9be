//! Bytes made from seeds: the same number gives the same bytes on every machine.

use fastrand::Rng;

/// Longer mutants are cut: most faults need few bytes.
const MOST_BYTES: usize = 20_000;

/// Makes the bytes of one execution.
pub(crate) struct Mutator<'a> {
    random: Rng,
    seeds: &'a [Vec<u8>],
    pieces: &'a [&'a str],
}

impl<'a> Mutator<'a> {
    pub(crate) fn new(number: u64, seeds: &'a [Vec<u8>], pieces: &'a [&'a str]) -> Self {
        Self { random: Rng::with_seed(number), seeds, pieces }
    }

    /// A seed after up to eight changes.
    pub(crate) fn bytes(mut self) -> Vec<u8> {
        let mut bytes = self.seed();
        for _ in 0..self.random.usize(0..=8) {
            self.change(&mut bytes);
            bytes.truncate(MOST_BYTES);
        }
        bytes
    }

    fn seed(&mut self) -> Vec<u8> {
        self.random.choice(self.seeds).cloned().unwrap_or_default()
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.random.usize(0..=bytes.len());
        let end = (at + self.random.usize(0..=64)).min(bytes.len());
        match self.random.u8(0..8) {
            0 | 1 => drop(bytes.splice(at..at, self.piece())),
            2 => drop(bytes.splice(at..end, self.piece())),
            3 => drop(bytes.drain(at..end)),
            4 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            5 => drop(bytes.splice(at..at, [0xff])),
            6 => {
                let other = self.seed();
                let from = self.random.usize(0..=other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.random.u8(0..8);
                }
            }
        }
    }

    fn piece(&mut self) -> Vec<u8> {
        self.random.choice(self.pieces).unwrap_or(&"").as_bytes().to_vec()
    }
}
