//! Reading a journal: newest row first for people, oldest first for the index that a start needs.
//!
//! Both work beside the thread that writes, and without a daemon. Lines that are no JSON object are skipped and counted:
//! a crash may leave one. All files are opened before the first row is read, so that a rotation meanwhile can neither
//! hide a row nor show it twice.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::backwards::{Backwards, Line};
use super::{JournalError, LONGEST_ROW, files};
use crate::clock::Wall;

/// The rows of the journal at `path`, newest first. A journal that does not exist has none.
///
/// # Errors
/// When one of its files cannot be opened.
pub fn newest_first(path: &Path) -> Result<NewestFirst, JournalError> {
    let mut files = open_all(path)?;
    files.reverse();
    Ok(NewestFirst { files, current: None, skipped: 0 })
}

/// Rows as they were written, newest first. Files are read block by block: only one row is in memory at a time.
pub struct NewestFirst {
    /// The newest is the last.
    files: Vec<Opened>,
    current: Option<(PathBuf, Backwards)>,
    skipped: u64,
}

impl NewestFirst {
    /// How many lines so far were no rows.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

impl Iterator for NewestFirst {
    type Item = Result<String, JournalError>;

    /// An error ends the file it is about; the rows of older files follow.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (path, lines) = match &mut self.current {
                Some(current) => current,
                none => {
                    let Opened { path, file } = self.files.pop()?;
                    match Backwards::new(file, LONGEST_ROW) {
                        Ok(lines) => none.insert((path, lines)),
                        Err(source) => return Some(Err(read_error(path, source))),
                    }
                }
            };
            match lines.next_line() {
                Ok(Some(Line::Whole(line))) if line.is_empty() => {}
                Ok(Some(line)) => match row(line) {
                    Some(row) => return Some(Ok(row)),
                    None => self.skipped += 1,
                },
                Ok(None) => self.current = None,
                Err(source) => {
                    let path = std::mem::take(path);
                    self.current = None;
                    return Some(Err(read_error(path, source)));
                }
            }
        }
    }
}

/// What [`index`] saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Indexed {
    /// Rows that were handed over.
    pub rows: u64,
    /// Rows that are older than asked for.
    pub older: u64,
    /// Lines that were no rows.
    pub skipped: u64,
}

/// Hands every row whose `at` is not before `cutoff` to `each`, oldest first. A row without a time is handed over.
///
/// # Errors
/// When a file of the journal cannot be opened or read; rows of earlier files were handed over by then.
pub fn index(path: &Path, cutoff: Wall, mut each: impl FnMut(&str)) -> Result<Indexed, JournalError> {
    let mut seen = Indexed::default();
    for Opened { path, file } in open_all(path)?.into_iter().rev() {
        // Rows are appended when they happen: a file that was last written before holds older ones only. The margin is
        // for the parts of seconds and for file systems whose clock lags.
        let last_written = file.metadata().map(|meta| meta.mtime().saturating_add(3).saturating_mul(1000));
        if last_written.is_ok_and(|ms| ms < cutoff.unix_ms()) {
            continue;
        }
        index_file(file, cutoff, &mut each, &mut seen).map_err(|source| read_error(path, source))?;
    }
    Ok(seen)
}

fn index_file(file: File, cutoff: Wall, each: &mut impl FnMut(&str), seen: &mut Indexed) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(32 * 1024, file);
    let mut line = Vec::new();
    while read_line(&mut reader, &mut line)? {
        let content = line.strip_suffix(b"\n").unwrap_or(&line);
        if content.is_empty() {
            continue;
        }
        let text = std::str::from_utf8(content).ok().filter(|_| content.len() <= LONGEST_ROW);
        match text.and_then(|text| Some((text, serde_json::from_str::<Times>(text).ok()?))) {
            None => seen.skipped += 1,
            Some((_, times)) if times.is_before(cutoff) => seen.older += 1,
            Some((text, _)) => {
                seen.rows += 1;
                each(text);
            }
        }
    }
    Ok(())
}

/// The one member of a row that this module knows. An array in place of the object is no row.
#[derive(Deserialize)]
struct Times {
    #[serde(default)]
    at: Option<String>,
}

impl Times {
    fn is_before(&self, cutoff: Wall) -> bool {
        self.at.as_deref().and_then(Wall::parse).is_some_and(|at| at < cutoff)
    }
}

/// Reads one line with its end, of a longer one only as much as shows that it is too long. Returns false at the end.
fn read_line(reader: &mut BufReader<File>, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let most = u64::try_from(LONGEST_ROW).unwrap_or(u64::MAX).saturating_add(1);
    reader.by_ref().take(most).read_until(b'\n', line)?;
    if line.len() > LONGEST_ROW && line.last() != Some(&b'\n') {
        reader.skip_until(b'\n')?;
    }
    Ok(!line.is_empty())
}

fn row(line: Line) -> Option<String> {
    let Line::Whole(bytes) = line else { return None };
    let text = String::from_utf8(bytes).ok()?;
    let is_object = text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(&text).is_ok();
    is_object.then_some(text)
}

struct Opened {
    path: PathBuf,
    file: File,
}

/// All files of the journal, newest first. They are opened in that order because a rotation moves files the same way:
/// what moved on is met again at its next name, and known by its inode.
fn open_all(path: &Path) -> Result<Vec<Opened>, JournalError> {
    let last = files::numbers(path).last().copied().unwrap_or(0);
    let names = std::iter::once(path.to_owned()).chain((1..=last.saturating_add(1)).map(|n| files::aside(path, n)));
    let mut seen = HashSet::new();
    let mut opened = Vec::new();
    for path in names {
        // A pipe or a folder in a journal's place has no rows, and must not be waited for.
        if std::fs::metadata(&path).is_ok_and(|meta| !meta.is_file()) {
            continue;
        }
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(JournalError::Io { act: "open the journal", path, source }),
        };
        let meta = file.metadata().map_err(|source| read_error(path.clone(), source))?;
        if seen.insert((meta.dev(), meta.ino())) {
            opened.push(Opened { path, file });
        }
    }
    Ok(opened)
}

fn read_error(path: PathBuf, source: io::Error) -> JournalError {
    JournalError::Io { act: "read the journal", path, source }
}
