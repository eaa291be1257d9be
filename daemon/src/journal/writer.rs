//! The journal's thread: the only one that writes its files.
//!
//! A row is whole or absent: what was written of a row that failed is cut off again, and where that is impossible the
//! line is ended before the next row.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::files;
use super::queue::{Queue, Row};
use super::{JournalError, JournalLimits, JournalStats};

/// The journal's thread needs little.
const STACK_BYTES: usize = 128 * 1024;

/// What happened so far, read by everybody.
#[derive(Default)]
pub(super) struct Counts(Mutex<JournalStats>);

impl Counts {
    pub(super) fn stats(&self) -> JournalStats {
        self.lock().clone()
    }

    pub(super) fn note_dropped(&self) {
        self.lock().dropped += 1;
    }

    fn note(&self, result: &Result<(), String>) {
        let mut stats = self.lock();
        match result {
            Ok(()) => stats.written += 1,
            Err(reason) => {
                stats.failed += 1;
                stats.error = Some(reason.clone());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, JournalStats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the thread. It ends when the queue is closed and empty.
pub(super) fn spawn(mut writer: Writer, queue: Arc<Queue>) -> io::Result<()> {
    let work = move || {
        while let Some(row) = queue.pop() {
            writer.take(row);
            queue.done();
        }
    };
    thread::Builder::new().name("journal".to_owned()).stack_size(STACK_BYTES).spawn(work).map(drop)
}

/// The open journal.
pub(super) struct Writer {
    path: PathBuf,
    limits: JournalLimits,
    counts: Arc<Counts>,
    active: Option<Active>,
    /// Rows that were lost one after another; the first and the end of such a series are logged.
    lost_in_a_row: u64,
}

struct Active {
    file: File,
    /// Device and inode, to notice that the name means another file by now.
    identity: (u64, u64),
    size: u64,
    /// The last line has no end.
    torn: bool,
}

impl Writer {
    pub(super) fn open(path: &Path, limits: JournalLimits, counts: Arc<Counts>) -> Result<Self, JournalError> {
        files::remove_surplus(path, limits.keep);
        let active = Active::open(path).map_err(|source| JournalError::Io {
            act: "open the journal",
            path: path.to_owned(),
            source,
        })?;
        Ok(Self { path: path.to_owned(), limits, counts, active: Some(active), lost_in_a_row: 0 })
    }

    fn take(&mut self, row: Row) {
        let result = self.write(&row.line).map_err(|error| error.to_string());
        self.counts.note(&result);
        self.tell(&result);
        if let Some(confirm) = row.confirm {
            // Whoever waited may have gone.
            confirm.try_send(result).ok();
        }
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        let size = u64::try_from(line.len()).unwrap_or(u64::MAX);
        self.rotate_before(size);
        let active = match &mut self.active {
            Some(active) => active,
            none => {
                // Opening it tells what is wrong if that cannot be done.
                files::set_odd_aside(&self.path).ok();
                none.insert(Active::open(&self.path)?)
            }
        };
        active.append(line.as_bytes())
    }

    /// Makes room. A rotation that fails loses nothing: the file grows beyond its limit until one succeeds.
    fn rotate_before(&mut self, size: u64) {
        self.active.take_if(|active| !active.is_at(&self.path));
        let has_room = |active: &Active| active.size == 0 || active.size + size <= self.limits.max_size;
        if self.active.as_ref().is_some_and(|active| !has_room(active)) {
            match files::rotate(&self.path, self.limits.keep) {
                Ok(()) => self.active = None,
                Err(error) => tracing::warn!(path = %self.path.display(), %error, "cannot rotate the journal"),
            }
        }
    }

    /// Says it once, then counts.
    fn tell(&mut self, result: &Result<(), String>) {
        let path = self.path.display();
        match result {
            Ok(()) if self.lost_in_a_row == 0 => {}
            Ok(()) => {
                tracing::info!(%path, lost = self.lost_in_a_row, "the journal can be written again");
                self.lost_in_a_row = 0;
            }
            Err(error) => {
                if self.lost_in_a_row == 0 {
                    tracing::error!(%path, error, "cannot write the journal");
                }
                self.lost_in_a_row += 1;
            }
        }
    }
}

impl Active {
    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        let meta = file.metadata()?;
        if meta.is_file() && meta.mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        let mut last = [b'\n'];
        if let Some(end) = meta.len().checked_sub(1) {
            file.read_exact_at(&mut last, end)?;
        }
        let torn = last != [b'\n'];
        Ok(Self { file, identity: (meta.dev(), meta.ino()), size: meta.len(), torn })
    }

    /// Looks at the file, also at its size: somebody may have emptied it.
    fn is_at(&mut self, path: &Path) -> bool {
        let meta = fs::metadata(path).ok().filter(|meta| (meta.dev(), meta.ino()) == self.identity);
        self.size = meta.as_ref().map_or(0, fs::Metadata::len);
        meta.is_some()
    }

    /// Cuts off what was written of a row. The file is never made longer: it would be filled up with NUL bytes.
    fn cut(&self) -> io::Result<()> {
        if self.size < self.file.metadata()?.len() { self.file.set_len(self.size) } else { Ok(()) }
    }

    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.torn {
            self.file.write_all(b"\n")?;
            self.size += 1;
            self.torn = false;
        }
        if let Err(error) = self.file.write_all(line) {
            // If it cannot be cut off, the next row must begin a line of its own.
            self.torn = self.cut().is_err();
            return Err(error);
        }
        self.size += u64::try_from(line.len()).unwrap_or(u64::MAX);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_that_was_emptied_is_not_filled_up_when_a_row_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut active = Active::open(&path).unwrap();
        active.append(b"{\"a\":1}\n").unwrap();
        active.file.write_all(b"{\"b\"").unwrap();
        active.cut().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\":1}\n");
        File::create(&path).unwrap();
        active.cut().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
        assert!(active.is_at(&path) && active.size == 0, "what fits is judged by the file");
    }
}
