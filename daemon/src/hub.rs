//! What all parts of one running daemon share: clock, journal, events, pool, configuration, the projects' mailboxes.
//!
//! Nothing here decides anything about a project; that is the crate `lifecycle`, called by the project's actor. Locks in
//! here are held for a few instructions and never across an await.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use lifecycle::{Awake, AwakeClock, Conn, Moment};
use tokio::sync::{mpsc, watch};

use crate::agents::Agents;
use crate::clock;
use crate::config::Config;
use crate::env::Env;
use crate::events::Events;
use crate::history;
use crate::journal::Journal;
use crate::members::Team;
use crate::notify::Notifier;
use crate::places::Places;
use crate::pool::{Aside, Pool};
use crate::processes::Processes;
use crate::projects::Projects;
use crate::watch::Watch;

/// The shared parts of one daemon.
pub struct Hub {
    /// 32 hexadecimal digits, random for each start (D14).
    pub instance: String,
    /// RFC 3339.
    pub started_at: String,
    started: Instant,
    /// The environment it was started in.
    pub env: Env,
    /// Where its files are.
    pub places: Places,
    /// The journal of all projects.
    pub journal: Journal,
    /// The event stream.
    pub events: Events,
    /// File work.
    pub pool: Pool,
    /// For what is done while a job waits for the disk.
    pub aside: Aside,
    /// The agents of the projects that were asked about last.
    pub agents: Agents,
    /// Folders that changed.
    pub watch: Watch,
    /// Processes that ended or stopped.
    pub processes: Processes,
    /// The person's own command.
    pub notifier: Notifier,
    /// The mailboxes of all projects.
    pub projects: Projects,
    /// Sessions of team members.
    pub team: Team,
    /// Who we are for lock files (D14).
    pub claimant: store::Claimant,
    /// What the journal says of the time before this start; made by the first project that is opened.
    past: OnceLock<Mutex<history::Index>>,
    /// The configuration in force.
    config: RwLock<Arc<Config>>,
    awake: Mutex<AwakeClock>,
    next_conn: AtomicU64,
    /// Projects whose lock was let go, for the manager (D71).
    gone: mpsc::UnboundedSender<Arc<Path>>,
    /// Counts the gaps in awake time (D21); actors watch it.
    gaps: watch::Sender<u64>,
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").field("instance", &self.instance).finish_non_exhaustive()
    }
}

/// What a hub is made of.
pub struct Parts {
    /// See [`Hub::env`].
    pub env: Env,
    /// See [`Hub::places`].
    pub places: Places,
    /// See [`Hub::journal`].
    pub journal: Journal,
    /// See [`Hub::watch`].
    pub watch: Watch,
    /// See [`Hub::processes`].
    pub processes: Processes,
    /// See [`Hub::notifier`].
    pub notifier: Notifier,
    /// See [`Hub::claimant`].
    pub claimant: store::Claimant,
    /// The configuration.
    pub config: Config,
}

impl Parts {
    /// The usual parts: a new instance (D14), this process and its process table.
    #[must_use]
    pub fn new(env: Env, places: Places, journal: Journal, config: Config) -> Self {
        let mut random = [0; 16];
        getrandom(&mut random);
        let claimant = store::Claimant::current(Some(store::Instance::from_random(u128::from_le_bytes(random))));
        Self {
            watch: Watch::new(&config.watch),
            processes: Processes::new(Arc::clone(&claimant.processes)),
            notifier: Notifier::new(&env),
            env,
            places,
            journal,
            claimant,
            config,
        }
    }
}

impl Hub {
    /// A hub with no projects, and where it tells of projects that let go of their lock.
    #[must_use]
    pub fn new(parts: Parts) -> (Arc<Self>, mpsc::UnboundedReceiver<Arc<Path>>) {
        let (gone, told) = mpsc::unbounded_channel();
        let hub = Arc::new(Self {
            instance: parts.claimant.instance.map(|id| id.to_string()).unwrap_or_default(),
            started_at: clock::Wall::now().to_string(),
            started: Instant::now(),
            env: parts.env,
            places: parts.places,
            journal: parts.journal,
            events: Events::default(),
            pool: Pool::default(),
            aside: Aside::default(),
            agents: Agents::default(),
            watch: parts.watch,
            processes: parts.processes,
            notifier: parts.notifier,
            claimant: parts.claimant,
            past: OnceLock::new(),
            config: RwLock::new(Arc::new(parts.config)),
            awake: Mutex::new(AwakeClock::start(clock::monotonic_ms())),
            next_conn: AtomicU64::new(1),
            projects: Projects::default(),
            team: Team::default(),
            gone,
            gaps: watch::Sender::new(0),
        });
        (hub, told)
    }

    /// Takes out what the journal says of a project. The first call reads the journal: blocking.
    #[must_use]
    pub fn take_past(&self, project: &str) -> history::Past {
        let past = self.past.get_or_init(|| Mutex::new(history::build(&self.journal)));
        let mut past = lock(past);
        let taken = past.remove(project).unwrap_or_default();
        // A table keeps its room, which is half a megabyte for a thousand projects.
        if past.len() < past.capacity() / 4 {
            past.shrink_to_fit();
        }
        taken
    }

    /// A project let go of its lock: it left, was disabled, or the daemon stops.
    pub fn has_gone(&self, path: &Arc<Path>) {
        self.gone.send(path.clone()).ok();
    }

    /// The configuration in force.
    #[must_use]
    pub fn config(&self) -> Arc<Config> {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a project ends up with, given its own file. Blocking only where the configuration names projects.
    #[must_use]
    pub fn settings_of(&self, path: &Path, own: &crate::config::ProjectFile) -> Arc<crate::config::Settings> {
        let config = self.config();
        Arc::new(config.settings(config.project_at(path), own))
    }

    /// Puts another configuration in force; actors are told apart from this.
    pub fn set_config(&self, config: Arc<Config>) {
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
    }

    /// How long this daemon runs.
    #[must_use]
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Now, for the state machine. Whoever reads first after a gap tells everybody (D21).
    #[must_use]
    pub fn now(&self) -> Moment {
        let awake = self.awake();
        let mut entropy = [0; 16];
        getrandom(&mut entropy);
        Moment { awake, wall: lifecycle::Wall(clock::Wall::now().unix_ms()), entropy: u128::from_le_bytes(entropy) }
    }

    /// Awake time now.
    #[must_use]
    pub fn awake(&self) -> Awake {
        let (awake, gap) = lock(&self.awake).read(clock::monotonic_ms());
        if gap.is_some() {
            self.gaps.send_modify(|count| *count += 1);
        }
        awake
    }

    /// Changes whenever a gap in awake time ended.
    #[must_use]
    pub fn gaps(&self) -> watch::Receiver<u64> {
        self.gaps.subscribe()
    }

    /// A number for a new connection.
    pub fn new_conn(&self) -> Conn {
        Conn(self.next_conn.fetch_add(1, Ordering::Relaxed))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fills `bytes` with random bits of the kernel; all zero bits are never used, since a failure is retried.
fn getrandom(bytes: &mut [u8]) {
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => std::thread::yield_now(),
        }
    }
}
