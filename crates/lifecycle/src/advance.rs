//! One step: take in the event, let what is due expire, then ask for the next file job.

use crate::effect::{Effect, Fact};
use crate::event::{Event, Stopped};
use crate::job::{Claim, Job, Keep};
use crate::reply::{Refusal, SessionReach};
use crate::sessions::Identity;
use crate::settings::{REPEAT_WINDOW, UNREADABLE_GRACE};
use crate::state::{Admin, Claiming, Delivery, JobKind, Lock, Out, Project, Rejecting, Stage, Stopping, Task, Waiting};
use crate::status::Reason;
use crate::time::{Awake, Moment, Wall};
use crate::view::{Content, Pending};

impl Project {
    /// Takes in `event` at `now`; returns what to do, in order, and when to call again with [`Event::Tick`].
    pub fn step(&mut self, event: Event, now: Moment) -> (Vec<Effect>, Option<Awake>) {
        let mut out = Out { now, effects: Vec::new() };
        self.take_in(event, &mut out);
        self.expire(&mut out);
        self.place_arrivals(&mut out);
        self.fill_place(&mut out);
        self.cancel_waiting(&mut out);
        self.deliver(&mut out);
        if self.busy_job.is_none()
            && let Some((job, kind)) = self.next_job(&mut out)
        {
            self.busy_job = Some(kind);
            out.push(Effect::Job(job));
        }
        self.show(&mut out);
        let deadline = self.deadline(now);
        (out.effects, deadline)
    }

    fn take_in(&mut self, event: Event, out: &mut Out) {
        match event {
            Event::Touched => self.touched(out),
            Event::Tick => {}
            Event::Woke => self.woke(out),
            Event::Kept(name) => self.halt_lost(&name, out),
            Event::Done(done) => self.done(*done, out),
            Event::Attach(attach) => self.attach(*attach, out),
            Event::Activity { conn, idle, hint } => self.activity(conn, idle, hint, out),
            Event::Run { conn, dispatch, run } => self.run_seen(conn, dispatch, *run, out),
            Event::TurnSettled { conn, dispatch, aborted } => {
                self.turn_settled(conn, dispatch, aborted.as_deref(), out);
            }
            Event::Leaving { conn, reason } => self.leaving(conn, reason, out),
            Event::Ping { conn } => self.sign_of_life(conn, None, out),
            Event::Closed { conn, unsent } => {
                if let Some(dispatch) = unsent {
                    self.not_delivered(conn, dispatch, None, out);
                }
                self.closed(conn, out);
            }
            Event::ProcessGone(process) => self.process_gone(process, out),
            Event::ProcessStopped { process, stopped } => self.process_stopped(process, stopped == Stopped::Yes),
            Event::RunsGone(ids) => self.runs_gone(&ids),
            Event::RunsAlive { task_id, dispatch, runs } => self.linger(&task_id, dispatch, &runs),
            Event::Answered { conn, dispatch, answer } => self.answered(conn, dispatch, answer, out),
            Event::RemindAnswered { conn, dispatch } => self.remind_answered(conn, dispatch, out),
            Event::CancelAnswered { conn, dispatch, aborted } => self.cancel_answered(conn, dispatch, aborted, out),
            Event::Report { conn, req, dispatch, body } => self.report(conn, Waiting { req, dispatch, body }, out),
            Event::Control { req, command } if self.stopping != Stopping::No => {
                Self::refuse_stopping(req, &command, out);
            }
            Event::Control { req, command } => self.control(req, command, out),
            Event::Configure(settings) => self.settings = settings,
            Event::Shutdown if self.stopping == Stopping::No => {
                self.stopping = Stopping::Asked;
                self.finish_cancel(SessionReach::NotReached, out);
            }
            Event::Shutdown => {}
        }
    }

    fn touched(&mut self, out: &Out) {
        self.stale = true;
        let now = out.now.awake;
        if let Lock::Lost { backoff, .. } = &mut self.lock {
            backoff.hurry(now);
        }
        if let Some(block) = &mut self.block {
            block.backoff.hurry(now);
        }
    }

