//! Interface only, until the watcher of processes is merged.

use lifecycle::Process;

use crate::actor::mail::Mail;

/// The watcher of processes.
#[derive(Debug)]
pub struct Processes;

/// One watched process; dropped, it is watched no more.
#[derive(Debug)]
pub struct Watch(Process);

impl Processes {
    /// Watches a process.
    #[must_use]
    pub fn watch(&self, process: Process, _: tokio::sync::mpsc::WeakSender<Box<Mail>>) -> Watch {
        Watch(process)
    }
}

impl Watch {
    /// Which process.
    #[must_use]
    pub const fn process(&self) -> Process {
        self.0
    }
}

/// Whether exactly this process lives.
#[must_use]
pub fn is_alive(claimant: &store::Claimant, process: Process) -> bool {
    let started = Some(process.started).filter(|started| *started != 0);
    i32::try_from(process.pid).is_ok_and(|pid| claimant.processes.is_alive(store::ProcessId { pid, started }))
}
