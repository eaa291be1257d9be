//! What the manager shows of itself in `daemon.status`: the configuration's file, time and error, and warnings.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wire::status::ConfigStatus;

use super::ConfigFile;
use crate::clock;
use crate::logging::LogGuard;

/// A copy of what is shown.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The configuration in use.
    pub config: ConfigStatus,
    /// One sentence for each thing that somebody should look at.
    pub warnings: Vec<String>,
}

#[derive(Debug)]
pub(super) struct ShownCell {
    inner: Mutex<Inner>,
    log: Option<Arc<LogGuard>>,
}

#[derive(Debug)]
struct Inner {
    config: ConfigStatus,
    warnings: Vec<String>,
    registry: Option<String>,
    owned: Option<String>,
}

impl ShownCell {
    pub(super) fn new(file: &ConfigFile, warnings: Vec<String>, log: Option<Arc<LogGuard>>) -> Self {
        let config = ConfigStatus { path: file.shown(), loaded_at: Some(clock::Wall::now().to_string()), error: None };
        Self { inner: Mutex::new(Inner { config, warnings, registry: None, owned: None }), log }
    }

    pub(super) fn get(&self) -> Shown {
        let inner = self.lock();
        let log = self.log.as_ref().and_then(|log| log.trouble());
        let more = inner.registry.iter().chain(&inner.owned).cloned().chain(log);
        Shown { config: inner.config.clone(), warnings: inner.warnings.iter().cloned().chain(more).collect() }
    }

    /// A new configuration is in force; answers when.
    pub(super) fn loaded(&self, warnings: Vec<String>) -> String {
        let at = clock::Wall::now().to_string();
        let mut inner = self.lock();
        inner.config.loaded_at = Some(at.clone());
        inner.config.error = None;
        inner.warnings = warnings;
        at
    }

    /// A new configuration was refused; the old one stays.
    pub(super) fn refused(&self, error: String) {
        self.lock().config.error = Some(error);
    }

    pub(super) fn set_registry_error(&self, error: Option<String>) {
        self.lock().registry = error;
    }

    pub(super) fn set_owned_error(&self, error: Option<String>) {
        self.lock().owned = error;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
