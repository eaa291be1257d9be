//! Bodies of requests (reports, new tasks) that wait while the state machine decides, and what their checks found.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lifecycle::Body;
use queue::{Accepted, Problem};

/// A shared body: the actor keeps it, a job fills in what it found.
pub type BodyRef = Arc<Mutex<BodyData>>;

/// One body.
#[derive(Debug, Default)]
pub struct BodyData {
    /// The report or the task, as JSON text.
    pub json: String,
    /// What the client observed, for a report.
    pub observed: Option<wire::run::Observed>,
    /// The task that a retry repeats.
    pub parent: Option<String>,
    /// The faults, if it was refused.
    pub problems: Vec<Problem>,
    /// The accepted report.
    pub accepted: Option<Box<Accepted>>,
    /// The new task's id and fingerprint, once written.
    pub submitted: Option<(String, String)>,
}

/// Looks into a body; a poisoned one (a job panicked) is as it was.
pub fn open(body: &BodyRef) -> MutexGuard<'_, BodyData> {
    body.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The bodies of one project.
#[derive(Debug, Default)]
pub struct Bodies {
    next: u64,
    kept: Vec<(Body, BodyRef)>,
}

impl Bodies {
    /// Keeps a body.
    pub fn keep(&mut self, data: BodyData) -> Body {
        self.next += 1;
        self.kept.push((Body(self.next), Arc::new(Mutex::new(data))));
        Body(self.next)
    }

    /// The body of this number.
    #[must_use]
    pub fn get(&self, body: Body) -> Option<BodyRef> {
        self.kept.iter().find(|(known, _)| *known == body).map(|(_, data)| data.clone())
    }

    /// The body that came last.
    #[must_use]
    pub fn newest(&self) -> Option<BodyRef> {
        self.kept.last().map(|(_, data)| data.clone())
    }

    /// Forgets it.
    pub fn drop(&mut self, body: Body) {
        self.kept.retain(|(known, _)| *known != body);
        if self.kept.is_empty() {
            self.kept = Vec::new();
        }
    }
}
