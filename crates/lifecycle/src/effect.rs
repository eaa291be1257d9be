//! What the machine wants done: a closed set.

use queue::{DispatchId, Run};

use crate::event::{Failure, Holder};
use crate::time::Wall;
use crate::view::{RawHash, TaskMeta};
use crate::{Body, Conn, Process, Req};

/// One thing to do. Effects of a step are carried out in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// File work; answered by one `Event::Done`.
    Job(Job),
    /// A message to a session.
    Send {
        /// To whom.
        conn: Conn,
        /// What.
        message: Outgoing,
    },
    /// The answer to a request.
    Reply {
        /// Which request.
        req: Req,
        /// The answer.
        reply: Reply,
    },
    /// Something happened that the journal, the log, the event stream and notices tell of.
    Record(Fact),
    /// The connection was replaced: close it.
    Close(Conn),
    /// A body is not needed any more.
    Drop(Body),
    /// The project left (D71) or the daemon may stop: nothing is held any more.
    Gone,
}

/// File work. The shell does it away from the loop, one job of a project at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Job {
    /// Open the folder if needed and take the lock (D14–D19); sweep temporaries (D64).
    Acquire,
    /// Check that folder and lock are still ours, and read `tasks.json`.
    Read,
    /// Write the binding into the lock (D14, D20).
    Bind(Option<Binding>),
    /// Let go of the lock.
    Release(Keep),
    /// Explain a foreign lock, or move it aside.
    Unlock {
        /// Really move it.
        confirm: bool,
    },
    /// Check log and context, render the message, write RUNNING durably (D13).
    Claim(Claim),
    /// Look at the displaced file once more and remove it (D64).
    Settle,
    /// Write ERROR over PENDING.
    Reject {
        /// Only over these bytes.
        hash: RawHash,
        /// The error text.
        text: String,
    },
    /// Check a report against the file, the profiles and the observed runs.
    CheckReport {
        /// The report.
        body: Body,
        /// The file as last seen.
        hash: RawHash,
        /// What was observed.
        runs: Vec<Run>,
    },
    /// Open and check the work log, reserve room (D67).
    OpenLog,
    /// Write the end of the task over RUNNING, or ERROR over a COMPLETE whose log line failed.
    WriteEnd(Box<EndWrite>),
    /// Append the line that belongs to the end just written.
    AppendLog,
    /// Append the journal's lines that the log lacks (D67).
    ReplayLog {
        /// The dispatch that the file still says RUNNING for.
        running: Option<DispatchId>,
    },
    /// Write a new PENDING (D64).
    Submit {
        /// The new task.
        body: Body,
        /// Only over these bytes; `None`: only if there is no file.
        hash: Option<RawHash>,
    },
}

/// What becomes of the lock file when it is let go (D19).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// It is removed.
    Remove,
    /// It stays, since it carries the binding of a RUNNING task.
    File,
}

/// Writing RUNNING.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The new dispatch.
    pub dispatch: DispatchId,
    /// Only over these bytes.
    pub hash: RawHash,
    /// `started_at`.
    pub started: Wall,
    /// The session it is for; its process must not be stopped.
    pub process: Process,
}

/// Writing the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndWrite {
    /// Only over these bytes.
    pub hash: RawHash,
    /// The dispatch, when the task was one of ours.
    pub dispatch: Option<DispatchId>,
    /// What to write.
    pub outcome: Outcome,
    /// `completed_at`.
    pub completed: Wall,
    /// What was observed, for the evidence.
    pub runs: Vec<Run>,
}

/// How a task ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// By an accepted report.
    Report {
        /// The report.
        body: Body,
        /// COMPLETE or ERROR.
        complete: bool,
        /// The work log failed: it is ERROR all the same, with this reason.
        demoted: Option<String>,
    },
    /// By us: ERROR with this text.
    Ours(String),
}

/// A message to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outgoing {
    /// `task.dispatch`, rendered by the last `Claim` of this dispatch (or rendered anew).
    Dispatch {
        /// The dispatch.
        dispatch: DispatchId,
        /// A client that looks at it later answers `expired`.
        expires: Wall,
    },
    /// `task.remind`.
    Remind(DispatchId),
    /// `task.cancel`.
    Cancel {
        /// The dispatch.
        dispatch: DispatchId,
        /// Why.
        reason: String,
    },
    /// `session.ownership`.
    Ownership {
        /// Owner, or standing by.
        owner: bool,
        /// Why.
        reason: &'static str,
    },
    /// `session.notice`.
    Notice(Level, String),
}

/// How urgent a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    Info,
    /// Needs a look.
    Warning,
    /// Something ended badly.
    Error,
}

/// The session a lock is bound to (D14).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The session's id.
    pub session_id: String,
    /// Its process.
    pub process: Process,
    /// When its connection was lost; `None` while connected.
    pub since: Option<Wall>,
    /// A background run was observed for the current dispatch.
    pub background: bool,
}

/// A lock that is not ours, judged (D16).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The rule that fits, 1 to 8.
    pub rule: u8,
    /// `lock_live`, `lock_unknown` or `lock_malformed`.
    pub reason: crate::status::Reason,
    /// One sentence.
    pub text: String,
    /// Who.
    pub holder: Holder,
}

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
            Failure::CannotWrite(words) | Failure::ForeignOwner(words) => Self::CannotWrite(words),
            Failure::TooLarge { .. } => Self::QueueFull,
            Failure::Moved | Failure::LockLost | Failure::Missing => Self::Blocked,
        }
    }
}

/// Something that happened, for the journal, the log, the event stream and notices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A valid PENDING was seen.
    Pending(TaskMeta),
    /// A PENDING was rejected, or cancelled before it ran.
    Rejected {
        /// The task.
        task: TaskMeta,
        /// The error text.
        text: String,
    },
    /// RUNNING is durable.
    Started {
        /// The task.
        task: TaskMeta,
        /// The dispatch.
        dispatch: DispatchId,
        /// It ran before (D65).
        again: bool,
    },
    /// The message left.
    Sent(DispatchId),
    /// The session accepted it.
    Accepted(DispatchId),
    /// The session did not accept it; it is sent again.
    NotAccepted(DispatchId),
    /// A run was seen, or its end.
    Run(DispatchId, Run),
    /// A report was refused.
    ReportRefused(DispatchId, usize),
    /// The end is being written; the line for the work log must be in the journal first (D67).
    Ended(Box<crate::state::Ended>),
    /// The work log did not take the line.
    LogFailed(String),
    /// The old task was given up (D11).
    Abandoned {
        /// The task.
        task: TaskMeta,
        /// The dispatch.
        dispatch: Option<DispatchId>,
    },
    /// What a person sees changed.
    State,
    /// The lock was taken; a dead owner's lock was recovered.
    LockTaken {
        /// A lock was there.
        recovered: bool,
    },
    /// The lock is gone or foreign.
    LockLost(String),
    /// A session became owner, stood by or left.
    Session {
        /// Which.
        session_id: String,
        /// `owner standby gone`
        what: &'static str,
    },
    /// Something a person should know now, once.
    Notice(Level, String),
}
