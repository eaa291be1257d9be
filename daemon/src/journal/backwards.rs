//! The lines of a file from the last to the first, block by block, in bounded memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// The first block that is read, in bytes; blocks grow while a line goes on.
const SMALLEST: usize = 16 * 1024;
const LARGEST: usize = 256 * 1024;

/// What the file holds at one place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its end.
    Whole(Vec<u8>),
    /// A line that is longer than the limit.
    TooLong,
}

/// Reads `file` as it is now; what is appended later is not seen.
pub(super) struct Backwards {
    file: File,
    /// Where the part that was not read yet ends.
    unread: u64,
    /// What was read and not handed out: the bytes after `unread`.
    held: Vec<u8>,
    /// How many bytes at the end of `held` are known to have no line feed.
    searched: usize,
    block: usize,
    longest: usize,
    skipping: bool,
    finished: bool,
}

impl Backwards {
    pub(super) fn new(file: File, longest: usize) -> io::Result<Self> {
        // The writer cuts off a row that failed. When that happens right here, the end is looked for again.
        match Self::from_end(file.try_clone()?, longest) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Self::from_end(file, longest),
            other => other,
        }
    }

    fn from_end(file: File, longest: usize) -> io::Result<Self> {
        let unread = file.metadata()?.len();
        let mut lines = Self {
            file,
            unread,
            held: Vec::new(),
            searched: 0,
            block: SMALLEST,
            longest,
            skipping: false,
            finished: unread == 0,
        };
        // The line feed at the end ends the last line; it does not begin another one.
        if lines.read_block()? && lines.held.last() == Some(&b'\n') {
            lines.held.pop();
        }
        Ok(lines)
    }

    /// The line before, or `None` at the start of the file.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line>> {
        while !self.finished {
            let front = &self.held[..self.held.len() - self.searched];
            if let Some(feed) = front.iter().rposition(|&byte| byte == b'\n') {
                let line = self.held.split_off(feed + 1);
                self.held.truncate(feed);
                return Ok(Some(self.finish(line)));
            }
            self.searched = self.held.len();
            if self.held.len() > self.longest {
                self.skipping = true;
                self.held.clear();
                self.searched = 0;
            }
            if !self.read_block()? {
                self.finished = true;
                let line = std::mem::take(&mut self.held);
                return Ok(Some(self.finish(line)));
            }
        }
        Ok(None)
    }

    fn finish(&mut self, line: Vec<u8>) -> Line {
        self.searched = 0;
        self.block = SMALLEST;
        let too_long = std::mem::take(&mut self.skipping) || line.len() > self.longest;
        if too_long { Line::TooLong } else { Line::Whole(line) }
    }

    /// Puts the block before what is held. Returns whether there was one.
    fn read_block(&mut self) -> io::Result<bool> {
        if self.unread == 0 {
            return Ok(false);
        }
        let size = usize::try_from(self.unread).unwrap_or(usize::MAX).min(self.block);
        let from = self.unread - u64::try_from(size).unwrap_or(self.unread);
        let mut block = vec![0; size];
        self.file.read_exact_at(&mut block, from)?;
        block.append(&mut self.held);
        self.held = block;
        self.unread = from;
        self.block = (self.block * 2).min(LARGEST);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    /// All lines of a file with this content, the last first; a line over the limit as `None`.
    fn lines(content: &[u8], longest: usize) -> Vec<Option<Vec<u8>>> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        let mut reader = Backwards::new(file, longest).unwrap();
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line().unwrap() {
            lines.push(match line {
                Line::Whole(line) => Some(line),
                Line::TooLong => None,
            });
        }
        lines
    }

    /// The same, the simple way.
    fn expected(content: &[u8], longest: usize) -> Vec<Option<Vec<u8>>> {
        if content.is_empty() {
            return Vec::new();
        }
        let body = content.strip_suffix(b"\n").unwrap_or(content);
        body.split(|&byte| byte == b'\n').rev().map(|line| (line.len() <= longest).then(|| line.to_vec())).collect()
    }

    #[track_caller]
    fn check(content: &[u8], longest: usize) {
        assert_eq!(lines(content, longest), expected(content, longest));
    }

    #[test]
    fn ends_and_edges() {
        for content in ["", "\n", "\n\n", "a", "a\n", "\na", "a\n\nb\n", "a\nb"] {
            check(content.as_bytes(), 100);
        }
    }

    #[test]
    fn lines_around_the_size_of_a_block() {
        for size in [SMALLEST - 1, SMALLEST, SMALLEST + 1, 3 * SMALLEST, 2 * LARGEST + 7] {
            let mut content = vec![b'x'; size];
            content.extend_from_slice(b"\nshort\n");
            content.extend(vec![b'y'; size]);
            check(&content, 1 << 20);
            check(&content, size - 1);
            check(&content, 1);
        }
    }

    proptest! {
        #[test]
        fn as_the_simple_way(
            lengths in proptest::collection::vec(prop_oneof![0..50usize, 16_000..17_000usize, 60_000..70_000usize], 0..12),
            longest in prop_oneof![Just(10usize), Just(16_384), Just(1 << 20)],
            ended in any::<bool>(),
        ) {
            let mut content = Vec::new();
            for (at, length) in lengths.iter().enumerate() {
                let letter = b'a' + u8::try_from(at).unwrap();
                content.extend(std::iter::repeat_n(letter, *length));
                if ended || at + 1 < lengths.len() {
                    content.push(b'\n');
                }
            }
            prop_assert_eq!(lines(&content, longest), expected(&content, longest));
        }
    }
}
