//! The socket server: connections, the opening, and the way of every message to whoever answers it.
//!
//! Nothing about a project is decided here: sessions' messages become events of the project's actor, control requests go
//! to the actor or to the manager. One client never waits for another, whatever it sends or does not read.

mod accept;
pub mod attach_again;
mod connection;
mod connections;
mod credentials;
mod find;
mod handlers;
mod incoming;
pub mod socket;
mod turn_away;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

use self::attach_again::Refused;
use self::connections::Connections;
use crate::hub::Hub;
use crate::manager::Manager;
use crate::program_file::ProgramFile;

pub use self::accept::serve;
pub use self::turn_away::turn_away;

/// What every connection needs.
#[derive(Debug)]
pub struct Service {
    /// The daemon.
    pub hub: Arc<Hub>,
    /// Which projects there are.
    pub manager: Manager,
    /// Sessions that may attach again.
    pub refused: Arc<Refused>,
    /// How far the daemon is on its way to the end.
    pub stage: watch::Sender<Stage>,
    /// Where the socket is, for `daemon.status`.
    pub socket: String,
    /// The program that runs.
    pub program: ProgramFile,
    connections: Arc<Connections>,
    /// Set at [`Stage::Stopping`], for those who know peers only.
    stopping: Arc<AtomicBool>,
}

/// How far the daemon is on its way to the end. It never goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It works.
    Working,
    /// Somebody asked it to stop: nothing new is taken on, what was begun is finished.
    Stopping,
    /// All projects are let go: connections end as soon as their last answers are out.
    Closing,
}

impl Service {
    /// A service without connections.
    #[must_use]
    pub fn new(hub: Arc<Hub>, manager: Manager, refused: Arc<Refused>, socket: String) -> Self {
        let (stage, _) = watch::channel(Stage::Working);
        let connections = Arc::new(Connections::default());
        let (program, stopping) = (ProgramFile::current(), Arc::default());
        Self { hub, manager, refused, stage, socket, program, connections, stopping }
    }

    /// Goes on to a later stage.
    pub fn advance(&self, to: Stage) {
        self.stopping.fetch_or(to >= Stage::Stopping, Ordering::SeqCst);
        self.stage.send_if_modified(|stage| {
            let later = to > *stage;
            *stage = to.max(*stage);
            later
        });
    }

    /// Comes when this stage is reached.
    pub async fn reached(&self, wanted: Stage) {
        // An error means that the sender is gone, which `self` holds.
        self.stage.subscribe().wait_for(|stage| *stage >= wanted).await.ok();
    }

    /// Comes when no connection is left.
    pub async fn all_closed(&self) {
        self.stage.closed().await;
    }

    fn is_stopping(&self) -> bool {
        *self.stage.borrow() >= Stage::Stopping
    }
}
