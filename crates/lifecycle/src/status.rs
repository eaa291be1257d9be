//! What a person sees: which of the situations of promise 7 it is, why in one sentence, and the one command next.
//!
//! The order of the states is the wire protocol's: the first that fits wins.

use queue::{DispatchId, RunState};

use crate::event::BusyWith;
use crate::state::{Admin, Delivery as Stage, Lock, Presence, Project, Running, Task, Turn};
use crate::time::{Awake, Wall};
use crate::view::Content;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each variant is the word it stands for on the wire")]
        pub enum $name { $($variant,)* }

        impl $name {
            /// All words.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

words! {
    /// The state of a project (wire protocol, `daemon.status`).
    State {
        Idle = "idle", Waiting = "waiting", Running = "running", Cancelling = "cancelling", Blocked = "blocked",
        Unreadable = "unreadable", Halted = "halted", Held = "held", Paused = "paused", Disabled = "disabled",
        Leaving = "leaving", Missing = "missing", Starting = "starting", Stuck = "stuck",
    }
}

words! {
    /// Why a project is blocked, halted, held or waiting.
    Reason {
        LockLive = "lock_live", LockUnknown = "lock_unknown", LockMalformed = "lock_malformed",
        ForeignOwner = "foreign_owner", CannotWrite = "cannot_write", Moved = "moved", LockLost = "lock_lost",
        QueueFull = "queue_full", WorkLog = "work_log", ContextFile = "context_file",
        Replaced = "replaced", LostWrite = "lost_write", Repeating = "repeating", TrackedByGit = "tracked_by_git",
        NoSession = "no_session", Busy = "busy", Stopped = "stopped", RunsAlive = "runs_alive",
        NotAccepted = "not_accepted", Starting = "starting",
    }
}

words! {
    /// Where the message of a running task is.
    Delivery { Sent = "sent", Accepted = "accepted", Refused = "refused", }
}

words! {
    /// Whether a report is owed.
    ReportState { None = "none", Owed = "owed", Refused = "refused", }
}

/// State and reason as last shown, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// The state.
    pub state: State,
    /// Its reason.
    pub reason: Option<Reason>,
    /// Since when both are so.
    pub since: Wall,
}

impl Default for Shown {
    fn default() -> Self {
        Self { state: State::Starting, reason: None, since: Wall(0) }
    }
}

/// A change of it is told like a change of the state: it is in the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Detail {
    runs: usize,
    busy_with: Option<BusyWith>,
    /// The session of the task that runs is awaited.
    awaited: bool,
}

/// The whole answer for one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// State, reason, since.
    pub shown: Shown,
    /// For `unreadable`: the code of D1.
    pub unreadable: Option<&'static str>,
    /// One sentence without a final stop.
    pub why: Option<String>,
    /// The one command that helps, if one does.
    pub next: Option<String>,
    /// The running task.
    pub task: Option<TaskStatus>,
    /// The owner's session.
    pub session: Option<SessionStatus>,
    /// How many sessions stand by.
    pub standby: usize,
    /// Whether the lock is ours.
    pub lock_ours: bool,
    /// A lock that is not ours.
    pub verdict: Option<crate::Verdict>,
}

/// The running task for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskStatus {
    /// Its dispatch.
    pub dispatch: DispatchId,
    /// The planner's id.
    pub task_id: String,
    /// RUNNING since.
    pub started: Wall,
    /// Where the message is.
    pub delivery: Delivery,
    /// Whether a report is owed.
    pub report: ReportState,
    /// Runs: live, complete, failed.
    pub runs: (usize, usize, usize),
    /// When something ends it, if nothing happens until then.
    pub until: Option<Awake>,
    /// Last sign of life.
    pub last_seen: Wall,
    /// The session's id.
    pub session_id: String,
    /// The session file, to open it again.
    pub session_file: Option<String>,
}

/// The owner's session for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStatus {
    /// Its id.
    pub session_id: String,
    /// Its process.
    pub process: crate::Process,
    /// Host program and version.
    pub host: String,
    /// Idle as far as a dispatch is concerned.
    pub idle: bool,
    /// Last sign of life.
    pub last_seen: Wall,
}

