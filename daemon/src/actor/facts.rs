//! What happened, told four times: a row in the journal, a line in the log, an event in the stream, a notice to a person.
//!
//! Bodies are never logged, only ids and sizes (F277). Two rows are written by the jobs and not here, since their order
//! matters: RUNNING right behind the file, the end of a task before the file (D22, D67).

use lifecycle::{Ended, Fact, Level, TaskMeta, Wall};
use queue::DispatchId;
use wire::daemon_calls::NoticeLevel;
use wire::event::{EventKind, LockChange, SessionChange};
use wire::journal::{self, Entry, Row};
use wire::session::{EndStatus, Ownership};

use super::hooks::About;
use super::{Actor, bodies, said};
use crate::convert;

/// The level's word on the wire.
pub(super) fn level(level: Level) -> NoticeLevel {
    match level {
        Level::Info => NoticeLevel::Info,
        Level::Warning => NoticeLevel::Warning,
        Level::Error => NoticeLevel::Error,
    }
}

/// Tells everybody about one fact.
pub(super) fn record(actor: &mut Actor, fact: Fact, at: Wall) {
    match fact {
        Fact::Pending(task) => actor.pending(&task, at),
        Fact::Rejected { task, text } => actor.rejected(&task, &text, at),
        Fact::Cancelled { task, text } => actor.cancelled_before(&task, text, at),
        Fact::Started { task, dispatch, again } => actor.started(&task, dispatch, again),
        Fact::Sent(dispatch) => actor.sent(dispatch),
        Fact::Accepted(dispatch) => actor.accepted(dispatch, at),
        Fact::NotAccepted(dispatch) => actor.not_accepted(dispatch, at),
        Fact::Reminded(dispatch) => actor.reminded(dispatch, at),
        Fact::Run(dispatch, run) => actor.run_seen(dispatch, &run, at),
        Fact::ReportRefused(dispatch, problems) => actor.report_refused(dispatch, problems, at),
        Fact::Ended(ended) => actor.ended_fact(&ended),
        Fact::Demoted { task_id, dispatch, text } => actor.demoted(task_id, dispatch, text),
        Fact::LogFailed { task_id, dispatch, why } => actor.log_failed(task_id, dispatch, why, at),
        Fact::Abandoned { task, dispatch, started } => actor.abandoned(&task, dispatch, started, at),
        Fact::State => actor.publish_state(),
        Fact::LockTaken { recovered } => actor.lock_taken(recovered, at),
        Fact::LockLost(why) => actor.lock_lost(&why, at),
        Fact::Session { session_id, what } => actor.session(session_id, what, at),
        Fact::Notice(level, text) => actor.notice(level, text, at),
    }
}

impl Actor {
    fn journal(&self, at: Wall, entry: Entry) {
        if let Some(line) = self.row(at, entry) {
            self.hub.journal.append(line);
        }
    }

    fn row(&self, at: Wall, entry: Entry) -> Option<String> {
        let row = Row { at: convert::time(at), project: Some(self.path_text.to_string()), entry };
        let unwritable = |error: &_| tracing::error!(%error, "a row of the journal could not be written as JSON");
        row.to_line().inspect_err(unwritable).ok()
    }

    fn publish(&self, what: EventKind) {
        self.hub.events.publish(Some(&self.path_text), what);
    }

    fn pending(&self, task: &TaskMeta, at: Wall) {
        let task_id = task.task_id.clone();
        tracing::info!(project = %self.path.display(), task = task_id, "a task is waiting");
        let (fingerprint, created_at) = (hex(&task.fingerprint), Some(task.created_at.clone()));
        self.journal(at, Entry::Pending(journal::Pending { task_id: task_id.clone(), fingerprint, created_at }));
        self.publish(EventKind::TaskPending { task_id });
    }

    fn rejected(&mut self, task: &TaskMeta, text: &str, at: Wall) {
        tracing::warn!(project = %self.path.display(), task = task.task_id, why = text, "a task was rejected");
        let task_id = Some(task.task_id.clone()).filter(|id| !id.is_empty());
        self.hook_end(About::task(task_id.as_deref().unwrap_or_default()).error(text));
        let problems = self.queue.problems.clone();
        let row = journal::Rejected { task_id: task_id.clone(), error: text.to_owned(), problems: problems.clone() };
        self.journal(at, Entry::Rejected(row));
        self.publish(EventKind::TaskRejected { task_id, problems });
        let row = Self::ended_before_it_ran(task, text, at);
        self.tell_waiters(&task.task_id, Some(&row));
    }

