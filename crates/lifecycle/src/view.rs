//! What was read from `tasks.json`, in the machine's terms. The shell makes it with the crate `queue`.

use queue::{DispatchId, Run};

use crate::cause::Cause;
use crate::time::Wall;

/// SHA-256 of the file's bytes.
pub type RawHash = [u8; 32];

/// One reading of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Hash of the bytes; `None` when there was nothing to hash (missing, not regular, too large).
    pub hash: Option<RawHash>,
    /// What the bytes mean.
    pub content: Content,
}

/// What the file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// No file: an empty queue (D1).
    Missing,
    /// A document that cannot be read, or must not be touched: left alone (D1, D6).
    Unreadable {
        /// The stable code of the first problem.
        code: &'static str,
        /// What of it, and what helps.
        message: Cause,
    },
    /// IDLE, COMPLETE or ERROR.
    Settled {
        /// The dispatch that `updated_by` names, if it is one of ours.
        by: Option<DispatchId>,
        /// Whether it says COMPLETE.
        complete: bool,
        /// The task it tells of, if any.
        task_id: Option<String>,
    },
    /// PENDING.
    Pending(Box<Pending>),
    /// RUNNING.
    Running {
        /// The planner's task.
        task: Box<TaskMeta>,
        /// The dispatch that `updated_by` names, if it is one of ours.
        by: Option<DispatchId>,
        /// What the journal knows of that dispatch.
        facts: Option<Box<Facts>>,
    },
}

/// The planner's task as far as the machine needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskMeta {
    /// As written; empty when it is missing or of a wrong type.
    pub task_id: String,
    /// As written.
    pub created_at: String,
    /// SHA-256 over the planner fields (D10).
    pub fingerprint: [u8; 32],
}

/// A PENDING task and what was found out about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The planner's task.
    pub task: TaskMeta,
    /// `None`: valid. Else the text of the rejection (D4).
    pub rejection: Option<String>,
    /// Neither RUNNING nor ERROR fits into the file (D12): leave it.
    pub full: bool,
    /// Git tracks `tasks.json` and the user did not allow that (D65).
    pub tracked: bool,
    /// When the same task (id and `created_at`) was dispatched before, newest first, two at most (D65).
    pub dispatched_before: Vec<Wall>,
}

/// What the journal knows of a dispatch that this daemon did not start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// The message left the daemon.
    pub sent: bool,
    /// The session accepted it.
    pub accepted: bool,
    /// The runs that were observed.
    pub runs: Vec<Run>,
    /// The last sign of life that was written down.
    pub last_seen: Option<Wall>,
    /// When RUNNING was written.
    pub started: Option<Wall>,
    /// The journal tells of its end (or that it was given up): whatever the file says, it is not running any more.
    pub ended: bool,
}
