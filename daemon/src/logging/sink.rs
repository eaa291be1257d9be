//! The end of the pipe: the thread of `tracing-appender` writes each line here, to stderr or the rotating file.
//!
//! Failures never go back to that thread; they are counted in [`Progress`], which everybody may read, and told here: only
//! who writes knows when there is room again.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::form::Form;
use super::layer::{TELL_LOSSES_MS, about_the_log, losses};
use super::rotating::RotatingFile;
use crate::clock::{self, Wall};

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
    /// What is wrong now, and since the start or the last line that was written.
    pub(super) trouble: Option<String>,
}

impl Progress {
    /// The log begins in trouble: it has no file yet.
    pub(super) fn starts_with(trouble: Option<String>) -> Self {
        Self { counts: Mutex::new(Counts { trouble, ..Counts::default() }), moved: Condvar::new() }
    }

    pub(super) fn counts(&self) -> Counts {
        self.lock().clone()
    }

    /// Waits until `handled` lines were handled, at most `limit`.
    pub(super) fn wait_for(&self, handled: u64, limit: Duration) {
        let waited = self.moved.wait_timeout_while(self.lock(), limit, |counts| counts.handled < handled);
        drop(waited);
    }

    fn note(&self, result: io::Result<()>, remark: Option<&str>) {
        let mut counts = self.lock();
        counts.handled += 1;
        counts.trouble = remark.map(str::to_owned);
        if let Err(error) = result {
            counts.failed += 1;
            counts.error = Some(error.to_string());
            counts.trouble = Some(format!("the log could not be written, lines were lost: {error}"));
        }
        self.moved.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink {
    fn write_line(&mut self, line: &[u8]) -> io::Result<()> {
        match self {
            Self::Stderr(stderr) => stderr.write_all(line),
            Self::File(file) => file.write_line(line, Wall::now()),
            #[cfg(test)]
            Self::Other(other) => other.write_all(line),
        }
    }

    fn remark(&self) -> Option<&str> {
        match self {
            Self::File(file) => file.remark(),
            _ => None,
        }
    }
}

/// A sink that reports to a [`Progress`] and takes whole lines only.
pub(super) struct Counted {
    sink: Sink,
    progress: Arc<Progress>,
    form: Form,
    /// Failures that a line tells of.
    told: u64,
    /// The remark that a line tells of.
    remarked: Option<String>,
    /// Monotonic ms.
    tell_at: u64,
}

impl Counted {
    pub(super) fn new(sink: Sink, progress: Arc<Progress>, form: Form) -> Self {
        Self { sink, progress, form, told: 0, remarked: None, tell_at: 0 }
    }

    /// Tells of lines that could not be written, as soon as this one can. While it cannot, it is tried before each line.
    fn tell_failures(&mut self) {
        let counts = self.progress.counts();
        let now = clock::monotonic_ms();
        if counts.failed == self.told || now < self.tell_at {
            return;
        }
        let line = self.form.line(&losses(0, counts.failed, counts.error.as_deref()));
        if self.sink.write_line(line.as_bytes()).is_ok() {
            self.told = counts.failed;
            self.tell_at = now + TELL_LOSSES_MS;
        }
    }
}

impl Counted {
    /// Tells once why the lines are in another file than they should be.
    fn tell_remark(&mut self) {
        let remark = self.sink.remark();
        if remark == self.remarked.as_deref() {
            return;
        }
        self.remarked = remark.map(str::to_owned);
        if let Some(remark) = self.remarked.clone() {
            // It stays to be seen in the status if it cannot be written.
            self.sink.write_line(self.form.line(&about_the_log(remark)).as_bytes()).ok();
        }
    }
}

impl Write for Counted {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.tell_failures();
        self.tell_remark();
        let result = self.sink.write_line(line);
        self.progress.note(result, self.sink.remark());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
