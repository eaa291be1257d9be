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
    peer.plug(&socket);
    let mut writing = None;
    let told = tokio::select! {
        biased;
        told = ending => told.unwrap_or(Ending::Now),
        () = write_all(&socket, &mut lines, &peer, &mut writing) => Ending::Now,
    };
    peer.unplug();
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
