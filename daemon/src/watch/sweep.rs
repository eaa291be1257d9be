//! The loop that looks: at what events marked, at once, and at everything once an interval (D73).
//!
//! It turns on a thread of its own, because even a local disk can hang. Projects whose file system is known for that are
//! looked at on the pool. Should the loop itself get stuck, that disk's projects go to the pool too, and another loop
//! goes on. What events tell is looked at by the thread that reads them, where it can: should that one get stuck, the
//! sweep goes on without it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::backend::HandOver;
use super::backoff::Backoff;
use super::dirty::{Next, Weight};
use super::stamps::By;
use super::watched::{Looked, Watched};
use super::{Shared, lock};
use crate::pool::{self, Pool};

/// After an actor was told, events that follow closer than this are looked at together, so that a storm costs little and
/// one save is read once. After our own writes, of which nobody is told, nothing waits.
pub(super) const GATHER: Duration = Duration::from_millis(2);
/// How often folders that the kernel's limits kept from being watched are tried again.
const ARM_AGAIN: Duration = Duration::from_secs(60);

/// Keeps one loop turning until the future is dropped. A look that does not come back for `stuck_after` sends its project
/// to the pool; if it was the loop's, another loop goes on.
pub(super) async fn supervise(shared: &Arc<Shared>, pool: Pool, stuck_after: Duration) {
    let stop = Stop(shared.clone());
    let here = Looker::new(&pool);
    *lock(&shared.looker) = Some(here.clone());
    let mut turning = start(shared, &pool);
    loop {
        tokio::time::sleep(stuck_after).await;
        if let Some(hanging) = here.hangs_at(stuck_after) {
            set_aside(&stop.0, &hanging);
        }
        if let Some(hanging) = turning.as_ref().and_then(|looker| looker.hangs_at(stuck_after)) {
            set_aside(&stop.0, &hanging);
            turning = None;
        }
        if turning.is_none() {
            turning = start(shared, &pool);
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

/// A look at this project does not come back: it goes to the pool, with its neighbours.
fn set_aside(shared: &Shared, hanging: &Watched) {
    if hanging.can_hang() {
        return;
    }
    hanging.is_found_hanging();
    // What lies on the same disk would be the next to hold the loop up.
    let device = hanging.device();
    let projects = lock(&shared.projects);
    for neighbour in projects.iter().filter(|watched| device.is_some() && watched.device() == device) {
        neighbour.is_found_hanging();
    }
    tracing::warn!(project = %hanging.path().display(), "the project's file system does not answer; the others go on");
}

/// Starts a loop; the one before ends. `None`: there is no thread for it now.
fn start(shared: &Arc<Shared>, pool: &Pool) -> Option<Looker> {
    let turn = shared.dirty.next_turn();
    let looker = Looker::new(pool);
    let sweep = Loop { shared: shared.clone(), turn, looker: looker.clone() };
    let thread = std::thread::Builder::new().name("handoffd-watch".to_owned()).spawn(move || sweep.run());
    match thread {
        Ok(_) => Some(looker),
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

/// What a thread needs to look, and where it is looking.
#[derive(Clone)]
pub(super) struct Looker {
    runtime: Handle,
    pool: Pool,
    at: Arc<Mutex<Option<Looking>>>,
}

/// A look that is out.
struct Looking {
    at: Arc<Watched>,
    since: Instant,
}

impl Looker {
    fn new(pool: &Pool) -> Self {
        Self { runtime: Handle::current(), pool: pool.clone(), at: Arc::default() }
    }

    /// The project at which its thread has been looking for so long.
    fn hangs_at(&self, long: Duration) -> Option<Arc<Watched>> {
        lock(&self.at).as_ref().filter(|look| look.since.elapsed() > long).map(|look| look.at.clone())
    }
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
            self.turns();
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

    fn turns(&self) {
        self.shared.turns.fetch_add(1, Ordering::Relaxed);
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
            self.turns();
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
    /// Looks at what is marked, on the thread that read the events. If there is somebody to read on, the first job that
    /// follows is done here, too: a task that has come needs no other thread to be woken on its way.
    pub(super) fn look_here(self: &Arc<Self>, hand_over: HandOver<'_>) {
        let looker = lock(&self.looker).clone();
        let Some(looker) = looker else { return self.dirty.wake() };
        let mut batch = Vec::new();
        self.dirty.take(&mut batch);
        if batch.is_empty() {
            return;
        }
        let _entered = looker.runtime.enter();
        let now = Instant::now();
        let kept = pool::keep_first(|| batch.retain(|watched| self.look_at_marked(watched, &looker, now)));
        match kept.filter(|_| (hand_over.0)()) {
            Some(kept) => {
                kept.run();
                batch.drain(..).for_each(|told| told.nudge());
            }
            None => gather(&mut batch),
        }
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
        let looked = if watched.can_hang() {
            self.look_elsewhere(watched, looker, by, weight, now);
            Looked::Told
        } else {
            *lock(&looker.at) = Some(Looking { at: watched.clone(), since: Instant::now() });
            let looked = watched.look(by, weight, now);
            *lock(&looker.at) = None;
            self.looked(watched, looked, by, weight);
            looked
        };
        #[cfg(test)]
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
