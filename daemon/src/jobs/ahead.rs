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

/// What readings of one project have other threads do. While something of that is not done, the next reading begins
/// nothing: on a disk that is slower than the planner it would pile up, and threads are everybody's.
#[derive(Debug, Clone, Default)]
pub struct Errands(Arc<()>);

impl Errands {
    /// Whether no other thread is at work.
    pub(super) fn are_done(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}

/// A look that is on its way.
pub(super) struct Ahead {
    look: Look,
    found: Receiver<Found>,
    errands: Errands,
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
    pub(super) fn start(root: &Arc<Path>, session: Process, context: &Context, errands: &Errands) -> Self {
        let look = Look { root: root.clone(), session, hub: context.hub.clone() };
        let (told, found) = sync_channel(1);
        if let Ok(runtime) = Handle::try_current() {
            let (look, errand) = (look.clone(), errands.clone());
            runtime.spawn_blocking(move || {
                // Whoever asked may have given up.
                told.send(look.look()).ok();
                drop(errand);
            });
        }
        Self { look, found, errands: errands.clone() }
    }

    /// Waits for the end of the look. Where no thread did it (none to be had, or it panicked) it is done now.
    pub(super) fn wait(self) -> Found {
        self.found.recv().unwrap_or_else(|_| self.look.look())
    }

    /// Where the rest of the claim's beginning belongs to.
    pub(super) const fn errands(&self) -> &Errands {
        &self.errands
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errands_are_done_when_the_last_thread_has_ended() {
        let errands = Errands::default();
        assert!(errands.are_done());
        let (go, wait) = sync_channel::<()>(0);
        let errand = errands.clone();
        let thread = std::thread::spawn(move || {
            wait.recv().unwrap();
            drop(errand);
        });
        assert!(!errands.are_done());
        go.send(()).unwrap();
        thread.join().unwrap();
        assert!(errands.are_done());
    }
}
