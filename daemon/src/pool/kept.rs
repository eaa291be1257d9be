//! Jobs that the thread which brings them does itself.

use std::cell::Cell;
use std::sync::{Arc, Mutex};

use tokio::runtime::Handle;

use super::{Job, Shared, work};

/// A job with a place, for the thread that has brought it.
#[derive(Debug)]
pub struct Kept {
    shared: Arc<Mutex<Shared>>,
    job: Option<Job>,
    runtime: Handle,
}

/// Whether the thread keeps what it brings.
enum Keep {
    No,
    First,
    Kept(Kept),
}

thread_local! {
    static KEEP: Cell<Keep> = const { Cell::new(Keep::No) };
}

/// What `act` brings to a pool first is not given to a thread of the pool, if there is a place for it: this thread has time
/// to do it itself. It must [`Kept::run`] it, or drop it soon: then the pool has it.
pub fn keep_first(act: impl FnOnce()) -> Option<Kept> {
    KEEP.set(Keep::First);
    act();
    match KEEP.replace(Keep::No) {
        Keep::Kept(kept) => Some(kept),
        Keep::No | Keep::First => None,
    }
}

/// Where a job that may begin goes: to this thread if it wants it, else to the pool.
pub(super) fn offer(kept: Kept) {
    match KEEP.replace(Keep::No) {
        Keep::First => KEEP.set(Keep::Kept(kept)),
        other => {
            KEEP.set(other);
            drop(kept);
        }
    }
}

impl Kept {
    pub(super) fn new(shared: Arc<Mutex<Shared>>, job: Job) -> Self {
        Self { shared, job: Some(job), runtime: Handle::current() }
    }

    /// Does the job, and those that wait for its place.
    pub fn run(mut self) {
        let _entered = self.runtime.enter();
        if let Some(job) = self.job.take() {
            work(&self.shared, job);
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            let shared = Arc::clone(&self.shared);
            self.runtime.spawn_blocking(move || work(&shared, job));
        }
    }
}
