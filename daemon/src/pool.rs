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
}

impl Default for Pool {
    fn default() -> Self {
        Self::new(STUCK_AFTER)
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
    fn new(stuck_after: Duration) -> Self {
        Self { places: Arc::new(Semaphore::new(WORKERS)), stuck: Arc::default(), stuck_after }
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
                Err(job) => (pool.places.acquire_owned().await.ok(), tokio::task::spawn_blocking(job)),
            };
            watch_over(place, running, pool.stuck_after, &pool.stuck).await
        }
    }

    /// How many jobs hang now.
    #[must_use]
    pub fn stuck(&self) -> usize {
        self.stuck.load(Ordering::Relaxed)
    }
}

/// Waits for a job; one that hangs gives its place up.
async fn watch_over<T>(
    place: Option<OwnedSemaphorePermit>,
    mut running: JoinHandle<T>,
    stuck_after: Duration,
    stuck: &AtomicUsize,
) -> Result<T, PoolError> {
    let result = match tokio::time::timeout(stuck_after, &mut running).await {
        Ok(result) => result,
        Err(_) => {
            stuck.fetch_add(1, Ordering::Relaxed);
            drop(place);
            let result = running.await;
            stuck.fetch_sub(1, Ordering::Relaxed);
            result
        }
    };
    result.map_err(|_| PoolError::Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn jobs_that_hang_give_their_places_up() {
        let pool = Pool::new(Duration::from_millis(10));
        let mut gates = Vec::new();
        let hung: Vec<_> = (0..WORKERS)
            .map(|_| {
                let (gate, closed) = std::sync::mpsc::channel::<()>();
                gates.push(gate);
                let pool = pool.clone();
                tokio::spawn(async move { pool.run(move || closed.recv().is_err()).await })
            })
            .collect();
        while pool.stuck() < WORKERS {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(pool.run(|| 7).await.unwrap(), 7);
        drop(gates);
        for job in hung {
            assert!(job.await.unwrap().unwrap());
        }
        assert_eq!(pool.stuck(), 0);
    }

    #[tokio::test]
    async fn a_panic_is_an_error() {
        let result = Pool::default().run(|| panic!("boom")).await;
        assert!(matches!(result.map(|(): ()| ()), Err(PoolError::Panicked)));
    }
}
