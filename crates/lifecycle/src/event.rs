//! What can happen to a project: a closed set.

use queue::{DispatchId, Run};

use crate::done::Done;
use crate::settings::Settings;
use crate::{Body, Conn, Process, Req};

/// One thing that happened. Whatever woke the shell is only a hint: it sends [`Event::Touched`], and the machine asks
/// for the bytes.
#[derive(Debug, Clone)]
pub enum Event {
    /// `tasks.json`, the lock or a folder on the way may have changed.
    Touched,
    /// The deadline came.
    Tick,
    /// A write of the planner that nobody saw was found on the way and kept under this name (D64).
    Kept(String),
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
        /// What keeps it busy, for people.
        hint: Option<BusyWith>,
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
        /// The turn was aborted: why, in the host's words; empty when a person did it.
        aborted: Option<String>,
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
    /// At the start of the daemon: runs of a task that ended before it are still alive, by the journal (D66). Comes
    /// before anything else.
    RunsAlive {
        /// The planner's id.
        task_id: String,
        /// The dispatch they belong to.
        dispatch: DispatchId,
        /// The runs.
        runs: Vec<Run>,
    },
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

/// What keeps a session busy, as it says itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusyWith {
    /// A dialog is open.
    Dialog,
    /// The person's shell command runs.
    Shell,
    /// The conversation is being compacted.
    Compaction,
    /// It has no model that could be asked.
    Model,
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
