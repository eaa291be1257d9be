//! The end of the pipe: the thread of `tracing-appender` writes each line here, to stderr or the rotating file.
//!
//! Failures never go back to that thread; they are counted in [`Progress`], which everybody may read.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::rotating::RotatingFile;
use crate::clock::Wall;

/// Where lines end.
pub(super) enum Sink {
    Stderr(io::Stderr),
    File(RotatingFile),
    /// Any writer, for tests of what a slow or broken one does.
    #[cfg(test)]
    Other(Box<dyn Write + Send>),
}

/// How far the writing has come.
#[derive(Default)]
pub(super) struct Progress {
    counts: Mutex<Counts>,
    moved: Condvar,
}

/// What became of the lines that were taken from the queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// All of them.
    pub(super) handled: u64,
    /// Those that could not be written.
    pub(super) failed: u64,
    /// Why the last of these could not.
    pub(super) error: Option<String>,
}

impl Progress {
    pub(super) fn counts(&self) -> Counts {
        self.lock().clone()
    }

    /// Waits until `handled` lines were handled, at most `limit`.
    pub(super) fn wait_for(&self, handled: u64, limit: Duration) {
        let waited = self.moved.wait_timeout_while(self.lock(), limit, |counts| counts.handled < handled);
        drop(waited);
    }

    fn note(&self, result: io::Result<()>) {
        let mut counts = self.lock();
        counts.handled += 1;
        if let Err(error) = result {
            counts.failed += 1;
            counts.error = Some(error.to_string());
        }
        self.moved.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A sink that reports to a [`Progress`] and takes whole lines only.
pub(super) struct Counted {
    pub(super) sink: Sink,
    pub(super) progress: Arc<Progress>,
}

impl Write for Counted {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let result = match &mut self.sink {
            Sink::Stderr(stderr) => stderr.write_all(line),
            Sink::File(file) => file.write_line(line, Wall::now()),
            #[cfg(test)]
            Sink::Other(other) => other.write_all(line),
        };
        self.progress.note(result);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
