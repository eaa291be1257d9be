//! The blocking pool: all file work of all projects, away from the loop, a few jobs at a time (D73).
//!
//! A job that hangs longer than [`STUCK_AFTER`] gives its place up, so that it stalls its own project only.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

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
        let kept = Kept { shared: Arc::clone(&self.shared), job: Some(job), runtime: Handle::current() };
        match KEEP.replace(Keep::No) {
            Keep::First => KEEP.set(Keep::Kept(kept)),
            other => {
                KEEP.set(other);
                drop(kept);
            }
        }
    }

    /// Waits for a job that has begun; one that hangs gives its place up.
    async fn watch_over<T>(&self, number: u64, mut result: oneshot::Receiver<T>) -> Result<T, PoolError> {
        let result = match tokio::time::timeout(self.stuck_after, &mut result).await {
            Ok(result) => result,
            Err(_) => {
                self.hangs(number);
                result.await
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

impl Kept {
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

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
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
mod tests {
    use super::*;

    type Hanging = (Vec<std::sync::mpsc::Sender<()>>, Vec<JoinHandle<Result<bool, PoolError>>>);

    /// As many jobs as there are places; they end when their gates are dropped.
    fn hang(pool: &Pool) -> Hanging {
        let job = |_| {
            let (gate, closed) = std::sync::mpsc::channel::<()>();
            let pool = pool.clone();
            (gate, tokio::spawn(async move { pool.run(move || closed.recv().is_err()).await }))
        };
        (0..WORKERS).map(job).unzip()
    }

    async fn end((gates, jobs): Hanging) {
        drop(gates);
        for job in jobs {
            assert!(job.await.unwrap().unwrap());
        }
    }

    #[tokio::test]
    async fn jobs_that_hang_give_their_places_up() {
        let pool = Pool::new(Duration::from_millis(10), usize::MAX);
        let hanging = hang(&pool);
        while pool.stuck() < WORKERS {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(pool.run(|| 7).await.unwrap(), 7);
        end(hanging).await;
        assert_eq!(pool.stuck(), 0);
    }

    #[tokio::test]
    async fn when_too_many_hang_the_rest_waits_and_takes_no_more_threads() {
        let pool = Pool::new(Duration::from_millis(10), WORKERS);
        let (some, more) = (hang(&pool), hang(&pool));
        while pool.stuck() < WORKERS || lock(&pool.shared).running.len() < WORKERS {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(tokio::time::timeout(Duration::from_millis(100), pool.run(|| 8)).await.is_err());
        assert_eq!(pool.stuck(), WORKERS);
        end(some).await;
        end(more).await;
        assert_eq!((pool.stuck(), pool.run(|| 9).await.unwrap()), (0, 9));
    }

    #[tokio::test]
    async fn many_jobs_take_no_more_threads_than_there_are_places() {
        let pool = Pool::default();
        let jobs: Vec<_> = (0..200).map(|_| pool.run(|| std::thread::current().id())).collect();
        let mut threads = std::collections::HashSet::new();
        for job in jobs {
            threads.insert(job.await.unwrap());
        }
        assert!(threads.len() <= WORKERS, "{} threads", threads.len());
    }

    #[tokio::test]
    async fn a_job_that_nobody_waits_for_any_more_does_not_begin() {
        let pool = Pool::default();
        let (gates, jobs) = hang(&pool);
        while lock(&pool.shared).running.len() < WORKERS {
            tokio::task::yield_now().await;
        }
        let (told, done) = std::sync::mpsc::channel();
        drop(pool.run(move || told.send(())));
        let last = pool.run(|| 7);
        end((gates, jobs)).await;
        assert_eq!(last.await.unwrap(), 7);
        assert!(done.recv().is_err());
    }

    #[tokio::test]
    async fn a_thread_does_the_first_job_that_it_brings_itself_if_it_wants_to() {
        let pool = Pool::default();
        let here = std::thread::current().id();
        let thread = || std::thread::current().id();
        let mut brought = Vec::new();
        let kept = keep_first(|| brought.extend([pool.run(thread), pool.run(thread)])).unwrap();
        kept.run();
        let mut brought = brought.into_iter();
        assert_eq!(brought.next().unwrap().await.unwrap(), here);
        assert_ne!(brought.next().unwrap().await.unwrap(), here);
        drop(keep_first(|| brought = vec![pool.run(thread)].into_iter()).unwrap());
        assert_ne!(brought.next().unwrap().await.unwrap(), here, "dropped, it is the pool's");
        assert!(keep_first(|| ()).is_none());
        assert_ne!(pool.run(thread).await.unwrap(), here);
    }

    #[tokio::test]
    async fn a_job_without_a_place_is_not_kept() {
        let pool = Pool::default();
        let hanging = hang(&pool);
        while lock(&pool.shared).running.len() < WORKERS {
            tokio::task::yield_now().await;
        }
        let mut brought = Vec::new();
        assert!(keep_first(|| brought.push(pool.run(|| 7))).is_none());
        end(hanging).await;
        assert_eq!(brought.remove(0).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn a_panic_is_an_error() {
        let result = Pool::default().run(|| panic!("boom")).await;
        assert!(matches!(result.map(|(): ()| ()), Err(PoolError::Panicked)));
    }
}
