//! The person's own command (`notify.command`): it is started for a notice, given one JSON document, and never waited
//! for by anybody (F262).
//!
//! A few run at a time, a few more wait, and what is the same is folded. Notices that are dropped here are not lost:
//! each is in the journal. What is worth a notice is decided elsewhere.

mod document;
mod queue;
mod run;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;

use self::queue::{CROWD, Order, Put, Queue};
use self::run::{Ended, Surroundings};
use crate::env::Env;

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Something waits for a person that no other kind says.
    NeedsYou,
    /// A task ended COMPLETE; whether its reviewer approved says the verdict.
    Done,
    /// A task ended in ERROR, was rejected or given up.
    Failed,
    /// The project is blocked.
    Blocked,
    /// The project is halted.
    Halted,
    /// The task is held.
    Held,
}

impl Kind {
    /// The word in the document and in the log.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs_you",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Halted => "halted",
            Self::Held => "held",
        }
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One notice. Its members are those of the published document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// What it is about.
    pub kind: Kind,
    /// The project's root.
    pub project: String,
    /// The task, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Its dispatch, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch_id: Option<String>,
    /// The project's state now, a word of the protocol.
    pub state: &'static str,
    /// The word behind the state.
    pub reason: Option<&'static str>,
    /// One sentence.
    pub why: Option<String>,
    /// The command that helps.
    pub next: Option<String>,
    /// The reviewer's verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
}

/// Why a notice was left out.
const TOO_MANY: &str = "too many notices wait for the command";

/// Starts the command. Clones share one queue.
#[derive(Clone)]
pub struct Notifier {
    shared: Arc<Shared>,
}

struct Shared {
    surroundings: Surroundings,
    queue: Mutex<Queue>,
    /// Programs that could not be started, so that this is said once.
    missing: Mutex<BTreeSet<String>>,
    /// How many commands wait or run.
    busy: watch::Sender<usize>,
    /// The daemon stops.
    stopping: watch::Sender<bool>,
}

impl Notifier {
    /// `env` is what the command gets of the daemon's environment, a few variables.
    #[must_use]
    pub fn new(env: &Env) -> Self {
        let shared = Shared {
            surroundings: Surroundings::of(env),
            queue: Mutex::default(),
            missing: Mutex::default(),
            busy: watch::Sender::new(0),
            stopping: watch::Sender::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Hands a notice to `command` (program and arguments, no shell; empty: nothing happens), which may take `timeout`.
    /// Never blocks. Called on the daemon's runtime.
    pub fn send(&self, command: &[String], timeout: Duration, notice: Notice) {
        if command.is_empty() {
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            let (project, kind) = (notice.project, notice.kind.as_str());
            tracing::warn!(project, task = notice.task_id, kind, "a notice came too late for the command");
            return;
        };
        let order = Order::new(command.to_vec(), timeout, notice);
        let put = lock(&self.shared.queue).put(order, Instant::now());
        match put {
            Put::Queued => {}
            Put::Folded => tracing::debug!("a notice was folded into one before it"),
            Put::Held => drop(runtime.spawn(self.shared.clone().release_later())),
            Put::Dropped(dropped) => dropped.tell_left_out(TOO_MANY),
        }
        self.shared.clone().go_on(&runtime);
    }

    /// Waits until no command waits or runs; what is held goes at once. Each ends at its timeout at the latest.
    pub async fn idle(&self) {
        self.shared.clone().release(None);
        // The sender lives as long as `self`.
        self.shared.busy.subscribe().wait_for(|busy| *busy == 0).await.ok();
    }
}

impl Notifier {
    /// The end: commands have `grace` to end by themselves. Then those that run are killed with all they started, and what
    /// waits is left out.
    pub async fn stop(&self, grace: Duration) {
        if timeout(grace, self.idle()).await.is_ok() {
            return;
        }
        let waiting = lock(&self.shared.queue).take_waiting();
        waiting.iter().for_each(|order| order.tell_left_out("the daemon stops"));
        self.shared.stopping.send_replace(true);
        // What is killed is gone at once, unless it hangs in the system.
        timeout(grace, self.idle()).await.ok();
    }
}

impl Shared {
    async fn release_later(self: Arc<Self>) {
        // A little later than it must be, for whoever measures time otherwise.
        tokio::time::sleep(CROWD + Duration::from_millis(50)).await;
        self.release(Some(Instant::now()));
    }

    fn release(self: Arc<Self>, now: Option<Instant>) {
        let dropped = lock(&self.queue).release(now);
        dropped.iter().for_each(|order| order.tell_left_out(TOO_MANY));
        if let Ok(runtime) = Handle::try_current() {
            self.go_on(&runtime);
        }
    }

    /// Starts what may run now.
    fn go_on(self: Arc<Self>, runtime: &Handle) {
        self.count();
        loop {
            let next = lock(&self.queue).next();
            let Some(order) = next else { return };
            runtime.spawn(self.clone().work(order));
        }
    }

    /// Runs one command after the other while any wait.
    async fn work(self: Arc<Self>, first: Order) {
        let mut order = Some(first);
        while let Some(now) = order {
            let mut stopping = self.stopping.subscribe();
            // The sender lives as long as `self`.
            let stop = async { drop(stopping.wait_for(|stopping| *stopping).await) };
            let ended = run::run(&self.surroundings, &now, stop).await;
            self.record(&now, ended);
            order = lock(&self.queue).ended();
            self.count();
        }
    }

    fn count(&self) {
        let queue = lock(&self.queue);
        self.busy.send_replace(queue.open());
    }

    fn record(&self, order: &Order, ended: Ended) {
        let program = order.command.first().map_or("", String::as_str);
        let fresh = match &ended {
            Ended::NotStarted(_) => lock(&self.missing).insert(program.to_owned()),
            _ => {
                lock(&self.missing).remove(program);
                true
            }
        };
        let notice = &order.notice;
        let (project, task, kind) = (&notice.project, notice.task_id.as_deref(), notice.kind.as_str());
        match ended {
            Ended::Code { code: 0, .. } => {
                tracing::info!(project, task, kind, program, code = 0, "the notice command ended");
            }
            Ended::Code { code, said } => {
                tracing::warn!(project, task, kind, program, code, said, "the notice command failed");
            }
            Ended::Signal { signal, said } => {
                tracing::warn!(project, task, kind, program, signal, said, "the notice command was ended by a signal");
            }
            Ended::TimedOut => {
                let timeout = humantime::format_duration(order.timeout);
                tracing::warn!(project, task, kind, program, %timeout, "the notice command took too long and was killed");
            }
            Ended::Stopped => {
                tracing::warn!(
                    project,
                    task,
                    kind,
                    program,
                    "the notice command still ran and was killed: the daemon stops"
                );
            }
            Ended::NotStarted(error) if fresh => {
                let path = self.surroundings.path();
                tracing::warn!(program, path, error, "the notice command cannot be started; said once");
            }
            Ended::NotStarted(_) => {}
        }
    }
}

impl Order {
    fn tell_left_out(&self, why: &str) {
        let (project, task, kind) = (&self.notice.project, self.notice.task_id.as_deref(), self.notice.kind.as_str());
        tracing::warn!(project, task, kind, "{why}; one notice was left out");
    }
}

impl std::fmt::Debug for Notifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notifier").finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
