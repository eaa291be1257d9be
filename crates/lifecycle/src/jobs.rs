//! What the answers to jobs mean.

use crate::effect::{Effect, Fact, Level, Refusal, Reply};
use crate::event::{Acquired, Checked, ClaimResult, Done, Failure, Recovered, Seen, SettleResult, WriteResult};
use crate::settings::{LOCK_RETRY, RETRY_FIRST, RETRY_MAX};
use crate::state::{
    Block, Delivery, Halt, JobKind, Lock, Out, Presence, Project, Running, Stage, Task, Turn, Unreadable, Waiting,
};
use crate::status::Reason;
use crate::view::{Content, RawHash, View};

impl Project {
    pub(crate) fn done(&mut self, done: Done, out: &mut Out) {
        let Some(kind) = self.busy_job.take() else { return };
        match (done, kind) {
            (Done::Acquired(acquired), JobKind::Acquire) => self.acquired(acquired, out),
            (Done::Read(seen), JobKind::Read) => self.seen(seen, out),
            (Done::Bound(result), JobKind::Bind(binding)) => self.bind_done(binding, result, out),
            (Done::Released, JobKind::Release) => self.released(out),
            (Done::Unlocked { moved }, JobKind::Unlock(req)) => self.unlocked(req, moved, out),
            (Done::Claimed(result), JobKind::Claim) => self.claimed(result, out),
            (Done::Settled(result), JobKind::Settle) => self.settled(result, out),
            (Done::Rejected(result), JobKind::Reject) => self.rejected(result, out),
            (Done::Checked(checked), JobKind::CheckReport(..)) => self.checked(checked, out),
            (Done::LogOpened(result), JobKind::OpenLog) => self.log_opened(result),
            (Done::EndWritten(result), JobKind::WriteEnd) => self.end_written(result, out),
            (Done::LogAppended(result), JobKind::AppendLog) => self.log_appended(result, out),
            (Done::Replayed(result), JobKind::ReplayLog) => self.replayed(result, out),
            (Done::Submitted(result), JobKind::Submit(req, body)) => self.submitted(req, body, result, out),
            (_, kind) => self.busy_job = Some(kind), // not the answer to what is out
        }
    }

    fn acquired(&mut self, acquired: Acquired, out: &mut Out) {
        let retry = out.now.awake.plus(LOCK_RETRY);
        match acquired {
            Acquired::Ours { recovered, fresh_folder, lost } => self.lock_is_ours(recovered, fresh_folder, &lost, out),
            Acquired::Blocked(verdict) => {
                let known = matches!(&self.lock, Lock::Blocked { verdict: old, .. } if **old == verdict);
                if !known && !matches!(self.lock, Lock::None { .. }) {
                    out.push(Effect::Record(Fact::LockLost(verdict.text.clone())));
                }
                self.lock = Lock::Blocked { verdict: Box::new(verdict), retry };
                self.view = None;
                self.unbound(out);
            }
            Acquired::Missing => self.lose_lock(&Failure::Missing, out),
            Acquired::Failed(failure) => self.lose_lock(&failure, out),
        }
    }

    fn lock_is_ours(&mut self, recovered: Option<Recovered>, fresh_folder: bool, lost: &[String], out: &mut Out) {
        // Somebody else owned the project meanwhile, or it is another folder: what we knew is void (D18).
        if recovered.is_some() || fresh_folder {
            self.abandon(out);
        }
        let bound = recovered.as_ref().and_then(|old| old.binding.clone());
        out.push(Effect::Record(Fact::LockTaken { recovered: recovered.is_some() }));
        self.replay |= recovered.is_some();
        self.recovered = recovered.map(Box::new);
        self.lock = Lock::Ours { bound };
        self.stale = true;
        self.block = None;
        for kept in lost {
            self.halt_lost(kept, out);
        }
    }

