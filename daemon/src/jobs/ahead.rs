//! What a claim must know beside the file, found out on another thread: from the moment a PENDING was read while its
//! session is idle, else while RUNNING is on its way to the disk.
//!
//! Nothing is decided here, and nothing of the project is written.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::{Context, render};
use crate::hub::Hub;

/// What was found this long ago is looked for again: a session may have been stopped since, an agent been added.
const FRESH_FOR: Duration = Duration::from_millis(250);

/// A look that is on its way.
pub(crate) struct Ahead {
    began: Instant,
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
    pid: u32,
    hub: Arc<Hub>,
}

impl Ahead {
    /// Begins the look for the project in `root` and the session's process.
    pub(super) fn start(root: &Arc<Path>, pid: u32, context: &Context) -> Self {
        let look = Look { root: root.clone(), pid, hub: context.hub.clone() };
        let (told, found) = sync_channel(1);
        if let Ok(runtime) = Handle::try_current() {
            let look = look.clone();
            // Whoever asked may have given up.
            runtime.spawn_blocking(move || told.send(look.look()).ok());
        }
        Self { began: Instant::now(), look, found }
    }

    /// Whether it looks at this process.
    pub(super) fn is_of(&self, pid: u32) -> bool {
        self.look.pid == pid
    }

    /// Whether it began just now.
    pub(super) fn is_fresh(&self) -> bool {
        self.began.elapsed() < FRESH_FOR
    }

    /// Waits for the end of the look. Where no thread did it (none to be had, or it panicked) it is done now.
    pub(super) fn wait(self) -> Found {
        self.found.recv().unwrap_or_else(|_| self.look.look())
    }
}

impl Look {
    fn look(&self) -> Found {
        let presence = i32::try_from(self.pid).map(|pid| self.hub.claimant.processes.look(pid));
        Found {
            is_stopped: matches!(presence, Ok(store::Presence::Alive { stopped: true, .. })),
            agents: render::load_agents(&self.root, &self.hub.env),
        }
    }
}
