//! Appending one line through the one open file that was checked (D67).

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{LINE, LogCheck, LogError, WorkLog};
use crate::error::IoFault;
use crate::folder::OpenFile;
use crate::read::Limit;
use crate::stamp::{Identity, Stamp, size};
use crate::turn::Turn;

/// A log that was found able to take a line, held open and locked against a rotation until dropped.
///
/// A crash during an append leaves the line whole, in part, or not at all; recovery finds by its dispatch id whether
/// it is there ([`WorkLog::missing_lines`]).
#[derive(Debug)]
pub struct OpenLog {
    log: WorkLog,
    file: OpenFile,
    checked: Stamp,
    /// Whether the last line lacks its end.
    unfinished: bool,
    /// What a rotation would keep, in bytes.
    kept: usize,
}

/// Room asked for at open, in bytes.
const RESERVE: u64 = LINE as u64;
/// How often a replaced file is opened again.
const TRIES: usize = 3;

impl WorkLog {
    /// Opens the log for appending: checked, and with room for a line reserved where the file system can.
    ///
    /// # Errors
    ///
    /// See [`LogError`]. A full disk is noticed here, before anything is called complete.
    pub fn open(&self) -> Result<OpenLog, LogError> {
        self.project.still_named()?;
        for _ in 0..TRIES {
            let file = self.with_folder(|folder| self.open_file(folder, OFlags::RDWR | OFlags::APPEND))?;
            Turn::of(&file)?;
            if !self.leads_to(&file)? {
                continue;
            }
            let (check, text, kept) = self.check_open(&file)?;
            let reserved = file.sys.reserve(file.fd(), check.stamp.size, RESERVE);
            if let Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::ROFS)) = reserved {
                return Err(IoFault::new("reserve room in", &file.path, errno).into());
            }
            let unfinished = !text.is_empty() && !text.ends_with('\n');
            let checked = Stamp::of(&file.stat()?);
            return Ok(OpenLog { log: self.clone(), file, checked, unfinished, kept });
        }
        Err(LogError::Changed(self.path()))
    }

    /// Whether the name leads to this open file.
    fn leads_to(&self, file: &OpenFile) -> Result<bool, LogError> {
        let open = Identity::of(&file.stat()?);
        Ok(self.stamp()?.is_some_and(|named| named.identity == open))
    }
}

impl OpenLog {
    /// Appends one line (without its end), durably. Control characters become spaces, so it stays one line.
    ///
    /// # Errors
    ///
    /// See [`LogError`]; nothing of the line stands in the log then, except after [`LogError::NotCutBack`].
    pub fn append(&mut self, line: &str) -> Result<LogCheck, LogError> {
        let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        for _ in 1..TRIES {
            match self.append_once(&line) {
                // The person's editor saved meanwhile: the new file gets the line.
                Err(LogError::Changed(_)) => *self = self.log.open()?,
                outcome => return outcome,
            }
        }
        self.append_once(&line)
    }

    fn append_once(&mut self, line: &str) -> Result<LogCheck, LogError> {
        self.recheck()?;
        let start = self.checked.size;
        let bytes = format!("{}{line}\n", if self.unfinished { "\n" } else { "" }).into_bytes();
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if start.saturating_add(length) > u64::try_from(Limit::WorkLog.bytes()).unwrap_or(0) {
            return Err(LogError::Full(self.log.path()));
        }
        let written = match self.write_at_end(&bytes) {
            Ok(stamp) => stamp,
            Err(append) => return Err(self.cut_back(start, &bytes, append)),
        };
        (self.checked, self.unfinished) = (written, false);
        Ok(self.log.passed(written, self.kept))
    }

    /// The file must still be the named one, with one link, and its text checked in the state it has now.
    fn recheck(&mut self) -> Result<(), LogError> {
        self.log.check_links(&self.file)?;
        if !self.log.leads_to(&self.file)? {
            return Err(LogError::Changed(self.log.path()));
        }
        if Stamp::of(&self.file.stat()?) != self.checked {
            let (check, text, kept) = self.log.check_open(&self.file)?;
            self.unfinished = !text.is_empty() && !text.ends_with('\n');
            (self.checked, self.kept) = (check.stamp, kept);
        }
        Ok(())
    }

    /// One write and a sync; then the file must still be the named one.
    fn write_at_end(&self, bytes: &[u8]) -> Result<Stamp, LogError> {
        let count = self.file.fault("append to", self.file.sys.write(self.file.fd(), bytes))?;
        if count < bytes.len() {
            return Err(LogError::ShortWrite(self.log.path()));
        }
        self.file.sync()?;
        self.log.check_links(&self.file)?;
        match self.log.leads_to(&self.file)? {
            true => Ok(Stamp::of(&self.file.stat()?)),
            false => Err(LogError::Changed(self.log.path())),
        }
    }

    /// Takes back what a failed append left, if nothing but that follows `start`.
    fn cut_back(&self, start: u64, bytes: &[u8], append: LogError) -> LogError {
        let cut = || {
            let end = self.file.read(start, bytes.len() + 1, bytes.len())?;
            if end.is_empty() {
                return Ok(());
            }
            if !bytes.starts_with(&end) {
                // Somebody else appended too: cutting would take their text.
                return self.file.fault("cut back", Err(Errno::BUSY));
            }
            self.file.fault("cut back", self.file.sys.truncate(self.file.fd(), start))?;
            self.file.sync()
        };
        match cut() {
            Ok(()) => append,
            Err(_) if self.is_cut(start) => append,
            Err(cut) => LogError::NotCutBack { append: Box::new(append), cut },
        }
    }

    fn is_cut(&self, start: u64) -> bool {
        self.file.stat().is_ok_and(|stat| size(&stat) == start)
    }
}
