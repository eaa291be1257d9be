//! The log file that is written: a new one every day and at every size limit, and again when somebody takes it away.
//!
//! A line is whole or absent: what was written of a line that failed is cut off again. Nothing is synced (D70). How long the
//! file is says the file, never memory: somebody may have emptied it. A name that something else has taken is passed over.

use std::fs::{self, DirBuilder, File, FileType, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::files::{self, Name};
use super::settings::{FileSettings, LogError};
use crate::causes::chain;
use crate::clock::{self, Wall};

/// How long after a failed attempt to open a file the next one is made, in ms.
const RETRY_MS: u64 = 1000;
/// So many names of a day are tried when something else has them.
const MOST_TAKEN: u32 = 16;

/// Writes lines into the files of one folder.
pub(super) struct RotatingFile {
    settings: FileSettings,
    active: Option<Active>,
    /// Monotonic ms.
    not_before: u64,
    /// Why it could not be opened the last time.
    refused: String,
}

struct Active {
    file: File,
    path: PathBuf,
    name: Name,
    /// Device and inode, to notice that the name means another file by now.
    identity: (u64, u64),
    /// At the last look.
    size: u64,
    /// Why a name before this one was passed over.
    remark: Option<String>,
}

impl RotatingFile {
    /// Opens today's file. An error does not end the log: the file is tried again before each line. Only a folder that is
    /// none is a mistake of whoever set it, and is refused (F276).
    pub(super) fn open(settings: FileSettings, now: Wall) -> (Self, Option<LogError>) {
        let mut log = Self { settings, active: None, not_before: 0, refused: String::new() };
        let error = log.reopen(now, 0).err();
        (log, error)
    }

    /// Appends one line. An error means that nothing of it is in the file.
    pub(super) fn write_line(&mut self, line: &[u8], now: Wall) -> io::Result<()> {
        let size = u64::try_from(line.len()).unwrap_or(u64::MAX);
        let active = self.active_for(now, size)?;
        if let Err(error) = active.file.write_all(line) {
            if active.cut().is_err() {
                self.active = None;
            }
            return Err(error);
        }
        Ok(())
    }

    /// Why the lines do not go where they should, as long as they do not.
    pub(super) fn remark(&self) -> Option<&str> {
        self.active.as_ref()?.remark.as_deref()
    }

    fn active_for(&mut self, now: Wall, size: u64) -> io::Result<&mut Active> {
        let full = self.active.take_if(|active| !active.takes(&self.settings, now, size));
        // The old file is closed before the next one is opened.
        drop(full);
        if self.active.is_none() {
            if clock::monotonic_ms() < self.not_before {
                return Err(io::Error::other(self.refused.clone()));
            }
            self.reopen(now, size).map_err(|_| io::Error::other(self.refused.clone()))?;
        }
        self.active.as_mut().ok_or_else(|| io::Error::other("no log file"))
    }

    fn reopen(&mut self, now: Wall, size: u64) -> Result<(), LogError> {
        let opened = open_for(&self.settings, now, size).inspect_err(|error| {
            self.not_before = clock::monotonic_ms() + RETRY_MS;
            self.refused = chain(error);
        });
        self.active = Some(opened?);
        Ok(())
    }
}

impl Active {
    /// Looks at the file: is it still that of the name, and has it room for `size` more bytes?
    fn takes(&mut self, settings: &FileSettings, now: Wall, size: u64) -> bool {
        let meta = fs::symlink_metadata(&self.path).ok();
        let Some(meta) = meta.filter(|meta| (meta.dev(), meta.ino()) == self.identity) else { return false };
        self.size = meta.len();
        let has_room = self.size == 0 || self.size.saturating_add(size) <= settings.file_size();
        has_room && self.name.date == now.date()
    }

    /// Cuts off what was written of a line. The file is never made longer: it would be filled up with NUL bytes.
    fn cut(&self) -> io::Result<()> {
        if self.size < self.file.metadata()?.len() { self.file.set_len(self.size) } else { Ok(()) }
    }
}

/// Opens the last file of the day, or the one after it when `size` more bytes do not fit, and removes surplus files.
fn open_for(settings: &FileSettings, now: Wall, size: u64) -> Result<Active, LogError> {
    make_folder(&settings.dir)?;
    let found = files::list(&settings.dir).map_err(|source| io_error("read the folder", &settings.dir, source))?;
    let date = now.date();
    let name = match found.iter().find(|file| file.name.date == date) {
        None => Name { date, number: 0 },
        Some(last) if last.size == 0 || last.size + size < settings.file_size() => last.name.clone(),
        Some(last) => Name { date, number: last.name.number.saturating_add(1) },
    };
    let active = open_first(name, &settings.dir)?;
    for surplus in files::surplus(&found, &active.name, settings.keep, settings.max_total, settings.file_size()) {
        // Somebody else may have removed it; a file that cannot be removed is tried again next time.
        fs::remove_file(surplus.path(&settings.dir)).ok();
    }
    Ok(active)
}

/// Opens the file of this name or, where something else has the name or the file is not ours to write, the next one.
fn open_first(mut name: Name, dir: &Path) -> Result<Active, LogError> {
    let mut first: Option<LogError> = None;
    for _ in 0..MOST_TAKEN {
        match open_file(name.clone(), dir) {
            Ok(active) => {
                let remark =
                    first.map(|error| format!("{}; the log goes on in {}", chain(&error), active.path.display()));
                return Ok(Active { remark, ..active });
            }
            Err(error) if !error.is_of_one_name() => return Err(first.unwrap_or(error)),
            Err(error) => {
                first.get_or_insert(error);
                name.number = name.number.saturating_add(1);
            }
        }
    }
    Err(first.unwrap_or_else(|| io_error("open a log file in", dir, io::ErrorKind::AlreadyExists.into())))
}

/// A pipe or a device is not opened at all: that could wait for ever, or do something.
fn open_file(name: Name, dir: &Path) -> Result<Active, LogError> {
    let path = name.path(dir);
    let is_taken = |kind: FileType| LogError::Taken { path: path.clone(), by: word_of(kind) };
    if let Some(kind) = fs::symlink_metadata(&path).ok().map(|meta| meta.file_type()).filter(|kind| !kind.is_file()) {
        return Err(is_taken(kind));
    }
    let open = || -> io::Result<(File, fs::Metadata)> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600).custom_flags(flags.bits().cast_signed());
        let file = options.open(&path)?;
        let meta = file.metadata()?;
        Ok((file, meta))
    };
    let (file, meta) = open().map_err(|source| io_error("open the log file", &path, source))?;
    match meta.is_file() {
        true => Ok(Active { file, name, identity: (meta.dev(), meta.ino()), size: meta.len(), path, remark: None }),
        false => Err(is_taken(meta.file_type())),
    }
}

fn word_of(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_symlink() => "a link",
        kind if kind.is_fifo() => "a named pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

fn make_folder(dir: &Path) -> Result<(), LogError> {
    match fs::metadata(dir) {
        Ok(meta) if meta.is_dir() => return Ok(()),
        Ok(_) => return Err(LogError::NotAFolder { path: dir.to_owned() }),
        Err(_) => {}
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|source| io_error("create the log folder", dir, source))
}

fn io_error(act: &'static str, path: &Path, source: io::Error) -> LogError {
    LogError::Io { act, path: path.to_owned(), source }
}

#[cfg(test)]
#[path = "rotating_tests.rs"]
mod tests;
