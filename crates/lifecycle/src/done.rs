//! What file work came to: the answers to [`crate::Job`]. Nothing here decides anything.

use queue::DispatchId;

use crate::cause::Cause;
use crate::effect::{Binding, Verdict};
use crate::time::Wall;
use crate::view::{RawHash, View};

/// The answer to a [`crate::Job`].
#[derive(Debug, Clone)]
pub enum Done {
    /// To `Acquire`.
    Acquired(Acquired),
    /// To `Read`.
    Read(Seen),
    /// To `Bind`.
    Bound(WriteResult),
    /// To `Release`.
    Released,
    /// To `Unlock`.
    Unlocked {
        /// Whether the lock was moved aside.
        moved: bool,
    },
    /// To `Claim`.
    Claimed(ClaimResult),
    /// To `Settle`.
    Settled(SettleResult),
    /// To `Reject`.
    Rejected(WriteResult),
    /// To `CheckReport`.
    Checked(Checked),
    /// To `OpenLog`.
    LogOpened(Result<(), String>),
    /// To `WriteEnd`.
    EndWritten(WriteResult),
    /// To `AppendLog`.
    LogAppended(Result<(), String>),
    /// To `ReplayLog`: the dispatches whose line could not be appended, and why.
    Replayed(Result<(), (Vec<DispatchId>, String)>),
    /// To `Submit`.
    Submitted(SubmitResult),
}

/// How taking the lock went (D14–D19).
#[derive(Debug, Clone)]
pub enum Acquired {
    /// It is ours.
    Ours {
        /// What a dead owner left, if there was a lock.
        recovered: Option<Recovered>,
        /// The folder is another one than before: start over (D18).
        fresh_folder: bool,
        /// Writes of the planner that nobody saw, kept under these names (D64).
        lost: Vec<String>,
        /// The halt in which the daemon before this one left the project: only a person lifts it (D11, D64).
        halted: Option<Halted>,
    },
    /// Somebody else's, or unreadable (D16).
    Blocked(Verdict),
    /// The project's folder is not there.
    Missing,
    /// The lock cannot be written.
    Failed(Failure),
}

/// A halt that outlived its daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Halted {
    /// The file no longer held the running task.
    Replaced,
    /// A planner's write that nobody read was kept under this name.
    Lost(String),
}

/// What a dead owner's lock says (D22).
#[derive(Debug, Clone)]
pub struct Recovered {
    /// The session it was bound to, if its boot is ours.
    pub binding: Option<Binding>,
    /// Whether that session's process is alive.
    pub alive: bool,
}

/// One reading.
#[derive(Debug, Clone)]
pub enum Seen {
    /// What the file holds.
    View(View),
    /// The file could not be read for a reason of the system (I/O, permission).
    Failed(Failure),
}

/// Why something could not be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The bytes are no longer those that were read.
    Changed,
    /// The system refused (D70): path, step and its words.
    CannotWrite(Cause),
    /// The owner of the file cannot be kept (D3).
    ForeignOwner(Cause),
    /// It does not fit into 256 KiB (D12).
    TooLarge {
        /// Bytes allowed.
        limit: usize,
        /// Bytes needed.
        size: usize,
    },
    /// The named folder is not the one we opened (D18).
    Moved,
    /// The lock is not ours any more (D18).
    LockLost,
    /// The folder is gone.
    Missing,
}

/// A durable write, or why not; on success the hash of the new bytes.
pub type WriteResult = Result<RawHash, Failure>;

/// How writing RUNNING went.
#[derive(Debug, Clone)]
pub enum ClaimResult {
    /// RUNNING is durable.
    Claimed {
        /// Hash of the new bytes.
        hash: RawHash,
        /// A displaced file waits to be settled (D64).
        displaced: bool,
    },
    /// The work log could never take the line (D30).
    WorkLog(Cause),
    /// A context file forbids it (D68).
    ContextFile(String),
    /// The session's process is stopped (D24).
    Stopped,
    /// Not written.
    Failed(Failure),
}

/// The displaced file's last look (D64).
#[derive(Debug, Clone)]
pub enum SettleResult {
    /// Unchanged; removed.
    Clean,
    /// Changed meanwhile: kept under this name.
    Lost(String),
}

/// What the report check said.
#[derive(Debug, Clone)]
pub enum Checked {
    /// Every check of the spec passed.
    Accepted {
        /// COMPLETE or ERROR.
        complete: bool,
    },
    /// Refused; the shell keeps the problems with the body.
    Refused {
        /// How many.
        problems: usize,
    },
    /// The file holds something else.
    Changed(View),
}

/// How a submit went.
#[derive(Debug, Clone)]
pub enum SubmitResult {
    /// PENDING is durable.
    Written(RawHash),
    /// The new task is invalid; the shell keeps the problems with the body.
    Invalid,
    /// It would leave no room (D12).
    Full,
    /// Not written.
    Failed(Failure),
}

/// Who holds a lock that blocks us, for people.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Holder {
    /// Process id.
    pub pid: Option<u32>,
    /// Its command.
    pub command: Option<String>,
    /// Its user.
    pub user: Option<String>,
    /// The host it names.
    pub host: Option<String>,
    /// Since when.
    pub since: Option<Wall>,
}