impl Project {
    /// What to show now. `stuck`: the job that is out has not answered for a while (D73).
    #[must_use]
    pub fn status(&self, wall: Wall) -> Status {
        let (state, reason) = self.classify(wall);
        let since = if (state, reason) == (self.shown.state, self.shown.reason) { self.shown.since } else { wall };
        Status {
            shown: Shown { state, reason, since },
            unreadable: self.shown_unreadable(),
            why: self.why(state, reason),
            next: self.next(state, reason),
            task: self.run().map(Running::status),
            session: self.sessions.owner.as_ref().map(|owner| SessionStatus {
                session_id: owner.who.session_id.clone(),
                process: owner.who.process,
                host: owner.who.host.clone(),
                idle: owner.free(),
                last_seen: owner.last_seen,
            }),
            standby: self.sessions.standby.len(),
            lock_ours: self.is_ours(),
            verdict: match &self.lock {
                Lock::Blocked { verdict, .. } => Some((**verdict).clone()),
                _ => None,
            },
        }
    }

    /// Processes worth watching: the owner's, that of a running task, those standing by; none that is known to be gone.
    #[must_use]
    pub fn processes(&self) -> Vec<crate::Process> {
        let alive = |run: &&Running| !matches!(run.presence, Presence::Away { process_alive: false, .. });
        let mut all: Vec<_> = self.run().filter(alive).map(|run| run.owner.process).into_iter().collect();
        all.extend(self.sessions.owner.iter().map(|owner| owner.who.process));
        all.extend(self.sessions.standby.iter().map(|session| session.who.process));
        all.extend(self.sessions.kept.map(|(process, _)| process));
        all.dedup();
        all
    }

    /// The runs whose processes are to be watched: those that hold dispatch (D66), and those whose end no session tells.
    /// Run id and pid, where known.
    #[must_use]
    pub fn lingering(&self) -> Vec<(String, Option<u32>)> {
        let deserted = self.run().filter(|run| run.is_deserted());
        let untold = deserted.into_iter().flat_map(Running::at_work).filter(|run| run.background);
        let all = self.lingering_runs().iter().chain(untold);
        all.map(|run| (run.run_id.clone(), run.pid)).collect()
    }

    /// The runs of an ended task that are still alive (D66).
    #[must_use]
    pub fn lingering_runs(&self) -> &[queue::Run] {
        self.lingering.as_ref().map_or(&[], |lingering| &lingering.runs)
    }

    /// The runs observed for the RUNNING task.
    #[must_use]
    pub fn running_runs(&self) -> &[queue::Run] {
        self.run().map_or(&[], |run| &run.runs)
    }

    /// The RUNNING task: its id, the hash of the file that holds it.
    #[must_use]
    pub fn running_task(&self) -> Option<(&str, crate::RawHash)> {
        self.run().map(|run| (run.task.task_id.as_str(), run.hash))
    }

    /// The owner's session.
    #[must_use]
    pub fn owner_session(&self) -> Option<&str> {
        self.sessions.owner.as_ref().map(|owner| owner.who.session_id.as_str())
    }

    /// The owner's session, and whether it is idle as far as a dispatch is concerned.
    #[must_use]
    pub fn owner_activity(&self) -> Option<(&str, bool)> {
        self.sessions.owner.as_ref().map(|owner| (owner.who.session_id.as_str(), owner.free()))
    }

    /// The RUNNING dispatch, if there is one.
    #[must_use]
    pub fn running(&self) -> Option<DispatchId> {
        self.run().map(|run| run.dispatch)
    }

    /// How often the RUNNING dispatch was sent to its session, by this daemon (D69).
    #[must_use]
    pub fn sends(&self) -> u32 {
        self.run().map_or(0, |run| run.sends.into())
    }

    /// The last reading of the file.
    #[must_use]
    pub fn view(&self) -> Option<&crate::View> {
        self.view.as_deref()
    }

    /// Whether it takes part.
    #[must_use]
    pub const fn admin(&self) -> Admin {
        self.admin
    }

    /// Whether a person paused it.
    #[must_use]
    pub const fn is_paused(&self) -> bool {
        self.paused
    }

    /// The process that the RUNNING task is bound to.
    #[must_use]
    pub fn bound_process(&self) -> Option<crate::Process> {
        self.run().map(|run| run.owner.process)
    }

    /// Notes a change of what is shown; `true` if there was one.
    pub(crate) fn refresh_shown(&mut self, wall: Wall) -> bool {
        let (state, reason) = self.classify(wall);
        let detail = self.detail(reason);
        let changed = (state, reason) != (self.shown.state, self.shown.reason) || detail != self.shown_detail;
        self.shown_detail = detail;
        if (state, reason) != (self.shown.state, self.shown.reason) || self.shown.since == Wall(0) {
            self.shown = Shown { state, reason, since: wall };
        }
        changed
    }

