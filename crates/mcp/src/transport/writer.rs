//! Lines to the output, on a thread of its own: a client that does not read stops this thread and nothing else.

use std::io::{self, Write};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc::OwnedPermit;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::transport::limits::{QUEUE, STALL};

/// A writer at work.
#[derive(Debug)]
pub(crate) struct Writer {
    /// The way to it. Everything is written once all of these are gone.
    pub(crate) output: Output,
    /// When that has happened, or the output failed.
    pub(crate) done: oneshot::Receiver<()>,
}

/// The way out.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    lines: mpsc::Sender<Vec<u8>>,
    /// How many lines the client took.
    taken: Arc<AtomicU64>,
}

impl Output {
    pub(crate) fn new(lines: mpsc::Sender<Vec<u8>>, taken: Arc<AtomicU64>) -> Self {
        Self { lines, taken }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.lines.capacity() == 0
    }

    /// How many lines the client has taken.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Room for one line.
    pub(crate) async fn room(self) -> io::Result<OwnedPermit<Vec<u8>>> {
        self.lines.reserve_owned().await.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Sends a whole line with its end. Waits as long as the client takes lines, however slowly.
    pub(crate) async fn send(self, line: Vec<u8>) -> io::Result<()> {
        let mut room = pin!(self.clone().room());
        loop {
            let before = self.taken();
            if let Ok(room) = tokio::time::timeout(STALL, &mut room).await {
                room?.send(line);
                return Ok(());
            }
            if self.taken() == before {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

/// Starts it. `gone` is cancelled when the client no longer reads.
pub(crate) fn spawn(output: impl Write + Send + 'static, gone: CancellationToken) -> Writer {
    let (lines, receiver) = mpsc::channel(QUEUE);
    let (finished, done) = oneshot::channel();
    let taken = Arc::<AtomicU64>::default();
    let way = Output::new(lines, Arc::clone(&taken));
    std::thread::spawn(move || {
        if write(output, receiver, &taken).is_err() {
            gone.cancel();
        }
        // Nobody may be waiting.
        finished.send(()).ok();
    });
    Writer { output: way, done }
}

fn write(mut output: impl Write, mut lines: mpsc::Receiver<Vec<u8>>, taken: &AtomicU64) -> io::Result<()> {
    while let Some(line) = lines.blocking_recv() {
        output.write_all(&line)?;
        taken.fetch_add(1, Ordering::Relaxed);
        if lines.is_empty() {
            output.flush()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};

    use super::*;

    fn full() -> (Output, mpsc::Receiver<Vec<u8>>) {
        let (lines, receiver) = mpsc::channel(1);
        lines.try_send(Vec::new()).unwrap();
        (Output::new(lines, Arc::default()), receiver)
    }

    #[tokio::test(start_paused = true)]
    async fn sending_to_a_client_that_takes_nothing_ends() {
        let (output, _receiver) = full();
        let start = Instant::now();
        assert_eq!(output.send(Vec::new()).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(start.elapsed() >= STALL);
    }

    #[tokio::test(start_paused = true)]
    async fn sending_to_a_client_that_takes_lines_waits() {
        let (output, mut receiver) = full();
        let taken = Arc::clone(&output.taken);
        let others = async {
            for _ in 0..100 {
                sleep(STALL / 2).await;
                taken.fetch_add(1, Ordering::Relaxed);
            }
            receiver.recv().await.unwrap();
        };
        let (sent, ()) = tokio::join!(output.send(Vec::new()), others);
        sent.unwrap();
    }

    #[test]
    fn every_line_is_written_and_the_end_is_told() {
        let gone = CancellationToken::new();
        let Writer { output, done } = spawn(io::sink(), gone.clone());
        output.lines.blocking_send(b"x\n".to_vec()).unwrap();
        let taken = Arc::clone(&output.taken);
        drop(output);
        done.blocking_recv().unwrap();
        assert_eq!((taken.load(Ordering::Relaxed), gone.is_cancelled()), (1, false));
    }
}
