//! The blocking pool: all file work of all projects, away from the loop, a few jobs at a time (D73).
//!
//! A job that hangs longer than [`STUCK_AFTER`] gives its place up, so that it stalls its own project only.

mod aside;
mod kept;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

pub use self::aside::{Aside, give_way};
pub use self::kept::{Kept, keep_first};

/// Jobs that run side by side when none hangs.
const WORKERS: usize = 4;
/// A job that runs longer is called stuck.
pub const STUCK_AFTER: Duration = Duration::from_secs(5);
/// So many jobs may hang before projects whose last job hung wait instead of starting another.
pub const MOST_STUCK: usize = 60;

/// A handle on the pool; clones share it.
#[derive(Debug, Clone)]
pub struct Pool {
    shared: Arc<Mutex<Shared>>,
    stuck_after: Duration,
    /// So many may give their places up.
    most_stuck: usize,
}

/// What the pool's threads and those who bring jobs share. While a job waits, [`WORKERS`] are running.
#[derive(Default)]
struct Shared {
    /// The jobs that have a place, each on a thread of its own.
    running: Vec<u64>,
    /// Those that have given it up.
    hanging: Vec<u64>,
    /// Those that wait for one. A thread that has done its job takes the next one itself: so there are never more
    /// threads, and heaps of theirs, than places.
    waiting: VecDeque<Job>,
    /// The number of the next job.
    next: u64,
}

/// A job that has not begun.
struct Job {
    number: u64,
    work: Box<dyn FnOnce() + Send>,
    /// Told when it begins; when nobody listens any more, it does not.
    begins: Option<oneshot::Sender<()>>,
}

impl Default for Pool {
    fn default() -> Self {
        Self::new(STUCK_AFTER, usize::MAX)
    }
}

/// Why a job did not give a result.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// It panicked; the panic is in the log.
    #[error("the job panicked")]
    Panicked,
}

impl Pool {
    fn new(stuck_after: Duration, most_stuck: usize) -> Self {
        Self { shared: Arc::default(), stuck_after, most_stuck }
    }

    /// For work on file systems that can hang, and only for that: it takes no place from other work, and when
    /// [`MOST_STUCK`] hang, the rest waits.
    #[must_use]
    pub fn for_what_can_hang() -> Self {
        Self::new(STUCK_AFTER, MOST_STUCK)
    }

    /// Runs `job` on a blocking thread of the runtime that this is called in, as soon as there is a place. When the future
    /// is dropped before the job has begun, it never does.
    ///
    /// # Errors
    /// The job panicked.
    pub fn run<T, F>(&self, job: F) -> impl Future<Output = Result<T, PoolError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let (done, result) = oneshot::channel();
        let work = Box::new(move || {
            // A panic drops `done`, and the hook has put it into the log.
            if let Ok(value) = catch_unwind(AssertUnwindSafe(job)) {
                done.send(value).ok();
            }
        });
        let (number, begun) = self.bring(work);
        let pool = self.clone();
        async move {
            if let Some(begun) = begun {
                begun.await.map_err(|_| PoolError::Panicked)?;
            }
            pool.watch_over(number, result).await
        }
    }

    /// How many jobs hang now.
    #[must_use]
    pub fn stuck(&self) -> usize {
        lock(&self.shared).hanging.len()
    }

    /// Gives a job to a thread, or lets it wait for one: then its beginning is told.
    fn bring(&self, work: Box<dyn FnOnce() + Send>) -> (u64, Option<oneshot::Receiver<()>>) {
        let mut shared = lock(&self.shared);
        let number = shared.next;
        shared.next += 1;
        if shared.running.len() < WORKERS {
            shared.running.push(number);
            drop(shared);
            self.start_thread(Job { number, work, begins: None });
            return (number, None);
        }
        let (begins, begun) = oneshot::channel();
        shared.waiting.push_back(Job { number, work, begins: Some(begins) });
        (number, Some(begun))
    }

    fn start_thread(&self, job: Job) {
        kept::offer(Kept::new(Arc::clone(&self.shared), job));
    }

    /// Waits for a job that has begun; one that hangs gives its place up.
    async fn watch_over<T>(&self, number: u64, mut result: oneshot::Receiver<T>) -> Result<T, PoolError> {
        let result = match tokio::time::timeout(self.stuck_after, &mut result).await {
            Ok(result) => result,
            Err(_) => {
                self.hangs(number);
                let result = result.await;
                // Its thread does that, too, but maybe not yet: whoever has the result sees no job that hangs.
                remove(&mut lock(&self.shared).hanging, number);
                result
            }
        };
        result.map_err(|_| PoolError::Panicked)
    }

    /// A job hangs: if not too many do, another one gets its place. It may have ended in this moment.
    fn hangs(&self, number: u64) {
        let mut shared = lock(&self.shared);
        if shared.hanging.len() >= self.most_stuck || !remove(&mut shared.running, number) {
            return;
        }
        shared.hanging.push(number);
        if let Some(job) = shared.next_job() {
            drop(shared);
            self.start_thread(job);
        }
    }
}

impl Shared {
    /// The next job that somebody still waits for; it has a place now.
    fn next_job(&mut self) -> Option<Job> {
        loop {
            let mut job = self.waiting.pop_front()?;
            if job.begins.take().is_none_or(|begins| begins.send(()).is_ok()) {
                self.running.push(job.number);
                return Some(job);
            }
        }
    }
}

/// What a thread does: jobs, as long as one waits and the last did not give its place up.
fn work(shared: &Mutex<Shared>, mut job: Job) {
    loop {
        (job.work)();
        let mut shared = lock(shared);
        if !remove(&mut shared.running, job.number) {
            remove(&mut shared.hanging, job.number);
            return;
        }
        match shared.next_job() {
            Some(next) => job = next,
            None => return,
        }
    }
}

/// Whether it was there.
fn remove(numbers: &mut Vec<u64>, number: u64) -> bool {
    let at = numbers.iter().position(|known| *known == number);
    at.map(|at| numbers.swap_remove(at)).is_some()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("number", &self.number).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (running, hanging, waiting) = (&self.running, &self.hanging, self.waiting.len());
        f.debug_struct("Shared").field("running", running).field("hanging", hanging).field("waiting", &waiting).finish()
    }
}

#[cfg(test)]
mod tests;
