//! Lines to the output, on a thread of its own: a client that does not read stops this thread and nothing else.

use std::io::Write;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::transport::limits::QUEUE;

/// The way out.
#[derive(Debug)]
pub(crate) struct Writer {
    /// Whole lines with their ends. Everything is written once all senders are gone.
    pub(crate) lines: mpsc::Sender<Vec<u8>>,
    /// When that has happened, or the output failed.
    pub(crate) done: oneshot::Receiver<()>,
}

/// Starts it. `gone` is cancelled when the client no longer reads.
pub(crate) fn spawn(output: impl Write + Send + 'static, gone: CancellationToken) -> Writer {
    let (lines, receiver) = mpsc::channel(QUEUE);
    let (finished, done) = oneshot::channel();
    std::thread::spawn(move || {
        if write(output, receiver).is_err() {
            gone.cancel();
        }
        // Nobody may be waiting.
        finished.send(()).ok();
    });
    Writer { lines, done }
}

fn write(mut output: impl Write, mut lines: mpsc::Receiver<Vec<u8>>) -> std::io::Result<()> {
    while let Some(line) = lines.blocking_recv() {
        output.write_all(&line)?;
        while let Ok(line) = lines.try_recv() {
            output.write_all(&line)?;
        }
        output.flush()?;
    }
    Ok(())
}
