//! The ownership of a project's queue: `.pi/pi-claude-handoff.lock` and its guard (D14–D19).
//!
//! `content` is the file's form, `judge` the pure rules about a lock somebody else left, `guard` the exclusive `flock`
//! beside it, `owner` taking, rewriting and releasing, `unlock` what a person may do. Sessions and tasks are not known
//! here; a binding is carried, never interpreted.

mod content;
mod found;
mod guard;
mod judge;
mod owner;
mod publish;
mod unlock;

use std::sync::Arc;

use crate::liveness::{Host, Processes, SystemProcesses};

pub use content::{Binding, Instance, LockContent};
pub use guard::Protection;
pub use judge::{Facts, GuardState, Holder, LockState, Readable, Verdict, judge};
pub use owner::{Acquisition, KeepFile, Lock, LockError};
pub use unlock::Unlocked;

/// Who takes and judges locks.
#[derive(Debug, Clone)]
pub struct Claimant {
    /// This process and machine.
    pub host: Host,
    /// This start of the daemon; `None` for commands that only look.
    pub instance: Option<Instance>,
    /// Where processes are looked up.
    pub processes: Arc<dyn Processes>,
}

impl Claimant {
    /// This process, with the system's process table.
    #[must_use]
    pub fn current(instance: Option<Instance>) -> Self {
        Self { host: Host::current(), instance, processes: Arc::new(SystemProcesses) }
    }
}