    /// The lock is not ours any more, or cannot be taken (D18, D70).
    pub(crate) fn lose_lock(&mut self, failure: &Failure, out: &mut Out) {
        let retry = out.now.awake.plus(LOCK_RETRY);
        let had = self.is_ours();
        let (reason, words) = match failure {
            Failure::Missing => {
                self.lock = Lock::Missing { retry };
                self.after_loss(had, "the project's folder is gone", out);
                return;
            }
            Failure::Moved => (Reason::Moved, "the folder under this name is not the one that was opened".to_owned()),
            Failure::CannotWrite(words) => (Reason::CannotWrite, words.clone()),
            Failure::ForeignOwner(words) => (Reason::ForeignOwner, words.clone()),
            Failure::LockLost | Failure::Changed | Failure::TooLarge { .. } => {
                (Reason::LockLost, "the lock file is gone or was replaced by somebody else".to_owned())
            }
        };
        self.lock = Lock::Lost { reason, words: words.clone(), retry };
        self.after_loss(had, &words, out);
    }

    fn after_loss(&mut self, had: bool, words: &str, out: &mut Out) {
        if !matches!(self.task, Task::Running(_) | Task::Ending(_)) {
            self.view = None;
        }
        if had {
            out.push(Effect::Record(Fact::LockLost(words.to_owned())));
        }
        self.unbound(out);
    }

    fn seen(&mut self, seen: Seen, out: &mut Out) {
        match seen {
            Seen::View(view) => self.see(view, out),
            Seen::Failed(failure @ (Failure::Moved | Failure::LockLost | Failure::Missing)) => {
                self.lose_lock(&failure, out);
            }
            Seen::Failed(failure) => {
                let message = match failure {
                    Failure::CannotWrite(words) | Failure::ForeignOwner(words) => words,
                    _ => "the file could not be read".to_owned(),
                };
                self.see(View { hash: None, content: Content::Unreadable { code: "unreadable", message } }, out);
            }
        }
    }

    /// New bytes: the truth (architecture, "An event is a hint").
    pub(crate) fn see(&mut self, view: View, out: &mut Out) {
        self.track_unreadable(&view, out);
        let fresh = self.view.as_ref().is_none_or(|old| old.hash != view.hash);
        if fresh {
            self.clear_task_block();
        }
        match &mut self.task {
            Task::Running(_) | Task::Ending(_) => self.compare_with_task(&view, out),
            Task::None => self.see_unowned(&view, fresh, out),
            Task::Claiming(_) | Task::Rejecting(_) => {}
        }
        self.view = Some(Box::new(view));
    }

    fn see_unowned(&mut self, view: &View, fresh: bool, out: &mut Out) {
        match (&view.content, view.hash) {
            (Content::Pending(pending), _) if fresh && pending.rejection.is_none() => {
                out.push(Effect::Record(Fact::Pending(pending.task.clone())));
            }
            (Content::Running { task, by, facts }, Some(hash)) if self.halt.is_none() => {
                let facts = facts.as_deref().cloned().unwrap_or_default();
                self.adopt((**task).clone(), hash, *by, facts, out);
            }
            _ => {}
        }
        self.recovered = None;
    }

    /// Same fingerprint, RUNNING and `updated_by`: a harmless edit. Anything readable else: halted (D1, D11).
    fn compare_with_task(&mut self, view: &View, out: &mut Out) {
        let (fingerprint, dispatch, done) = match &self.task {
            Task::Running(run) => (run.task.fingerprint, Some(run.dispatch), false),
            Task::Ending(ending) => {
                let written = !matches!(ending.stage, Stage::OpenLog | Stage::Write);
                (ending.task.fingerprint, ending.dispatch, written)
            }
            _ => return,
        };
        if done || matches!(view.content, Content::Unreadable { .. }) {
            return;
        }
        let same = matches!(&view.content, Content::Running { task, by, .. } if task.fingerprint == fingerprint && *by == dispatch);
        match (same, view.hash) {
            (true, Some(hash)) => {
                match &mut self.task {
                    Task::Running(run) => run.hash = hash,
                    Task::Ending(ending) => ending.hash = hash,
                    _ => {}
                }
                if self.halt == Some(Halt::Replaced) {
                    self.halt = None;
                    self.tell_owner(Level::Info, "The task is back in tasks.json; it goes on.".into(), out);
                }
            }
            _ if self.halt.is_none() => {
                self.halt = Some(Halt::Replaced);
                let text = "tasks.json was changed during the task; the change was kept and dispatch stopped until `handoff resume`.";
                self.tell_owner(Level::Warning, text.into(), out);
            }
            _ => {}
        }
    }

