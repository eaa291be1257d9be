//! The actor behind its lock, and the three who come to it: its task on the loop, the pool's threads with the result of
//! a job, and the watcher's thread with news of a file.
//!
//! A job that follows from the result of another goes on on the same thread: a task that has come reaches the session
//! without a change of threads between its file and its message. The lock is held for a step and its effects, none of
//! which blocks, and never while a job runs.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lifecycle::{Done, Event};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Duration, Instant};

use super::Actor;
use super::mail::Mail;
use crate::jobs::{Context, Files};
use crate::pool::{PoolError, STUCK_AFTER};

/// A job with all that it needs.
pub(super) struct Work {
    pub(super) files: Box<Files>,
    pub(super) job: lifecycle::Job,
    pub(super) context: Context,
}

/// A chain of jobs on the pool. An error: one of them panicked.
pub(super) type Chain = Pin<Box<dyn Future<Output = Result<(), PoolError>> + Send>>;

/// One actor and its lock.
pub(crate) struct Cell {
    actor: Mutex<Actor>,
    /// Somebody else than the task was there: deadlines may have changed, something may be left to be told.
    visited: Notify,
}

impl Cell {
    pub(super) fn new(actor: Actor) -> Arc<Self> {
        Arc::new(Self { actor: Mutex::new(actor), visited: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, Actor> {
        self.actor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One of the actor's files may have changed. Never blocks; `false` when somebody else is with the actor: then a
    /// letter must do. On a thread that has entered the runtime.
    pub(crate) fn touch(self: &Arc<Self>) -> bool {
        let Ok(mut actor) = self.actor.try_lock() else { return false };
        if actor.gone {
            return false;
        }
        actor.step(Event::Touched);
        self.begin(&mut actor);
        true
    }

    /// Lets the actor's task see to its deadlines, some time after a [`Cell::touch`].
    pub(crate) fn nudge(&self) {
        self.visited.notify_one();
    }

    /// Lets something happen to the actor, begins what job it wants, and tells what waits to be told.
    fn visit(self: &Arc<Self>, happen: impl FnOnce(&mut Actor)) {
        let mut actor = self.lock();
        happen(&mut actor);
        self.begin(&mut actor);
        actor.tell_untold();
        actor.hub.journal.wake();
    }

    fn begin(self: &Arc<Self>, actor: &mut Actor) {
        let Some(work) = actor.next.take() else { return };
        let cell = self.clone();
        // Boxed: at the start every project has a job that waits for its turn.
        let chain: Box<dyn FnOnce() + Send> = Box::new(move || cell.go_on(work));
        actor.chain = Some(Box::pin(actor.hub.pool.run(chain)));
    }

    /// Does one job after the other, as long as each leads to the next.
    fn go_on(&self, mut work: Box<Work>) {
        loop {
            let Work { files, job, context } = *work;
            let (files, done) = files.perform(job, &context);
            let mut actor = self.lock();
            actor.job_done(Some(files), done);
            let next = actor.next.take();
            let unwanted = actor.files.as_mut().and_then(|files| files.begun.take());
            if next.is_some() {
                actor.hub.journal.wake();
            }
            drop(actor);
            match next {
                Some(next) => work = next,
                None => {
                    // The task tells what is still to be told: this thread leaves its processor to the session, which
                    // may be waiting for it with the message that was sent just now.
                    self.visited.notify_one();
                    drop(unwanted);
                    return;
                }
            }
        }
    }

    /// The actor's task: letters, deadlines, and the end of chains that panicked.
    pub(super) async fn run(self: Arc<Self>, mut letters: mpsc::Receiver<Box<Mail>>, mut gaps: watch::Receiver<u64>) {
        let mut chain = None;
        self.visit(|actor| actor.step(Event::Tick));
        while let Some(times) = self.times(&mut chain) {
            // One timer for both: there are as many as projects.
            let wake = times.due.into_iter().chain(times.stuck).min();
            tokio::select! {
                biased;
                ended = end_of(&mut chain) => {
                    chain = None;
                    if ended.is_err() {
                        self.visit(Actor::job_panicked);
                    }
                }
                letter = letters.recv() => match letter {
                    Some(letter) => self.visit(|actor| actor.read_letter(*letter)),
                    None => break,
                },
                () = at(wake) => self.visit(|actor| match times.stuck.filter(|stuck| *stuck <= Instant::now()) {
                    Some(stuck) => actor.is_stuck_since(stuck),
                    None => actor.step(Event::Tick),
                }),
                Ok(()) = gaps.changed() => self.visit(|actor| actor.step(Event::Woke)),
                () = self.visited.notified() => self.visit(|_| ()),
            }
        }
        letters.close();
        let mut actor = self.lock();
        actor.hub.watch.unregister(&actor.path);
        actor.open.drop_all();
    }

    /// When to wake; `None` when the actor is gone. Takes a chain that was begun over.
    fn times(&self, chain: &mut Option<Chain>) -> Option<Times> {
        let mut actor = self.lock();
        if let Some(begun) = actor.chain.take() {
            *chain = Some(begun);
        }
        (!actor.gone)
            .then(|| Times { due: actor.deadline.map(|at| Instant::now() + actor.until(at)), stuck: actor.stuck_at() })
    }
}

struct Times {
    due: Option<Instant>,
    stuck: Option<Instant>,
}

impl Actor {
    /// When the job that is out will be called stuck, unless it already is.
    fn stuck_at(&self) -> Option<Instant> {
        self.job_since.map(|since| since + STUCK_AFTER).filter(|_| !self.hung)
    }

    /// A job's time is over; another one may have begun since that was seen.
    fn is_stuck_since(&mut self, stuck: Instant) {
        if self.stuck_at() == Some(stuck) {
            self.is_stuck();
        }
    }

    fn until(&self, deadline: lifecycle::Awake) -> Duration {
        // One millisecond more, so that the machine's clock has passed the deadline when we look.
        Duration::from_millis(deadline.0.saturating_sub(self.hub.awake().0) + 1)
    }

    /// A panic takes the job's files with it; everything that was open is gone, and the machine starts over.
    fn job_panicked(&mut self) {
        if let Some(failed) = self.failed.take().filter(|_| self.files.is_none()) {
            self.job_done(None, failed);
        }
    }

    /// The job has ended with this; kept by whoever began it.
    fn job_done(&mut self, files: Option<Box<Files>>, done: Done) {
        self.job_since = None;
        self.hung = false;
        self.took(files, done);
    }
}

async fn end_of(chain: &mut Option<Chain>) -> Result<(), PoolError> {
    match chain {
        Some(chain) => chain.await,
        None => std::future::pending().await,
    }
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

impl std::fmt::Debug for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cell").finish_non_exhaustive()
    }
}