    fn cancelled_before(&mut self, task: &TaskMeta, text: String, at: Wall) {
        let task_id = task.task_id.clone();
        tracing::info!(project = %self.path.display(), task = task_id, "a waiting task was cancelled");
        let row = Self::ended_before_it_ran(task, &text, at);
        let (status, dispatch_id, verdict) = (EndStatus::Error, None, None);
        self.hook_end(About::task(&task_id).error(&text));
        self.publish(EventKind::TaskEnded {
            task_id: task_id.clone(),
            dispatch_id,
            status,
            error: Some(text),
            verdict,
        });
        self.tell_waiters(&task_id, Some(&row));
    }

    /// The end of a PENDING; the job has written the same row.
    fn ended_before_it_ran(task: &TaskMeta, text: &str, at: Wall) -> journal::Ended {
        journal::Ended {
            task_id: task.task_id.clone(),
            dispatch_id: None,
            status: EndStatus::Error,
            error: Some(text.to_owned()),
            started_at: None,
            completed_at: Some(convert::time(at)),
            fingerprint: None,
            created_at: None,
            planner: None,
            result: None,
            report: None,
            verdict: None,
            log_line: None,
        }
    }

    fn started(&self, task: &TaskMeta, dispatch: DispatchId, again: bool) {
        let id = dispatch.to_string();
        if again {
            tracing::warn!(project = %self.path.display(), task = task.task_id, dispatch = id, "a task that ran before is dispatched again");
        } else {
            tracing::info!(project = %self.path.display(), task = task.task_id, dispatch = id, "a task is RUNNING");
        }
    }

    /// Before the message leaves: after a refusal, a task whose journal lacks this row counts as not delivered (D69). The
    /// thread that writes it is woken afterwards.
    pub(super) fn journal_sent(&self, dispatch: DispatchId) {
        let (task_id, dispatch_id, attempt) = (self.task_id(), dispatch.to_string(), self.project.sends());
        let entry = Entry::Sent(journal::Sent { task_id, dispatch_id, attempt });
        if let Some(line) = self.row(self.hub.now().wall, entry) {
            self.hub.journal.append_quietly(line);
        }
    }

    fn sent(&self, dispatch: DispatchId) {
        let (task_id, dispatch_id, attempt) = (self.task_id(), dispatch.to_string(), self.project.sends());
        tracing::info!(project = %self.path.display(), task = task_id, dispatch = dispatch_id, attempt, "the task was sent");
        self.publish(EventKind::DispatchSent { task_id, dispatch_id, attempt });
    }

    /// The task of a dispatch. The file's task is another one while the project is halted over a replaced file.
    fn task_of(&self, dispatch: DispatchId) -> String {
        match self.project.running() == Some(dispatch) {
            true => self.task_id(),
            false => crate::history::task_of(&self.hub.journal, &self.path, dispatch).unwrap_or_default(),
        }
    }

    fn accepted(&mut self, dispatch: DispatchId, at: Wall) {
        self.prepared = None;
        let (task_id, dispatch_id) = (self.task_of(dispatch), dispatch.to_string());
        tracing::info!(project = %self.path.display(), task = task_id, dispatch = dispatch_id, "the session accepted the task");
        let session_id = self.project.status(at).task.map(|task| task.session_id);
        let row = journal::Accepted { task_id: task_id.clone(), dispatch_id: dispatch_id.clone(), session_id };
        self.journal(at, Entry::Accepted(row));
        self.publish(EventKind::DispatchAccepted { task_id, dispatch_id });
    }

    fn not_accepted(&self, dispatch: DispatchId, at: Wall) {
        let (task_id, dispatch_id) = (self.task_of(dispatch), dispatch.to_string());
        tracing::info!(project = %self.path.display(), task = task_id, dispatch = dispatch_id, "the session did not take the task; it is sent again");
        let reason = "not accepted".to_owned();
        self.journal(at, Entry::NotAccepted(journal::NotAccepted { task_id, dispatch_id, reason }));
    }

    fn reminded(&self, dispatch: DispatchId, at: Wall) {
        let (task_id, dispatch_id) = (self.task_id(), dispatch.to_string());
        tracing::info!(project = %self.path.display(), task = task_id, dispatch = dispatch_id, "the session was reminded of its report");
        self.journal(at, Entry::Reminded(journal::OfDispatch { task_id, dispatch_id }));
    }

