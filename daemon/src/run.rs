//! The daemon from its first step to its last, as one function that programs, tests and `handoff demo` call.
//!
//! Only the order of things is decided here: who may go before whom at the start, and who is waited for at the end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use crate::actor::mail::{Mail, ProjectRef};
use crate::config::Config;
use crate::env::Env;
use crate::hub::{self, Hub};
use crate::instance::{Instance, InstanceError};
use crate::journal::{Journal, JournalError, JournalLimits};
use crate::keeping::{self, KeepError};
use crate::logging::LogGuard;
use crate::manager::{self, ConfigFile, Manager, Request};
use crate::peer::Responder;
use crate::places::Places;
use crate::places::folder::FolderError;
use crate::places::socket::SocketPlace;
use crate::registry::StateFileError;
use crate::server::attach_again::Refused;
use crate::server::socket::{Listener, Socket, SocketError};
use crate::server::{self, Service, Stage};
use crate::supervision::Supervisor;

/// How long projects may take to finish their writes and let go. A file system that hangs is not waited for longer.
const LET_GO_WITHIN: Duration = Duration::from_secs(10);
/// How long clients may take to read their last answers.
const LAST_LINES_WITHIN: Duration = Duration::from_secs(1);

/// What a daemon is started with.
pub struct Startup {
    /// The environment.
    pub env: Env,
    /// Where its files are.
    pub places: Places,
    /// The configuration.
    pub config: Config,
    /// Where the configuration is read again.
    pub config_file: ConfigFile,
    /// What was odd about the configuration, for `daemon.status`.
    pub warnings: Vec<String>,
    /// `--project`: absolute paths.
    pub projects: Vec<PathBuf>,
    /// The service manager.
    pub supervisor: Supervisor,
    /// Each message is a wish to read the configuration again (SIGHUP).
    pub reloads: Option<mpsc::Receiver<()>>,
    /// The log of this process.
    pub log: Option<Arc<LogGuard>>,
}

impl Startup {
    /// A daemon without a configuration file, service manager and signals.
    #[must_use]
    pub fn new(env: Env, places: Places, config: Config) -> Self {
        Self {
            env,
            places,
            config,
            config_file: ConfigFile::None,
            warnings: Vec::new(),
            projects: Vec::new(),
            supervisor: Supervisor::Nobody,
            reloads: None,
            log: None,
        }
    }
}

/// How a daemon ended that had started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Projects that did not let go in time; the next daemon recovers their locks.
    pub left_behind: Vec<PathBuf>,
}

