//! A thread for what is done while another thread waits for the disk.
//!
//! Where both have one processor, the thread that waits for the disk goes first: it does little, and each step of it
//! sends the disk to its next one. So this one gives way at the start and, through [`give_way`], from time to time. For
//! the same reason it is asked without a lock that it wants itself: it would be given the processor just to find the
//! lock taken.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

use super::lock;

type Job = Box<dyn FnOnce() + Send>;

/// One thread, which is started when it is asked for the first time.
#[derive(Default)]
pub struct Aside {
    shared: Arc<Shared>,
    start: OnceLock<()>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    came: Condvar,
}

#[derive(Default)]
struct State {
    /// The thread waits, and nobody has asked it yet.
    is_idle: bool,
    job: Option<Job>,
    has_ended: bool,
}

impl Aside {
    /// Gives the thread a job.
    ///
    /// # Errors
    /// It has one, or is not there yet; the job is given back.
    pub fn ask(&self, job: Job) -> Result<(), Job> {
        self.start.get_or_init(|| {
            let shared = self.shared.clone();
            let thread = std::thread::Builder::new().name("handoffd-aside".to_owned());
            // Without it, others must do.
            drop(thread.spawn(move || shared.serve()));
        });
        let mut state = lock(&self.shared.state);
        if !state.is_idle {
            return Err(job);
        }
        state.is_idle = false;
        state.job = Some(job);
        drop(state);
        self.shared.came.notify_one();
        Ok(())
    }
}

/// Lets a thread that has become ready go first: the kernel itself would let this one go on for milliseconds. Costs next
/// to nothing where none has.
pub fn give_way() {
    std::thread::yield_now();
}

impl Drop for Aside {
    fn drop(&mut self) {
        lock(&self.shared.state).has_ended = true;
        self.shared.came.notify_one();
    }
}

impl Shared {
    fn serve(&self) {
        while let Some(job) = self.next() {
            give_way();
            // Whoever waits for it finds out; the panic itself is in the log.
            catch_unwind(AssertUnwindSafe(job)).ok();
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = lock(&self.state);
        state.is_idle = true;
        let nothing = |state: &mut State| state.job.is_none() && !state.has_ended;
        let mut state = self.came.wait_while(state, nothing).unwrap_or_else(PoisonError::into_inner);
        state.job.take()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};
    use std::time::{Duration, Instant};

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(60);

    /// Asks until the thread takes it, and gives what the job will say.
    fn ask(aside: &Aside, job: impl Fn() -> u32 + Send + Sync + 'static) -> Receiver<u32> {
        let (began, job) = (Instant::now(), Arc::new(job));
        loop {
            let (said, hears) = channel();
            let job = job.clone();
            if aside.ask(Box::new(move || said.send(job()).unwrap_or_default())).is_ok() {
                return hears;
            }
            assert!(began.elapsed() < DEADLINE, "the thread waits for a job again");
            std::thread::yield_now();
        }
    }

    #[test]
    fn it_does_one_job_at_a_time_on_a_thread_of_its_own() {
        let aside = Aside::default();
        let here = std::thread::current().id();
        let (gate, opened) = channel::<()>();
        let opened = Mutex::new(opened);
        let first = ask(&aside, move || {
            assert_ne!(std::thread::current().id(), here);
            lock(&opened).recv().map_or(1, |()| 0)
        });
        assert!(aside.ask(Box::new(|| ())).is_err(), "it is at work");
        drop(gate);
        assert_eq!(first.recv_timeout(DEADLINE), Ok(1));
        assert_eq!(ask(&aside, || 2).recv_timeout(DEADLINE), Ok(2));
    }

    #[test]
    fn a_job_that_panics_does_not_end_it() {
        let aside = Aside::default();
        let panicked = ask(&aside, || panic!("boom"));
        assert!(panicked.recv_timeout(DEADLINE).is_err());
        assert_eq!(ask(&aside, || 3).recv_timeout(DEADLINE), Ok(3));
    }

    #[test]
    fn the_thread_ends_with_its_owner() {
        let aside = Aside::default();
        ask(&aside, || 4).recv_timeout(DEADLINE).unwrap();
        let (shared, began) = (Arc::downgrade(&aside.shared), Instant::now());
        drop(aside);
        while shared.strong_count() > 0 {
            assert!(began.elapsed() < DEADLINE);
            std::thread::yield_now();
        }
    }
}
