//! What the log can be told, and how it refuses. No behaviour lives here.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Everything [`super::init`] needs to know.
#[derive(Clone, Debug)]
pub struct LogSettings {
    /// Where the lines go.
    pub target: Target,
    /// `info`, or per part of the program: `info,handoffd::journal=debug`. Can be changed while running.
    pub level: String,
    /// What a line looks like.
    pub format: Format,
    /// Whether a terminal may be sent colours.
    pub colour: Colour,
    /// The value of `JOURNAL_STREAM`: when it names our stderr, plain lines carry a priority instead of a time.
    pub journal_stream: Option<OsString>,
}

/// Where the lines go.
#[derive(Clone, Debug)]
pub enum Target {
    /// The standard error stream.
    Stderr,
    /// Files in a folder, rotated by day and size.
    Files(FileSettings),
}

/// Limits of the log files.
#[derive(Clone, Debug)]
pub struct FileSettings {
    /// The folder; made (0700) when it is missing.
    pub dir: PathBuf,
    /// The size in bytes at which a file is left for the next one.
    pub max_size: u64,
    /// The size in bytes of all files together, above which the oldest are removed.
    pub max_total: u64,
    /// How many files are kept at most; at least one.
    pub keep: usize,
}

/// What a line looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// Pretty on a terminal, else plain.
    #[default]
    Auto,
    /// Short: local time of day, level, project, task, message, fields.
    Pretty,
    /// `TIME LEVEL project=… task=… message field=value`.
    Plain,
    /// One JSON object a line.
    Json,
}

/// Whether a terminal may be sent colours; nothing else ever is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Colour {
    /// On a terminal.
    #[default]
    Auto,
    /// Never, as `NO_COLOR` asks.
    Never,
}

/// Why there is no log.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The log folder is something else.
    #[error("the log folder {} is not a folder", path.display())]
    NotAFolder {
        /// The path as configured.
        path: PathBuf,
    },
    /// The system refused something that the log needs.
    #[error("cannot {act} {}", path.display())]
    Io {
        /// What was tried, "open the log file".
        act: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// The level is no level.
    #[error("`{text}` is no log level ({reason}); levels are off, error, warn, info, debug, trace")]
    Level {
        /// The level as configured.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A thread could not be started.
    #[error("cannot start the log's thread")]
    Thread(#[source] io::Error),
    /// This process has a log already.
    #[error("this process has a log already")]
    Twice,
}