    /// A person may have removed what was in the way: whatever waits for another try is tried now.
    pub(crate) fn retry_now(&mut self, out: &Out) {
        let now = out.now.awake;
        match &mut self.lock {
            Lock::None { retry } | Lock::Blocked { retry, .. } | Lock::Missing { retry } => *retry = now,
            Lock::Lost { backoff, .. } => backoff.retry = now,
            Lock::Ours { .. } => {}
        }
        if let Some(block) = &mut self.block {
            block.backoff.retry = now;
        }
    }

    fn expire(&mut self, out: &mut Out) {
        if self.stopping != Stopping::No {
            return; // bound tasks are left to the next daemon
        }
        self.expire_run(out);
        self.expire_stopped(out);
        if self.reread.is_some_and(|backoff| out.now.awake >= backoff.retry) {
            self.stale = true;
        }
        if let Some(unsteady) = &self.unreadable
            && !unsteady.confirmed
            && out.now.awake >= unsteady.since.plus(UNREADABLE_GRACE)
        {
            self.stale = true;
        }
    }

    /// The next file job, the most urgent first.
    fn next_job(&mut self, out: &mut Out) -> Option<(Job, JobKind)> {
        let now = out.now.awake;
        if self.stopping != Stopping::No {
            return self.stopping_job(out);
        }
        if !self.is_ours() {
            return self.job_without_lock(now, out);
        }
        if std::mem::take(&mut self.stale) {
            return Some((Job::Read, JobKind::Read));
        }
        let blocked = self.block.as_ref().is_some_and(|block| now < block.backoff.retry);
        let job = self.urgent_job(blocked, out).or_else(|| self.request_job(out)).or_else(|| self.leave_job());
        let job = job.or_else(|| self.rejecting_job());
        if job.is_some() || blocked {
            return job;
        }
        let open = !self.halt.any() && self.admin == Admin::Active;
        let job = if open { self.pending_job(out) } else { None };
        if job.is_none() {
            self.block = None; // what could not be written is not wanted now
        }
        job
    }

    fn job_without_lock(&mut self, now: Awake, out: &mut Out) -> Option<(Job, JobKind)> {
        self.unbound(out);
        if let Some(job) = self.request_job(out) {
            return Some(job);
        }
        if self.admin == Admin::Disabled
            || (self.admin == Admin::Leaving && self.run().is_none() && self.view.is_none())
        {
            return self.gone_unowned(out);
        }
        let retry = match &self.lock {
            Lock::None { retry } | Lock::Blocked { retry, .. } | Lock::Missing { retry } => *retry,
            Lock::Lost { backoff, .. } => backoff.retry,
            Lock::Ours { .. } => return None,
        };
        (now >= retry).then_some((Job::Acquire, JobKind::Acquire))
    }

    /// Leaving a project whose lock we do not have needs no work.
    fn gone_unowned(&mut self, out: &mut Out) -> Option<(Job, JobKind)> {
        if self.admin == Admin::Leaving {
            self.admin = Admin::Disabled;
            out.push(Effect::Gone);
        }
        None
    }

    /// What comes before anything else happens in the project: replay, ends that are owed, binding, reports.
    fn urgent_job(&mut self, blocked: bool, out: &mut Out) -> Option<(Job, JobKind)> {
        if self.replay && !self.is_unreadable() {
            let running = match self.view.as_deref().map(|view| &view.content) {
                Some(Content::Running { by, .. }) => *by,
                _ => self.run().map(|run| run.dispatch),
            };
            return Some((Job::ReplayLog { running }, JobKind::ReplayLog));
        }
        if let Task::Ending(ending) = &self.task {
            // A report is not kept waiting by an older failure: its session is there to be told of a new one.
            let first = ending.report.is_some() && matches!(ending.stage, Stage::OpenLog | Stage::Write);
            let job = if (blocked && !first) || self.end_is_stuck() { None } else { self.ending_job() };
            if job.is_none() {
                self.answer_owner(out);
                if let Some(refusal) = self.why_owed() {
                    self.refuse_owed(&refusal, out);
                    if self.admin == Admin::Leaving && refusal == Refusal::QueueUnreadable {
                        self.abandon(out); // a project that leaves does not wait for other bytes (D71)
                    }
                }
            }
            return job;
        }
        let unwritable = blocked && self.block.as_ref().is_some_and(|block| block.reason == Reason::CannotWrite);
        let wanted = self.wanted_binding();
        let differs = !matches!(&self.lock, Lock::Ours { bound } if *bound == wanted);
        if differs && !unwritable {
            return Some((Job::Bind(wanted.clone()), JobKind::Bind(wanted)));
        }
        self.answer_owner(out);
        self.report_job(out).or_else(|| self.settle_job())
    }

