//! The state of one project. Variants carry only their own data; nothing here decides anything.

use std::collections::VecDeque;

use queue::{DispatchId, Run};

use crate::block::{Backoff, Block};
use crate::cause::Cause;
use crate::done::Recovered;
use crate::effect::{Binding, Effect, Level, Verdict};
use crate::event::Command;
use crate::job::Outcome;
use crate::reply::{LogResult, SessionReach};
use crate::sessions::{Identity, Sessions};
use crate::settings::Settings;
use crate::status::{Detail, Reason, Shown};
use crate::time::{Awake, Moment, Wall};
use crate::view::{RawHash, TaskMeta, View};
use crate::{Body, Conn, Req};

/// One project: the whole of what the daemon believes about it.
#[derive(Debug, Clone)]
pub struct Project {
    pub(crate) settings: Settings,
    pub(crate) admin: Admin,
    pub(crate) paused: bool,
    pub(crate) stopping: Stopping,
    pub(crate) lock: Lock,
    /// What the lock of a dead owner said, until the file was read.
    pub(crate) recovered: Option<Box<Recovered>>,
    /// The journal's lines are still to be compared with the work log (D67).
    pub(crate) replay: bool,
    pub(crate) view: Option<Box<View>>,
    pub(crate) stale: bool,
    pub(crate) unreadable: Option<Unreadable>,
    /// The system refused to let the file be read: when it is tried again (D70).
    pub(crate) reread: Option<Backoff>,
    /// The PENDING that was told of already.
    pub(crate) pending_told: Option<RawHash>,
    pub(crate) sessions: Sessions,
    pub(crate) task: Task,
    pub(crate) halt: Halt,
    /// The PENDING that a person let go although a rule holds it (D65).
    pub(crate) lifted: Option<RawHash>,
    pub(crate) lingering: Option<Box<Lingering>>,
    /// An end that no session was there to be told of: the next one that gets the place is.
    pub(crate) untold: Option<Box<Untold>>,
    /// The file that a task displaced which was given up since is still to be looked at (D64).
    pub(crate) unsettled: bool,
    pub(crate) block: Option<Box<Block>>,
    pub(crate) busy_job: Option<JobKind>,
    pub(crate) requests: VecDeque<(Req, Command)>,
    pub(crate) reports: VecDeque<Waiting>,
    pub(crate) shown: Shown,
    pub(crate) shown_detail: Detail,
}

/// Whether the project takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admin {
    /// It does.
    Active,
    /// It is brought to an end; then the lock is released (D71).
    Leaving,
    /// It does not; no lock is held.
    Disabled,
}

/// The daemon stops (D19).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopping {
    /// It does not.
    No,
    /// Writes that have begun are finished.
    Asked,
    /// The lock is being let go.
    Released,
}

/// The ownership lock (D14–D19).
#[derive(Debug, Clone)]
pub(crate) enum Lock {
    /// Not asked for yet, or to be asked for again.
    None { retry: Awake },
    /// Somebody else's.
    Blocked { verdict: Box<Verdict>, retry: Awake },
    /// The folder is not there.
    Missing { retry: Awake },
    /// It was ours (`moved`, `lock_lost`), or cannot be written.
    Lost { reason: Reason, cause: Cause, backoff: Backoff },
    /// Ours; the binding that is in the file.
    Ours { bound: Option<Binding> },
}

/// The one task of the project.
#[derive(Debug, Clone)]
pub(crate) enum Task {
    /// None of ours.
    None,
    /// RUNNING is being written.
    Claiming(Box<Claiming>),
    /// RUNNING is durable.
    Running(Box<Running>),
    /// Its end is being written.
    Ending(Box<Ending>),
    /// ERROR is being written over a PENDING.
    Rejecting(Box<Rejecting>),
}