    fn shown_unreadable(&self) -> Option<&'static str> {
        self.unreadable.as_ref().filter(|unsteady| unsteady.confirmed).map(|unsteady| unsteady.code)
    }

    fn classify(&self, wall: Wall) -> (State, Option<Reason>) {
        if self.admin == Admin::Disabled {
            return (State::Disabled, None);
        }
        if let Some(outer) = self.classify_outer() {
            return outer;
        }
        if self.admin == Admin::Leaving {
            return (State::Leaving, None);
        }
        if self.run().is_some_and(|run| run.cancelling.is_some()) {
            return (State::Cancelling, None);
        }
        if self.halt.any() {
            let reason = if self.halt.replaced { Reason::Replaced } else { Reason::LostWrite };
            return (State::Halted, Some(reason));
        }
        if self.shown_unreadable().is_some() {
            return (State::Unreadable, None);
        }
        if matches!(self.task, Task::Running(_) | Task::Ending(_) | Task::Claiming(_)) {
            return (State::Running, self.run().filter(|run| run.is_deserted()).map(|_| Reason::NoSession));
        }
        if self.paused {
            return (State::Paused, None);
        }
        if let Some(reason) = self.held(wall) {
            return (State::Held, Some(reason));
        }
        match self.view.as_deref().map(|view| &view.content) {
            Some(Content::Pending(_)) => (State::Waiting, Some(self.waits_for())),
            _ => (State::Idle, self.lingering.as_ref().map(|_| Reason::RunsAlive)),
        }
    }

    /// Lock, folder and disk.
    fn classify_outer(&self) -> Option<(State, Option<Reason>)> {
        match &self.lock {
            Lock::None { .. } => return Some((State::Starting, None)),
            Lock::Missing { .. } => return Some((State::Missing, None)),
            Lock::Blocked { verdict, .. } => return Some((State::Blocked, Some(verdict.reason))),
            Lock::Lost { reason, .. } => return Some((State::Blocked, Some(*reason))),
            Lock::Ours { .. } if self.view.is_none() => return Some((State::Starting, None)),
            Lock::Ours { .. } => {}
        }
        if let Some(block) = &self.block {
            return Some((State::Blocked, Some(block.reason)));
        }
        let full =
            matches!(self.view.as_deref().map(|view| &view.content), Some(Content::Pending(pending)) if pending.full);
        full.then_some((State::Blocked, Some(Reason::QueueFull)))
    }

    /// What the words say beyond state and reason.
    fn detail(&self, reason: Option<Reason>) -> Detail {
        match reason {
            Some(Reason::RunsAlive) => Detail { runs: self.lingering_runs().len(), ..Detail::default() },
            Some(Reason::Busy) => {
                let busy_with = self.sessions.owner.as_ref().and_then(|owner| owner.busy_with);
                Detail { busy_with, ..Detail::default() }
            }
            _ => Detail { awaited: self.run().is_some_and(Running::is_awaited), ..Detail::default() },
        }
    }

    fn waits_for(&self) -> Reason {
        match &self.sessions.owner {
            _ if self.lingering.is_some() => Reason::RunsAlive,
            None => Reason::NoSession,
            Some(owner) if owner.stopped => Reason::Stopped,
            Some(_) if !self.is_bound() => Reason::Starting,
            Some(owner) if !owner.free() => Reason::Busy,
            Some(_) => Reason::Starting,
        }
    }
}

impl Running {
    /// Nobody will report until a person opens its session again, or goes back to it.
    fn is_deserted(&self) -> bool {
        matches!(self.presence, Presence::Away { process_alive, .. } if self.left || !process_alive)
    }

    /// Its session's connection is lost.
    const fn is_awaited(&self) -> bool {
        matches!(self.presence, Presence::Away { .. })
    }

    fn status(&self) -> TaskStatus {
        let count = |state: RunState| self.runs.iter().filter(|run| run.state == state).count();
        TaskStatus {
            dispatch: self.dispatch,
            task_id: self.task.task_id.clone(),
            started: self.started,
            delivery: match self.delivery {
                Stage::Accepted => Delivery::Accepted,
                Stage::Sent { .. } | Stage::Unknown => Delivery::Sent,
                Stage::Waiting | Stage::Refused { .. } => Delivery::Refused,
            },
            report: match self.turn {
                Turn::Reminded { .. } | Turn::Owing { .. } => ReportState::Owed,
                _ if self.refused => ReportState::Refused,
                _ => ReportState::None,
            },
            runs: (self.at_work().count(), count(RunState::Complete), count(RunState::Failed)),
            until: self.ends_at(),
            last_seen: self.last_seen,
            session_id: self.owner.session_id.clone(),
            session_file: self.owner.file.clone(),
        }
    }
}