    /// Why an end is not being written.
    fn why_owed(&self) -> Option<Refusal> {
        let unreadable = self.unreadable.as_ref().is_some_and(|unsteady| unsteady.confirmed);
        match &self.block {
            _ if self.halt.replaced => Some(Refusal::QueueChanged),
            _ if unreadable => Some(Refusal::QueueUnreadable),
            Some(block) => Some(Refusal::CannotWrite(block.cause.words.clone())),
            None => None,
        }
    }

    /// No binding is being written: what the lock says now is what the owner is told.
    fn answer_owner(&mut self, out: &mut Out) {
        if !self.is_bound() {
            self.unbound(out);
        } else if self.sessions.owner.as_ref().is_some_and(|owner| !owner.announced) {
            self.bound(out);
            self.deliver(out);
        }
    }

    /// The file does not hold what the end belongs over: it waits for other bytes (D1, D11). A demotion does not wait:
    /// where the file holds something else, the person is told (D67).
    pub(crate) fn end_is_stuck(&self) -> bool {
        match &self.task {
            Task::Ending(ending) => ending.stage == Stage::Write && self.view_hash() != Some(ending.hash),
            _ => false,
        }
    }

    fn settle_job(&self) -> Option<(Job, JobKind)> {
        match &self.task {
            Task::Running(run) if run.displaced && run.delivery == Delivery::Accepted => {
                Some((Job::Settle, JobKind::Settle))
            }
            Task::None if self.unsettled => Some((Job::Settle, JobKind::Settle)),
            _ => None,
        }
    }

    fn leave_job(&self) -> Option<(Job, JobKind)> {
        let idle = matches!(self.task, Task::None) && self.view.is_some();
        (self.admin == Admin::Leaving && idle).then_some((Job::Release(Keep::Remove), JobKind::Release))
    }

    pub(crate) fn rejecting_job(&self) -> Option<(Job, JobKind)> {
        match &self.task {
            Task::Rejecting(rejecting) => {
                let (hash, text) = (rejecting.hash, rejecting.text.clone());
                Some((Job::Reject { hash, text }, JobKind::Reject))
            }
            _ => None,
        }
    }

    /// A PENDING is rejected or, when everything allows it, claimed.
    fn pending_job(&mut self, out: &mut Out) -> Option<(Job, JobKind)> {
        let view = self.view.as_deref()?;
        let (Content::Pending(pending), Some(hash)) = (&view.content, view.hash) else { return None };
        if !matches!(self.task, Task::None) || pending.full {
            return None;
        }
        if let Some(text) = &pending.rejection {
            let (task, text) = (pending.task.clone(), text.clone());
            self.task = Task::Rejecting(Box::new(Rejecting { hash, task, text, cancel: None }));
            return self.rejecting_job();
        }
        let owner = self.may_dispatch(pending, out.now.wall)?;
        let dispatch = queue::DispatchId::from_random(out.now.entropy);
        let (task, again) = (pending.task.clone(), !pending.dispatched_before.is_empty());
        let (process, started) = (owner.process, out.now.wall);
        self.task =
            Task::Claiming(Box::new(Claiming { dispatch, task, again, started, owner, gone: None, cancel: None }));
        Some((Job::Claim(Claim { dispatch, hash, started, process }), JobKind::Claim))
    }

