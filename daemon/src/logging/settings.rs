//! What the log can be told, how that follows from configuration and environment, and how the log refuses.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, IsTerminal as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::config::{LogConfig, LogFormat};
use crate::env::Env;

/// Everything [`super::init`] needs to know.
#[derive(Clone, Debug)]
pub struct LogSettings {
    /// Where the lines go.
    pub target: Target,
    /// `info`, or per part of the program: `info,handoffd::journal=debug`. Can be changed while running.
    pub level: String,
    /// What a line looks like.
    pub format: LogFormat,
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
    pub keep: u32,
}

impl FileSettings {
    /// The size at which a file is left for the next one: half of all at most, so that the one before it is kept.
    pub(super) fn file_size(&self) -> u64 {
        self.max_size.min(self.max_total / 2)
    }
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

impl LogSettings {
    /// What configuration and environment ask for; `default_dir` holds the files unless `log.dir` is set.
    pub fn from_config(config: &LogConfig, env: &Env, default_dir: &Path) -> Self {
        let stderr = Stderr::look(env.journal_stream.as_deref());
        Self {
            target: target(config, stderr, default_dir),
            level: config.level.as_str().to_owned(),
            format: config.format,
            colour: if env.no_color { Colour::Never } else { Colour::Auto },
            journal_stream: env.journal_stream.clone(),
        }
    }
}

/// A folder that was asked for is used. Without one the log goes to whoever reads stderr, a person or the service
/// manager, and to files when nobody is known to.
fn target(config: &LogConfig, stderr: Stderr, default_dir: &Path) -> Target {
    let dir = match (&config.dir, stderr) {
        (Some(dir), _) => dir,
        (None, Stderr::Terminal | Stderr::Journal) => return Target::Stderr,
        (None, Stderr::Other) => default_dir,
    };
    let (max_size, max_total, keep) = (config.max_size, config.max_total, config.keep);
    Target::Files(FileSettings { dir: dir.to_owned(), max_size, max_total, keep })
}

/// Who reads the standard error stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stderr {
    /// A person, now.
    Terminal,
    /// The service manager's journal, which adds the time and understands priorities.
    Journal,
    /// A file, a pipe, nobody.
    Other,
}

impl Stderr {
    /// `journal_stream` holds device and inode of the stream that systemd gave us. Somebody may have redirected stderr
    /// since, and children inherit the variable: therefore the numbers must be those of our stderr.
    pub(crate) fn look(journal_stream: Option<&OsStr>) -> Self {
        if io::stderr().is_terminal() {
            return Self::Terminal;
        }
        let named = journal_stream.and_then(OsStr::to_str).and_then(stream_numbers);
        let ours = fs::metadata("/dev/stderr").ok().map(|meta| (meta.dev(), meta.ino()));
        if named.is_some() && named == ours { Self::Journal } else { Self::Other }
    }
}

fn stream_numbers(text: &str) -> Option<(u64, u64)> {
    let (dev, ino) = text.split_once(':')?;
    Some((dev.parse().ok()?, ino.parse().ok()?))
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
    /// A log file's name leads to something that is no file.
    #[error("{} is {by} and no log file", path.display())]
    Taken {
        /// The name.
        path: PathBuf,
        /// What is there, "a named pipe".
        by: &'static str,
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

impl LogError {
    /// Whether another name in the same folder may do.
    pub(super) fn is_of_one_name(&self) -> bool {
        match self {
            Self::Taken { .. } => true,
            Self::Io { source, .. } => source.kind() == io::ErrorKind::PermissionDenied,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(dir: Option<&str>, stderr: Stderr, expected: Option<&str>) {
        let config = LogConfig { dir: dir.map(PathBuf::from), ..LogConfig::default() };
        let dir = match target(&config, stderr, Path::new("/state/log")) {
            Target::Stderr => None,
            Target::Files(files) => Some(files.dir),
        };
        assert_eq!(dir.as_deref(), expected.map(Path::new));
    }

    #[test]
    fn a_folder_that_was_asked_for_is_used_and_else_whoever_reads() {
        check(None, Stderr::Terminal, None);
        check(None, Stderr::Journal, None);
        check(None, Stderr::Other, Some("/state/log"));
        for stderr in [Stderr::Terminal, Stderr::Journal, Stderr::Other] {
            check(Some("/asked"), stderr, Some("/asked"));
        }
    }

    #[test]
    fn a_journal_stream_is_believed_only_if_it_is_our_stderr() {
        let meta = fs::metadata("/dev/stderr").unwrap();
        let ours = OsString::from(format!("{}:{}", meta.dev(), meta.ino()));
        let others = OsString::from(format!("{}:{}", meta.dev(), meta.ino() + 1));
        if !io::stderr().is_terminal() {
            assert_eq!(Stderr::look(Some(&ours)), Stderr::Journal);
        }
        for other in [Some(others.as_os_str()), Some(OsStr::new("nonsense")), None] {
            assert_ne!(Stderr::look(other), Stderr::Journal);
        }
    }
}
