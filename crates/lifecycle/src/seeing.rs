//! What a reading of `tasks.json` means (D1, D2, D11). An event is only a hint: the bytes are the truth.

use crate::block::Backoff;
use crate::done::{Failure, Seen};
use crate::effect::{Effect, Fact, Level};
use crate::reply::Refusal;
use crate::settings::UNREADABLE_GRACE;
use crate::state::{Admin, Out, Project, Stage, Task, Unreadable};
use crate::view::{Content, RawHash, View};

impl Project {
    pub(crate) fn seen(&mut self, seen: Seen, out: &mut Out) {
        match seen {
            Seen::View(view) => {
                // Whoever untracks the file does not touch it: git's index is looked at again.
                let tracked = matches!(&view.content, Content::Pending(pending) if pending.tracked);
                self.reread = tracked.then(|| Backoff::after(None, out.now.awake));
                self.see(view, out);
            }
            Seen::Failed(failure @ (Failure::Moved | Failure::LockLost | Failure::Missing)) => {
                self.lose_lock(&failure, out);
            }
            Seen::Failed(failure) => {
                let message = match failure {
                    Failure::CannotWrite(cause) | Failure::ForeignOwner(cause) => cause,
                    _ => "the file could not be read".into(),
                };
                self.reread = Some(Backoff::after(self.reread, out.now.awake));
                self.see(View { hash: None, content: Content::Unreadable { code: "unreadable", message } }, out);
            }
        }
    }

    /// New bytes.
    pub(crate) fn see(&mut self, view: View, out: &mut Out) {
        self.track_unreadable(&view, out);
        if self.view.as_ref().is_none_or(|old| old.hash != view.hash) {
            self.clear_task_block();
        }
        match &mut self.task {
            Task::Running(_) | Task::Ending(_) => self.compare_with_task(&view, out),
            Task::None => self.see_unowned(&view, out),
            Task::Claiming(_) | Task::Rejecting(_) => {}
        }
        self.view = Some(Box::new(view));
        self.meet_owner(out);
    }

    fn see_unowned(&mut self, view: &View, out: &mut Out) {
        if self.halt.replaced {
            // A halt that outlived its daemon. What is still known of its task counts until that comes back (D11).
            if !matches!(&view.content, Content::Running { facts: Some(_), .. }) {
                return;
            }
            self.halt.replaced = false;
        }
        match (&view.content, view.hash) {
            // RUNNING may stand there when it is readable again: what the dead owner's lock said is still needed.
            (Content::Unreadable { .. }, _) => return,
            (Content::Pending(pending), hash) if pending.rejection.is_none() && self.pending_told != hash => {
                self.pending_told = hash;
                out.push(Effect::Record(Fact::Pending(pending.task.clone())));
            }
            (Content::Running { task, by, facts }, Some(hash)) => {
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
            (true, Some(hash)) => self.task_stands(hash, out),
            _ if !self.halt.replaced => self.task_replaced(out),
            _ => {}
        }
    }

    fn task_stands(&mut self, hash: RawHash, out: &mut Out) {
        match &mut self.task {
            Task::Running(run) => run.hash = hash,
            Task::Ending(ending) => ending.hash = hash,
            _ => {}
        }
        if self.halt.replaced {
            self.halt.replaced = false;
            self.tell_owner(Level::Info, "The task is back in tasks.json; it goes on.".into(), out);
            self.catch_up_idle(out);
        }
    }

    fn task_replaced(&mut self, out: &mut Out) {
        self.halt.replaced = true;
        let text =
            "tasks.json was changed during the task; the change was kept and dispatch stopped until `handoff resume`.";
        self.tell_owner(Level::Warning, text.into(), out);
        // An accepted report that is not written yet cannot be written any more.
        if matches!(&self.task, Task::Ending(ending) if ending.report.is_some()) {
            self.back_to_running(Some(Refusal::QueueChanged), out);
        }
        self.refuse_owed(&Refusal::QueueChanged, out);
        if self.admin == Admin::Leaving {
            self.abandon(out); // there is no end left to bring it to (D71)
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
                known.confirmed = known.confirmed || now >= known.since.plus(UNREADABLE_GRACE);
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
        self.reread = None;
        let content = Content::Settled { by, complete, task_id: Some(task_id) };
        self.view = Some(Box::new(View { hash: Some(hash), content }));
    }

    pub(crate) fn view_hash(&self) -> Option<RawHash> {
        self.view.as_ref().and_then(|view| view.hash)
    }

    pub(crate) fn is_unreadable(&self) -> bool {
        matches!(self.view.as_deref(), Some(View { content: Content::Unreadable { .. }, .. }))
    }
}
