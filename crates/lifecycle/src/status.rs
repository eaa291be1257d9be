//! What a person sees: which of the situations of promise 7 it is, why in one sentence, and the one command next.
//!
//! The order of the states is the wire protocol's: the first that fits wins.

use queue::{DispatchId, RunState};

use crate::state::{Admin, Delivery as Stage, Halt, Lock, Presence, Project, Running, Task, Turn};
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
    /// Milliseconds from now until something ends it, if something does.
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

    /// Processes worth watching: the owner's, that of a running task, those standing by.
    #[must_use]
    pub fn processes(&self) -> Vec<crate::Process> {
        let mut all: Vec<_> = self.run().map(|run| run.owner.process).into_iter().collect();
        all.extend(self.sessions.owner.iter().map(|owner| owner.who.process));
        all.extend(self.sessions.standby.iter().map(|session| session.who.process));
        all.extend(self.sessions.kept.map(|(process, _)| process));
        all.dedup();
        all
    }

    /// The runs whose processes hold dispatch (D66): run id and pid, where known.
    #[must_use]
    pub fn lingering(&self) -> Vec<(String, Option<u32>)> {
        let all = self.lingering.iter().flat_map(|lingering| &lingering.runs);
        all.map(|run| (run.run_id.clone(), run.pid)).collect()
    }

    /// The RUNNING dispatch, if there is one.
    #[must_use]
    pub fn running(&self) -> Option<DispatchId> {
        self.run().map(|run| run.dispatch)
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

    /// Notes a change of state or reason; `true` if there was one.
    pub(crate) fn refresh_shown(&mut self, wall: Wall) -> bool {
        let (state, reason) = self.classify(wall);
        let changed = (state, reason) != (self.shown.state, self.shown.reason);
        if changed || self.shown.since == Wall(0) {
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
        match &self.halt {
            Some(Halt::Replaced) => return (State::Halted, Some(Reason::Replaced)),
            Some(Halt::LostWrite(_)) => return (State::Halted, Some(Reason::LostWrite)),
            None => {}
        }
        if self.shown_unreadable().is_some() {
            return (State::Unreadable, None);
        }
        if matches!(self.task, Task::Running(_) | Task::Ending(_) | Task::Claiming(_)) {
            return (State::Running, None);
        }
        if self.paused {
            return (State::Paused, None);
        }
        if let Some(reason) = self.held(wall) {
            return (State::Held, Some(reason));
        }
        match self.view.as_deref().map(|view| &view.content) {
            Some(Content::Pending(_)) => (State::Waiting, Some(self.waits_for())),
            _ => (State::Idle, None),
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

    fn why(&self, state: State, reason: Option<Reason>) -> Option<String> {
        let text = match state {
            State::Idle => return None,
            State::Disabled => "the project is disabled".to_owned(),
            State::Missing => "the project's folder is not there".to_owned(),
            State::Starting => "the project is being opened".to_owned(),
            State::Stuck => "its file system does not answer".to_owned(),
            State::Leaving => "it leaves as soon as its task has ended".to_owned(),
            State::Cancelling => "the session was asked to stop".to_owned(),
            State::Paused => "a person paused it".to_owned(),
            State::Blocked => return self.why_blocked(),
            State::Halted => match &self.halt {
                Some(Halt::LostWrite(kept)) => format!("a write to tasks.json that nobody had read was kept as {kept}"),
                _ => "tasks.json was changed during the task; the change was kept".to_owned(),
            },
            State::Unreadable => match self.view.as_deref().map(|view| &view.content) {
                Some(Content::Unreadable { message, .. }) => message.clone(),
                _ => "tasks.json cannot be read".to_owned(),
            },
            State::Held => match reason {
                Some(Reason::TrackedByGit) => "git tracks tasks.json, so a pull could start work here".to_owned(),
                _ => "this task ran twice within ten minutes".to_owned(),
            },
            State::Running => return self.run().map(Running::why),
            State::Waiting => return Some(self.why_waiting(reason)),
        };
        Some(text)
    }

    fn why_blocked(&self) -> Option<String> {
        match (&self.lock, &self.block) {
            (Lock::Blocked { verdict, .. }, _) => Some(verdict.text.clone()),
            (Lock::Lost { words, .. }, _) => Some(words.clone()),
            (_, Some(block)) => Some(block.words.clone()),
            _ => Some("tasks.json has no room left for RUNNING or ERROR".to_owned()),
        }
    }

    fn why_waiting(&self, reason: Option<Reason>) -> String {
        match reason {
            Some(Reason::RunsAlive) => match &self.lingering {
                Some(old) if old.runs.len() == 1 => format!("1 run of {} is still at work", old.task_id),
                Some(old) => format!("{} runs of {} are still at work", old.runs.len(), old.task_id),
                None => "runs of an ended task are still at work".to_owned(),
            },
            Some(Reason::NoSession) => "no main session is attached".to_owned(),
            Some(Reason::Stopped) => "its process is stopped".to_owned(),
            Some(Reason::Busy) => "the session is busy".to_owned(),
            _ => "the session is being bound".to_owned(),
        }
    }

    fn next(&self, state: State, reason: Option<Reason>) -> Option<String> {
        let pending = match self.view.as_deref().map(|view| &view.content) {
            Some(Content::Pending(pending)) => Some(pending.task.task_id.as_str()),
            _ => self.run().map(|run| run.task.task_id.as_str()),
        };
        let cancel = pending.map(|id| format!("handoff cancel {}", quoted(id)));
        match (state, reason) {
            (State::Halted | State::Held | State::Paused, _) | (_, Some(Reason::RunsAlive)) => {
                Some("handoff resume".into())
            }
            (State::Blocked, Some(Reason::LockLive | Reason::LockUnknown | Reason::LockMalformed)) => {
                Some("handoff unlock".into())
            }
            (State::Blocked, Some(Reason::WorkLog)) => Some("handoff init".into()),
            (State::Disabled, _) => Some("handoff enable".into()),
            (State::Waiting, Some(Reason::NoSession)) => Some("handoff attach".into()),
            (State::Waiting | State::Running, _) => cancel,
            (State::Unreadable, _) => Some("handoff lint".into()),
            _ => None,
        }
    }
}

impl Running {
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
            runs: (count(RunState::Running), count(RunState::Complete), count(RunState::Failed)),
            until: self.deadline(),
            last_seen: self.last_seen,
            session_id: self.owner.session_id.clone(),
            session_file: self.owner.file.clone(),
        }
    }

    fn why(&self) -> String {
        match (&self.presence, self.delivery, self.turn) {
            (Presence::Away { process_alive: true, .. }, _, _) => {
                "its session's connection was lost; it is awaited".into()
            }
            (Presence::Away { .. }, _, _) => {
                let open = self.owner.file.as_deref().unwrap_or(&self.owner.session_id);
                format!("its session has ended; open it again to report: pi --session {}", quoted(open))
            }
            (_, Stage::Waiting | Stage::Refused { .. }, _) => "it is sent when the session is idle".into(),
            (_, Stage::Sent { .. } | Stage::Unknown, _) => "the session has not accepted it yet".into(),
            (_, Stage::Accepted, Turn::Reminded { .. } | Turn::Owing { .. }) => "the session owes a report".into(),
            _ => "the session is at work".into(),
        }
    }
}

/// For a shell: as it is where that is harmless, else in single quotes.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return text.to_owned();
    }
    let clean: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("'{}'", clean.replace('\'', "'\\''"))
}

/// Milliseconds as people write them: `30 s`, `24 h`.
pub(crate) fn duration(ms: u64) -> String {
    match ms / 1_000 {
        0 => format!("{ms} ms"),
        s if s % 3_600 == 0 => format!("{} h", s / 3_600),
        s if s % 60 == 0 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}

/// A wall-clock time as RFC 3339 UTC with seconds (civil-from-days, Howard Hinnant's public-domain formula).
pub(crate) fn clock(wall: Wall) -> String {
    let seconds = wall.0.div_euclid(1_000);
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3_600, rest / 60 % 60, rest % 60)
}
