//! The control side of the socket, as scripts use it.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::peer::{Peer, RpcError};
use crate::project::Project;
use crate::wait;

/// A connection that said hello and did not attach.
pub struct Control {
    /// Its connection.
    pub peer: Arc<Peer>,
    /// The answer to `hello`.
    pub hello: Value,
}

impl Control {
    /// Connects and says hello; `None` while nobody answers.
    #[must_use]
    pub fn try_open(socket: &Path) -> Option<Self> {
        let peer = Peer::connect(socket, Box::new(|_, _| ())).ok()?;
        let hello = peer.call("hello", json!({"protocol": 1, "client": {"name": "test", "version": "1"}})).ok()?;
        Some(Self { peer, hello })
    }

    /// A call.
    ///
    /// # Errors
    /// The error answer.
    pub fn call(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        self.peer.call(method, params)
    }

    /// A call about one project.
    ///
    /// # Errors
    /// The error answer.
    pub fn ask(&self, method: &str, project: &Project, mut more: Value) -> Result<Value, RpcError> {
        more["project"] = json!(project.root());
        self.peer.call(method, more)
    }

    /// The whole status.
    ///
    /// # Panics
    /// When it is refused.
    #[must_use]
    pub fn status(&self) -> Value {
        self.call("daemon.status", json!({})).expect("status is answered")
    }

    /// The status of one project; null if it is not known.
    #[must_use]
    pub fn project(&self, project: &Project) -> Value {
        let mut status = self.status();
        let projects = status["projects"].as_array_mut().map(std::mem::take).unwrap_or_default();
        projects.into_iter().find(|row| row["path"] == json!(project.root())).unwrap_or_default()
    }

    /// Waits until a project has this state and, unless it is empty, this reason; answers its row.
    ///
    /// # Panics
    /// When it never has.
    pub fn wait_state(&self, project: &Project, state: &str, reason: &str) -> Value {
        let mut last = Value::Null;
        let found = self.try_wait(|| {
            last = self.project(project);
            let fits = last["state"] == state && (reason.is_empty() || last["reason"] == reason);
            fits.then(|| last.clone())
        });
        found.unwrap_or_else(|| panic!("never {state} {reason}; last: {last}"))
    }

    /// Waits until the daemon takes the project's session for busy: its word and news of a file come on different ways.
    ///
    /// # Panics
    /// When it never does.
    pub fn wait_busy(&self, project: &Project) {
        let busy = self.try_wait(|| (self.project(project)["session"]["idle"] == false).then_some(()));
        assert!(busy.is_some(), "the session is never busy");
    }

    fn try_wait<T>(&self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        let end = std::time::Instant::now() + wait::PATIENCE;
        loop {
            if let Some(found) = look() {
                return Some(found);
            }
            if std::time::Instant::now() > end || self.peer.is_closed() {
                return None;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}