    fn run_seen(&self, dispatch: DispatchId, run: &queue::Run, at: Wall) {
        let (task_id, dispatch_id, run) = (self.task_of(dispatch), dispatch.to_string(), convert::wire_run(run));
        tracing::debug!(project = %self.path.display(), task = task_id, run = run.run_id, state = run.state.as_str(), "a run was seen");
        self.journal(at, Entry::Run(journal::RunSeen { task_id, dispatch_id: dispatch_id.clone(), run: run.clone() }));
        self.publish(EventKind::Run { dispatch_id, run });
    }

    fn report_refused(&self, dispatch: DispatchId, problems: usize, at: Wall) {
        let (task_id, dispatch_id) = (self.task_of(dispatch), dispatch.to_string());
        tracing::info!(project = %self.path.display(), task = task_id, problems, "a report was refused");
        let problems = self.last_problems();
        let row = journal::ReportRefused {
            task_id: task_id.clone(),
            dispatch_id: dispatch_id.clone(),
            problems: problems.clone(),
        };
        self.journal(at, Entry::ReportRefused(row));
        self.publish(EventKind::ReportRefused { task_id, dispatch_id, problems });
    }

    fn last_problems(&self) -> Vec<wire::error::Problem> {
        let newest = self.bodies.newest();
        newest.map(|body| bodies::open(&body).problems.iter().map(convert::problem).collect()).unwrap_or_default()
    }

    fn ended_fact(&mut self, ended: &Ended) {
        let task_id = ended.task.task_id.clone();
        said::ended(&self.path, &task_id, ended.complete, ended.error.as_deref());
        let row = self.last_ended.as_deref();
        let error = row.and_then(|row| row.error.clone()).or_else(|| ended.error.clone());
        let verdict = row.and_then(|row| row.verdict.clone());
        let wire_status = if ended.complete { EndStatus::Complete } else { EndStatus::Error };
        let dispatch_id = ended.dispatch.map(|id| id.to_string());
        let about = About::task(&task_id).dispatch(dispatch_id.as_deref()).verdict(verdict.as_deref());
        match (&error, ended.complete) {
            (_, true) => self.hook_end(about),
            (Some(error), false) => self.hook_end(about.error(error)),
            (None, false) => self.hook_end(about.error("no reason was given")),
        }
        self.publish(EventKind::TaskEnded { task_id, dispatch_id, status: wire_status, error, verdict });
        self.task_settings = None;
        self.prepared = None;
        let row = self.last_ended.take();
        self.tell_waiters(&ended.task.task_id, row.as_deref());
    }

    fn demoted(&mut self, task_id: String, dispatch: DispatchId, text: String) {
        tracing::error!(project = %self.path.display(), task = task_id, why = text, "a COMPLETE became ERROR");
        let dispatch_id = Some(dispatch.to_string());
        self.hook_end(About::task(&task_id).dispatch(dispatch_id.as_deref()).error(&text));
        let (status, verdict) = (EndStatus::Error, None);
        self.publish(EventKind::TaskEnded { task_id, dispatch_id, status, error: Some(text), verdict });
        self.last_ended = None;
    }

    fn log_failed(&self, task_id: String, dispatch: Option<DispatchId>, error: String, at: Wall) {
        let dispatch_id = dispatch.map(|id| id.to_string()).unwrap_or_default();
        tracing::error!(project = %self.path.display(), task = task_id, why = error, "the work log could not be written");
        let row =
            journal::LogFailed { task_id: task_id.clone(), dispatch_id: dispatch_id.clone(), error: error.clone() };
        self.journal(at, Entry::LogFailed(row));
        self.publish(EventKind::LogFailed { task_id, dispatch_id, error });
    }

    /// A person lifted something (D11, D65, D66).
    pub(super) fn resumed(&self, lifted: Vec<wire::control::Lifted>) {
        self.journal(self.hub.now().wall, Entry::Resumed(journal::Resumed { lifted }));
    }

    /// Given up by `resume` (D11): ERROR for whoever waits or asks later, unknown for a report.
    fn abandoned(&mut self, task: &TaskMeta, dispatch: Option<DispatchId>, started: Option<Wall>, at: Wall) {
        let (task_id, dispatch_id) = (task.task_id.clone(), dispatch.map(|id| id.to_string()));
        tracing::warn!(project = %self.path.display(), task = task_id, "the task was given up");
        let error = "It was given up: tasks.json was replaced while it ran.".to_owned();
        let row = journal::Ended {
            task_id: task_id.clone(),
            dispatch_id: dispatch_id.clone(),
            status: EndStatus::Error,
            error: Some(error.clone()),
            started_at: started.map(convert::time),
            completed_at: Some(convert::time(at)),
            fingerprint: Some(hex(&task.fingerprint)),
            created_at: Some(task.created_at.clone()),
            planner: None,
            result: None,
            report: None,
            verdict: None,
            log_line: None,
        };
        self.journal(at, Entry::Ended(row.clone()));
        let given_up =
            journal::OfDispatch { task_id: task_id.clone(), dispatch_id: dispatch_id.clone().unwrap_or_default() };
        self.journal(at, Entry::Abandoned(given_up));
        self.hook_end(About::task(&task_id).dispatch(dispatch_id.as_deref()).error(&error));
        self.task_settings = None;
        self.prepared = None;
        let (status, verdict) = (EndStatus::Error, None);
        self.publish(EventKind::TaskEnded {
            task_id: task_id.clone(),
            dispatch_id,
            status,
            error: Some(error),
            verdict,
        });
        self.tell_waiters(&task_id, Some(&row));
    }

