//! What a project's actor is sent: a closed set, through one bounded mailbox.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lifecycle::{Conn, Event, Process};
use tokio::sync::{mpsc, oneshot};
use wire::session::{Attach, TaskReport};

use crate::config::Settings;
use crate::peer::{Peer, Responder};

/// The most letters that wait for one project; senders wait for room, so one project never holds memory of others.
pub const MAILBOX: usize = 64;

/// One letter.
#[derive(Debug)]
pub enum Mail {
    /// Something that needs no answer and no body: touched, session notifications, closed, processes.
    Event(Event),
    /// `session.attach`; the server has checked mode, project and that it is the connection's first.
    Attach {
        /// The parameters.
        attach: Attach,
        /// The peer's process, from the socket.
        process: Process,
        /// Where messages to the session go.
        peer: Arc<Peer>,
        /// For the one answer.
        answer: Responder,
    },
    /// `task.report`
    Report {
        /// The session's connection.
        conn: Conn,
        /// The parameters.
        report: TaskReport,
        /// For the one answer.
        answer: Responder,
    },
    /// A control request for this project.
    Control {
        /// What.
        request: Control,
        /// For the one answer.
        answer: Responder,
    },
    /// What `daemon.status` shows of it.
    Status(oneshot::Sender<wire::status::ProjectStatus>),
    /// The journal's answer to a `task.retry`.
    Again {
        /// The task that is repeated.
        parent: String,
        /// The new task as JSON, if the journal has the old one.
        task: Option<String>,
        /// For the one answer.
        answer: Responder,
    },
    /// A message that had to be made anew, for this session.
    Rendered {
        /// The session it was made for.
        peer: Arc<Peer>,
        /// The message, if it could be made.
        prepared: Option<Box<crate::jobs::Prepared>>,
        /// `expires_at`
        expires: lifecycle::Wall,
    },
    /// The time of a `task.wait` is over.
    WaitOver(u64),
    /// A `task.wait` for a task that neither the last read nor the journal knows.
    WaitUnknown(crate::actor::Wanted),
    /// The fresh read that the wait for an unknown task waits for takes too long.
    WaitKnown(u64),
    /// New settings (D71: a running task keeps its own).
    Configure(Arc<Settings>),
    /// Leave: nobody asked over the socket (reload, registry file changed).
    Leave,
    /// The daemon stops.
    Shutdown,
}

/// Control requests that one project answers (wire protocol, "Control side").
#[derive(Debug)]
pub enum Control {
    /// `project.pause`
    Pause,
    /// `project.resume`
    Resume,
    /// `project.enable`
    Enable,
    /// `project.disable`
    Disable {
        /// Cancel a running task first.
        now: bool,
    },
    /// `project.remove`
    Remove {
        /// Cancel a running task first.
        now: bool,
    },
    /// `project.unlock`
    Unlock {
        /// Really move the lock aside.
        confirm: bool,
    },
    /// `task.submit`; the planner's fields as JSON text.
    Submit(wire::Raw),
    /// `task.retry` of this task.
    Retry(String),
    /// `task.wait`
    Wait {
        /// Which task; `None`: the one in the file now.
        task_id: Option<String>,
        /// After so many milliseconds the answer comes in any case.
        timeout_ms: Option<u64>,
    },
    /// `task.cancel`
    Cancel {
        /// The task that is meant.
        task_id: String,
        /// Why.
        reason: Option<String>,
    },
    /// `session.take`
    Take(Option<String>),
}

/// A handle on a project's actor.
#[derive(Debug, Clone)]
pub struct ProjectRef {
    /// The root as it was opened, absolute.
    pub path: Arc<Path>,
    /// Its name.
    pub name: Arc<str>,
    /// Its mailbox; each letter is boxed to keep an idle project small.
    pub mail: mpsc::Sender<Box<Mail>>,
}

impl ProjectRef {
    /// Sends a letter; `false` when the actor has ended.
    pub async fn send(&self, letter: Mail) -> bool {
        self.mail.send(Box::new(letter)).await.is_ok()
    }

    /// The path as text for messages.
    #[must_use]
    pub fn shown(&self) -> String {
        PathBuf::from(&*self.path).display().to_string()
    }
}
