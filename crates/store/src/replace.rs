//! The durable replace of `tasks.json` (D3, D63, D64). Here and in `staged`, its two halves, is the only place that
//! writes the queue.
//!
//! # What a crash leaves
//!
//! At every moment the name `tasks.json` holds one whole file: the old or the new. A crash before the exchange leaves
//! a `.new` or `.swap` beside it with our bytes; after the exchange a `.swap` with the displaced file. Both are
//! handled at the next start by [`ProjectDir::sweep_temporaries`]. Before [`ProjectDir::replace_queue`] has returned, a power
//! loss may bring back the old file; afterwards it cannot.

use std::path::PathBuf;

use jiff::Timestamp;
use rustix::io::Errno;

use crate::error::IoFault;
use crate::hash::RawHash;
use crate::names;
use crate::project::{Moved, ProjectDir};
use crate::read::Limit;
use crate::staged::Staged;
use crate::stamp::Stamp;
use crate::swap::{Settled, SwapFile};
use crate::temporary::Temporary;
use crate::turn::Turn;

/// What must stand in `tasks.json` for the replace to go through.
///
/// The raw hash covers every byte, so its equality implies that planner fingerprint and status are unchanged too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// No such file.
    Absent,
    /// These bytes.
    Bytes(RawHash),
}

/// How the new bytes came into place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// By exchange: a write in the last window would have been noticed.
    Exchanged,
    /// There was no file; the name was taken without replacing anything.
    Created,
    /// The file system has no exchange: by plain rename. A write in the last window is lost; `doctor` says so.
    PlainRename,
}

/// The new bytes stand, durably.
#[derive(Debug)]
#[must_use = "the displaced file stays until it is settled"]
pub struct Replaced {
    /// How.
    pub method: Method,
    /// The state of the new file, to recognise our own write at the next sweep; `None`: read it again.
    pub stamp: Option<Stamp>,
    /// The file that stood there before, to be settled by the caller (D64).
    pub displaced: Option<SwapFile>,
}

/// Why nothing was replaced. The planner's last bytes stand in `tasks.json`, or in what is named as kept.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    /// The file is not (or no longer) the expected one: read it and start over. Also when only its mode or owner
    /// changed meanwhile.
    #[error("`tasks.json` has changed")]
    Changed {
        /// A write of the planner that nobody saw and that the planner then took away, or that came so close to another one that
        /// nobody can tell which is the newer, if there was one.
        kept_as: Option<PathBuf>,
    },
    /// Owner or group of the file cannot be kept (D3).
    #[error("`{}` belongs to user {uid}, group {gid}, which cannot be kept", path.display())]
    ForeignOwner {
        /// The file.
        path: PathBuf,
        /// Its owner.
        uid: u32,
        /// Its group.
        gid: u32,
    },
    /// A folder is no longer the one that was opened (D18).
    #[error(transparent)]
    Moved(#[from] Moved),
    /// The new bytes are over the read limit; such a file could never be read again.
    #[error("{size} bytes do not fit into `tasks.json`")]
    TooLarge {
        /// Their size in bytes.
        size: usize,
    },
    /// The system refused (D70).
    #[error(transparent)]
    CannotWrite(#[from] IoFault),
}

pub(crate) const CHANGED: ReplaceError = ReplaceError::Changed { kept_as: None };

impl ProjectDir {
    /// Replaces `tasks.json` by `bytes` if it is as `expected`. Durable when it returns.
    ///
    /// `now` only names a file that must be kept aside.
    ///
    /// # Errors
    ///
    /// See [`ReplaceError`].
    pub fn replace_queue(&self, expected: Expected, bytes: &[u8], now: Timestamp) -> Result<Replaced, ReplaceError> {
        self.still_named()?;
        // The turn comes first: whoever clears leftovers takes one, too, and must not take ours for one.
        let turn = Turn::take(&self.root)?;
        self.replace_in(&turn, expected, bytes, now)
    }

    /// As [`ProjectDir::replace_queue`] and [`SwapFile::settle`] in one, for whoever does not own the project.
    ///
    /// An owner may come at any moment and sweep. So all of it, from the first byte beside the queue to the last look at
    /// the displaced file, is one turn: the sweep comes before it or after it, and never takes it for the rest of a crash.
    ///
    /// # Errors
    ///
    /// See [`ReplaceError`]. The inner fault is that of settling: the new bytes stand, and the displaced file stays for the
    /// sweep at the next start.
    pub fn replace_unowned(
        &self,
        expected: Expected,
        bytes: &[u8],
        now: Timestamp,
    ) -> Result<Result<Settled, IoFault>, ReplaceError> {
        self.still_named()?;
        let turn = Turn::take(&self.root)?;
        let replaced = self.replace_in(&turn, expected, bytes, now)?;
        Ok(replaced.displaced.map_or(Ok(Settled::Clean), |displaced| displaced.settle(self, now)))
    }

    fn replace_in(
        &self,
        turn: &Turn,
        expected: Expected,
        bytes: &[u8],
        now: Timestamp,
    ) -> Result<Replaced, ReplaceError> {
        match expected {
            Expected::Absent => self.create_in(turn, bytes),
            Expected::Bytes(hash) => Staged::write(self, hash, bytes)?.put_in_place_in(turn, now),
        }
    }

    fn create_in(&self, _: &Turn, bytes: &[u8]) -> Result<Replaced, ReplaceError> {
        if bytes.len() > Limit::Queue.bytes() {
            return Err(ReplaceError::TooLarge { size: bytes.len() });
        }
        if self.root.stat(names::QUEUE)?.is_some() {
            return Err(CHANGED);
        }
        // The planner's file, made for it: the mode is the umask's business, as if the planner had made it.
        let temporary = Temporary::create(&self.root, names::QUEUE, 0o666)?;
        temporary.fill(bytes)?;
        match temporary.publish(names::QUEUE) {
            Err(fault) if fault.errno() == Errno::EXIST => return Err(CHANGED),
            outcome => outcome?,
        }
        let stamp = temporary.private.file.stat().ok().as_ref().map(Stamp::of);
        Ok(Replaced { method: Method::Created, stamp, displaced: None })
    }
}
