//! The outgoing side of one connection: a queue of lines that never blocks the sender (wire protocol, first section).
//!
//! A client that does not read is dropped at [`wire::limits`]' backlog or when one write takes too long; nobody else
//! waits for it. Lines of one peer leave in the order in which they were queued. While nothing waits, a line goes straight
//! into the socket, from whatever thread it comes: a message to an idle session needs no other thread to get on its way.

mod pieces;
mod responder;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lifecycle::Conn;
use queue::DispatchId;
use serde::Serialize;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{Notify as Signal, mpsc};
use wire::error::ErrorObject;
use wire::rpc::{self, Id};
use wire::{Call, Notify};

pub use self::pieces::Pieces;
pub use self::responder::Responder;

/// How a result that ends with a list ends.
const LIST_END: &[u8] = b"]}}\n";

/// One line, or a piece of one, on its way out.
#[derive(Debug)]
pub struct Outbound {
    /// The bytes; the last ones of a line are its end.
    pub line: Vec<u8>,
    /// So many of them are in the socket already.
    pub done: usize,
    /// The dispatch that the line carries; if it is not written whole, the dispatch was not delivered (D69).
    pub dispatch: Option<DispatchId>,
}

/// A request of ours that the client still has to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionCall {
    /// What was asked.
    pub kind: CallKind,
    /// About which dispatch.
    pub dispatch: DispatchId,
}

/// The requests that the daemon sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// `task.dispatch`
    Dispatch,
    /// `task.remind`
    Remind,
    /// `task.cancel`
    Cancel,
}

/// The outgoing side of one connection. The reading side belongs to the server.
#[derive(Debug)]
pub struct Peer {
    conn: Conn,
    queue: mpsc::UnboundedSender<Outbound>,
    way: Mutex<Way>,
    backlog: AtomicUsize,
    closing: Signal,
    next_id: AtomicU64,
    calls: Mutex<HashMap<u64, SessionCall>>,
    /// Requests of the client that are not answered yet.
    open: AtomicUsize,
    all_answered: Signal,
    undelivered: Mutex<Option<DispatchId>>,
    /// Whether the daemon is stopping.
    stopping: Arc<AtomicBool>,
}

/// How the next line gets out.
#[derive(Debug, Default)]
struct Way {
    /// The socket, as long as the writer goes on.
    socket: Option<Arc<OwnedWriteHalf>>,
    /// Lines that the writer has still to write, a half-written one included.
    waiting: usize,
}

impl Way {
    /// Writes what the socket takes now, if nothing waits before it; gives the number of bytes. Never blocks. What is
    /// wrong with the socket is found by the writer, too.
    fn write(&self, line: &[u8]) -> usize {
        let free = self.socket.as_ref().filter(|_| self.waiting == 0);
        free.and_then(|socket| socket.try_write(line).ok()).unwrap_or(0)
    }
}

impl Peer {
    /// A peer and the queue that its writer empties; the writer calls [`Peer::written`] for each line.
    #[must_use]
    pub fn new(conn: Conn) -> (Arc<Self>, mpsc::UnboundedReceiver<Outbound>) {
        Self::of_daemon(conn, &Arc::default())
    }

    /// As [`Peer::new`], for a daemon that sets `stopping` before it ends what requests are about.
    #[must_use]
    pub fn of_daemon(conn: Conn, stopping: &Arc<AtomicBool>) -> (Arc<Self>, mpsc::UnboundedReceiver<Outbound>) {
        let (queue, lines) = mpsc::unbounded_channel();
        let peer = Self {
            conn,
            queue,
            way: Mutex::default(),
            backlog: AtomicUsize::new(0),
            closing: Signal::new(),
            next_id: AtomicU64::new(1),
            calls: Mutex::default(),
            open: AtomicUsize::new(0),
            all_answered: Signal::new(),
            undelivered: Mutex::default(),
            stopping: Arc::clone(stopping),
        };
        (Arc::new(peer), lines)
    }

    /// Which connection it is.
    #[must_use]
    pub const fn conn(&self) -> Conn {
        self.conn
    }

