//! An async client of the daemon, for the CLI's calls and for the session side of `handoff attach` alike.
//!
//! [`Client::connect`] says hello and gives a [`Client`] to call with and an [`Inbox`] of what the daemon says by
//! itself. Who only calls may drop the inbox. Who keeps it must read it: the connection is one stream, so a full inbox
//! holds answers up, too, and the daemon drops a client that does not read for 5 s. Reconnecting is left to the caller
//! ([`Backoff`] says when), and so is every rule about tasks.

mod backoff;
mod connection;
mod error;
mod pending;

pub use backoff::Backoff;
pub use connection::FromDaemon;
pub use error::ClientError;

use crate::calls::{Call, Notify};
use crate::error::{ErrorCode, ErrorObject};
use crate::hello::{ClientInfo, DaemonInfo, Hello, HelloResult};
use crate::io::LineReader;
use crate::limits;
use crate::rpc;
use connection::{Outgoing, Reader};
use pending::{Outcome, Pending};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

/// Messages of the daemon that may wait in the inbox.
const INBOX: usize = 256;

/// Lines that may wait to be written.
const OUTGOING: usize = 32;

/// The time that connecting and `hello` may take, and any call whose answer needs no waiting.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The time for calls that write durably or wait for a session (at most 10 s, D76).
const SLOW_ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// A connection to the daemon that has said hello. Clones share it; it ends with the last one.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    outgoing: mpsc::Sender<Outgoing>,
    pending: Arc<Pending>,
    reader: AbortHandle,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// What the daemon says by itself: calls and notifications to a session, events to a subscriber.
#[derive(Debug)]
pub struct Inbox(mpsc::Receiver<FromDaemon>);

impl Inbox {
    /// The next message; `None` when the connection has ended. Safe to cancel.
    pub async fn next(&mut self) -> Option<FromDaemon> {
        self.0.recv().await
    }
}

impl Client {
    /// Connects to the socket at `path` and says hello, both within 5 s ([`ANSWER_WITHIN`]).
    ///
    /// Must be called inside a tokio runtime; two tasks stay with the connection.
    ///
    /// # Errors
    /// `NotReachable`, `NoAnswer`, `Protocol`, or what the daemon refused.
    pub async fn connect(path: &Path, client: ClientInfo) -> Result<(Self, Inbox, DaemonInfo), ClientError> {
        let no_answer = |_| ClientError::NoAnswer { method: Hello::METHOD, limit: ANSWER_WITHIN };
        timeout(ANSWER_WITHIN, Self::open(path, client)).await.map_err(no_answer)?
    }

    async fn open(path: &Path, client: ClientInfo) -> Result<(Self, Inbox, DaemonInfo), ClientError> {
        let socket = connect_patiently(path)
            .await
            .map_err(|cause| ClientError::NotReachable { path: path.to_owned(), cause })?;
        let (this, inbox) = Self::over(socket);
        let hello = Hello { protocol: limits::PROTOCOL, client };
        let result = this.call(&hello).await.map_err(protocol_mismatch)?;
        check_protocol(&result)?;
        Ok((this, inbox, result.daemon))
    }

    fn over(socket: UnixStream) -> (Self, Inbox) {
        let (read_half, write_half) = socket.into_split();
        let (outgoing, queue) = mpsc::channel(OUTGOING);
        let (inbox, received) = mpsc::channel(INBOX);
        let pending = Arc::new(Pending::new());
        let reader = Reader {
            lines: LineReader::new(read_half, limits::DAEMON_LINE),
            pending: Arc::clone(&pending),
            inbox,
            outgoing: outgoing.downgrade(),
        };
        tokio::spawn(connection::write(write_half, queue));
        let reader = tokio::spawn(reader.run()).abort_handle();
        (Self { shared: Arc::new(Shared { outgoing, pending, reader }) }, Inbox(received))
    }

