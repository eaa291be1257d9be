//! What can happen to a project: a closed set.

use queue::{DispatchId, Run};

use crate::effect::{Binding, Verdict};
use crate::settings::Settings;
use crate::time::Wall;
use crate::view::{RawHash, View};
use crate::{Body, Conn, Process, Req};

/// One thing that happened. Whatever woke the shell is only a hint: it sends [`Event::Touched`], and the machine asks
/// for the bytes.
#[derive(Debug, Clone)]
pub enum Event {
    /// `tasks.json`, the lock or a folder on the way may have changed.
    Touched,
    /// The deadline came.
    Tick,
    /// A gap in awake time ended (D21): sleep, a stopped daemon, a paused machine.
    Woke,
    /// The job that was out is done.
    Done(Box<Done>),
    /// A main session asks for the project.
    Attach(Box<Attach>),
    /// The session says whether it is idle.
    Activity {
        /// Its connection.
        conn: Conn,
        /// Idle or busy.
        idle: bool,
    },
    /// A run was observed, or its end.
    Run {
        /// The session's connection.
        conn: Conn,
        /// The dispatch it belongs to.
        dispatch: DispatchId,
        /// The run in its newest state.
        run: Box<Run>,
    },
    /// The session's turn settled.
    TurnSettled {
        /// Its connection.
        conn: Conn,
        /// The dispatch the session names, if it does.
        dispatch: Option<DispatchId>,
        /// The turn was aborted.
        aborted: bool,
    },
    /// The session says goodbye.
    Leaving {
        /// Its connection.
        conn: Conn,
        /// Why.
        reason: LeaveReason,
    },
    /// A sign of life.
    Ping {
        /// The session's connection.
        conn: Conn,
    },
    /// The connection ended.
    Closed {
        /// The connection.
        conn: Conn,
        /// A dispatch line that was not written whole: proof that it was not delivered (D69).
        unsent: Option<DispatchId>,
    },
    /// A process that the machine knows has ended.
    ProcessGone(Process),
    /// A process that the machine knows was stopped (state `T`) or continued (D24).
    ProcessStopped {
        /// Which.
        process: Process,
        /// Stopped or running.
        stopped: Stopped,
    },
    /// Processes of runs that had been alive are gone (D66), by run id.
    RunsGone(Vec<String>),
    /// The session answered `task.dispatch`.
    Answered {
        /// Its connection.
        conn: Conn,
        /// The dispatch.
        dispatch: DispatchId,
        /// What it said.
        answer: Answer,
    },
    /// The session answered `task.remind`, in whatever way (D25).
    RemindAnswered {
        /// Its connection.
        conn: Conn,
        /// The dispatch.
        dispatch: DispatchId,
    },
    /// The session answered `task.cancel`.
    CancelAnswered {
        /// Its connection.
        conn: Conn,
        /// The dispatch.
        dispatch: DispatchId,
        /// Whether it aborted its turn.
        aborted: bool,
    },
    /// The session reports.
    Report {
        /// Its connection.
        conn: Conn,
        /// To be answered.
        req: Req,
        /// The dispatch it reports on.
        dispatch: DispatchId,
        /// The report's body.
        body: Body,
    },
    /// A person or a script asks for something.
    Control {
        /// To be answered.
        req: Req,
        /// What.
        command: Command,
    },
    /// The configuration changed (D71: a running task keeps its settings).
    Configure(Settings),
    /// The daemon stops in order (D19).
    Shutdown,
}

/// A process in state `T`, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Stopped by a signal or a debugger.
    Yes,
    /// Running again.
    No,
}

/// Why a session leaves (wire protocol, `session.leaving`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveReason {
    /// The same session comes back at once.
    Reload,
    /// Another conversation in the same process: new, resume or fork.
    Other,
    /// The program ends.
    Quit,
}

/// A main session's request for the project (D20, D23).
#[derive(Debug, Clone)]
pub struct Attach {
    /// Its connection.
    pub conn: Conn,
    /// To be answered.
    pub req: Req,
    /// The session's own id.
    pub session_id: String,
    /// Its process, from the peer credentials.
    pub process: Process,
    /// Whether it is idle now.
    pub idle: bool,
    /// What it knows of a dispatch (D23).
    pub known: Known,
    /// Host program and version, for people.
    pub host: String,
    /// The session file, to say how to open it again.
    pub session_file: Option<String>,
    /// Whether the process that the RUNNING task is bound to is alive right now (false when there is none).
    pub bound_alive: bool,
}

/// `known_dispatch` (D23).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Left out: a client without records.
    NoRecords,
    /// `null`: it keeps records and has none.
    None,
    /// This dispatch, delivered or not.
    Some {
        /// Which.
        dispatch: DispatchId,
        /// Whether its message is in the conversation.
        delivered: bool,
    },
}

/// The answer to `task.dispatch` (D69).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The message is in the conversation (now or from before).
    Accepted,
    /// Not accepted: the session is busy.
    Busy,
    /// Not accepted for another reason: `expired`, `not_owner`, an error.
    Refused,
}

/// What a person or a script can ask of a project.
#[derive(Debug, Clone)]
pub enum Command {
    /// No new dispatch; a running task goes on.
    Pause,
    /// Lifts paused, halted, held and D66.
    Resume,
    /// Take part again.
    Enable,
    /// Stop taking part (D71).
    Disable {
        /// Cancel a running task first.
        now: bool,
    },
    /// Leave for good (D71).
    Remove {
        /// Cancel a running task first.
        now: bool,
    },
    /// Cancel the task of this id (D76).
    Cancel {
        /// The task the caller means.
        task_id: String,
        /// Goes into the error text.
        reason: String,
    },
    /// Write a new task as PENDING (D64).
    Submit {
        /// The new task.
        body: Body,
        /// It is a retry: refused with `task_running` instead of `queue_busy` while RUNNING.
        retry: bool,
    },
    /// Move the owner's place (D20).
    Take {
        /// To this session; `None`: the next in line.
        session_id: Option<String>,
    },
    /// Explain or move aside a lock that is not ours (D16).
    Unlock {
        /// Really move it.
        confirm: bool,
    },
}

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
    },
    /// Somebody else's, or unreadable (D16).
    Blocked(Verdict),
    /// The project's folder is not there.
    Missing,
    /// The lock cannot be written.
    Failed(Failure),
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
    CannotWrite(String),
    /// The owner of the file cannot be kept (D3).
    ForeignOwner(String),
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
    WorkLog(String),
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
