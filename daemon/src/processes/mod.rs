//! Watching processes that a project depends on: the end of a session's process, or of a run's, becomes an event.
//!
//! Linux tells the end through a pidfd at once; where there is none (macOS), and for the stopped state (`T`, D24), a
//! few processes are sampled each second. What follows from an event is decided in `lifecycle`. Nothing here ever
//! sends a signal.

mod end;
mod sample;
mod table;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lifecycle::Process;
use store::{Claimant, Presence, ProcessId};
use tokio::sync::mpsc::WeakSender;

use self::table::{Key, Listener, Table, Tell};
use crate::actor::mail::Mail;

/// How often processes are sampled.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// All watched processes of one daemon. Clones share them.
#[derive(Clone)]
pub struct Processes {
    shared: Arc<Shared>,
}

struct Shared {
    /// Where processes are looked up.
    lookup: Arc<dyn store::Processes>,
    interval: Duration,
    table: Mutex<Table>,
}

/// A watch on one process; it ends when this is dropped.
pub struct Watch {
    process: Process,
    listener: u64,
    shared: Arc<Shared>,
}

impl Processes {
    /// Watches nothing yet. `lookup` is the process table ([`store::SystemProcesses`], the claimant's in the daemon).
    #[must_use]
    pub fn new(lookup: Arc<dyn store::Processes>) -> Self {
        Self::with_interval(lookup, SAMPLE_INTERVAL)
    }

    fn with_interval(lookup: Arc<dyn store::Processes>, interval: Duration) -> Self {
        Self { shared: Arc::new(Shared { lookup, interval, table: Mutex::default() }) }
    }

    /// Sends `ProcessGone` when exactly this process has ended (a zombie has), at once if it has already, and
    /// `ProcessStopped` when it was stopped or continued. A `started` of 0 is not known: then the number counts.
    /// Called on the daemon's runtime; never blocks.
    #[must_use]
    pub fn watch(&self, process: Process, mail: WeakSender<Box<Mail>>) -> Watch {
        self.listen(process, Listener { mail, tell: Tell::Process })
    }

    /// Sends `RunsGone` with this run when its process has ended (D66), at once if there is none.
    #[must_use]
    pub fn watch_run(&self, run_id: String, pid: u32, mail: WeakSender<Box<Mail>>) -> Watch {
        self.listen(Process { pid, started: 0 }, Listener { mail, tell: Tell::Run(run_id) })
    }

    fn listen(&self, process: Process, listener: Listener) -> Watch {
        let added = lock(&self.shared.table).add(process, listener);
        if added.first {
            let watching = tokio::spawn(end::wait(self.shared.clone(), added.key));
            lock(&self.shared.table).is_waited_for(added.key, watching.abort_handle());
        }
        if added.start_sampling {
            tokio::spawn(sample::run(self.shared.clone()));
        }
        Watch { process, listener: added.listener, shared: self.shared.clone() }
    }
}

impl Watch {
    /// Which process.
    #[must_use]
    pub fn process(&self) -> Process {
        self.process
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        lock(&self.shared.table).remove(self.process, self.listener);
    }
}

/// Whether exactly this process still lives, as far as can be told. A `started` of 0 is not known.
#[must_use]
pub fn is_alive(me: &Claimant, process: Process) -> bool {
    id_of(process).is_some_and(|id| me.processes.is_alive(id))
}

/// `None` for numbers that no process has.
fn id_of(process: Process) -> Option<ProcessId> {
    let pid = i32::try_from(process.pid).ok().filter(|pid| *pid > 0)?;
    Some(ProcessId { pid, started: Some(process.started).filter(|started| *started != 0) })
}

impl Shared {
    /// What the process table says of exactly this process: another one under its number means that it is gone.
    fn look(&self, process: Process) -> Presence {
        let Some(id) = id_of(process) else { return Presence::Gone };
        match self.lookup.look(id.pid) {
            Presence::Alive { started: Some(found), .. } if id.started.is_some_and(|wanted| wanted != found) => {
                Presence::Gone
            }
            presence => presence,
        }
    }

    /// It has ended: everybody who listens is told, once.
    async fn has_ended(&self, key: Key) {
        let listeners = lock(&self.table).take(key);
        for listener in listeners {
            listener.tell_end(key.process).await;
        }
    }
}

impl std::fmt::Debug for Processes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Processes").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("process", &self.process).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