    /// Every rule of "only to an idle session, at most once, and not against a person's wish" in one place.
    fn may_dispatch(&self, pending: &Pending, wall: Wall) -> Option<Identity> {
        if self.hold_of(pending, wall).is_some() {
            return None;
        }
        self.idle_owner().cloned()
    }

    fn idle_owner(&self) -> Option<&Identity> {
        let free = !self.paused && self.lingering.is_none() && self.admin == Admin::Active && self.is_bound();
        self.sessions.owner.as_ref().filter(|owner| free && owner.free() && owner.announced).map(|owner| &owner.who)
    }

    /// The session to which a valid PENDING that is read now would most likely be sent, in the step that takes the reading
    /// in. A hint for whoever wants to prepare; what is decided then is decided as ever.
    #[must_use]
    pub fn likely_to_claim(&self) -> Option<crate::Process> {
        let open = self.stopping == Stopping::No && !self.halt.any() && self.block.is_none();
        self.idle_owner().filter(|_| open && matches!(self.task, Task::None)).map(|owner| owner.process)
    }

    /// The rule that holds the PENDING in the file (D65).
    pub(crate) fn held(&self, wall: Wall) -> Option<Reason> {
        match self.view.as_deref().map(|view| &view.content) {
            Some(Content::Pending(pending)) if pending.rejection.is_none() => self.hold_of(pending, wall),
            _ => None,
        }
    }

    pub(crate) fn held_any(&self) -> bool {
        matches!(self.shown.state, crate::status::State::Held)
    }

    fn hold_of(&self, pending: &Pending, wall: Wall) -> Option<Reason> {
        if self.lifted.is_some() && self.lifted == self.view_hash() {
            return None;
        }
        if pending.tracked {
            return Some(Reason::TrackedByGit);
        }
        (repeats_until(pending)? > wall).then_some(Reason::Repeating)
    }

    /// When [`Event::Tick`] is due.
    fn deadline(&self, now: Moment) -> Option<Awake> {
        if self.stopping != Stopping::No {
            return None;
        }
        let lock = match &self.lock {
            Lock::None { retry } | Lock::Blocked { retry, .. } | Lock::Missing { retry } => Some(*retry),
            Lock::Lost { backoff, .. } => Some(backoff.retry),
            Lock::Ours { .. } => None,
        };
        let run = match &self.task {
            Task::Running(run) => Some(run.deadlines()),
            _ => None,
        };
        let unsteady = self.unreadable.as_ref().filter(|unsteady| !unsteady.confirmed);
        let retries = [
            lock.filter(|_| self.admin != Admin::Disabled),
            self.block.as_ref().map(|block| block.backoff.retry),
            self.reread.map(|backoff| backoff.retry),
            unsteady.map(|unsteady| unsteady.since.plus(UNREADABLE_GRACE)),
        ];
        // While a job is out its answer comes first.
        let retries = retries.into_iter().filter(|_| self.busy_job.is_none());
        let stopped = self.sessions.owner.as_ref().and_then(|owner| owner.stopped_until);
        let others = [self.sessions.kept.map(|(_, until)| until), stopped, self.repeat_deadline(now)];
        let all = retries.chain(others).flatten().chain(run.into_iter().flatten());
        all.filter(|at| *at > now.awake).min()
    }

    fn repeat_deadline(&self, now: Moment) -> Option<Awake> {
        let Some(Content::Pending(pending)) = self.view.as_deref().map(|view| &view.content) else { return None };
        let wait = repeats_until(pending)?.0.saturating_sub(now.wall.0);
        u64::try_from(wait).ok().filter(|ms| *ms > 0).map(|ms| now.awake.plus(ms))
    }

    /// Of a daemon that stops nothing is told any more: what it lets go of is not being opened.
    fn show(&mut self, out: &mut Out) {
        if self.refresh_shown(out.now.wall) && self.stopping != Stopping::Released {
            out.push(Effect::Record(Fact::State));
        }
    }
}

/// The third dispatch within ten minutes is held until then (D65).
fn repeats_until(pending: &Pending) -> Option<Wall> {
    pending.dispatched_before.get(1).map(|second| Wall(second.0.saturating_add(REPEAT_WINDOW)))
}
