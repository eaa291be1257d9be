//! The list of projects whose lock we hold (D71), written off the loop. A list that cannot be written stops nothing: then
//! a crash forgets projects that were removed meanwhile, and `daemon.status` says so.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::hub::Hub;
use crate::pool::Pool;
use crate::registry::{Owned, StateFileError};

/// The list, if it can be read. One that is damaged is left alone.
pub(super) struct OwnedList {
    pool: Pool,
    list: Option<Arc<Mutex<Owned>>>,
    /// Why it is not in use, or the last write failed.
    pub(super) error: Option<String>,
}

impl OwnedList {
    /// Reads the list of the last daemon on this host.
    pub(super) async fn load(hub: &Hub) -> Self {
        let file = hub.places.owned_file();
        let pool = hub.pool.clone();
        let read = pool.run(move || Owned::load(file).map_err(|error| error.to_string())).await;
        match read.map_err(|error| error.to_string()).flatten() {
            Ok(list) => Self { pool, list: Some(Arc::new(Mutex::new(list))), error: None },
            Err(error) => {
                tracing::error!(error, "the list of owned projects cannot be used");
                Self { pool, list: None, error: Some(error) }
            }
        }
    }

    /// The listed projects.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let list = self.list.as_ref().map(|list| list.lock().unwrap_or_else(PoisonError::into_inner));
        list.map(|list| list.paths().map(Path::to_path_buf).collect()).unwrap_or_default()
    }

    /// Lists projects before their locks are taken.
    pub(super) async fn add(&mut self, paths: Vec<PathBuf>) {
        self.write(move |list| list.add(paths.iter().map(PathBuf::as_path))).await;
    }

    /// Takes a project off the list after its lock was released.
    pub(super) async fn remove(&mut self, path: PathBuf) {
        self.write(move |list| list.remove(&path)).await;
    }

    async fn write(&mut self, act: impl FnOnce(&mut Owned) -> Result<(), StateFileError> + Send + 'static) {
        let Some(list) = self.list.clone() else { return };
        let write = move || act(&mut list.lock().unwrap_or_else(PoisonError::into_inner));
        let error = match self.pool.run(write).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(error) = error.as_ref().filter(|_| self.error.is_none()) {
            tracing::error!(error, "the list of owned projects cannot be written");
        }
        self.error = error;
    }
}
