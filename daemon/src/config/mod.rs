//! The configuration: one TOML file of the user, typed, with a default for every key, and what a project adds to it.
//!
//! Here are the types and their defaults. Reading is in `read`, the rules for single values in `value`, what one
//! project ends up with in `settings`. Nothing here asks the environment or decides where a file lies.

mod changes;
mod overrides;
mod problem;
mod project_file;
mod read;
mod reader;
mod settings;
mod suggest;
mod value;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use changes::Changes;
pub use overrides::{Overrides, TaskOverrides};
pub use problem::{ConfigProblem, Finding, Warning};
pub use project_file::{PROJECT_FILE, ProjectFile};
pub use read::{Invalid, known_keys};
pub use settings::{ContextFiles, NamedBy, Settings, TaskLimits, WorkLogSettings};
pub use suggest::nearest;
pub use value::{MAX_CONTEXT_FILES, MAX_HEADING, MAX_NAME, TimeLimit, check_name};

use crate::roots::Roots;

#[cfg(test)]
mod tests;

/// Largest configuration file, the user's and a project's, in bytes.
pub const MAX_CONFIG: u64 = 16 * 1024;

/// The whole configuration of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// `[daemon]`
    pub daemon: DaemonConfig,
    /// `[watch]`
    pub watch: WatchConfig,
    /// `[log]`
    pub log: LogConfig,
    /// `[secrets]`
    pub secrets: SecretsConfig,
    /// `[team]`
    pub team: TeamConfig,
    /// `[task]`, `[queue]`, `[context]`, `[work_log]`, `[notify]`: what every project has unless it has its own.
    pub shared: Overrides,
    /// `[[project]]`, in the order of the file; no folder occurs twice.
    pub projects: Vec<ProjectConfig>,
}

impl Config {
    /// The `[[project]]` of a folder: of its path, else of the folder that this leads to (D72).
    #[must_use]
    pub fn project_at(&self, path: &Path) -> Option<&ProjectConfig> {
        let named = || self.projects.iter();
        if let Some(project) = named().find(|project| project.path == path) {
            return Some(project);
        }
        // Most configurations name none: then nothing is looked at.
        self.projects.first()?;
        let roots = Roots::look_at(named().map(|project| &*project.path).chain([path]));
        let folder = roots.id(path)?;
        named().find(|project| roots.id(&project.path) == Some(folder))
    }
}

/// Where the daemon lives. Changes need a restart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DaemonConfig {
    /// `daemon.socket`: absolute; `None` is the order of places of the wire protocol.
    pub socket: Option<PathBuf>,
    /// `daemon.state_dir`: absolute; `None` is the user's state folder (D77).
    pub state_dir: Option<PathBuf>,
}

/// How files are watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchConfig {
    /// `watch.mode`
    pub mode: WatchMode,
    /// `watch.sweep_interval` (D73): from 100 ms to 1 min, default 1 s.
    pub sweep_interval: Duration,
}

/// Whether file events are used at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchMode {
    /// Events where the file system has them, and the sweep.
    Auto,
    /// The sweep alone.
    Poll,
}

/// The daemon's own log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// `log.dir`: absolute; `None` is `log-<host>` in the state folder.
    pub dir: Option<PathBuf>,
    /// `log.level`
    pub level: LogLevel,
    /// `log.format`
    pub format: LogFormat,
    /// `log.max_size`, bytes of one file: from 64 KiB to 1 GiB, default 10 MiB.
    pub max_size: u64,
    /// `log.max_total`, bytes of all files: from 64 KiB to 64 GiB, default 100 MiB.
    pub max_total: u64,
    /// `log.keep`, number of files: from 1 to 1,000, default 14.
    pub keep: u32,
}

/// What is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Only what needs somebody.
    Error,
    /// And what was survived.
    Warn,
    /// And each fact of a task's life.
    Info,
    /// And why decisions fell.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// The word in the configuration, which `tracing` knows as well.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Pretty on a terminal, plain elsewhere.
    Auto,
    /// Short and coloured.
    Pretty,
    /// Plain text.
    Plain,
    /// One JSON object a line.
    Json,
}

/// What is done about credentials in texts (D78).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretsConfig {
    /// `secrets.check`: `false` turns the warnings off, never the masking. Default `true`.
    pub check: bool,
}

/// Team packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamConfig {
    /// `team.home`: absolute; `None` is `HANDOFF_HOME` or the user's data folder (D36).
    pub home: Option<PathBuf>,
    /// `team.language`: of the protected headings that the composer writes.
    pub language: TeamLanguage,
}

/// The language of the composer's protected headings; the packet specification names both spellings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TeamLanguage {
    /// `zh`: `## 約束`, `## 受眾`.
    Chinese,
    /// `en`: `## Constraints`, `## Audience`.
    English,
}

/// One `[[project]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectConfig {
    /// `path`: absolute, as written but for a leading `~`.
    pub path: PathBuf,
    /// The line it stands in, for messages.
    pub line: usize,
    /// `name`
    pub name: Option<String>,
    /// `enabled`; `None` is `true`.
    pub enabled: Option<bool>,
    /// What this project has of its own.
    pub overrides: Overrides,
}

impl Default for WatchConfig {
    fn default() -> Self {
        Self { mode: WatchMode::Auto, sweep_interval: Duration::from_secs(1) }
    }
}

impl Default for LogConfig {
    fn default() -> Self {
        let (max_size, max_total) = (10 << 20, 100 << 20);
        Self { dir: None, level: LogLevel::Info, format: LogFormat::Auto, max_size, max_total, keep: 14 }
    }
}

impl Default for SecretsConfig {
    fn default() -> Self {
        Self { check: true }
    }
}

impl Default for TeamConfig {
    fn default() -> Self {
        Self { home: None, language: TeamLanguage::Chinese }
    }
}
