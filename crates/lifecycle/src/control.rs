//! What people and scripts ask of a project (D11, D20, D64, D66, D71, D76).

use crate::done::{Failure, SubmitResult};
use crate::effect::{Effect, Fact, Level};
use crate::event::Command;
use crate::job::{Job, Outcome};
use crate::reply::{Refusal, Reply, SessionReach};
use crate::state::{Admin, JobKind, Lock, Out, Project, Rejecting, Stage, Task};
use crate::time::Wall;
use crate::view::{Content, TaskMeta};
use crate::{Body, Req};

impl Project {
    /// Handles a command now, or keeps it until no job is out.
    pub(crate) fn control(&mut self, req: Req, command: Command, out: &mut Out) {
        match command {
            Command::Pause => {
                self.paused = true;
                Self::changed(req, Vec::new(), false, out);
            }
            Command::Resume => self.resume(req, out),
            Command::Enable => {
                if self.admin != Admin::Active {
                    self.admin = Admin::Active;
                    self.retry_now(out);
                }
                Self::changed(req, Vec::new(), false, out);
            }
            Command::Disable { now } | Command::Remove { now } => self.leave(req, now, out),
            Command::Take { session_id } => self.take(req, session_id.as_deref(), out),
            waits => {
                // The task may have been written a moment ago, and nobody has told of it yet.
                self.stale |= matches!(waits, Command::Cancel { .. }) && self.run().is_none();
                self.requests.push_back((req, waits));
            }
        }
    }

    fn changed(req: Req, lifted: Vec<&'static str>, leaving: bool, out: &mut Out) {
        out.push(Effect::Reply { req, reply: Reply::Changed { lifted, leaving } });
    }

    /// Lifts what a person may lift, and says what that was.
    fn resume(&mut self, req: Req, out: &mut Out) {
        let mut lifted = Vec::new();
        if std::mem::take(&mut self.paused) {
            lifted.push("paused");
        }
        if self.halt.any() {
            lifted.push("halted");
            self.halt.lost = None;
            // Only a task that the file no longer holds is given up.
            if self.halt.replaced {
                let task = self.run().map(|run| run.task.task_id.clone());
                self.abandon(out);
                if let Some(task) = task {
                    // No warning: a person has just asked for it, and the end of the task is told as every end is.
                    let text = format!("{task} was given up: tasks.json holds something else.");
                    self.tell_owner(Level::Info, text, out);
                }
            }
        }
        if let Some(held) = self.held(out.now.wall).map(|_| self.view_hash()) {
            self.lifted = held;
            lifted.push("held");
        }
        if self.lingering.take().is_some() {
            lifted.push("runs_alive");
        }
        if let Some(block) = &mut self.block {
            block.backoff.retry = out.now.awake;
        }
        Self::changed(req, lifted, false, out);
    }

    /// Gives the old task up (D11): its dispatch is unknown from now on.
    pub(crate) fn abandon(&mut self, out: &mut Out) {
        if let Some((task, dispatch, started)) = self.forget_task(out) {
            out.push(Effect::Record(Fact::Abandoned { task, dispatch, started }));
        }
    }

    /// What was known of the task is void (D18): nobody gave it up, and the file is judged as after a restart.
    pub(crate) fn forget_task(&mut self, out: &mut Out) -> Option<(TaskMeta, Option<queue::DispatchId>, Option<Wall>)> {
        self.halt.replaced = false;
        if matches!(&self.task, Task::Ending(ending) if !matches!(ending.stage, Stage::OpenLog | Stage::Write)) {
            // Its end is in the file: only the work log does without its line.
            self.end_unlogged("the project was given up before its line was written", out);
            return None;
        }
        self.stale = true;
        self.unsettled |= self.run().is_some_and(|run| run.displaced);
        self.refuse_owed(&Refusal::QueueChanged, out);
        let (task, dispatch, started) = match std::mem::replace(&mut self.task, Task::None) {
            Task::Running(run) => {
                for req in run.cancelling.into_iter().flat_map(|cancel| cancel.requests) {
                    out.push(Effect::Reply { req, reply: Reply::Refused(Refusal::QueueChanged) });
                }
                (run.task, Some(run.dispatch), Some(run.started))
            }
            Task::Ending(ending) => {
                if let (Some(req), Outcome::Report { body, .. }) = (ending.report, &ending.outcome) {
                    Self::refuse(req, *body, Refusal::QueueChanged, out);
                }
                (ending.task, ending.dispatch, ending.started)
            }
            other => {
                self.task = other;
                return None;
            }
        };
        for waiting in std::mem::take(&mut self.reports) {
            out.push(Effect::Reply { req: waiting.req, reply: Reply::Refused(Refusal::QueueChanged) });
            out.push(Effect::Drop(waiting.body));
        }
        if let Some(owner) = &mut self.sessions.owner {
            owner.engaged = false;
        }
        Some((task, dispatch, started))
    }

