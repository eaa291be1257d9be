//! Taking, losing and binding the ownership lock (D14–D20). Who a session is, is decided elsewhere.

use crate::block::Backoff;
use crate::cause::Cause;
use crate::done::{Acquired, Failure, Halted, Recovered, WriteResult};
use crate::effect::{Binding, Effect, Fact, Level};
use crate::reply::{Refusal, Reply};
use crate::settings::LOCK_RETRY;
use crate::state::{Admin, Lock, Out, Project, Stopping, Task};
use crate::status::Reason;

impl Project {
    pub(crate) fn acquired(&mut self, acquired: Acquired, out: &mut Out) {
        let retry = out.now.awake.plus(LOCK_RETRY);
        match acquired {
            Acquired::Ours { recovered, fresh_folder, lost, halted } => {
                self.lock_is_ours(recovered, fresh_folder, out);
                self.halt_again(halted, &lost, out);
                return;
            }
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
        // A project that leaves waits for a disk, but not for somebody else's lock or a folder that is gone (D71).
        let hopeless = !matches!(self.lock, Lock::Lost { reason: Reason::CannotWrite, .. });
        if self.admin == Admin::Leaving && hopeless {
            self.abandon(out);
            self.view = None;
        }
    }

    fn lock_is_ours(&mut self, recovered: Option<Recovered>, fresh_folder: bool, out: &mut Out) {
        // Somebody else owned the project meanwhile, or it is another folder: what we knew is void (D18).
        if recovered.is_some() || fresh_folder {
            self.forget_task(out);
            self.view = None;
        }
        let bound = recovered.as_ref().and_then(|old| old.binding.clone());
        out.push(Effect::Record(Fact::LockTaken { recovered: recovered.is_some() }));
        self.replay |= recovered.is_some();
        self.recovered = recovered.map(Box::new);
        self.lock = Lock::Ours { bound };
        self.stale = true;
        self.unsettled = false; // swept
        self.block = None;
    }

    /// A restart is no person's word: what stopped dispatch before it goes on to do so (D11, D64).
    fn halt_again(&mut self, halted: Option<Halted>, lost: &[String], out: &mut Out) {
        match halted {
            Some(Halted::Replaced) => self.halt.replaced = true,
            Some(Halted::Lost(kept)) => self.halt.lost = Some(kept),
            None => {}
        }
        for kept in lost {
            self.halt_lost(kept, out);
        }
    }

    /// The lock is not ours any more, or cannot be taken (D18, D70).
    pub(crate) fn lose_lock(&mut self, failure: &Failure, out: &mut Out) {
        let now = out.now.awake;
        let had = self.is_ours();
        let (reason, cause): (Reason, Cause) = match failure {
            Failure::Missing => {
                self.lock = Lock::Missing { retry: now.plus(LOCK_RETRY) };
                self.after_loss(had, "the project's folder is gone", out);
                return;
            }
            Failure::Moved => (Reason::Moved, "the folder under this name is not the one that was opened".into()),
            Failure::CannotWrite(cause) => (Reason::CannotWrite, cause.clone()),
            Failure::ForeignOwner(cause) => (Reason::ForeignOwner, cause.clone()),
            Failure::LockLost | Failure::Changed | Failure::TooLarge { .. } => {
                (Reason::LockLost, "the lock file is gone or was replaced by somebody else".into())
            }
        };
        let before = match &self.lock {
            Lock::Lost { reason: old, backoff, .. } if *old == reason => Some(*backoff),
            _ => None,
        };
        if before.is_none() && !had {
            self.tell_owner(Level::Warning, format!("blocked: {}", cause.words), out);
        }
        let mut backoff = Backoff::after(before, now);
        if !matches!(reason, Reason::CannotWrite | Reason::ForeignOwner) {
            backoff = Backoff::after(None, now);
        }
        let words = cause.words.clone();
        self.lock = Lock::Lost { reason, cause, backoff };
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

    pub(crate) fn bind_done(&mut self, binding: Option<Binding>, result: WriteResult, out: &mut Out) {
        match result {
            Ok(_) => {
                self.lock = Lock::Ours { bound: binding };
                self.clear_write_block();
                if self.is_bound() {
                    self.bound(out);
                }
            }
            Err(Failure::CannotWrite(cause) | Failure::ForeignOwner(cause)) => {
                self.set_block(Reason::CannotWrite, cause, out);
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

    pub(crate) fn released(&mut self, out: &mut Out) {
        self.lock = Lock::None { retry: out.now.awake };
        self.view = None;
        if self.stopping == Stopping::No {
            self.unbound(out);
            if self.admin == Admin::Leaving {
                self.admin = Admin::Disabled;
            }
        }
        out.push(Effect::Gone);
    }

    /// `refused`: it should have been moved and was not.
    pub(crate) fn unlocked(&mut self, req: crate::Req, refused: bool, moved: bool, out: &mut Out) {
        let verdict = match &self.lock {
            Lock::Blocked { verdict, .. } => Some(verdict.clone()),
            _ => None,
        };
        if moved {
            self.lock = Lock::None { retry: out.now.awake }; // what the answer shows is the new state
        }
        let reply = match verdict {
            Some(verdict) if refused && verdict.reason == Reason::LockLive => {
                Reply::Refused(Refusal::LockLive(verdict))
            }
            verdict => Reply::Unlocked { moved, verdict },
        };
        out.push(Effect::Reply { req, reply });
        self.retry_now(out);
    }
}
