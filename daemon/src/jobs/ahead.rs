//! What a claim must know beside the file: found out on another thread, from before the file is read on if a claim is
//! likely to follow.
//!
//! Nothing is decided here, and nothing of the project is written.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use lifecycle::Process;
use tokio::runtime::Handle;

use super::{Context, render};
use crate::hub::Hub;

/// A look that is on its way.
pub(super) struct Ahead {
    look: Look,
    found: Receiver<Found>,
}

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    /// The session's process is stopped: such a session is not idle, whatever it said before (state `T`, D24).
    pub(super) is_stopped: bool,
    /// The agents that the project has now.
    pub(super) agents: Vec<queue::Agent>,
}

#[derive(Clone)]
struct Look {
    root: Arc<Path>,
    session: Process,
    hub: Arc<Hub>,
}

impl Ahead {
    /// Begins the look for the project in `root` and the session's process.
    pub(super) fn start(root: &Arc<Path>, session: Process, context: &Context) -> Self {
        let look = Look { root: root.clone(), session, hub: context.hub.clone() };
        let (told, found) = sync_channel(1);
        if let Ok(runtime) = Handle::try_current() {
            let look = look.clone();
            // Whoever asked may have given up.
            runtime.spawn_blocking(move || told.send(look.look()).ok());
        }
        Self { look, found }
    }

    /// Waits for the end of the look. Where no thread did it (none to be had, or it panicked) it is done now.
    pub(super) fn wait(self) -> Found {
        self.found.recv().unwrap_or_else(|_| self.look.look())
    }

    /// Whether this is about that session.
    pub(super) fn is_for(&self, session: Process) -> bool {
        self.look.session == session
    }
}

impl Look {
    fn look(&self) -> Found {
        let presence = i32::try_from(self.session.pid).map(|pid| self.hub.claimant.processes.look(pid));
        Found {
            is_stopped: matches!(presence, Ok(store::Presence::Alive { stopped: true, .. })),
            agents: render::load_agents(&self.root, &self.hub.env),
        }
    }
}
