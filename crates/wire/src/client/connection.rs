//! The two tasks behind a client: one reads lines and sorts them, one writes lines. They know no method's meaning.

use super::pending::Pending;
use crate::calls::{DaemonNotification, DaemonRequest};
use crate::error::ErrorObject;
use crate::io::{LineReader, ReadError};
use crate::limits;
use crate::rpc::{self, Id, Incoming};
use std::sync::Arc;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};

/// What the daemon says of its own accord.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromDaemon {
    /// Wants an answer: [`super::Client::answer`] or [`super::Client::refuse`].
    Request {
        /// Comes back in the answer.
        id: Id,
        /// What it asks.
        call: DaemonRequest,
    },
    /// Wants none.
    Notification(DaemonNotification),
}

/// Something for the writer.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// One line with its end.
    Line(Vec<u8>),
    /// Tell when everything before was written.
    Flush(oneshot::Sender<()>),
}

/// Writes until nobody can send any more, or the socket fails (the reader sees that, too).
pub(super) async fn write(mut socket: OwnedWriteHalf, mut queue: mpsc::Receiver<Outgoing>) {
    while let Some(outgoing) = queue.recv().await {
        match outgoing {
            Outgoing::Line(line) => {
                if socket.write_all(&line).await.is_err() {
                    return;
                }
            }
            Outgoing::Flush(done) => {
                done.send(()).ok();
            }
        }
    }
}

/// The reading side.
pub(super) struct Reader {
    pub(super) lines: LineReader<OwnedReadHalf>,
    pub(super) pending: Arc<Pending>,
    pub(super) inbox: mpsc::Sender<FromDaemon>,
    /// Weak, so that the reader does not keep the connection open.
    pub(super) outgoing: mpsc::WeakSender<Outgoing>,
}

impl Reader {
    /// Reads until the stream ends, then ends every waiting call.
    pub(super) async fn run(mut self) {
        let why = loop {
            match self.lines.next_line().await {
                Ok(Some(line)) => {
                    if let Err(why) = self.take(&line).await {
                        break why;
                    }
                }
                Ok(None) => break "the daemon closed it".to_owned(),
                Err(ReadError::Io(error)) => break error.to_string(),
                Err(ReadError::TooLong(error)) => break error.to_string(),
            }
        };
        self.pending.close(why);
    }

    async fn take(&self, line: &[u8]) -> Result<(), String> {
        match rpc::parse(line) {
            Ok(Incoming::Response(response)) => self.pending.resolve(response),
            Ok(Incoming::Request(request)) => match DaemonRequest::decode(&request.method, &request.params) {
                Ok(call) => self.deliver_request(request.id, call).await,
                Err(error) => self.refuse(Some(&request.id), &error).await,
            },
            Ok(Incoming::Notification(notification)) => {
                // One that a newer daemon knows and this client does not is nothing to fail for.
                if let Ok(known) = DaemonNotification::decode(&notification.method, &notification.params) {
                    self.inbox.send(FromDaemon::Notification(known)).await.ok();
                }
            }
            Err(malformed) if malformed.closes_connection() => return Err(malformed.to_string()),
            Err(malformed) => {
                if let Some((id, error)) = malformed.answer() {
                    self.refuse(id, &error).await;
                }
            }
        }
        Ok(())
    }

    async fn deliver_request(&self, id: Id, call: DaemonRequest) {
        let method = call.method();
        let unread = self.inbox.send(FromDaemon::Request { id, call }).await.err();
        if let Some(mpsc::error::SendError(FromDaemon::Request { id, .. })) = unread {
            // The inbox was dropped: this client takes no calls.
            self.refuse(Some(&id), &ErrorObject::unknown_method(method)).await;
        }
    }

    async fn refuse(&self, id: Option<&Id>, error: &ErrorObject) {
        if let (Some(outgoing), Ok(line)) = (self.outgoing.upgrade(), rpc::error_line(id, error, limits::CLIENT_LINE)) {
            outgoing.send(Outgoing::Line(line)).await.ok();
        }
    }
}