/// Writing RUNNING for this session.
#[derive(Debug, Clone)]
pub(crate) struct Claiming {
    pub(crate) dispatch: DispatchId,
    pub(crate) task: TaskMeta,
    pub(crate) again: bool,
    pub(crate) started: Wall,
    pub(crate) owner: Identity,
    /// Its session went for good meanwhile, and how.
    pub(crate) gone: Option<&'static str>,
    /// A cancel that came meanwhile without a request (D71).
    pub(crate) cancel: Option<String>,
}

/// Writing ERROR over a PENDING: a rejection, or a cancel with its request.
#[derive(Debug, Clone)]
pub(crate) struct Rejecting {
    pub(crate) hash: RawHash,
    pub(crate) task: TaskMeta,
    pub(crate) text: String,
    pub(crate) cancel: Option<Req>,
}

/// A RUNNING task.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) dispatch: DispatchId,
    pub(crate) task: TaskMeta,
    pub(crate) hash: RawHash,
    pub(crate) started: Wall,
    /// When `task.max_runtime` is over (D24).
    pub(crate) runtime_until: Option<Awake>,
    /// Proven to be a dispatch of ours: started here, or in the journal. Without that nothing is sent again.
    pub(crate) proven: bool,
    pub(crate) settings: Settings,
    pub(crate) owner: Identity,
    pub(crate) presence: Presence,
    pub(crate) delivery: Delivery,
    pub(crate) sends: u8,
    pub(crate) first_try: Awake,
    pub(crate) turn: Turn,
    pub(crate) runs: Vec<Run>,
    /// A background run was observed (D21, D25).
    pub(crate) background: bool,
    /// So said the lock of the daemon before this one; what is observed here cannot take it back.
    pub(crate) background_before: bool,
    /// The reminder after background runs was given.
    pub(crate) reminded: bool,
    pub(crate) refused: bool,
    pub(crate) displaced: bool,
    pub(crate) last_sign: Awake,
    pub(crate) last_seen: Wall,
    pub(crate) cancelling: Option<Cancelling>,
    /// Its conversation was left for another one, and waits where it is.
    pub(crate) left: bool,
    /// Runs whose processes have ended while nobody was there to tell how.
    pub(crate) gone: Vec<String>,
}

/// Where the owner's session is.
#[derive(Debug, Clone)]
pub(crate) enum Presence {
    /// Connected.
    Here(Conn),
    /// Awaited (D21).
    Away { since: Wall, until: Awake, process_alive: bool },
}

/// Where the message is (D69).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Not sent; at the next idle moment.
    Waiting,
    /// Sent, no answer yet.
    Sent { conn: Conn, until: Awake },
    /// Proven not delivered; sent again at the next idle moment, or at `again`.
    Refused { again: Option<Awake> },
    /// In the conversation.
    Accepted,
    /// From before this daemon; the session will say (D23).
    Unknown,
}

/// What the session does about an accepted task (D25).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// At work, or its background runs are.
    Working,
    /// Settled without a report and reminded; `armed`: the next idle moment ends it.
    Reminded { armed: bool, until: Option<Awake> },
    /// Its background runs have ended and it is idle.
    Quiet { remind: Awake },
    /// Reminded after background runs; `async_grace` runs.
    Owing { until: Awake },
}

/// A cancel on its way (D76).
#[derive(Debug, Clone)]
pub(crate) struct Cancelling {
    pub(crate) reason: String,
    pub(crate) requests: Vec<Req>,
    pub(crate) until: Awake,
}

/// Writing the end of a task.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    /// Absent for a RUNNING that was never ours.
    pub(crate) run: Option<Box<Running>>,
    pub(crate) task: TaskMeta,
    pub(crate) dispatch: Option<DispatchId>,
    pub(crate) started: Option<Wall>,
    pub(crate) runs: Vec<Run>,
    pub(crate) hash: RawHash,
    pub(crate) outcome: Outcome,
    pub(crate) stage: Stage,
    pub(crate) log: Result<(), String>,
    pub(crate) completed: Wall,
    /// The report's request.
    pub(crate) report: Option<Req>,
    /// Cancels that wait for the end, with their reasons, and how the session took them.
    pub(crate) cancels: Vec<(Req, String)>,
    pub(crate) reach: SessionReach,
}