    fn track_unreadable(&mut self, view: &View, out: &Out) {
        let Content::Unreadable { code, .. } = &view.content else {
            self.unreadable = None;
            return;
        };
        let now = out.now.awake;
        match &mut self.unreadable {
            Some(known) if known.hash == view.hash && known.code == *code => {
                known.confirmed = known.confirmed || now >= known.since.plus(crate::settings::UNREADABLE_GRACE);
            }
            other => *other = Some(Unreadable { hash: view.hash, code, since: now, confirmed: false }),
        }
    }

    /// After a write of ours the view is what was written.
    pub(crate) fn see_settled(
        &mut self,
        hash: RawHash,
        by: Option<queue::DispatchId>,
        complete: bool,
        task_id: String,
    ) {
        self.unreadable = None;
        let content = Content::Settled { by, complete, task_id: Some(task_id) };
        self.view = Some(Box::new(View { hash: Some(hash), content }));
    }

    fn bind_done(&mut self, binding: Option<crate::Binding>, result: WriteResult, out: &mut Out) {
        match result {
            Ok(_) => {
                self.lock = Lock::Ours { bound: binding };
                self.clear_write_block();
                if self.is_bound() {
                    self.bound(out);
                }
            }
            Err(Failure::CannotWrite(words) | Failure::ForeignOwner(words)) => {
                self.set_block(Reason::CannotWrite, words, out);
                self.unbound(out);
            }
            Err(failure) => self.lose_lock(&failure, out),
        }
    }

    /// The lock file names the owner's session.
    pub(crate) fn is_bound(&self) -> bool {
        match (&self.lock, &self.sessions.owner) {
            (Lock::Ours { bound: Some(bound) }, Some(owner)) => {
                bound.session_id == owner.who.session_id && bound.process == owner.who.process && bound.since.is_none()
            }
            _ => false,
        }
    }

    fn released(&mut self, out: &mut Out) {
        self.lock = Lock::None { retry: out.now.awake };
        self.view = None;
        if self.stopping == crate::state::Stopping::No {
            self.unbound(out);
            if self.admin == crate::state::Admin::Leaving {
                self.admin = crate::state::Admin::Disabled;
            }
        }
        out.push(Effect::Gone);
    }

    fn unlocked(&mut self, req: crate::Req, moved: bool, out: &mut Out) {
        let verdict = match &self.lock {
            Lock::Blocked { verdict, .. } => Some(verdict.clone()),
            _ => None,
        };
        let reply = match verdict {
            Some(verdict) if !moved && verdict.reason == Reason::LockLive => Reply::Refused(Refusal::LockLive(verdict)),
            verdict => Reply::Unlocked { moved, verdict },
        };
        out.push(Effect::Reply { req, reply });
        self.retry_now(out);
    }