    /// Queues a notification.
    pub fn notify<N: Notify>(&self, params: &N) {
        self.queue_line(rpc::notification_line(params, wire::limits::DAEMON_LINE).ok(), None);
    }

    /// Queues a request to a session; its answer is found again with [`Peer::answered`].
    pub fn call<C: Call>(&self, call: SessionCall, params: &C) {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        lock(&self.calls).insert(id, call);
        let dispatch = (call.kind == CallKind::Dispatch).then_some(call.dispatch);
        self.queue_line(rpc::request_line(&Id::from(id), params, wire::limits::DAEMON_LINE).ok(), dispatch);
    }

    /// The request that an incoming response answers; each is answered once.
    pub fn answered(&self, id: &Id) -> Option<SessionCall> {
        lock(&self.calls).remove(&id.as_u64()?)
    }

    /// Queues a result.
    pub fn result<T: Serialize>(&self, id: &Id, result: &T) {
        match rpc::result_line(id, result, wire::limits::DAEMON_LINE) {
            Ok(line) => self.queue_line(Some(line), None),
            Err(error) => self.error(Some(id), &ErrorObject::internal(&error.to_string())),
        }
    }

    /// Queues a result that ends with a list: `result` has it empty, as its last member, and `list` has what is in it.
    pub fn result_with_list<T: Serialize>(&self, id: &Id, result: &T, list: Pieces) {
        match rpc::result_line(id, result, wire::limits::DAEMON_LINE.saturating_sub(list.len())) {
            Ok(mut line) if line.ends_with(LIST_END) => {
                line.truncate(line.len() - LIST_END.len());
                let pieces = std::iter::once(line).chain(list.into_pieces()).chain([LIST_END.to_vec()]);
                self.queue_bytes(pieces.filter(|piece| !piece.is_empty()), None);
            }
            Ok(_) => self.error(Some(id), &ErrorObject::internal("a result does not end with its list")),
            Err(error) => self.error(Some(id), &ErrorObject::internal(&error.to_string())),
        }
    }

    /// Queues an error.
    pub fn error(&self, id: Option<&Id>, error: &ErrorObject) {
        self.queue_line(rpc::error_line(id, error, wire::limits::DAEMON_LINE).ok(), None);
    }

    fn queue_line(&self, line: Option<Vec<u8>>, dispatch: Option<DispatchId>) {
        let Some(line) = line else {
            tracing::error!(conn = self.conn.0, "a message was too long for a line; the connection is closed");
            self.close();
            return;
        };
        self.queue_bytes([line], dispatch);
    }

    /// Queues the bytes of one line, which may come in pieces: nothing else gets between them.
    fn queue_bytes(&self, pieces: impl IntoIterator<Item = Vec<u8>>, dispatch: Option<DispatchId>) {
        let mut way = lock(&self.way);
        for piece in pieces {
            self.queue_piece(&mut way, piece, dispatch);
        }
    }

    fn queue_piece(&self, way: &mut Way, line: Vec<u8>, dispatch: Option<DispatchId>) {
        let done = way.write(&line);
        if done == line.len() {
            return;
        }
        way.waiting += 1;
        let backlog = self.backlog.fetch_add(line.len(), Ordering::Relaxed) + line.len();
        // A single line may be longer than the backlog that is left; what counts is that it is being read.
        if backlog > wire::limits::BACKLOG + wire::limits::DAEMON_LINE {
            self.close();
        }
        if let Err(refused) = self.queue.send(Outbound { line, done, dispatch })
            && let Some(dispatch) = refused.0.dispatch
        {
            self.note_undelivered(dispatch);
        }
    }

    /// The connection ended before the line of this dispatch was written whole: proof that it was not delivered (D69).
    pub fn note_undelivered(&self, dispatch: DispatchId) {
        *lock(&self.undelivered) = Some(dispatch);
    }

    /// The last dispatch that was proved not to be delivered. Final only after the connection has ended.
    #[must_use]
    pub fn undelivered(&self) -> Option<DispatchId> {
        *lock(&self.undelivered)
    }

