//! Putting the log together, and taking it down again so that the last lines survive (F275).

use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tracing::Subscriber;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{Registry, reload};

use super::fold::{FIRST_WINDOW_MS, Folds};
use super::form::{Form, Paint};
use super::layer::{FactLayer, Pipe};
use super::panics;
use super::rotating::RotatingFile;
use super::settings::{Colour, LogError, LogSettings, Stderr, Target};
use super::sink::{Counted, Progress, Sink};
use crate::causes::chain;
use crate::clock::Wall;
use crate::config::LogFormat;

/// Lines that wait for a slow disk or terminal; more are dropped and counted.
const QUEUE_LINES: usize = 1024;
/// The names that `tracing` knows; it would also take numbers and the empty text.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
/// The log's thread needs little.
const STACK_BYTES: usize = 128 * 1024;

/// The running log. Keep it in `main` until the very end: dropping it writes what is still held back.
#[must_use = "the log ends when its guard is dropped"]
pub struct LogGuard {
    pipe: Arc<Pipe>,
    progress: Arc<Progress>,
    level: reload::Handle<Targets, Registry>,
    windows: Option<JoinHandle<()>>,
    // Dropped after `Drop::drop` ran: waits, a second at most, until the queue is empty.
    _worker: WorkerGuard,
}

/// What the log could not keep, since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogStats {
    /// Lines that found the queue full.
    pub dropped: u64,
    /// Lines that could not be written.
    pub failed: u64,
    /// Why the last of these could not.
    pub error: Option<String>,
}

/// Starts the log of this process: the subscriber of `tracing`, its threads and the panic hook.
///
/// # Errors
/// A level that is none, a folder that is none, a second call in one process. A file that cannot be opened now is no error:
/// see [`LogGuard::trouble`].
pub fn init(settings: &LogSettings) -> Result<LogGuard, LogError> {
    let (subscriber, guard) = build(settings)?;
    tracing::subscriber::set_global_default(subscriber).map_err(|_| LogError::Twice)?;
    panics::install(Arc::clone(&guard.pipe));
    Ok(guard)
}

/// As [`init`], without making it the log of the process.
fn build(settings: &LogSettings) -> Result<(impl Subscriber + Send + Sync + use<>, LogGuard), LogError> {
    let level = parse_level(&settings.level)?;
    let (sink, trouble) = match &settings.target {
        Target::Stderr => (Sink::Stderr(io::stderr()), None),
        Target::Files(files) => match RotatingFile::open(files.clone(), Wall::now()) {
            (_, Some(error @ LogError::NotAFolder { .. })) => return Err(error),
            (file, error) => {
                let words = |error: LogError| format!("there is no log, it is tried again: {}", chain(&error));
                (Sink::File(file), error.map(words))
            }
        },
    };
    assemble(sink, Progress::starts_with(trouble), form(settings), level, Folds::new(FIRST_WINDOW_MS))
}

fn assemble(
    sink: Sink,
    progress: Progress,
    form: Form,
    level: Targets,
    folds: Folds,
) -> Result<(impl Subscriber + Send + Sync + use<>, LogGuard), LogError> {
    let progress = Arc::new(progress);
    let counted = Counted::new(sink, Arc::clone(&progress), form);
    let (out, worker) = NonBlockingBuilder::default()
        .buffered_lines_limit(QUEUE_LINES)
        .lossy(true)
        .thread_name("log-writer")
        .finish(counted);
    let pipe = Arc::new(Pipe::new(out, form, folds, Arc::clone(&progress)));
    let windows = spawn_windows(Arc::clone(&pipe))?;
    let (level, handle) = reload::Layer::new(level);
    let subscriber = Registry::default().with(level).with(FactLayer { pipe: Arc::clone(&pipe) });
    Ok((subscriber, LogGuard { pipe, progress, level: handle, windows: Some(windows), _worker: worker }))
}

impl LogGuard {
    /// Takes another level from now on, as at a reload.
    ///
    /// # Errors
    /// When the text is no level; the old one stays.
    pub fn set_level(&self, level: &str) -> Result<(), LogError> {
        let parsed = parse_level(level)?;
        let refused = |error: reload::Error| LogError::Level { text: level.to_owned(), reason: error.to_string() };
        self.level.reload(parsed).map_err(refused)
    }

    /// Waits until every line so far was handed to the system, at most `limit`.
    pub fn flush(&self, limit: Duration) {
        self.pipe.flush(limit);
    }

    /// What is wrong with the log at this moment, one sentence for a person.
    pub fn trouble(&self) -> Option<String> {
        self.progress.counts().trouble
    }

    /// What was lost so far.
    pub fn stats(&self) -> LogStats {
        let counts = self.progress.counts();
        LogStats { dropped: self.pipe.dropped(), failed: counts.failed, error: counts.error }
    }
}

impl fmt::Debug for LogGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogGuard").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.pipe.close();
        if let Some(windows) = self.windows.take() {
            // It only fails when that thread panicked, and then there is nobody left to tell.
            windows.join().ok();
        }
    }
}

fn spawn_windows(pipe: Arc<Pipe>) -> Result<JoinHandle<()>, LogError> {
    thread::Builder::new()
        .name("log-windows".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || pipe.watch_windows())
        .map_err(LogError::Thread)
}

/// A word alone must be a level: `Targets` would take it for the name of a part and silently log everything of that.
fn parse_level(text: &str) -> Result<Targets, LogError> {
    let refused = |reason: String| LogError::Level { text: text.to_owned(), reason };
    for part in text.split(',').map(str::trim) {
        let level = part.split_once('=').map_or(part, |(_, level)| level.trim());
        if !LEVELS.iter().any(|known| level.eq_ignore_ascii_case(known)) {
            return Err(refused(format!("`{level}` is none")));
        }
    }
    let compact: String = text.split_whitespace().collect();
    compact.parse().map_err(|error| refused(format!("{error}")))
}

fn form(settings: &LogSettings) -> Form {
    let reader = match settings.target {
        Target::Stderr => Stderr::look(settings.journal_stream.as_deref()),
        Target::Files(_) => Stderr::Other,
    };
    let terminal = reader == Stderr::Terminal;
    let paint = if terminal && settings.colour == Colour::Auto { Paint::Colours } else { Paint::Nothing };
    match settings.format {
        LogFormat::Json => Form::Json,
        LogFormat::Pretty => Form::Pretty(paint),
        LogFormat::Auto if terminal => Form::Pretty(paint),
        LogFormat::Auto | LogFormat::Plain if reader == Stderr::Journal => Form::Priority,
        LogFormat::Auto | LogFormat::Plain => Form::Plain,
    }
}

#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;
