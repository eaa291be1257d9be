//! Answers to requests: what a session, a person or a script is told in return.

use queue::DispatchId;

use crate::Body;
use crate::done::Failure;
use crate::effect::Verdict;
use crate::time::Wall;

/// Whether the work log has the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogResult {
    /// It has.
    Appended,
    /// It has not.
    Failed,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// To an attach.
    Attached {
        /// Owner or standing by.
        owner: bool,
        /// The RUNNING task that this session takes up again.
        task: Option<(DispatchId, String, Wall)>,
        /// A dispatch it asked about that is not RUNNING; the shell looks it up in the journal.
        ended: Option<DispatchId>,
    },
    /// A report was written.
    Reported {
        /// COMPLETE, or ERROR.
        complete: bool,
        /// The work log.
        log: LogResult,
    },
    /// A report was refused; the problems are with the body.
    ReportRefused(Body),
    /// To a cancel.
    Cancelled {
        /// What the file said before.
        was: &'static str,
        /// What it says now.
        now: &'static str,
        /// How the session took it.
        session: SessionReach,
        /// Runs still alive (D66).
        live_runs: Vec<String>,
    },
    /// A new task is in the file.
    Submitted(Body),
    /// A new task was invalid; the problems are with the body.
    InvalidTask(Body),
    /// Pause, resume, enable, disable, remove, take: done; what was lifted, if it was a resume.
    Changed {
        /// `paused halted held runs_alive`.
        lifted: Vec<&'static str>,
        /// It goes on leaving until the running task has ended.
        leaving: bool,
    },
    /// To an unlock.
    Unlocked {
        /// Whether it was moved aside.
        moved: bool,
        /// Which rule fits, if the lock is not ours.
        verdict: Option<Box<Verdict>>,
    },
    /// Not done.
    Refused(Refusal),
}

/// How the session took a cancel (D76).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionReach {
    /// It aborted its turn.
    Aborted,
    /// It answered: no turn of it was at work on the task.
    Told,
    /// There was none, or it did not answer.
    NotReached,
    /// A report had been accepted before.
    FinishedFirst,
}

/// Why a request was refused; each is one `data.code` of the wire protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// `project_disabled`
    Disabled,
    /// `project_blocked`
    Blocked,
    /// `project_held`
    Held,
    /// `not_owner`
    NotOwner,
    /// Not RUNNING here: `dispatch_ended` if the journal knows it, else `no_such_dispatch`.
    NotRunning(DispatchId),
    /// `cancelled`
    Cancelled,
    /// `queue_changed`
    QueueChanged,
    /// `queue_busy`
    QueueBusy,
    /// `queue_unreadable`
    QueueUnreadable,
    /// `queue_full`
    QueueFull,
    /// `cannot_write`
    CannotWrite(String),
    /// `report_too_large`
    ReportTooLarge {
        /// Bytes allowed.
        limit: usize,
        /// Bytes needed.
        size: usize,
    },
    /// `task_mismatch`: the task in the file.
    TaskMismatch(Option<String>),
    /// `task_running`
    TaskRunning,
    /// `no_task`
    NoTask,
    /// `no_such_session`
    NoSuchSession,
    /// `lock_live`
    LockLive(Box<Verdict>),
    /// `shutting_down`
    ShuttingDown,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Changed => Self::QueueBusy,
            Failure::CannotWrite(cause) | Failure::ForeignOwner(cause) => Self::CannotWrite(cause.words),
            Failure::TooLarge { .. } => Self::QueueFull,
            Failure::Moved | Failure::LockLost | Failure::Missing => Self::Blocked,
        }
    }
}

impl Refusal {
    /// The stable `data.code` of the wire protocol; `NotRunning` is `dispatch_ended` where the journal knows the end.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Disabled => "project_disabled",
            Self::Blocked => "project_blocked",
            Self::Held => "project_held",
            Self::NotOwner => "not_owner",
            Self::NotRunning(_) => "no_such_dispatch",
            Self::Cancelled => "cancelled",
            Self::QueueChanged => "queue_changed",
            Self::QueueBusy => "queue_busy",
            Self::QueueUnreadable => "queue_unreadable",
            Self::QueueFull => "queue_full",
            Self::CannotWrite(_) => "cannot_write",
            Self::ReportTooLarge { .. } => "report_too_large",
            Self::TaskMismatch(_) => "task_mismatch",
            Self::TaskRunning => "task_running",
            Self::NoTask => "no_task",
            Self::NoSuchSession => "no_such_session",
            Self::LockLive(_) => "lock_live",
            Self::ShuttingDown => "shutting_down",
        }
    }
}
