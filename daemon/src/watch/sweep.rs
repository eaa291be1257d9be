//! The loop that looks: at what events marked, at once, and at everything once an interval (D73).
//!
//! It turns on a thread of its own, because even a local disk can hang. Projects whose file system is known for that are
//! looked at on the pool. Should the loop itself get stuck, that disk's projects go to the pool too, and another loop
//! goes on. What events tell is looked at by the thread that reads them, where it can: should that one get stuck, the
//! sweep goes on without it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::backoff::Backoff;
use super::dirty::{Next, Weight};
use super::stamps::By;
use super::watched::{Looked, Watched};
use super::{Shared, lock};
use crate::pool::Pool;

/// After an actor was told, events that follow closer than this are looked at together, so that a storm costs little and
/// one save is read once. After our own writes, of which nobody is told, nothing waits.
const GATHER: Duration = Duration::from_millis(2);
/// How often folders that the kernel's limits kept from being watched are tried again.
const ARM_AGAIN: Duration = Duration::from_secs(60);

/// Keeps one loop turning until the future is dropped; a loop that stands still for `stuck_after` is replaced.
pub(super) async fn supervise(shared: &Arc<Shared>, pool: Pool, stuck_after: Duration) {
    let stop = Stop(shared.clone());
    *lock(&shared.looker) = Some(Looker { runtime: Handle::current(), pool: pool.clone() });
    let mut turn = start(shared, &pool);
    loop {
        let before = shared.looks.load(Ordering::Relaxed);
        tokio::time::sleep(stuck_after).await;
        let stands_still = shared.looks.load(Ordering::Relaxed) == before;
        let seems_stuck = stands_still || stop.0.is_stuck_here(stuck_after);
        let hangs = seems_stuck && set_hanging_aside(&stop.0);
        if hangs && stands_still {
            turn = None;
        }
        if turn.is_none() {
            turn = start(shared, &pool);
        }
    }
}

struct Stop(Arc<Shared>);

impl Drop for Stop {
    fn drop(&mut self) {
        *lock(&self.0.looker) = None;
        self.0.dirty.next_turn();
    }
}

/// A look at a project that is not on the pool does not come back: that project goes there, with its neighbours.
fn set_hanging_aside(shared: &Shared) -> bool {
    let projects = lock(&shared.projects);
    let Some(hanging) = projects.iter().find(|watched| watched.is_looking() && !watched.can_hang()) else {
        return false;
    };
    hanging.is_found_hanging();
    // What lies on the same disk would be the next to hold the loop up.
    let device = hanging.device();
    for neighbour in projects.iter().filter(|watched| device.is_some() && watched.device() == device) {
        neighbour.is_found_hanging();
    }
    tracing::warn!(project = %hanging.path().display(), "the project's file system does not answer; the others go on");
    true
}

/// Starts a loop; the one before ends. `None`: there is no thread for it now.
fn start(shared: &Arc<Shared>, pool: &Pool) -> Option<u64> {
    let turn = shared.dirty.next_turn();
    let looker = Looker { runtime: Handle::current(), pool: pool.clone() };
    let sweep = Loop { shared: shared.clone(), turn, looker };
    let thread = std::thread::Builder::new().name("handoffd-watch".to_owned()).spawn(move || sweep.run());
    match thread {
        Ok(_) => Some(turn),
        Err(error) => {
            tracing::error!(%error, "no thread for the sweep; trying again");
            None
        }
    }
}

struct Loop {
    shared: Arc<Shared>,
    turn: u64,
    looker: Looker,
}

/// What a thread needs to look.
#[derive(Clone)]
pub(super) struct Looker {
    runtime: Handle,
    pool: Pool,
}

impl Loop {
    fn run(&self) {
        // An actor that is told may begin a job at once.
        let _entered = self.looker.runtime.enter();
        let mut batch = Vec::new();
        let mut lost = Backoff::new(Instant::now());
        let mut sweep_at = Instant::now() + self.shared.interval;
        let mut arm_at = Instant::now() + ARM_AGAIN;
        loop {
            let next = self.shared.dirty.wait(self.turn, sweep_at, lost.from(), &mut batch);
            let Next::Look { all } = next else { return };
            let now = Instant::now();
            batch.retain(|watched| self.shared.look_at_marked(watched, &self.looker, now));
            if all {
                lost.happened(now);
                self.shared.overflows.fetch_add(1, Ordering::Relaxed);
                tracing::warn!("file events were lost: every project is read again");
            }
            if all || now >= sweep_at {
                self.sweep(if all { Weight::Always } else { Weight::Compare }, now);
                sweep_at = Instant::now() + self.shared.interval;
            }
            if now >= arm_at {
                self.shared.arm_again();
                arm_at = now + ARM_AGAIN;
            }
            gather(&mut batch);
        }
    }

