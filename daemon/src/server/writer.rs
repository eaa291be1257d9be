//! The writing half of a connection: empties the peer's queue into the socket, and knows what did not get out whole.
//! It gets what the peer could not write at once.
//!
//! A client that reads nothing for five seconds while something waits for it is dropped. Nothing is read here.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use wire::limits::STALLED_AFTER;

use crate::peer::{Outbound, Peer};

/// How the writing half is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// What is queued is still written, as long as the client reads.
    Flush,
    /// At once.
    Now,
}

/// Writes until it is told to end or cannot go on; what was not written whole is noted with the peer (D69).
pub(super) async fn run(
    socket: OwnedWriteHalf,
    mut lines: mpsc::UnboundedReceiver<Outbound>,
    peer: Arc<Peer>,
    ending: oneshot::Receiver<Ending>,
) {
    let socket = Arc::new(socket);
    let plugged = Plugged::new(&peer, &socket);
    let mut writing = None;
    let told = tokio::select! {
        biased;
        told = ending => told.unwrap_or(Ending::Now),
        () = write_all(&socket, &mut lines, &peer, &mut writing) => Ending::Now,
    };
    drop(plugged);
    if told == Ending::Flush {
        lines.close();
        // Half a line may be out: the rest of it is written first. A client that only dribbles has had its time.
        timeout(STALLED_AFTER, write_all(&socket, &mut lines, &peer, &mut writing)).await.ok();
    }
    lines.close();
    let mut lost = writing.take().and_then(|half: Outbound| half.dispatch);
    while let Ok(line) = lines.try_recv() {
        lost = line.dispatch.or(lost);
    }
    if let Some(dispatch) = lost {
        peer.note_undelivered(dispatch);
    }
    // The reading half learns from this that nothing can be answered any more.
    peer.close();
}

/// The straight way from the peer into the socket. Dropped with the writer, also where that is given up in the middle: whoever
/// still knows the peer then would keep the connection open, and the client wait for ever.
struct Plugged<'p>(&'p Peer);

impl<'p> Plugged<'p> {
    fn new(peer: &'p Peer, socket: &Arc<OwnedWriteHalf>) -> Self {
        peer.plug(socket);
        Self(peer)
    }
}

impl Drop for Plugged<'_> {
    fn drop(&mut self) {
        self.0.unplug();
    }
}

/// Writes line after line until the queue is closed and empty, or the client does not take any more.
async fn write_all(
    socket: &OwnedWriteHalf,
    lines: &mut mpsc::UnboundedReceiver<Outbound>,
    peer: &Peer,
    writing: &mut Option<Outbound>,
) {
    loop {
        let half = match writing {
            Some(half) => half,
            None => match lines.recv().await {
                Some(line) => writing.insert(line),
                None => return,
            },
        };
        while half.done < half.line.len() {
            match write_some(socket, &half.line[half.done..], STALLED_AFTER).await {
                Ok(written) => half.done += written,
                Err(error) => {
                    tracing::debug!(conn = peer.conn().0, %error, "the client does not read");
                    return;
                }
            }
        }
        peer.written(half.line.len());
        *writing = None;
    }
}

async fn write_some(socket: &OwnedWriteHalf, bytes: &[u8], limit: Duration) -> io::Result<usize> {
    let write = async {
        loop {
            socket.writable().await?;
            match socket.try_write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
    };
    timeout(limit, write).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

#[cfg(test)]
mod tests {
    use lifecycle::Conn;
    use tokio::io::AsyncReadExt as _;
    use tokio::net::UnixStream;

    use super::*;

    /// As at the end of the daemon, while a thread of it still has the peer in its hands.
    #[tokio::test]
    async fn a_writer_that_is_given_up_ends_the_connection() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (peer, lines) = Peer::new(Conn(1));
        let (_end, ended) = oneshot::channel();
        let writer = tokio::spawn(run(ours.into_split().1, lines, Arc::clone(&peer), ended));
        peer.error(None, &wire::error::ErrorObject::internal("first"));
        theirs.read_buf(&mut Vec::new()).await.unwrap();
        writer.abort();
        let mut rest = Vec::new();
        timeout(Duration::from_secs(60), theirs.read_to_end(&mut rest)).await.expect("the end is told").unwrap();
        drop(peer);
    }
}