    fn claimed(&mut self, result: ClaimResult, out: &mut Out) {
        let Task::Claiming(claim) = std::mem::replace(&mut self.task, Task::None) else { return };
        match result {
            ClaimResult::Claimed { hash, displaced } => {
                self.block = None;
                self.lifted = None;
                let content =
                    Content::Running { task: Box::new(claim.task.clone()), by: Some(claim.dispatch), facts: None };
                self.view = Some(Box::new(View { hash: Some(hash), content }));
                let (task, dispatch, again) = (claim.task.clone(), claim.dispatch, claim.again);
                out.push(Effect::Record(Fact::Started { task, dispatch, again }));
                let here =
                    self.sessions.owner.as_ref().filter(|owner| owner.who == claim.owner).map(|owner| owner.conn);
                self.start(*claim, hash, displaced, here, out);
            }
            ClaimResult::WorkLog(words) => self.set_block(Reason::WorkLog, words, out),
            ClaimResult::ContextFile(words) => self.set_block(Reason::ContextFile, words, out),
            ClaimResult::Stopped => self.process_stopped(claim.owner.process, true),
            ClaimResult::Failed(Failure::Changed) => self.stale = true,
            ClaimResult::Failed(Failure::TooLarge { limit, size }) => {
                let words = format!("RUNNING needs {size} bytes; {limit} are allowed");
                self.set_block(Reason::QueueFull, words, out);
            }
            ClaimResult::Failed(Failure::CannotWrite(words)) => self.set_block(Reason::CannotWrite, words, out),
            ClaimResult::Failed(Failure::ForeignOwner(words)) => self.set_block(Reason::ForeignOwner, words, out),
            ClaimResult::Failed(failure) => self.lose_lock(&failure, out),
        }
    }

    /// RUNNING is durable; the session may be gone by now.
    fn start(
        &mut self,
        claim: crate::state::Claiming,
        hash: RawHash,
        displaced: bool,
        here: Option<crate::Conn>,
        out: &mut Out,
    ) {
        let now = out.now;
        let gone = here.is_none();
        let presence = match here {
            Some(conn) => Presence::Here(conn),
            None => Presence::Away {
                since: now.wall,
                until: now.awake.plus(self.settings.reconnect_grace),
                process_alive: self.sessions.kept.is_some(),
            },
        };
        let process_gone = gone && self.sessions.kept.is_none();
        self.task = Task::Running(Box::new(Running {
            dispatch: claim.dispatch,
            task: claim.task,
            hash,
            started: claim.started,
            started_awake: now.awake,
            settings: self.settings,
            owner: claim.owner,
            presence,
            delivery: Delivery::Waiting,
            sends: 0,
            first_try: now.awake,
            turn: Turn::Working,
            runs: Vec::new(),
            background: false,
            refused: false,
            displaced,
            last_sign: now.awake,
            last_seen: now.wall,
            cancelling: None,
        }));
        if process_gone {
            let text =
                "The session ended before the task was sent to it. It was not delivered; submitting it again is safe.";
            self.end_by_us(text.into(), out);
        }
    }

    fn settled(&mut self, result: SettleResult, out: &mut Out) {
        match &mut self.task {
            Task::Running(run) => run.displaced = false,
            Task::Ending(ending) => {
                if let Some(run) = ending.run.as_deref_mut() {
                    run.displaced = false;
                }
                if ending.stage == Stage::Settle {
                    self.end_finished(out);
                }
            }
            _ => {}
        }
        if let SettleResult::Lost(kept) = result {
            self.halt_lost(&kept, out);
        }
    }

    fn rejected(&mut self, result: WriteResult, out: &mut Out) {
        let Task::Rejecting(rejecting) = std::mem::replace(&mut self.task, Task::None) else { return };
        match result {
            Ok(hash) => {
                self.block = None;
                let live_runs = self.live_runs();
                if let Some(req) = rejecting.cancel {
                    let session = crate::SessionReach::NotReached;
                    out.push(Effect::Reply {
                        req,
                        reply: Reply::Cancelled { was: "PENDING", now: "ERROR", session, live_runs },
                    });
                } else {
                    self.tell_owner(Level::Warning, format!("{}: {}", rejecting.task.task_id, rejecting.text), out);
                }
                self.see_settled(hash, None, false, rejecting.task.task_id.clone());
                out.push(Effect::Record(Fact::Rejected { task: rejecting.task, text: rejecting.text }));
            }
            Err(failure) => {
                if let Some(req) = rejecting.cancel {
                    out.push(Effect::Reply { req, reply: Reply::Refused(failure.clone().into()) });
                }
                self.write_failed(failure, out);
            }
        }
    }