    /// Looks at every project. One at a time is taken out of the list, which is never held during a look.
    fn sweep(&self, weight: Weight, now: Instant) {
        let mut at = 0;
        loop {
            let Some(watched) = lock(&self.shared.projects).get(at).cloned() else { return };
            at += 1;
            if self.shared.look(&watched, &self.looker, By::Sweep, weight, now) == Looked::Told {
                watched.nudge();
            }
            if !self.shared.dirty.is_turn(self.turn) {
                return;
            }
        }
    }
}

/// Lets what belongs together come together, then lets those who were told see to their deadlines.
fn gather(told: &mut Vec<Arc<Watched>>) {
    if !told.is_empty() {
        std::thread::sleep(GATHER);
        told.drain(..).for_each(|told| told.nudge());
    }
}

impl Shared {
    /// Looks at what is marked, on the thread that read the events.
    pub(super) fn look_here(self: &Arc<Self>) {
        let looker = lock(&self.looker).clone();
        let Some(looker) = looker else { return self.dirty.wake() };
        let mut batch = Vec::new();
        self.dirty.take(&mut batch);
        if batch.is_empty() {
            return;
        }
        let _entered = looker.runtime.enter();
        let now = Instant::now();
        *lock(&self.here_since) = Some(now);
        batch.retain(|watched| self.look_at_marked(watched, &looker, now));
        *lock(&self.here_since) = None;
        gather(&mut batch);
    }

    /// Whether the thread that reads the events has been looking for so long.
    fn is_stuck_here(&self, long: Duration) -> bool {
        lock(&self.here_since).is_some_and(|since| since.elapsed() > long)
    }

    /// Whether an actor was told, or may have been.
    fn look_at_marked(self: &Arc<Self>, watched: &Arc<Watched>, looker: &Looker, now: Instant) -> bool {
        let Some(weight) = watched.unmark() else { return false };
        if watched.is_retired() {
            self.disarm(watched);
            return false;
        }
        self.look(watched, looker, By::Event, weight, now) == Looked::Told
    }

    /// What came of it; what a look on the pool will find is taken for the most that it can be.
    fn look(self: &Arc<Self>, watched: &Arc<Watched>, looker: &Looker, by: By, weight: Weight, now: Instant) -> Looked {
        if !watched.begin_look() {
            // One is out, perhaps for long. What it does not see is looked at after it.
            if by == By::Event || weight == Weight::Always {
                watched.miss(weight);
            }
            return Looked::Same;
        }
        self.looks.fetch_add(1, Ordering::Relaxed);
        let looked = if watched.can_hang() {
            self.look_elsewhere(watched, looker, by, weight, now);
            Looked::Told
        } else {
            let looked = watched.look(by, weight, now);
            self.looked(watched, looked, by, weight);
            looked
        };
        self.looks.fetch_add(1, Ordering::Relaxed);
        looked
    }

    fn look_elsewhere(self: &Arc<Self>, watched: &Arc<Watched>, looker: &Looker, by: By, weight: Weight, now: Instant) {
        let (shared, pool, watched) = (self.clone(), looker.pool.clone(), watched.clone());
        looker.runtime.spawn(async move {
            let looking = watched.clone();
            let looked = pool.run(move || looking.look(by, weight, now)).await;
            watched.answers();
            shared.looked(&watched, looked.unwrap_or(Looked::Same), by, weight);
            watched.nudge();
        });
    }

    /// The end of a look, and what follows from it.
    fn looked(&self, watched: &Arc<Watched>, looked: Looked, by: By, weight: Weight) {
        watched.end_look();
        if let Some(missed) = watched.missed() {
            self.dirty.mark(watched, missed);
        }
        match looked {
            Looked::Same | Looked::Told => {}
            Looked::Again if by == By::Event || weight == Weight::Always => self.dirty.mark(watched, weight),
            Looked::Again => {}
            // Nothing counts as told, so the next sweep finds it again.
            Looked::Full => watched.miss(weight),
            Looked::Writing => {
                watched.miss(weight);
                watched.look_at_missed();
            }
            Looked::NoActor => {
                watched.retire();
                lock(&self.projects).retain(|known| !Arc::ptr_eq(known, watched));
                self.disarm(watched);
            }
        }
    }
}
