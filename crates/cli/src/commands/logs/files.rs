//! The files of the daemon's log, and the file of its first words.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use handoffd::logging::files;

use super::line::Wanted;
use crate::failure::Failure;

/// The log's files in one folder.
#[derive(Debug)]
pub(super) struct Files {
    dir: PathBuf,
    reached: Option<Reached>,
    first_words: Option<Reached>,
}

/// A place in the log up to which everything was read.
#[derive(Debug, Clone)]
struct Reached {
    file: PathBuf,
    offset: u64,
}

impl Files {
    /// The files in a folder; `first_words` is what somebody else keeps of the daemon's standard error.
    pub(super) fn new(dir: PathBuf, first_words: Option<PathBuf>) -> Self {
        Self { dir, reached: None, first_words: first_words.map(|file| Reached { file, offset: 0 }) }
    }

    /// Whether nothing was found by [`Files::last`].
    pub(super) fn are_none(&self) -> bool {
        self.reached.is_none() && self.first_words.as_ref().is_none_or(|words| words.offset == 0)
    }

    /// The last lines that are wanted, oldest first.
    pub(super) fn last(&mut self, count: usize, wanted: &Wanted) -> Result<Vec<String>, Failure> {
        let mut last: VecDeque<String> = VecDeque::new();
        let files = list(&self.dir)?;
        for file in files.iter().rev() {
            let (mut lines, offset) = lines(file, 0)?;
            self.reached.get_or_insert_with(|| Reached { file: file.clone(), offset });
            lines.retain(|line| wanted.fits(line));
            while last.len() < count
                && let Some(line) = lines.pop()
            {
                last.push_front(line);
            }
            if last.len() >= count {
                break;
            }
        }
        let mut all = self.first_words(wanted)?;
        all.drain(..all.len().saturating_sub(count));
        all.extend(last);
        Ok(all)
    }

    /// What was written since, in the same file and in newer ones.
    pub(super) fn new_lines(&mut self, wanted: &Wanted) -> Result<Vec<String>, Failure> {
        let mut all = self.first_words(wanted)?;
        let files = list(&self.dir)?;
        let known = self.reached.as_ref().and_then(|reached| files.iter().position(|file| *file == reached.file));
        for (at, file) in files.into_iter().enumerate().skip(known.unwrap_or(0)) {
            let from = self.reached.as_ref().filter(|_| known == Some(at)).map_or(0, |reached| reached.offset);
            let (lines, offset) = lines(&file, from)?;
            all.extend(lines.into_iter().filter(|line| wanted.fits(line)));
            self.reached = Some(Reached { file, offset });
        }
        Ok(all)
    }

    fn first_words(&mut self, wanted: &Wanted) -> Result<Vec<String>, Failure> {
        let Some(words) = &mut self.first_words else { return Ok(Vec::new()) };
        let (mut found, offset) = lines(&words.file, words.offset)?;
        words.offset = offset;
        found.retain(|line| wanted.fits(line));
        Ok(found)
    }
}

/// The log's files, oldest first.
fn list(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = files(dir).map_err(|error| Failure::usage(format!("cannot list {}: {error}", dir.display())))?;
    files.reverse();
    Ok(files)
}

/// The whole lines of a file from an offset on, and where the next one begins. A file that was pruned has none.
fn lines(path: &Path, from: u64) -> Result<(Vec<String>, u64), Failure> {
    let fault = |error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((Vec::new(), from)),
        Err(error) => return Err(fault(error)),
    };
    file.seek(SeekFrom::Start(from)).map_err(fault)?;
    let mut reader = BufReader::new(file.take(1 << 30));
    let (mut lines, mut offset, mut bytes) = (Vec::new(), from, Vec::new());
    while reader.read_until(b'\n', &mut bytes).map_err(fault)? > 0 {
        if bytes.pop() != Some(b'\n') {
            break;
        }
        offset += bytes.len() as u64 + 1;
        lines.push(String::from_utf8_lossy(&bytes).into_owned());
        bytes.clear();
    }
    Ok((lines, offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn the_first_words_of_a_daemon_come_before_its_log_and_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let words = folder.path().join("launchd.log");
        let mut files = Files::new(folder.path().join("log"), Some(words.clone()));
        assert!(files.last(9, &Wanted::default()).unwrap().is_empty() && files.are_none());
        let mut said = File::create(&words).unwrap();
        said.write_all(b"handoffd: the configuration is invalid\n").unwrap();
        assert_eq!(files.new_lines(&Wanted::default()).unwrap(), ["handoffd: the configuration is invalid"]);
        said.write_all(b"again\n").unwrap();
        assert_eq!(files.new_lines(&Wanted::default()).unwrap(), ["again"]);
        assert_eq!(Files::new(folder.path().join("log"), Some(words)).last(1, &Wanted::default()).unwrap(), ["again"]);
    }
}
