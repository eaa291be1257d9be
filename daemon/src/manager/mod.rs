//! Which projects exist, and what becomes of each: the one task that starts and ends projects' actors (D71, D77).
//!
//! It knows places that name projects (registry, configuration, options, owned list) and nothing of what a project does.
//! It never waits for an actor, and for a project's file system only for a limited time.

mod change;
mod config_file;
mod folders;
mod known;
mod owned;
mod reconcile;
mod reload;
mod requests;
mod shown;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

pub use config_file::ConfigFile;
pub use requests::{Manager, Request};
pub use shown::Shown;

use self::folders::Folders;
use self::known::Known;
use self::owned::OwnedList;
use self::shown::ShownCell;
use crate::hub::Hub;
use crate::logging::LogGuard;
use crate::registry::{ProjectList, Registry, Stamp, StateFileError};
use crate::server::attach_again::Refused;
use crate::supervision::Supervisor;

/// How often the registry's file is looked at: one stat (D77).
const LOOK: Duration = Duration::from_secs(1);
/// Every so many looks, folders that were missing are looked for, and a list that could not be written again is tried again.
const MISSING_EVERY: u32 = 5;
/// Requests that wait for the manager; whoever sends more waits.
const ROOM: usize = 32;

/// What the manager is made of.
pub struct Parts {
    /// The daemon.
    pub hub: Arc<Hub>,
    /// Projects that let go of their lock, as [`Hub::new`] gives them.
    pub gone: mpsc::UnboundedReceiver<Arc<Path>>,
    /// Where the configuration is read again.
    pub config_file: ConfigFile,
    /// `--project`
    pub options: Vec<PathBuf>,
    /// Sessions that may attach again when a project appears.
    pub refused: Arc<Refused>,
    /// The service manager.
    pub supervisor: Supervisor,
    /// The log of this process.
    pub log: Option<Arc<LogGuard>>,
    /// What was odd about the configuration at the start.
    pub warnings: Vec<String>,
}

/// The manager's own knowledge. It lives in one task.
struct State {
    hub: Arc<Hub>,
    config_file: ConfigFile,
    options: Vec<PathBuf>,
    refused: Arc<Refused>,
    supervisor: Supervisor,
    log: Option<Arc<LogGuard>>,
    shown: Arc<ShownCell>,
    registry: Registry,
    stamp: Option<Stamp>,
    /// The registry as it was read last.
    list: ProjectList,
    /// Why it is gone and could not be written again.
    unkept: Option<String>,
    /// Why it cannot be read.
    unread: Option<String>,
    looks: u32,
    owned: OwnedList,
    folders: Folders,
    known: Vec<Known>,
    /// Projects that a client removed in this run.
    dismissed: Vec<PathBuf>,
}

/// Reads what projects there are, starts them all and goes on watching. Returns when the first round is done.
///
/// # Errors
/// The registry is damaged or of a newer version: without it, projects that it names would be taken for removed.
pub async fn start(parts: Parts) -> Result<Manager, StateFileError> {
    let (requests, inbox) = mpsc::channel(ROOM);
    let shown = Arc::new(ShownCell::new(&parts.config_file, parts.warnings, parts.log.clone()));
    let state_dir = parts.hub.places.state_dir.clone();
    let mut state = State {
        owned: OwnedList::load(&parts.hub).await,
        folders: Folders::new(parts.hub.pool.clone(), requests.downgrade()),
        registry: Registry::new(&state_dir),
        hub: parts.hub,
        config_file: parts.config_file,
        options: parts.options,
        refused: parts.refused,
        supervisor: parts.supervisor,
        log: parts.log,
        shown: Arc::clone(&shown),
        stamp: None,
        list: ProjectList::default(),
        unkept: None,
        unread: None,
        looks: 0,
        known: Vec::new(),
        dismissed: Vec::new(),
    };
    state.first_round().await?;
    let task = tokio::spawn(state.run(inbox, parts.gone)).abort_handle();
    Ok(Manager::new(requests, shown, task))
}

impl State {
    async fn run(mut self, mut inbox: mpsc::Receiver<Request>, mut gone: mpsc::UnboundedReceiver<Arc<Path>>) {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                Some(path) = gone.recv() => self.has_gone(&path).await,
                request = inbox.recv() => match request {
                    Some(request) => self.handle(request).await,
                    None => return,
                },
                _ = looks.tick() => self.look().await,
            }
        }
    }

    async fn handle(&mut self, request: Request) {
        match request {
            Request::Add { path, answer } => self.add(path, answer).await,
            Request::Change { path, change, answer } => self.change(&path, change, answer).await,
            Request::Reload(answer) => self.reload(answer).await,
            Request::FoldersLooked => self.look_again().await,
        }
    }

    /// The regular look: has somebody changed the registry, is a missing folder there now?
    async fn look(&mut self) {
        self.looks = self.looks.wrapping_add(1);
        let stamp = self.registry.stamp();
        // It may have gone at the very moment when its stamp was taken, or the disk was full.
        let is_gone = stamp.is_none() && !self.list.projects.is_empty();
        if stamp != self.stamp || (self.looks.is_multiple_of(MISSING_EVERY) && (is_gone || self.one_appeared().await)) {
            self.look_again().await;
        }
    }

    async fn one_appeared(&self) -> bool {
        let missing = self.known.iter().filter(|known| known.folder.is_none());
        let seen = self.folders.look_at(missing.map(|known| known.project.path.to_path_buf())).await;
        seen.values().any(|seen| seen.root.id.is_some())
    }

    async fn look_again(&mut self) {
        let unread = self.reconcile().await.err().map(|error| error.to_string());
        if let Some(error) = unread.as_ref().filter(|error| self.unread.as_ref() != Some(error)) {
            tracing::error!(error, "the registry cannot be read; projects stay as they are");
        }
        self.unread = unread;
        self.shown.set_registry_error(self.unread.as_ref().or(self.unkept.as_ref()).cloned());
    }
}
