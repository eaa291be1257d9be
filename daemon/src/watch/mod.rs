//! Noticing that a project's files may have changed: events make it fast, the sweep makes it certain (D73).
//!
//! An event is a hint. Whatever woke us, the stamps of the two files that matter are compared, and only a difference
//! wakes the project's actor, which then reads the bytes. Nothing here reads a file or knows what one means. All of it
//! runs on threads of its own, so that no disk can hold up the daemon's loop.

mod arm;
mod backend;
mod backoff;
#[cfg(target_os = "linux")]
mod baton;
mod dirty;
#[cfg(target_os = "linux")]
mod inotify;
#[cfg(any(not(target_os = "linux"), test))]
mod native;
mod routes;
mod stamps;
mod status;
mod sweep;
mod watched;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::WeakSender;

use self::arm::Events;
use self::backend::{Hint, Open};
use self::dirty::Dirty;
use self::routes::Routes;
use crate::actor::mail::Mail;
use crate::config::{WatchConfig, WatchMode};
use crate::pool::{Pool, STUCK_AFTER};

pub(crate) use self::stamps::tick;
pub use self::watched::Watched;

/// All watched projects of one daemon.
pub struct Watch {
    shared: Arc<Shared>,
}

/// What the loop's thread, the events' thread and the actors share.
struct Shared {
    interval: Duration,
    projects: Mutex<Vec<Arc<Watched>>>,
    routes: Routes,
    dirty: Dirty,
    events: Mutex<Events>,
    /// How often events were lost and everything was read again.
    overflows: AtomicU64,
    /// Counts the sweep's rounds and looks.
    turns: AtomicU64,
    /// For looks on the backend's thread; set when the loop turns.
    looker: Mutex<Option<sweep::Looker>>,
    /// Counts looks, for tests that wait for some.
    #[cfg(test)]
    looks: AtomicU64,
}

impl Watch {
    /// Nothing is watched yet. Changes are noticed once [`Watch::run`] is polled.
    #[must_use]
    pub fn new(config: &WatchConfig) -> Self {
        #[cfg(target_os = "linux")]
        let open = inotify::open;
        #[cfg(not(target_os = "linux"))]
        let open = native::open;
        Self::with_backend(config, Box::new(open))
    }

    fn with_backend(config: &WatchConfig, open: Open) -> Self {
        let wanted = match config.mode {
            WatchMode::Auto => Some(open),
            WatchMode::Poll => None,
        };
        let shared = Arc::new(Shared {
            interval: config.sweep_interval,
            projects: Mutex::default(),
            routes: Routes::default(),
            dirty: Dirty::default(),
            events: Mutex::new(Events::new(wanted)),
            overflows: AtomicU64::new(0),
            turns: AtomicU64::new(0),
            looker: Mutex::default(),
            #[cfg(test)]
            looks: AtomicU64::new(0),
        });
        Self { shared }
    }

    /// Adds a project. It is swept from the moment its folder was opened ([`Watched::note_folder`]).
    #[must_use]
    pub fn register(&self, path: &Arc<Path>, mail: WeakSender<Box<Mail>>) -> Arc<Watched> {
        let watched = Watched::new(path.clone(), mail, Arc::downgrade(&self.shared));
        lock(&self.shared.projects).push(watched.clone());
        watched
    }

    /// Forgets a project whose actor has closed its mailbox; never blocks, the kernel's watches go a moment later.
    /// Another actor that was already started for the same path is left alone.
    pub fn unregister(&self, path: &Path) {
        let mut projects = lock(&self.shared.projects);
        for gone in projects.extract_if(.., |watched| watched.path() == path && watched.is_abandoned()) {
            gone.retire();
            self.shared.dirty.mark(&gone, dirty::Weight::Compare);
        }
    }

    /// Notices changes until the future is dropped; never ends by itself. Polled on a tokio runtime. Projects whose file
    /// system may hang are looked at on a pool of their own: a disk with many of them must not take the places of jobs.
    pub async fn run(&self) {
        sweep::supervise(&self.shared, Pool::for_what_can_hang(), STUCK_AFTER).await;
    }

    /// A number that grows as long as the sweep turns; a disk that hangs does not stop it for longer than
    /// [`Watch::patience`].
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.shared.turns.load(Ordering::Relaxed)
    }

    /// How long [`Watch::turns`] may stay the same: a round, and the time until a loop that hangs is replaced.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.shared.interval + 3 * STUCK_AFTER
    }
}

impl Shared {
    /// Where the backend's hints arrive, on a thread of its own. Blocks for [`Hint::Look`] alone.
    fn hint(self: &Arc<Self>, hint: &Hint<'_>) {
        match hint {
            Hint::Path { path, about } => {
                if let Some((watched, weight)) = self.routes.find(path, *about) {
                    self.dirty.mark_quietly(&watched, weight);
                }
            }
            Hint::Lost => self.dirty.mark_all(),
            Hint::Wake => self.dirty.wake(),
            Hint::Look(hand_over) => self.look_here(*hand_over),
        }
    }

    /// How many times everything was read again.
    fn overflows(&self) -> u64 {
        self.overflows.load(Ordering::Relaxed)
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("interval", &self.shared.interval).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