    fn write_failed(&mut self, failure: Failure, out: &mut Out) {
        match failure {
            Failure::Changed => self.stale = true,
            Failure::CannotWrite(words) => self.set_block(Reason::CannotWrite, words, out),
            Failure::ForeignOwner(words) => self.set_block(Reason::ForeignOwner, words, out),
            Failure::TooLarge { limit, size } => {
                let words = format!("it needs {size} bytes; {limit} are allowed");
                self.set_block(Reason::QueueFull, words, out);
            }
            Failure::Moved | Failure::LockLost | Failure::Missing => self.lose_lock(&failure, out),
        }
    }

    fn checked(&mut self, checked: Checked, out: &mut Out) {
        let Some(Waiting { req, dispatch, body }) = self.reports.pop_front() else { return };
        match checked {
            Checked::Accepted { complete } => {
                let waiting = Waiting { req, dispatch, body };
                if matches!(&self.task, Task::Running(run) if run.dispatch == dispatch) {
                    self.end_by_report(&waiting, complete, out);
                } else {
                    self.reports.push_front(waiting);
                }
            }
            Checked::Refused { problems } => {
                if let Task::Running(run) = &mut self.task {
                    run.refused = true;
                }
                out.push(Effect::Record(Fact::ReportRefused(dispatch, problems)));
                out.push(Effect::Reply { req, reply: Reply::ReportRefused(body) });
                out.push(Effect::Drop(body));
            }
            Checked::Changed(view) => {
                self.see(view, out);
                let same = self.halt.is_none() && self.view_hash() == self.run().map(|run| run.hash);
                if same {
                    self.reports.push_front(Waiting { req, dispatch, body });
                    return;
                }
                let unreadable = self.unreadable.is_some();
                let refusal = if unreadable { Refusal::QueueUnreadable } else { Refusal::QueueChanged };
                out.push(Effect::Reply { req, reply: Reply::Refused(refusal) });
                out.push(Effect::Drop(body));
            }
        }
    }

    fn replayed(&mut self, result: Result<(), (Vec<queue::DispatchId>, String)>, out: &mut Out) {
        self.replay = false;
        let Err((missing, why)) = result else { return };
        out.push(Effect::Record(Fact::LogFailed(why.clone())));
        let text = format!("The work log could not be brought up to date ({} lines): {why}", missing.len());
        self.tell_owner(Level::Error, text, out);
    }

    pub(crate) fn set_block(&mut self, reason: Reason, words: String, out: &mut Out) {
        let delay = match &self.block {
            Some(old) if old.reason == reason => old.delay.saturating_mul(2).min(RETRY_MAX),
            _ => RETRY_FIRST,
        };
        let fresh = self.block.as_ref().is_none_or(|old| old.reason != reason);
        if fresh {
            self.tell_owner(Level::Warning, format!("blocked: {words}"), out);
        }
        self.block = Some(Box::new(Block { reason, words, delay, retry: out.now.awake.plus(delay) }));
    }

    /// New bytes may lift what was wrong with the old task; a disk that refuses is another matter.
    fn clear_task_block(&mut self) {
        if self.block.as_ref().is_some_and(|block| block.reason != Reason::CannotWrite) {
            self.block = None;
        }
    }

    fn clear_write_block(&mut self) {
        if self.block.as_ref().is_some_and(|block| block.reason == Reason::CannotWrite) {
            self.block = None;
        }
    }

    pub(crate) fn view_hash(&self) -> Option<RawHash> {
        self.view.as_ref().and_then(|view| view.hash)
    }
}