/// How far writing the end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    OpenLog,
    Write,
    Append,
    /// The log failed after COMPLETE was written: ERROR is written over it.
    Demote,
    Settle,
}

/// Why dispatch stopped until a person looks (D11, D64). Both can be so at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Halt {
    /// The file no longer holds the running task.
    pub(crate) replaced: bool,
    /// A planner's write that nobody read was kept under this name.
    pub(crate) lost: Option<String>,
}

impl Halt {
    pub(crate) const fn any(&self) -> bool {
        self.replaced || self.lost.is_some()
    }
}

/// An unreadable document that may only be half written (D2).
#[derive(Debug, Clone)]
pub(crate) struct Unreadable {
    pub(crate) hash: Option<RawHash>,
    pub(crate) code: &'static str,
    pub(crate) since: Awake,
    pub(crate) confirmed: bool,
}

/// Runs of an ended task that are still at work (D66).
#[derive(Debug, Clone)]
pub(crate) struct Lingering {
    pub(crate) task_id: String,
    pub(crate) dispatch: DispatchId,
    pub(crate) runs: Vec<Run>,
}

/// How a task ended, in words.
#[derive(Debug, Clone)]
pub(crate) struct Untold {
    pub(crate) dispatch: Option<DispatchId>,
    pub(crate) level: Level,
    pub(crate) text: String,
}

/// A report that waits for its check.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub(crate) req: Req,
    pub(crate) dispatch: DispatchId,
    pub(crate) body: Body,
}

/// Which job is out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JobKind {
    Acquire,
    Read,
    Bind(Option<Binding>),
    Release,
    Unlock { req: Req, confirm: bool },
    Claim,
    Settle,
    Reject,
    CheckReport(Req, Body),
    OpenLog,
    WriteEnd,
    AppendLog,
    ReplayLog,
    Submit(Req, Body),
}

/// How a task ended, for journal, events and notices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The planner's task.
    pub task: TaskMeta,
    /// The dispatch, when it was one of ours.
    pub dispatch: Option<DispatchId>,
    /// COMPLETE, or ERROR.
    pub complete: bool,
    /// The error text, when it was ours.
    pub error: Option<String>,
    /// The report it came from.
    pub report: Option<Body>,
    /// `started_at`, if known.
    pub started: Option<Wall>,
    /// `completed_at`.
    pub completed: Wall,
    /// The work log.
    pub log: LogResult,
}

/// What a step collects.
pub(crate) struct Out {
    pub(crate) now: Moment,
    pub(crate) effects: Vec<Effect>,
}

impl Out {
    pub(crate) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }
}

impl Project {
    /// A project that has just become known; the first step asks for the lock.
    #[must_use]
    pub fn new(settings: Settings, admin: Admin, paused: bool) -> Self {
        Self {
            settings,
            admin,
            paused,
            stopping: Stopping::No,
            lock: Lock::None { retry: Awake(0) },
            recovered: None,
            replay: false,
            view: None,
            stale: false,
            unreadable: None,
            reread: None,
            pending_told: None,
            sessions: Sessions::default(),
            task: Task::None,
            halt: Halt::default(),
            lifted: None,
            lingering: None,
            untold: None,
            unsettled: false,
            block: None,
            busy_job: None,
            requests: VecDeque::new(),
            reports: VecDeque::new(),
            shown: Shown::default(),
            shown_detail: Detail::default(),
        }
    }

    /// The running task, also while its end is being written.
    pub(crate) fn run(&self) -> Option<&Running> {
        match &self.task {
            Task::Running(run) => Some(run),
            Task::Ending(ending) => ending.run.as_deref(),
            Task::None | Task::Claiming(_) | Task::Rejecting(_) => None,
        }
    }

    pub(crate) fn is_ours(&self) -> bool {
        matches!(self.lock, Lock::Ours { .. })
    }
}