    /// The state that a person sees, also when only "stuck" changed. Told late (it had to wait for a claim) it may be the
    /// same as what was told before.
    pub(super) fn publish_state(&mut self) {
        let shown = self.status();
        let (state, reason) = (shown.state, shown.reason);
        let told = (state, reason, shown.why.clone(), shown.next.clone());
        if self.told_state.as_deref() == Some(&told) {
            return;
        }
        self.told_state = Some(Box::new(told));
        said::state(&self.path, &shown);
        let row = journal::StateChanged { state, reason, why: shown.why.clone() };
        self.journal(self.hub.now().wall, Entry::State(row));
        self.hook_state(&shown);
        self.publish(EventKind::ProjectState { state, reason, why: shown.why, next: shown.next });
    }

    fn lock_taken(&mut self, recovered: bool, at: Wall) {
        let change = if recovered { LockChange::Recovered } else { LockChange::Taken };
        said::lock_taken(&self.path, self.left_by.take().filter(|_| recovered));
        self.holds_lock = true;
        self.journal(at, Entry::Lock(journal::LockSeen { change, holder: None }));
        self.publish(EventKind::Lock { change, holder: None });
    }

    /// The state that follows is the warning.
    fn lock_lost(&mut self, why: &str, at: Wall) {
        tracing::info!(project = %self.path.display(), why, "the lock is not ours");
        self.holds_lock = false;
        let foreign = self.project.status(at).verdict.is_some();
        let (change, holder) = (if foreign { LockChange::Blocked } else { LockChange::Lost }, Some(why.to_owned()));
        self.journal(at, Entry::Lock(journal::LockSeen { change, holder: holder.clone() }));
        self.publish(EventKind::Lock { change, holder });
    }

    /// Nothing is held any more.
    pub(super) fn lock_released(&mut self) {
        if std::mem::take(&mut self.holds_lock) {
            self.lock_changed(LockChange::Released, None);
        }
    }

    /// The lock was let go, or somebody else's was moved aside (D16, D19).
    pub(super) fn lock_changed(&self, change: LockChange, holder: Option<String>) {
        self.journal(self.hub.now().wall, Entry::Lock(journal::LockSeen { change, holder: holder.clone() }));
        self.publish(EventKind::Lock { change, holder });
    }

    /// The owner's session became idle or busy: for dashboards, not for the journal (F261).
    pub(super) fn session_is(&self, session_id: String, idle: bool) {
        let change = if idle { SessionChange::Idle } else { SessionChange::Busy };
        self.publish(EventKind::Session { session_id, change, ownership: Some(Ownership::Owner) });
    }

    fn session(&self, session_id: String, what: &str, at: Wall) {
        let (change, ownership) = match what {
            "attached" => (SessionChange::Attached, Some(Ownership::Owner)),
            "owner" => (SessionChange::Place, Some(Ownership::Owner)),
            "lost" => (SessionChange::Lost, None),
            "standby" => (SessionChange::Attached, Some(Ownership::Standby)),
            _ => (SessionChange::Left, None),
        };
        said::session(&self.path, &session_id, what);
        let row = journal::SessionSeen { session_id: session_id.clone(), change, ownership };
        self.journal(at, Entry::Session(row));
        self.publish(EventKind::Session { session_id, change, ownership });
    }

    fn notice(&self, urgency: Level, text: String, _at: Wall) {
        if !self.is_told_otherwise(&text) {
            said::notice(&self.path, urgency, &text);
            self.hook_notice(urgency, &text);
        }
        self.publish(EventKind::Notice { level: level(urgency), text });
    }
}

fn hex(bytes: &[u8; 32]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(64), |mut out, byte| {
        // Writing to a string cannot fail.
        write!(out, "{byte:02x}").ok();
        out
    })
}
