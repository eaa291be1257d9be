//! The blocking pool: all file work of all projects, away from the loop, a few jobs at a time (D73).
//!
//! A job that hangs longer than [`STUCK_AFTER`] gives its place up, so that it stalls its own project only.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

/// Jobs that run side by side when none hangs.
const WORKERS: usize = 4;
/// A job that runs longer is called stuck.
pub const STUCK_AFTER: Duration = Duration::from_secs(5);
/// So many jobs may hang before projects whose last job hung wait instead of starting another.
pub const MOST_STUCK: usize = 60;

/// A handle on the pool; clones share it.
#[derive(Debug, Clone)]
pub struct Pool {
    places: Arc<Semaphore>,
    stuck: Arc<AtomicUsize>,
    stuck_after: Duration,
    /// So many may give their places up.
    most_stuck: usize,
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
        Self { places: Arc::new(Semaphore::new(WORKERS)), stuck: Arc::default(), stuck_after, most_stuck }
    }

    /// For work on file systems that can hang, and only for that: it takes no place from other work, and when
    /// [`MOST_STUCK`] hang, the rest waits.
    #[must_use]
    pub fn for_what_can_hang() -> Self {
        Self::new(STUCK_AFTER, MOST_STUCK)
    }

    /// Runs `job` on a blocking thread, from now on if there is a place, else from when one is free and this is polled.
    ///
    /// # Errors
    /// The job panicked.
    pub fn run<T, F>(&self, job: F) -> impl Future<Output = Result<T, PoolError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let pool = self.clone();
        let begun = match self.places.clone().try_acquire_owned() {
            Ok(place) => Ok((Some(place), tokio::task::spawn_blocking(job))),
            Err(_) => Err(job),
        };
        async move {
            let (place, running) = match begun {
                Ok(begun) => begun,
                // The semaphore is never closed, so an error cannot happen; without a place the job still runs.
                Err(job) => (pool.places.clone().acquire_owned().await.ok(), tokio::task::spawn_blocking(job)),
            };
            pool.watch_over(place, running).await
        }
    }

    /// How many jobs hang now.
    #[must_use]
    pub fn stuck(&self) -> usize {
        self.stuck.load(Ordering::Relaxed)
    }

    /// Waits for a job; one that hangs gives its place up.
    async fn watch_over<T>(
        &self,
        place: Option<OwnedSemaphorePermit>,
        mut running: JoinHandle<T>,
    ) -> Result<T, PoolError> {
        let result = match tokio::time::timeout(self.stuck_after, &mut running).await {
            Ok(result) => result,
            Err(_) if self.is_one_more_stuck() => {
                drop(place);
                let result = running.await;
                self.stuck.fetch_sub(1, Ordering::Relaxed);
                result
            }
            Err(_) => running.await,
        };
        result.map_err(|_| PoolError::Panicked)
    }

    fn is_one_more_stuck(&self) -> bool {
        let more = |stuck: usize| (stuck < self.most_stuck).then_some(stuck + 1);
        self.stuck.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
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
        while pool.stuck() < WORKERS || pool.places.available_permits() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(tokio::time::timeout(Duration::from_millis(100), pool.run(|| 8)).await.is_err());
        assert_eq!(pool.stuck(), WORKERS);
        end(some).await;
        end(more).await;
        assert_eq!((pool.stuck(), pool.run(|| 9).await.unwrap()), (0, 9));
    }

    #[tokio::test]
    async fn a_panic_is_an_error() {
        let result = Pool::default().run(|| panic!("boom")).await;
        assert!(matches!(result.map(|(): ()| ()), Err(PoolError::Panicked)));
    }
}
