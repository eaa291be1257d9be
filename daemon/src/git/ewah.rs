//! The compressed bitmaps (EWAH) in which a split index says which entries of its base are gone. Reading only.

/// A bitmap in its compressed form; it is asked about a few positions only and never unpacked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Bitmap {
    words: Vec<u64>,
}

impl Bitmap {
    /// Reads one bitmap from the front of `data`: bits and words as 32-bit counts, the words, the position of the last
    /// marker; all big-endian. Returns it with the rest, or `None` when `data` is too short.
    pub(super) fn parse(data: &[u8]) -> Option<(Self, &[u8])> {
        let (_bits, data) = data.split_first_chunk::<4>()?;
        let (count, data) = data.split_first_chunk::<4>()?;
        let bytes = usize::try_from(u32::from_be_bytes(*count)).ok()?.checked_mul(8)?;
        let (body, data) = data.split_at_checked(bytes)?;
        let (_last_marker, data) = data.split_first_chunk::<4>()?;
        let words = body.as_chunks::<8>().0.iter().map(|word| u64::from_be_bytes(*word)).collect();
        Some((Self { words }, data))
    }

    /// Whether the bit at `position` is set. Beyond the end, none is.
    pub(super) fn contains(&self, position: u64) -> bool {
        let mut words = self.words.iter();
        let mut first = 0_u64;
        // A marker: one bit value, a 32-bit count of words full of it, a 31-bit count of literal words that follow.
        while let Some(marker) = words.next() {
            let run = ((marker >> 1) & 0xffff_ffff) * 64;
            if position - first < run {
                return marker & 1 == 1;
            }
            first += run;
            let literals = marker >> 33;
            if position - first < literals * 64 {
                let offset = position - first;
                let word = usize::try_from(offset / 64).ok().and_then(|skip| words.nth(skip));
                return word.is_some_and(|word| (word >> (offset % 64)) & 1 == 1);
            }
            first += literals * 64;
            if let Some(last) = usize::try_from(literals).ok().and_then(|count| count.checked_sub(1)) {
                words.nth(last);
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `run` words full of `bit`, then `literals`.
    fn bitmap(parts: &[(u64, u64, &[u64])]) -> Bitmap {
        let marker = |bit, run, count| bit | (run << 1) | (count << 33);
        let words = parts.iter().flat_map(|(bit, run, literals)| {
            std::iter::once(marker(bit, run, literals.len() as u64)).chain(literals.iter().copied())
        });
        Bitmap { words: words.collect() }
    }

    #[track_caller]
    fn check(bitmap: &Bitmap, expected: &[u64]) {
        let set: Vec<u64> = (0..1000).filter(|position| bitmap.contains(*position)).collect();
        assert_eq!(set, expected);
    }

    #[test]
    fn runs_and_literals_are_told_apart() {
        check(&Bitmap::default(), &[]);
        check(&bitmap(&[(0, 0, &[0b101])]), &[0, 2]);
        check(&bitmap(&[(0, 2, &[1, 1 << 63]), (0, 1, &[2])]), &[128, 255, 321]);
        check(&bitmap(&[(1, 1, &[]), (0, 1, &[1])]), &(0..64).chain([128]).collect::<Vec<_>>());
    }

    #[test]
    fn a_short_or_lying_bitmap_is_no_panic() {
        assert_eq!(Bitmap::parse(&[0; 7]), None);
        assert_eq!(Bitmap::parse(&[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]), None);
        let empty = Bitmap::parse(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]);
        assert_eq!(empty, Some((Bitmap::default(), &[9_u8][..])));
        let promises_more = bitmap(&[(0, 0, &[1])]).words[..1].to_vec();
        assert!(!Bitmap { words: promises_more }.contains(0));
        let huge = Bitmap { words: vec![u64::MAX; 3] };
        assert!(huge.contains(5) && !huge.contains(u64::MAX));
    }
}
