//! A long list on its way out, in pieces: one block of half a megabyte, taken and given back while the rest of the heap
//! grows, leaves a hole that a process keeps for ever.

use std::io;

use serde::Serialize;

/// What is allocated at once; the allocator's blocks of this size are used again for small things.
const PIECE: usize = 32 * 1024;

/// Values that are written one after the other as the elements of a JSON list, without its brackets.
#[derive(Debug, Default)]
pub struct Pieces {
    full: Vec<Vec<u8>>,
    last: Vec<u8>,
}

impl Pieces {
    /// Writes one more element.
    ///
    /// # Errors
    /// It cannot be written as JSON. Part of it may be there then: the list is of no use any more.
    pub fn push<T: Serialize>(&mut self, element: &T) -> serde_json::Result<()> {
        if !self.is_empty() {
            self.add(b",");
        }
        serde_json::to_writer(&mut *self, element)
    }

    fn is_empty(&self) -> bool {
        self.full.is_empty() && self.last.is_empty()
    }

    /// Bytes of the whole.
    pub(super) fn len(&self) -> usize {
        self.full.iter().map(Vec::len).sum::<usize>() + self.last.len()
    }

    /// All of it, in order.
    pub(super) fn into_pieces(self) -> impl Iterator<Item = Vec<u8>> {
        self.full.into_iter().chain([self.last])
    }

    fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.last.capacity() == self.last.len() {
                let next = Vec::with_capacity(PIECE);
                let full = std::mem::replace(&mut self.last, next);
                if !full.is_empty() {
                    self.full.push(full);
                }
            }
            let (fits, rest) = bytes.split_at(bytes.len().min(self.last.capacity() - self.last.len()));
            // A line feed outside of a string is white space in JSON, and would end the line.
            self.last.extend(fits.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }));
            bytes = rest;
        }
    }
}

impl io::Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(pieces: Pieces) -> String {
        String::from_utf8(pieces.into_pieces().flatten().collect()).unwrap()
    }

    #[test]
    fn elements_come_out_as_they_went_in_whatever_their_length() {
        assert_eq!(joined(Pieces::default()), "");
        for length in [0, 1, PIECE - 3, PIECE - 2, PIECE - 1, PIECE, 3 * PIECE + 1] {
            let mut pieces = Pieces::default();
            let element = "x".repeat(length);
            pieces.push(&element).unwrap();
            pieces.push(&7).unwrap();
            assert_eq!(pieces.len(), length + 4);
            assert!(pieces.full.iter().all(|piece| piece.len() == PIECE));
            assert_eq!(joined(pieces), format!("\"{element}\",7"));
        }
    }

    #[test]
    fn nothing_in_it_ends_the_line() {
        let mut pieces = Pieces::default();
        let raw = wire::Raw::parse("{\n\"a\": \"\\n\"}").unwrap();
        pieces.push(&raw).unwrap();
        assert_eq!(joined(pieces), "{ \"a\": \"\\n\"}");
    }
}