    /// Calls a method and waits as long as its answer can reasonably take: 5 s, a minute for calls that write or wait for
    /// a session, without end for `task.wait`. Dropping the future gives the call up; the daemon is not told.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn call<C: Call>(&self, params: &C) -> Result<C::Result, ClientError> {
        self.call_within(params, usual_limit(C::METHOD)).await
    }

    /// Calls a method and waits for `limit`; `None` waits until the connection ends.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn call_within<C: Call>(&self, params: &C, limit: Option<Duration>) -> Result<C::Result, ClientError> {
        let exchange = self.exchange(params);
        let outcome = match limit {
            None => exchange.await?,
            Some(limit) => {
                timeout(limit, exchange).await.map_err(|_| ClientError::NoAnswer { method: C::METHOD, limit })??
            }
        };
        let result = outcome.map_err(|error| ClientError::Refused { method: C::METHOD, error })?;
        rpc::decode(result.get()).map_err(|why| ClientError::BadAnswer { method: C::METHOD, why })
    }

    async fn exchange<C: Call>(&self, params: &C) -> Result<Outcome, ClientError> {
        let mut ticket = self.shared.pending.open().map_err(|why| ClientError::Closed { why })?;
        self.send(rpc::request_line(&ticket.id(), params, limits::CLIENT_LINE)?).await?;
        (&mut ticket.answer).await.map_err(|_| self.closed())
    }

    /// Sends a notification. It is queued, not yet written, when this returns; see [`Self::flush`].
    ///
    /// # Errors
    /// `Closed` or `Encode`.
    pub async fn notify<N: Notify>(&self, params: &N) -> Result<(), ClientError> {
        self.send(rpc::notification_line(params, limits::CLIENT_LINE)?).await
    }

    /// Answers a request of the daemon. `C` is the type of the request, which decides the type of the result.
    ///
    /// # Errors
    /// `Closed` or `Encode`.
    pub async fn answer<C: Call>(&self, id: &rpc::Id, result: &C::Result) -> Result<(), ClientError> {
        self.send(rpc::result_line(id, result, limits::CLIENT_LINE)?).await
    }

    /// Answers a request of the daemon with an error.
    ///
    /// # Errors
    /// `Closed` or `Encode`.
    pub async fn refuse(&self, id: &rpc::Id, error: &ErrorObject) -> Result<(), ClientError> {
        self.send(rpc::error_line(Some(id), error, limits::CLIENT_LINE)?).await
    }

    /// Waits until everything sent so far was handed to the system; call it before a program ends.
    ///
    /// # Errors
    /// `Closed`.
    pub async fn flush(&self) -> Result<(), ClientError> {
        let (done, written) = oneshot::channel();
        self.shared.outgoing.send(Outgoing::Flush(done)).await.map_err(|_| self.closed())?;
        written.await.map_err(|_| self.closed())
    }

    async fn send(&self, line: Vec<u8>) -> Result<(), ClientError> {
        self.shared.outgoing.send(Outgoing::Line(line)).await.map_err(|_| self.closed())
    }

    fn closed(&self) -> ClientError {
        ClientError::Closed { why: self.shared.pending.closed_why() }
    }
}

/// Connects; a daemon whose queue of new connections is full is asked again.
async fn connect_patiently(path: &Path) -> io::Result<UnixStream> {
    loop {
        match UnixStream::connect(path).await {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(Duration::from_millis(20)).await,
            result => return result,
        }
    }
}

fn usual_limit(method: &str) -> Option<Duration> {
    match method {
        "task.wait" => None,
        "task.report" | "task.submit" | "task.retry" | "task.cancel" | "project.remove" | "project.disable" => {
            Some(SLOW_ANSWER_WITHIN)
        }
        _ => Some(ANSWER_WITHIN),
    }
}

fn protocol_mismatch(error: ClientError) -> ClientError {
    if error.code() != Some(ErrorCode::UnsupportedProtocol) {
        return error;
    }
    let ClientError::Refused { error, .. } = error else { return error };
    let theirs = error.refusal().and_then(|data| data.supported).unwrap_or_default();
    ClientError::Protocol { ours: limits::PROTOCOL, theirs, daemon: None }
}

fn check_protocol(result: &HelloResult) -> Result<(), ClientError> {
    if result.protocol == limits::PROTOCOL {
        return Ok(());
    }
    Err(ClientError::Protocol {
        ours: limits::PROTOCOL,
        theirs: vec![result.protocol],
        daemon: Some(result.daemon.version.clone()),
    })
}
