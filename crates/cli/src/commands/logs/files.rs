//! The files of the daemon's log, and the file of its first words.

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use handoffd::logging::files;

use super::line::Wanted;
use crate::failure::Failure;

/// The log's files in one folder.
#[derive(Debug)]
pub(super) struct Files {
    dir: PathBuf,
    /// In the newest file that was read, as long as it is there.
    reached: Option<Reached>,
    /// All that were there at the last look.
    seen: BTreeSet<PathBuf>,
    first_words: Option<Reached>,
}

/// A place in a file up to which everything was read.
#[derive(Debug)]
struct Reached {
    path: PathBuf,
    offset: u64,
    /// Kept open, so that no other file gets its number and passes for it.
    held: Option<File>,
}

impl Files {
    /// The files in a folder; `first_words` is what somebody else keeps of the daemon's standard error.
    pub(super) fn new(dir: PathBuf, first_words: Option<PathBuf>) -> Self {
        Self { dir, reached: None, seen: BTreeSet::new(), first_words: first_words.map(Reached::beginning) }
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
            let mut place = Reached::beginning(file.clone());
            let mut lines = place.read_on(wanted)?;
            self.reached.get_or_insert(place);
            while last.len() < count
                && let Some(line) = lines.pop()
            {
                last.push_front(line);
            }
            if last.len() >= count {
                break;
            }
        }
        self.seen = files.into_iter().collect();
        let mut all = self.first_words(wanted)?;
        all.drain(..all.len().saturating_sub(count));
        all.extend(last);
        Ok(all)
    }

    /// What was written since, in the same file and in newer ones.
    pub(super) fn new_lines(&mut self, wanted: &Wanted) -> Result<Vec<String>, Failure> {
        let mut all = self.first_words(wanted)?;
        let files = list(&self.dir)?;
        self.reached.take_if(|reached| !files.contains(&reached.path));
        let next = match &self.reached {
            Some(reached) => files.iter().position(|file| *file == reached.path),
            // Somebody took it away. Older ones were read or left out before.
            None => files.iter().rposition(|file| self.seen.contains(file)).map(|at| at + 1),
        };
        for file in files.iter().skip(next.unwrap_or(0)) {
            let here = self.reached.take().filter(|reached| reached.path == *file);
            let mut place = here.unwrap_or_else(|| Reached::beginning(file.clone()));
            all.extend(place.read_on(wanted)?);
            self.reached = Some(place);
        }
        self.seen = files.into_iter().collect();
        Ok(all)
    }

    fn first_words(&mut self, wanted: &Wanted) -> Result<Vec<String>, Failure> {
        self.first_words.as_mut().map_or(Ok(Vec::new()), |words| words.read_on(wanted))
    }
}

/// The log's files, oldest first.
fn list(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = files(dir).map_err(|error| Failure::usage(format!("cannot list {}: {error}", dir.display())))?;
    files.reverse();
    Ok(files)
}

impl Reached {
    fn beginning(path: PathBuf) -> Self {
        Self { path, offset: 0, held: None }
    }

    /// The whole lines from here on that are wanted. A file that was pruned has none; one that was emptied, or that another
    /// took the place of, is read from its beginning.
    fn read_on(&mut self, wanted: &Wanted) -> Result<Vec<String>, Failure> {
        let mut lines =
            self.lines().map_err(|error| Failure::usage(format!("cannot read {}: {error}", self.path.display())))?;
        lines.retain(|line| wanted.fits(line));
        Ok(lines)
    }

    fn lines(&mut self) -> io::Result<Vec<String>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let meta = file.metadata()?;
        let before = self.held.as_ref().and_then(|held| held.metadata().ok());
        let is_another = before.is_some_and(|before| (before.dev(), before.ino()) != (meta.dev(), meta.ino()));
        if is_another || meta.len() < self.offset {
            self.offset = 0;
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut reader = BufReader::new((&file).take(1 << 30));
        let (mut lines, mut bytes) = (Vec::new(), Vec::new());
        while reader.read_until(b'\n', &mut bytes)? > 0 {
            if bytes.pop() != Some(b'\n') {
                break;
            }
            self.offset += bytes.len() as u64 + 1;
            lines.push(String::from_utf8_lossy(&bytes).into_owned());
            bytes.clear();
        }
        self.held = Some(file);
        Ok(lines)
    }
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

    fn put(path: &Path, text: &str) {
        File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_file_that_is_emptied_replaced_or_removed_loses_no_line_and_repeats_none() {
        let folder = tempfile::tempdir().unwrap();
        let (old, file) =
            (folder.path().join("handoffd.2026-11-29.log"), folder.path().join("handoffd.2026-11-30.log"));
        put(&old, "before\n");
        put(&file, "one\ntwo\n");
        let mut files = Files::new(folder.path().to_owned(), None);
        let wanted = Wanted::default();
        assert_eq!(files.last(1, &wanted).unwrap(), ["two"]);
        put(&file, "a\n");
        assert_eq!(files.new_lines(&wanted).unwrap(), ["a"], "emptied");
        std::fs::remove_file(&file).unwrap();
        put(&file, "longer than before\n");
        assert_eq!(files.new_lines(&wanted).unwrap(), ["longer than before"], "replaced between two looks");
        std::fs::remove_file(&file).unwrap();
        assert!(files.new_lines(&wanted).unwrap().is_empty(), "the day before is not printed");
        put(&file, "the next of this name\n");
        assert_eq!(files.new_lines(&wanted).unwrap(), ["the next of this name"], "removed and made again");
    }
}
