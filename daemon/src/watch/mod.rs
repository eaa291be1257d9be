//! Interface only, until the watcher is merged: nothing is watched yet.

use std::path::Path;
use std::sync::Arc;

use crate::actor::mail::Mail;

/// The watcher of all projects.
#[derive(Debug)]
pub struct Watch;

/// What the watcher knows of one project.
#[derive(Debug)]
pub struct Watched;

impl Watch {
    /// Watches a project.
    pub fn register(&self, _: &Arc<Path>, _: tokio::sync::mpsc::WeakSender<Box<Mail>>) -> Arc<Watched> {
        Arc::new(Watched)
    }

    /// Forgets a project.
    pub fn unregister(&self, _: &Path) {}
}

impl Watched {
    /// The file as it was read.
    pub fn note_read(&self, _: Option<store::Stamp>) {}

    /// The file as we wrote it.
    pub fn note_write(&self, _: Option<store::Stamp>) {}

    /// The lock as it is.
    pub fn note_lock(&self, _: &store::ProjectDir) {}

    /// The folders that were opened.
    pub fn note_folder(&self, _: &Arc<store::ProjectDir>) {}

    /// How it is watched, and why.
    #[must_use]
    pub fn mode(&self) -> (wire::status::WatchMode, Option<String>) {
        (wire::status::WatchMode::Poll, None)
    }
}
