//! What cannot be written or dispatched now, and when it is tried again (D70).

use crate::cause::Cause;
use crate::effect::Level;
use crate::settings::{RETRY_FIRST, RETRY_MAX};
use crate::state::{Out, Project};
use crate::status::Reason;
use crate::time::Awake;

/// Why nothing can be written or dispatched now, and when it is tried again (D70).
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) reason: Reason,
    pub(crate) cause: Cause,
    pub(crate) backoff: Backoff,
}

/// The next try after 1, 2, 4 … 60 s (D70).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Backoff {
    tried: Awake,
    delay: u64,
    pub(crate) retry: Awake,
}

impl Backoff {
    /// After a failure at `now`; `before` is the backoff of the failures just before it.
    pub(crate) fn after(before: Option<Self>, now: Awake) -> Self {
        let delay = before.map_or(RETRY_FIRST, |old| old.delay.saturating_mul(2).min(RETRY_MAX));
        Self { tried: now, delay, retry: now.plus(delay) }
    }

    /// Something may have changed: at once, but never twice within a second, since a try that fails may itself be
    /// what touched the folder.
    pub(crate) fn hurry(&mut self, now: Awake) {
        self.retry = self.retry.min(now.max(self.tried.plus(RETRY_FIRST)));
    }
}

impl Project {
    pub(crate) fn set_block(&mut self, reason: Reason, cause: impl Into<Cause>, out: &mut Out) {
        let cause = cause.into();
        let before = self.block.as_ref().filter(|old| old.reason == reason).map(|old| old.backoff);
        if before.is_none() {
            self.tell_owner(Level::Warning, format!("blocked: {}", cause.words), out);
        }
        self.block = Some(Box::new(Block { reason, cause, backoff: Backoff::after(before, out.now.awake) }));
    }

    /// New bytes may lift what was wrong with the old task; a disk that refuses is another matter.
    pub(crate) fn clear_task_block(&mut self) {
        if self.block.as_ref().is_some_and(|block| block.reason != Reason::CannotWrite) {
            self.block = None;
        }
    }

    pub(crate) fn clear_write_block(&mut self) {
        if self.block.as_ref().is_some_and(|block| block.reason == Reason::CannotWrite) {
            self.block = None;
        }
    }
}
