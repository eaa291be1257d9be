//! One connection: its two halves, the time limit of its opening, and its end.
//!
//! What messages mean is in `incoming` and `handlers`. An idle connection holds no buffer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lifecycle::Event;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};
use wire::error::{ErrorCode, ErrorObject, Refusal};
use wire::io::{LineReader, ReadError};
use wire::limits::{CLIENT_LINE, HELLO_WITHIN};

use super::connections::Ticket;
use super::credentials::Credentials;
use super::writer::{self, Ending};
use super::{Service, Stage};
use crate::actor::mail::{Mail, ProjectRef};
use crate::members::{Letter, TeamRef};
use crate::peer::{Outbound, Peer};

/// A client that has ended its side, but still reads, gets its answers for so long.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// What one connection knows of its client.
pub(super) struct Client {
    pub(super) service: Arc<Service>,
    pub(super) peer: Arc<Peer>,
    pub(super) credentials: Credentials,
    pub(super) ticket: Ticket,
    pub(super) greeted: bool,
    /// The project that its session asked for.
    pub(super) session: Option<Session>,
    /// The way to the team, if its session attached as a member.
    pub(super) member: Option<Member>,
    /// One message that means nothing was logged; more are not.
    pub(super) told_off: bool,
}

/// What became of a session's attach. The project's actor knows the connection in any case, and is told of its end.
pub(super) struct Session {
    pub(super) project: ProjectRef,
    /// Set when the actor refuses.
    pub(super) refused: Arc<AtomicBool>,
}

/// What became of a member's attach. The members' actor knows the connection in any case, and is told of its end.
pub(super) struct Member {
    pub(super) team: TeamRef,
    /// Set when the actor refuses.
    pub(super) refused: Arc<AtomicBool>,
}

/// Serves one connection from its first byte to the news of its end.
pub(super) async fn run(
    service: Arc<Service>,
    stream: UnixStream,
    credentials: Credentials,
    ticket: Ticket,
    peer: Arc<Peer>,
    lines: mpsc::UnboundedReceiver<Outbound>,
) {
    // All connections subscribe: when the last has ended, the daemon knows.
    let stage = service.stage.subscribe();
    let (read, write) = stream.into_split();
    let (end, ended) = oneshot::channel();
    let writer = tokio::spawn(writer::run(write, lines, peer.clone(), ended));
    let mut reader = LineReader::new(read, CLIENT_LINE);
    let mut client = Client {
        service: service.clone(),
        peer: peer.clone(),
        credentials,
        ticket,
        greeted: false,
        session: None,
        member: None,
        told_off: false,
    };
    let ending = tokio::select! {
        biased;
        () = peer.closed() => Ending::Now,
        () = service.reached(Stage::Closing) => Ending::Flush,
        ending = client.read_all(&mut reader) => ending,
    };
    end.send(ending).ok();
    writer.await.ok();
    client.end_session().await;
    drop(stage);
}

impl Client {
    /// The project of its session, unless that refused it.
    pub(super) fn attached(&self) -> Option<&ProjectRef> {
        let session = self.session.as_ref().filter(|session| !session.refused.load(Ordering::Relaxed));
        session.map(|session| &session.project)
    }

    /// The team, unless it refused the session.
    pub(super) fn as_member(&self) -> Option<&TeamRef> {
        let member = self.member.as_ref().filter(|member| !member.refused.load(Ordering::Relaxed));
        member.map(|member| &member.team)
    }

    /// Whether a session is attached on this connection.
    pub(super) fn is_attached(&self) -> bool {
        self.attached().is_some() || self.as_member().is_some()
    }

    /// Tells the project that was asked for that this connection is nothing to it any more.
    pub(super) async fn end_session(&mut self) {
        if let Some(session) = self.session.take() {
            let unsent = self.peer.undelivered();
            session.project.send(Mail::Event(Event::Closed { conn: self.peer.conn(), unsent })).await;
        }
        if let Some(member) = self.member.take() {
            let unsent = self.peer.undelivered();
            let closed = lifecycle::members::Event::Closed { conn: self.peer.conn(), unsent };
            member.team.send(Letter::Event(closed)).await;
        }
    }

    async fn read_all(&mut self, reader: &mut LineReader<OwnedReadHalf>) -> Ending {
        let greeting = Instant::now() + HELLO_WITHIN;
        loop {
            let next = match self.greeted {
                true => reader.next_line().await,
                false => match timeout_at(greeting, reader.next_line()).await {
                    Ok(next) => next,
                    Err(_) => {
                        let why = format!("no `hello` within {} s", HELLO_WITHIN.as_secs());
                        self.peer.error(None, &Refusal::new(ErrorCode::HelloRequired, why).into());
                        return Ending::Flush;
                    }
                },
            };
            match next {
                Ok(Some(line)) => {
                    if let Some(ending) = self.line(&line).await {
                        return ending;
                    }
                }
                Ok(None) => return self.last_answers().await,
                Err(ReadError::TooLong(error)) => {
                    self.peer.error(None, &ErrorObject::parse_error(&error.to_string()));
                    return Ending::Flush;
                }
                Err(ReadError::Io(_)) => return Ending::Now,
            }
        }
    }

    /// The client sends nothing more. It may be gone, or wait for its answers, as `printf … | socat` does.
    async fn last_answers(&self) -> Ending {
        if !self.is_attached() && timeout(LAST_ANSWERS, self.peer.all_answered()).await.is_err() {
            return Ending::Now;
        }
        Ending::Flush
    }
}
