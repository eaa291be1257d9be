//! What the machine wants done: a closed set.

use queue::{DispatchId, Run};

use crate::done::Holder;
use crate::job::Job;
use crate::reply::Reply;
use crate::time::Wall;
use crate::view::TaskMeta;
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

/// Something that happened, for the journal, the log, the event stream and notices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A valid PENDING was seen.
    Pending(TaskMeta),
    /// A PENDING was rejected.
    Rejected {
        /// The task.
        task: TaskMeta,
        /// The error text.
        text: String,
    },
    /// A PENDING was cancelled before it ran (D76).
    Cancelled {
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
    /// The message leaves now. Written before it does, so that the journal never says "unsent" of what was sent.
    Sent(DispatchId),
    /// The session accepted it.
    Accepted(DispatchId),
    /// The session did not accept it; it is sent again.
    NotAccepted(DispatchId),
    /// It is reminded of its report.
    Reminded(DispatchId),
    /// A run was seen, or its end.
    Run(DispatchId, Run),
    /// A report was refused.
    ReportRefused(DispatchId, usize),
    /// The end is durable, and it is known whether the work log has its line (D67).
    Ended(Box<crate::state::Ended>),
    /// ERROR was written over a COMPLETE of a daemon that died before its line was in the work log (D67).
    Demoted {
        /// The planner's id, as far as the file tells it.
        task_id: String,
        /// The dispatch.
        dispatch: DispatchId,
        /// Why.
        text: String,
    },
    /// The work log did not take the line.
    LogFailed {
        /// The planner's id, as far as it is known.
        task_id: String,
        /// The dispatch.
        dispatch: Option<DispatchId>,
        /// Why.
        why: String,
    },
    /// The old task was given up (D11).
    Abandoned {
        /// The task.
        task: TaskMeta,
        /// The dispatch.
        dispatch: Option<DispatchId>,
        /// RUNNING since.
        started: Option<Wall>,
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
        /// `attached` and `owner` (the place), `standby`, `left` (it said so), `lost`
        what: &'static str,
    },
    /// Something a person should know now, once.
    Notice(Level, String),
}
