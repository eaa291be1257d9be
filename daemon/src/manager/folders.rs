//! Looking at projects' folders without waiting for file systems that hang (D73): each on the pool, all side by side,
//! none for longer than [`PATIENCE`], and never twice at the same time.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::Request;
use crate::config::{PROJECT_FILE, ProjectFile};
use crate::pool::Pool;
use crate::roots::Root;

/// How long a round waits for folders that do not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a project's folder turned out to be.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) root: Root,
    /// The project's own settings; the defaults when there are none or they cannot be used.
    pub(super) own: ProjectFile,
    /// What is odd about them.
    pub(super) warnings: Vec<String>,
}

/// The folders that are being looked at.
#[derive(Debug)]
pub(super) struct Folders {
    pool: Pool,
    manager: mpsc::WeakSender<Request>,
    busy: Arc<Mutex<HashSet<PathBuf>>>,
}

impl Folders {
    pub(super) fn new(pool: Pool, manager: mpsc::WeakSender<Request>) -> Self {
        Self { pool, manager, busy: Arc::default() }
    }

    /// Looks at all of them. A folder that does not answer is left out; when it does later, the manager is told.
    pub(super) async fn look_at(&self, paths: impl IntoIterator<Item = PathBuf>) -> HashMap<PathBuf, Seen> {
        let mut looks = JoinSet::new();
        for path in paths {
            if !lock(&self.busy).insert(path.clone()) {
                continue;
            }
            let (pool, busy) = (self.pool.clone(), Arc::clone(&self.busy));
            looks.spawn(async move {
                let seen = pool.run({
                    let path = path.clone();
                    move || Seen::look_at(&path)
                });
                let seen = seen.await.ok();
                lock(&busy).remove(&path);
                seen.map(|seen| (path, seen))
            });
        }
        let deadline = Instant::now() + PATIENCE;
        let mut all = HashMap::new();
        while let Ok(Some(next)) = timeout_at(deadline, looks.join_next()).await {
            all.extend(next.ok().flatten());
        }
        if !looks.is_empty() {
            self.wait_for_the_rest(looks);
        }
        all
    }

    fn wait_for_the_rest(&self, mut looks: JoinSet<Option<(PathBuf, Seen)>>) {
        let manager = self.manager.clone();
        tokio::spawn(async move {
            while looks.join_next().await.is_some() {}
            if let Some(manager) = manager.upgrade() {
                manager.send(Request::FoldersLooked).await.ok();
            }
        });
    }
}

fn lock(busy: &Mutex<HashSet<PathBuf>>) -> MutexGuard<'_, HashSet<PathBuf>> {
    busy.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seen {
    /// Blocks for as long as the file system does.
    fn look_at(path: &Path) -> Self {
        let root = Root::look_at(path);
        let (own, warnings) = match ProjectFile::load(&root.path) {
            Ok((own, warnings)) => (own, warnings.iter().map(ToString::to_string).collect()),
            Err(invalid) => {
                let why = format!("{invalid}\n{PROJECT_FILE} is not used until it is repaired and `handoffd` reloaded");
                (ProjectFile::default(), why.lines().map(str::to_owned).collect())
            }
        };
        Self { root, own, warnings }
    }

    /// A folder that does not answer.
    pub(super) fn unknown(path: &Path) -> Self {
        Self { root: Root::unknown(path), own: ProjectFile::default(), warnings: Vec::new() }
    }
}
