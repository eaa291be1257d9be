//! The journal: one JSON line per transition, appended by a thread of its own, rotated by size, read newest first.
//!
//! Rows are whole texts here; what they say is defined in the crate `wire`. Nothing is synced: rows survive the end of
//! the process, not of the machine, and they never hold a project up (D70). The row that must precede COMPLETE (D67) is
//! confirmed: [`Journal::append_and_confirm`] returns when the system has it.

mod backwards;
mod files;
mod queue;
mod read;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use thiserror::Error;

pub use files::set_odd_aside;
pub use read::{Indexed, NewestFirst, index, newest_first};

use queue::{Full, Queue, Row};
use writer::{Counts, Writer};

/// The longest row, in bytes; a longer one is refused when written and skipped when read. Both planner fields (256 KiB)
/// and a report (512 KiB) fit, escaped.
pub const LONGEST_ROW: usize = 4 * 1024 * 1024;

/// The writing side of a journal. Clones share one thread and one queue; that thread ends with the last of them.
#[derive(Clone)]
pub struct Journal {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    queue: Arc<Queue>,
    counts: Arc<Counts>,
}

/// Limits of a journal.
#[derive(Clone, Copy, Debug)]
pub struct JournalLimits {
    /// The size in bytes at which a file is put aside.
    pub max_size: u64,
    /// How many files that were put aside are kept; at least one.
    pub keep: u32,
    /// How many rows wait at most; more are dropped and counted.
    pub queued_rows: usize,
    /// How many bytes wait at most; a single row may be longer.
    pub queued_bytes: usize,
}

impl Default for JournalLimits {
    fn default() -> Self {
        Self { max_size: 8 * 1024 * 1024, keep: 4, queued_rows: 1024, queued_bytes: 2 * 1024 * 1024 }
    }
}

/// What became of a row that nobody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// It waits for the journal's thread.
    Queued,
    /// There was no room, or it is too long: dropped and counted.
    Dropped,
}

/// What the journal did since it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalStats {
    /// Rows that were handed to the system.
    pub written: u64,
    /// Rows that were not taken: no room, or too long.
    pub dropped: u64,
    /// Rows that the system refused.
    pub failed: u64,
    /// Why it refused the last of these.
    pub error: Option<String>,
}

/// Why there is no journal, or why a row is not known to be in it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The system refused something.
    #[error("cannot {act} {}", path.display())]
    Io {
        /// What was tried, "open the journal".
        act: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// The row is longer than [`LONGEST_ROW`].
    #[error("a row of {size} bytes is too long for the journal, the limit is {LONGEST_ROW}")]
    TooLong {
        /// Its size in bytes.
        size: usize,
    },
    /// The queue stayed full: the row was not taken.
    #[error("the journal took no row for {} ms", waited.as_millis())]
    Full {
        /// How long it was tried.
        waited: Duration,
    },
    /// The row was taken, but not handed to the system in time; it may be later.
    #[error("the journal did not confirm a row for {} ms", waited.as_millis())]
    Unconfirmed {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The row could not be written; nothing of it is in the file.
    #[error("the journal could not be written: {reason}")]
    NotWritten {
        /// The system's words.
        reason: String,
    },
}

impl Journal {
    /// Opens or makes the journal at `path` (0600) and starts its thread. A last line that a crash left torn is ended
    /// first, so that it spoils no other.
    ///
    /// # Errors
    /// When the file cannot be opened or the thread not be started.
    pub fn open(path: &Path, limits: JournalLimits) -> Result<Self, JournalError> {
        let queue = Arc::new(Queue::new(limits.queued_rows, limits.queued_bytes));
        let counts = Arc::new(Counts::default());
        let writer = Writer::open(path, limits, Arc::clone(&counts))?;
        writer::spawn(writer, Arc::clone(&queue)).map_err(|source| JournalError::Io {
            act: "start the thread for",
            path: path.to_owned(),
            source,
        })?;
        Ok(Self { inner: Arc::new(Inner { path: path.to_owned(), queue, counts }) })
    }

    /// Where the newest file of the journal is.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Appends `row`, one JSON object, without ever waiting.
    pub fn append(&self, row: String) -> Appended {
        let appended = self.append_quietly(row);
        self.wake();
        appended
    }

    /// As [`Journal::append`] for whoever has something more urgent to do; [`Journal::wake`] follows as soon as it is done.
    pub fn append_quietly(&self, row: String) -> Appended {
        let taken = match self.checked(row) {
            Ok(line) => self.inner.queue.push_quietly(Row { line, confirm: None }).is_ok(),
            Err(_) => false,
        };
        if taken {
            return Appended::Queued;
        }
        self.inner.counts.note_dropped();
        Appended::Dropped
    }

    /// The rows that were appended quietly are written.
    pub fn wake(&self) {
        self.inner.queue.wake();
    }

    /// Appends `row` and waits, `limit` at most, until it was handed to the system. Blocks: not for async code.
    ///
    /// # Errors
    /// When that is not known to have happened; only after [`JournalError::Unconfirmed`] can the row still appear.
    pub fn append_and_confirm(&self, row: String, limit: Duration) -> Result<(), JournalError> {
        let deadline = Instant::now() + limit;
        let (confirm, confirmed) = mpsc::sync_channel(1);
        let line = self.checked(row).inspect_err(|_| self.inner.counts.note_dropped())?;
        if let Err(Full) = self.inner.queue.push_by(Row { line, confirm: Some(confirm) }, deadline) {
            self.inner.counts.note_dropped();
            return Err(JournalError::Full { waited: limit });
        }
        match confirmed.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(reason)) => Err(JournalError::NotWritten { reason }),
            Err(_) => Err(JournalError::Unconfirmed { waited: limit }),
        }
    }

    /// Waits, `limit` at most, until every row so far was handed to the system or refused by it. Returns whether that
    /// is so.
    pub fn flush(&self, limit: Duration) -> bool {
        self.inner.queue.wait_until_empty(Instant::now() + limit)
    }

    /// What was written and lost so far.
    pub fn stats(&self) -> JournalStats {
        self.inner.counts.stats()
    }

    /// Ends a row that is one line with its line feed. Line breaks of a JSON text stand between its members, where a
    /// space means the same.
    fn checked(&self, mut row: String) -> Result<String, JournalError> {
        if row.len() > LONGEST_ROW {
            return Err(JournalError::TooLong { size: row.len() });
        }
        if row.contains(['\n', '\r']) {
            row = row.replace(['\n', '\r'], " ");
        }
        row.push('\n');
        Ok(row)
    }
}

impl Drop for Inner {
    /// What waits is still written, for a second at most: a stuck disk must not hold up the end of the program.
    fn drop(&mut self) {
        self.queue.close();
        self.queue.wait_until_empty(Instant::now() + Duration::from_secs(1));
    }
}

#[cfg(test)]
mod tests;
