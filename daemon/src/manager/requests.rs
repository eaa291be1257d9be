//! What the manager can be asked, and the handle through which it is asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::shown::{Shown, ShownCell};
use crate::actor::mail::Control;
use crate::peer::Responder;

/// One request to the manager.
#[derive(Debug)]
pub enum Request {
    /// `project.add`
    Add {
        /// The folder, absolute.
        path: PathBuf,
        /// For the one answer.
        answer: Responder,
    },
    /// `project.remove`, `.enable`, `.disable`, `.pause`, `.resume`: made durable, then passed on to the actor.
    Change {
        /// The project's root.
        path: Arc<Path>,
        /// What.
        change: Control,
        /// For the one answer.
        answer: Responder,
    },
    /// `daemon.reload`, or SIGHUP with nobody to answer.
    Reload(Responder),
    /// Folders that did not answer before have been looked at.
    FoldersLooked,
}

/// A handle on the manager.
#[derive(Debug, Clone)]
pub struct Manager {
    requests: mpsc::Sender<Request>,
    shown: Arc<ShownCell>,
    task: AbortHandle,
}

impl Manager {
    pub(super) fn new(requests: mpsc::Sender<Request>, shown: Arc<ShownCell>, task: AbortHandle) -> Self {
        Self { requests, shown, task }
    }

    /// Ends the manager, so that it starts nothing while the daemon stops. The lists stay as they are: what a project
    /// still owns after this, the next daemon takes up (D71).
    pub fn stop(&self) {
        self.task.abort();
    }

    /// Asks. When the manager has ended, the request is dropped, and its responder says so.
    pub async fn send(&self, request: Request) {
        self.requests.send(request).await.ok();
    }

    /// What `daemon.status` shows.
    #[must_use]
    pub fn shown(&self) -> Shown {
        self.shown.get()
    }
}