    fn leave(&mut self, req: Req, now: bool, out: &mut Out) {
        let busy = matches!(self.task, Task::Running(_) | Task::Ending(_) | Task::Claiming(_));
        if self.admin != Admin::Disabled {
            self.admin = Admin::Leaving;
            if self.halt.replaced {
                self.abandon(out); // the file does not hold its task: there is no end to bring it to
            }
            let reason = "the project was taken out with --now".to_owned();
            match &mut self.task {
                Task::Claiming(claim) if now => claim.cancel = Some(reason),
                _ if now => self.cancel_running(None, reason, out),
                _ => {}
            }
        }
        Self::changed(req, Vec::new(), busy, out);
    }

    fn take(&mut self, req: Req, session_id: Option<&str>, out: &mut Out) {
        if let Some(refusal) = self.shut_for_control() {
            out.push(Effect::Reply { req, reply: Reply::Refused(refusal) });
            return;
        }
        let refusal = if matches!(self.task, Task::None | Task::Rejecting(_)) {
            Refusal::NoSuchSession
        } else {
            Refusal::TaskRunning
        };
        let at =
            self.sessions.standby.iter().position(|session| session_id.is_none_or(|id| session.who.session_id == id));
        let owner = self.sessions.owner.as_ref().map(|owner| owner.who.session_id.as_str());
        match at {
            _ if owner.is_some() && owner == session_id => Self::changed(req, Vec::new(), false, out),
            Some(at) if refusal == Refusal::NoSuchSession => {
                let mut next = self.sessions.standby.remove(at);
                next.chosen = true;
                if let Some(old) = self.sessions.owner.take() {
                    self.step_down(*old, "another session was given the place", out);
                }
                self.take_place(next, out);
                Self::changed(req, Vec::new(), false, out);
            }
            _ => out.push(Effect::Reply { req, reply: Reply::Refused(refusal) }),
        }
    }

    /// Disabled, blocked or held projects take no submit, retry, cancel or take.
    fn shut_for_control(&self) -> Option<Refusal> {
        match (&self.admin, &self.lock) {
            (Admin::Disabled, _) => Some(Refusal::Disabled),
            (_, Lock::Ours { .. }) => None,
            _ => Some(Refusal::Blocked),
        }
    }

    /// The next job that a waiting request needs; requests that need none are answered on the way.
    pub(crate) fn request_job(&mut self, out: &mut Out) -> Option<(Job, JobKind)> {
        while let Some((req, command)) = self.requests.pop_front() {
            let refused = match command {
                Command::Unlock { confirm } => match &self.lock {
                    Lock::Ours { .. } => Reply::Unlocked { moved: false, verdict: None },
                    _ => return Some((Job::Unlock { confirm }, JobKind::Unlock { req, confirm })),
                },
                Command::Cancel { task_id, reason } => match self.cancel(req, &task_id, reason, out) {
                    None if matches!(self.task, Task::Rejecting(_)) => return None,
                    None => continue,
                    Some(reply) => reply,
                },
                Command::Submit { body, retry } => match self.submit(retry) {
                    Ok(hash) => return Some((Job::Submit { body, hash }, JobKind::Submit(req, body))),
                    Err(refusal) => {
                        out.push(Effect::Drop(body));
                        Reply::Refused(refusal)
                    }
                },
                _ => continue,
            };
            out.push(Effect::Reply { req, reply: refused });
        }
        None
    }

    /// A cancel of a task that runs needs no file work before it is under way; it goes before the message does.
    pub(crate) fn cancel_waiting(&mut self, out: &mut Out) {
        if !matches!(self.task, Task::Running(_) | Task::Ending(_)) {
            return;
        }
        for (req, command) in std::mem::take(&mut self.requests) {
            match command {
                Command::Cancel { task_id, reason } => {
                    if let Some(reply) = self.cancel(req, &task_id, reason, out) {
                        out.push(Effect::Reply { req, reply });
                    }
                }
                other => self.requests.push_back((req, other)),
            }
        }
    }