/// Why a daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Another daemon is running (exit code 3), or that cannot be told.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// The state or socket folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// There is no socket to listen on.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// There is no journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What an uninstall had kept cannot be taken back.
    #[error(transparent)]
    Kept(#[from] KeepError),
    /// The registered projects cannot be read.
    #[error(transparent)]
    Registry(#[from] StateFileError),
}

/// Runs the daemon until `shutdown` comes or a client asks for its end. Needs a runtime with time and I/O, and is built
/// for one with a single thread.
///
/// # Errors
/// [`RunError`]: it did not start. Then nothing was changed: the instance lock comes before the socket is touched and
/// before any project is read (D77).
pub async fn run(startup: Startup, listener: Listener, shutdown: impl Future<Output = ()>) -> Result<Ended, RunError> {
    startup.places.prepare()?;
    let place = startup.places.socket.clone();
    let address = listener.path().unwrap_or_else(|| place.path.clone());
    let instance = Instance::acquire(&startup.places.instance_lock(), &address)?;
    keeping::take_back(&startup.places, &instance)?.tell();
    let also = own_beside(&address, &place)?;
    let socket = Socket::open(listener, &place)?;
    let mut daemon = Daemon::start(startup, &socket).await?;
    let serving = tokio::spawn(server::serve(Arc::clone(&daemon.service), socket, daemon.supervisor));
    let also = also.map(|own| tokio::spawn(server::serve(Arc::clone(&daemon.service), own, Supervisor::Nobody)));
    daemon.supervisor.ready();
    daemon.until_asked_to_stop(shutdown).await;
    let left_behind = daemon.stop().await;
    let socket = serving.await.ok();
    let also = match also {
        Some(also) => also.await.ok(),
        None => None,
    };
    timeout(LAST_LINES_WITHIN, daemon.service.all_closed()).await.ok();
    daemon.service.hub.notifier.stop(LAST_LINES_WITHIN).await;
    daemon.service.hub.journal.flush(LAST_LINES_WITHIN);
    drop((socket, also));
    drop(instance);
    tracing::info!("handoffd has stopped");
    Ok(Ended { left_behind })
}

/// The service manager listens at one place and the person's configuration names another: clients follow the
/// configuration, so we listen there as well.
fn own_beside(address: &Path, place: &SocketPlace) -> Result<Option<Socket>, SocketError> {
    if address == place.path || !place.origin.is_explicit() {
        return Ok(None);
    }
    tracing::warn!(
        passed = %address.display(),
        configured = %place.path.display(),
        "the service manager's socket is not the configured one; both are served"
    );
    Socket::open(Listener::Bind, place).map(Some)
}

/// A daemon that runs.
struct Daemon {
    service: Arc<Service>,
    manager: Manager,
    supervisor: Supervisor,
    reloads: Option<mpsc::Receiver<()>>,
    watching: AbortHandle,
}

impl Daemon {
    /// The socket listens already, so the time that sessions have to come back (D22) never begins before they can.
    async fn start(startup: Startup, socket: &Socket) -> Result<Self, RunError> {
        let journal_file = startup.places.journal_file();
        crate::journal::set_odd_aside(&journal_file).ok(); // opening it tells what is wrong
        let journal = Journal::open(&journal_file, JournalLimits::default())?;
        let (hub, gone) = Hub::new(hub::Parts::new(startup.env, startup.places, journal, startup.config));
        let shown = socket.path().display().to_string();
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            pid = std::process::id(),
            instance = hub.instance,
            socket = shown,
            "handoffd has started"
        );
        let refused = Arc::new(Refused::default());
        let manager = manager::start(manager::Parts {
            hub: hub.clone(),
            gone,
            config_file: startup.config_file,
            options: startup.projects,
            refused: Arc::clone(&refused),
            supervisor: startup.supervisor,
            log: startup.log,
            warnings: startup.warnings,
        })
        .await?;
        let watching = {
            let hub = hub.clone();
            tokio::spawn(async move { hub.watch.run().await }).abort_handle()
        };
        let service = Arc::new(Service::new(hub, manager.clone(), refused, shown));
        Ok(Self { service, manager, supervisor: startup.supervisor, reloads: startup.reloads, watching })
    }

    async fn until_asked_to_stop(&mut self, shutdown: impl Future<Output = ()>) {
        tokio::pin!(shutdown);
        loop {
            tokio::select! {
                biased;
                () = &mut shutdown => return,
                () = self.service.reached(Stage::Stopping) => return,
                () = wish(&mut self.reloads) => self.manager.send(Request::Reload(Responder::nobody())).await,
            }
        }
    }

    /// Lets every project finish what it writes and let go of its lock.
    async fn stop(&self) -> Vec<PathBuf> {
        tracing::info!("handoffd is stopping");
        self.service.advance(Stage::Stopping);
        self.supervisor.stopping();
        self.manager.stop();
        let hub = &self.service.hub;
        let (left_behind, _) = tokio::join!(let_go(hub.projects.all()), timeout(LET_GO_WITHIN, hub.team.stop()));
        self.watching.abort();
        self.service.advance(Stage::Closing);
        left_behind
    }
}

async fn wish(reloads: &mut Option<mpsc::Receiver<()>>) {
    let wished = match reloads {
        Some(reloads) => reloads.recv().await,
        None => None,
    };
    if wished.is_none() {
        std::future::pending::<()>().await;
    }
}

async fn let_go(projects: Vec<ProjectRef>) -> Vec<PathBuf> {
    let mut ending = JoinSet::new();
    for project in projects.clone() {
        ending.spawn(async move {
            project.send(Mail::Shutdown).await;
            project.mail.closed().await;
        });
    }
    let all = async { while ending.join_next().await.is_some() {} };
    if timeout(LET_GO_WITHIN, all).await.is_ok() {
        return Vec::new();
    }
    let held = projects.into_iter().filter(|project| !project.mail.is_closed());
    let held: Vec<PathBuf> = held.map(|project| project.path.to_path_buf()).collect();
    for path in &held {
        tracing::error!(project = %path.display(), "the project did not let go in time; its lock stays behind");
    }
    held
}
