//! The log file that is written: a new one every day and at every size limit, and again when somebody takes it away.
//!
//! A line is whole or absent: what was written of a line that failed is cut off again. Nothing is synced (D70).

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::files::{self, Name};
use super::settings::{FileSettings, LogError};
use crate::clock::{self, Wall};

/// How long after a failed attempt to open a file the next one is made, in ms.
const RETRY_MS: u64 = 1000;

/// Writes lines into the files of one folder.
pub(super) struct RotatingFile {
    settings: FileSettings,
    active: Option<Active>,
    /// Monotonic ms.
    not_before: u64,
}

struct Active {
    file: File,
    path: PathBuf,
    name: Name,
    /// Device and inode, to notice that the name means another file by now.
    identity: (u64, u64),
    size: u64,
}

impl RotatingFile {
    /// Opens today's file, so that whatever is wrong with the folder is said at the start (F276).
    pub(super) fn open(settings: FileSettings, now: Wall) -> Result<Self, LogError> {
        let active = Some(open_for(&settings, now, 0)?);
        Ok(Self { settings, active, not_before: 0 })
    }

    /// Appends one line. An error means that nothing of it is in the file.
    pub(super) fn write_line(&mut self, line: &[u8], now: Wall) -> io::Result<()> {
        let size = u64::try_from(line.len()).unwrap_or(u64::MAX);
        let active = self.active_for(now, size)?;
        if let Err(error) = active.file.write_all(line) {
            if active.file.set_len(active.size).is_err() {
                self.active = None;
            }
            return Err(error);
        }
        active.size += size;
        Ok(())
    }

    fn active_for(&mut self, now: Wall, size: u64) -> io::Result<&mut Active> {
        let fits = self.active.take_if(|active| !active.takes(&self.settings, now, size));
        // The old file is closed before the next one is opened.
        drop(fits);
        match &mut self.active {
            Some(_) => {}
            none => {
                if clock::monotonic_ms() < self.not_before {
                    return Err(io::Error::other("the log file could not be opened a moment ago"));
                }
                let opened = open_for(&self.settings, now, size).map_err(|error| {
                    self.not_before = clock::monotonic_ms() + RETRY_MS;
                    io::Error::other(error)
                })?;
                *none = Some(opened);
            }
        }
        self.active.as_mut().ok_or_else(|| io::Error::other("no log file"))
    }
}

impl Active {
    fn takes(&self, settings: &FileSettings, now: Wall, size: u64) -> bool {
        let has_room = self.size == 0 || self.size + size <= settings.file_size();
        has_room && self.name.date == now.date() && self.is_in_place()
    }

    fn is_in_place(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|meta| (meta.dev(), meta.ino()) == self.identity)
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
    let active = open_file(name, &settings.dir)?;
    for surplus in files::surplus(&found, &active.name, settings.keep, settings.max_total, settings.file_size()) {
        // Somebody else may have removed it; a file that cannot be removed is tried again next time.
        fs::remove_file(surplus.path(&settings.dir)).ok();
    }
    Ok(active)
}

fn open_file(name: Name, dir: &Path) -> Result<Active, LogError> {
    let path = name.path(dir);
    let open = || -> io::Result<(File, fs::Metadata)> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path)?;
        let meta = file.metadata()?;
        Ok((file, meta))
    };
    let (file, meta) = open().map_err(|source| io_error("open the log file", &path, source))?;
    Ok(Active { file, name, identity: (meta.dev(), meta.ino()), size: meta.len(), path })
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