    /// How many requests of the client are not answered yet.
    #[must_use]
    pub fn open_requests(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Comes when every request of the client so far is answered.
    pub async fn all_answered(&self) {
        while self.open_requests() > 0 {
            self.all_answered.notified().await;
        }
    }

    /// Opens the straight way: from now on a line that nothing waits before is written at once.
    pub fn plug(&self, socket: &Arc<OwnedWriteHalf>) {
        lock(&self.way).socket = Some(socket.clone());
    }

    /// Closes the straight way: whatever comes now goes to the writer, or is not delivered.
    pub fn unplug(&self) {
        lock(&self.way).socket = None;
    }

    /// The writer has handed a line of `bytes` to the socket.
    pub fn written(&self, bytes: usize) {
        lock(&self.way).waiting -= 1;
        self.backlog.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Bytes queued and not yet written.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.backlog.load(Ordering::Relaxed)
    }

    /// Asks the server to close the connection.
    pub fn close(&self) {
        self.closing.notify_one();
    }

    /// Comes when somebody asked for the end of the connection.
    pub async fn closed(&self) {
        self.closing.notified().await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dispatch_that_meets_a_closed_connection_is_known_as_undelivered() {
        let (peer, lines) = Peer::new(Conn(1));
        let dispatch = DispatchId::from_random(5);
        let call = |kind| {
            let params = wire::daemon_calls::TaskRemind { dispatch_id: dispatch.to_string(), text: String::new() };
            peer.call(SessionCall { kind, dispatch }, &params);
        };
        call(CallKind::Dispatch);
        assert_eq!(peer.undelivered(), None);
        drop(lines);
        call(CallKind::Remind);
        assert_eq!(peer.undelivered(), None);
        call(CallKind::Dispatch);
        assert_eq!(peer.undelivered(), Some(dispatch));
    }

    #[tokio::test]
    async fn a_line_that_nothing_waits_before_goes_straight_out_and_order_is_kept() {
        let (ours, theirs) = tokio::net::UnixStream::pair().unwrap();
        let (_read, write) = ours.into_split();
        let (peer, mut lines) = Peer::new(Conn(1));
        peer.result(&Id::from(1), &"before the writer is there");
        let first = lines.try_recv().unwrap();
        write.writable().await.unwrap();
        let socket = Arc::new(write);
        peer.plug(&socket);
        peer.result(&Id::from(2), &"behind it");
        assert!(lines.try_recv().is_ok(), "what waits is not overtaken");
        peer.written(first.line.len());
        peer.written(0);
        peer.result(&Id::from(3), &"straight");
        assert!(lines.try_recv().is_err());
        let mut seen = vec![0; 256];
        theirs.readable().await.unwrap();
        let count = theirs.try_read(&mut seen).unwrap();
        assert_eq!(
            std::str::from_utf8(&seen[..count]).unwrap(),
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":\"straight\"}\n"
        );
        assert_eq!(peer.open_requests(), 0);
    }

    #[tokio::test]
    async fn what_a_full_socket_does_not_take_waits_with_the_rest() {
        let (ours, theirs) = tokio::net::UnixStream::pair().unwrap();
        let (_read, write) = ours.into_split();
        write.writable().await.unwrap();
        let socket = Arc::new(write);
        let (peer, mut lines) = Peer::new(Conn(1));
        peer.plug(&socket);
        let long = "x".repeat(3 * 1024 * 1024);
        peer.result(&Id::from(1), &long);
        peer.result(&Id::from(2), &"after it");
        let (half, next) = (lines.try_recv().unwrap(), lines.try_recv().unwrap());
        assert!(half.done > 0 && half.done < half.line.len(), "{} of {}", half.done, half.line.len());
        assert_eq!(next.done, 0);
        assert_eq!(peer.backlog(), half.line.len() + next.line.len());
        drop(theirs);
        peer.unplug();
        drop(lines);
        let dispatch = DispatchId::from_random(5);
        let params = wire::daemon_calls::TaskRemind { dispatch_id: dispatch.to_string(), text: String::new() };
        peer.call(SessionCall { kind: CallKind::Dispatch, dispatch }, &params);
        assert_eq!(peer.undelivered(), Some(dispatch));
    }
}