    fn submit(&self, retry: bool) -> Result<Option<crate::view::RawHash>, Refusal> {
        if let Some(refusal) = self.shut_for_control() {
            return Err(refusal);
        }
        if self.admin == Admin::Leaving {
            return Err(Refusal::Disabled);
        }
        if matches!(self.task, Task::Running(_) | Task::Ending(_)) {
            return Err(if retry { Refusal::TaskRunning } else { Refusal::QueueBusy });
        }
        if self.halt.any() {
            return Err(Refusal::Held);
        }
        let Some(view) = &self.view else { return Err(Refusal::Blocked) };
        match &view.content {
            Content::Missing | Content::Settled { .. } => Ok(view.hash),
            Content::Pending(_) if self.held_any() => Err(Refusal::Held),
            Content::Pending(_) | Content::Running { .. } => Err(Refusal::QueueBusy),
            Content::Unreadable { .. } => Err(Refusal::QueueUnreadable),
        }
    }

    pub(crate) fn submitted(&mut self, req: Req, body: Body, result: SubmitResult, out: &mut Out) {
        self.stale = true;
        let reply = match result {
            SubmitResult::Written(_) => Reply::Submitted(body),
            SubmitResult::Invalid => Reply::InvalidTask(body),
            SubmitResult::Full => Reply::Refused(Refusal::QueueFull),
            SubmitResult::Failed(failure) => {
                if matches!(failure, Failure::Moved | Failure::LockLost | Failure::Missing) {
                    self.lose_lock(&failure, out);
                }
                Reply::Refused(failure.into())
            }
        };
        out.push(Effect::Reply { req, reply });
        out.push(Effect::Drop(body));
    }

    /// Cancels whatever the task of this id is doing (D76); `Some`: answered at once.
    fn cancel(&mut self, req: Req, task_id: &str, reason: String, out: &mut Out) -> Option<Reply> {
        let mismatch = |id: &str| Reply::Refused(Refusal::TaskMismatch(Some(id.to_owned())));
        if let Some(refusal) = self.shut_for_control() {
            return Some(Reply::Refused(refusal));
        }
        match &mut self.task {
            Task::Running(run) => {
                if run.task.task_id != task_id {
                    return Some(mismatch(&run.task.task_id));
                }
                self.cancel_running(Some(req), reason, out);
                return None;
            }
            Task::Ending(ending) => {
                if ending.task.task_id != task_id {
                    return Some(mismatch(&ending.task.task_id));
                }
                ending.cancels.push((req, reason));
                return None;
            }
            Task::None | Task::Claiming(_) | Task::Rejecting(_) => {}
        }
        let live_runs = self.live_runs();
        let Some(view) = &self.view else { return Some(Reply::Refused(Refusal::Blocked)) };
        match (&view.content, view.hash) {
            (Content::Pending(pending), Some(hash)) if pending.task.task_id == task_id => {
                let text = format!("Cancelled: {reason}");
                let task = pending.task.clone();
                self.task = Task::Rejecting(Box::new(Rejecting { hash, task, text, cancel: Some(req) }));
                None
            }
            (Content::Pending(pending), _) => Some(mismatch(&pending.task.task_id)),
            (Content::Settled { task_id: Some(id), complete, .. }, _) if id == task_id => {
                let status = if *complete { "COMPLETE" } else { "ERROR" };
                Some(Reply::Cancelled { was: status, now: status, session: SessionReach::FinishedFirst, live_runs })
            }
            (Content::Settled { task_id: Some(id), .. }, _) => Some(mismatch(id)),
            (Content::Unreadable { .. }, _) => Some(Reply::Refused(Refusal::QueueUnreadable)),
            _ => Some(Reply::Refused(Refusal::NoTask)),
        }
    }

    pub(crate) fn halt_lost(&mut self, kept: &str, out: &mut Out) {
        self.halt.lost = Some(kept.to_owned());
        let text = format!(
            "A write to tasks.json that nobody had read was kept as {kept}; dispatch stopped until `handoff resume`."
        );
        self.tell_owner(Level::Warning, text, out);
    }
}
