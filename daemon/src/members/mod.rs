//! Team members: sessions that get packets, and no tasks (D20, D74).
//!
//! One actor for all of them, started by the first that attaches; who gets what is decided in `lifecycle::members`, what
//! lies on disk is read and written by the crate `team`. While nobody is attached as a member there is no timer, no
//! look and no watch.

mod actor;
mod arrive;
mod attach;
mod convert;
mod effects;
mod files;
mod jobs;
mod look;
mod shown;
mod tell;
mod watching;

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lifecycle::Conn;
use lifecycle::members::Event;
use queue::{DispatchId, Run};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use wire::session::{Attach, AttachedProject};
use wire::status::MemberStatus;

use crate::actor::mail::ProjectRef;
use crate::hub::Hub;
use crate::peer::{Peer, Responder};

/// The most letters that wait; senders wait for room.
const MAILBOX: usize = 64;
/// How long the actor may take to say how its members are.
const ANSWER_WITHIN: Duration = Duration::from_millis(500);

/// What the members' actor is sent.
#[derive(Debug)]
pub enum Letter {
    /// `session.attach` of a member.
    Attach(Box<Arrival>),
    /// Something that a session said, or the end of its connection.
    Event(Event),
    /// A run was observed, or its end.
    Run {
        /// The session's connection.
        conn: Conn,
        /// The dispatch it belongs to.
        dispatch: DispatchId,
        /// The run in its newest state.
        run: Box<Run>,
    },
    /// What `daemon.status` shows, with the root of each member's project.
    Status(oneshot::Sender<Vec<(Arc<Path>, MemberStatus)>>),
    /// The daemon stops; answered when nothing is being written any more.
    Shutdown(oneshot::Sender<()>),
}

/// A session that asks to be attached as a member. The server has found its project.
#[derive(Debug)]
pub struct Arrival {
    /// The parameters.
    pub attach: Attach,
    /// The member.
    pub agent_id: String,
    /// The peer's process, from the socket.
    pub process: lifecycle::Process,
    /// Where messages to the session go.
    pub peer: Arc<Peer>,
    /// For the one answer.
    pub answer: Responder,
    /// The session's project.
    pub project: ProjectRef,
    /// How that is.
    pub shown: AttachedProject,
}

/// A handle on the members' actor, which may not have been needed yet.
#[derive(Debug, Default)]
pub struct Team {
    mail: OnceLock<mpsc::Sender<Box<Letter>>>,
}

/// The way to the members' actor.
#[derive(Debug, Clone)]
pub struct TeamRef(mpsc::Sender<Box<Letter>>);

impl TeamRef {
    /// Sends a letter; `false` when the daemon has stopped.
    pub async fn send(&self, letter: Letter) -> bool {
        self.0.send(Box::new(letter)).await.is_ok()
    }
}

impl Team {
    /// The actor, started if this is the first need for it.
    #[must_use]
    pub fn started(&self, hub: &Arc<Hub>) -> TeamRef {
        TeamRef(self.mail.get_or_init(|| actor::spawn(hub.clone())).clone())
    }

    /// All members with the roots of their projects; none if the actor does not answer in time.
    pub async fn shown(&self) -> Vec<(Arc<Path>, MemberStatus)> {
        let Some(mail) = self.mail.get() else { return Vec::new() };
        let (tell, told) = oneshot::channel();
        let asking = async {
            mail.send(Box::new(Letter::Status(tell))).await.ok();
            told.await.ok()
        };
        timeout(ANSWER_WITHIN, asking).await.ok().flatten().unwrap_or_default()
    }

    /// Sends nothing more, and waits until what was begun is written.
    pub async fn stop(&self) {
        let Some(mail) = self.mail.get() else { return };
        let (tell, told) = oneshot::channel();
        if mail.send(Box::new(Letter::Shutdown(tell))).await.is_ok() {
            told.await.ok();
        }
    }
}

/// What a session's message means for its member; `None` for what only concerns tasks.
#[must_use]
pub fn letter(event: lifecycle::Event) -> Option<Letter> {
    use lifecycle::Event as Of;
    Some(match event {
        Of::Activity { conn, idle, .. } => Letter::Event(Event::Activity { conn, idle }),
        Of::Run { conn, dispatch, run } => Letter::Run { conn, dispatch, run },
        Of::TurnSettled { conn, dispatch, aborted } => {
            Letter::Event(Event::Settled { conn, dispatch, aborted: aborted.is_some() })
        }
        Of::Leaving { conn, reason } => Letter::Event(Event::Leaving { conn, reason }),
        Of::Ping { conn } | Of::RemindAnswered { conn, .. } | Of::CancelAnswered { conn, .. } => {
            Letter::Event(Event::Ping { conn })
        }
        Of::Closed { conn, unsent } => Letter::Event(Event::Closed { conn, unsent }),
        Of::Answered { conn, dispatch, answer } => Letter::Event(Event::Answered { conn, dispatch, answer }),
        Of::ProcessGone(process) => Letter::Event(Event::ProcessGone(process)),
        Of::ProcessStopped { process, stopped } => Letter::Event(Event::ProcessStopped { process, stopped }),
        _ => return None,
    })
}
