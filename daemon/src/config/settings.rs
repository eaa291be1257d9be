//! What one project ends up with: `[[project]]` before the rest of the user's configuration, before the project's own
//! `.pi/handoff.toml`, before the defaults (D68).
//!
//! Only precedence and defaults live here. Settings are plain values; a project keeps those of the moment of dispatch
//! until its task has ended (D71), which is the actor's business.

use std::time::Duration;

use super::overrides::Overrides;
use super::project_file::ProjectFile;
use super::value::TimeLimit;
use super::{Config, ProjectConfig};

/// Default of `work_log.path` (D30).
const WORK_LOG_PATH: &str = ".pi/handoff-log.md";
/// Default of `work_log.heading` (D30).
const WORK_LOG_HEADING: &str = "## Work log";

/// The settings of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `task.*` (D21, D24)
    pub task: TaskLimits,
    /// `queue.allow_tracked`: a `tasks.json` that git tracks may start work (D65). Default `false`.
    pub allow_tracked: bool,
    /// `context.files` (D68)
    pub context: ContextFiles,
    /// `work_log.*` (D30)
    pub work_log: WorkLogSettings,
    /// `notify.command`: program and arguments, run without a shell; empty is off.
    pub notify_command: Vec<String>,
    /// `notify.timeout`. Default 10 s.
    pub notify_timeout: Duration,
}

/// The limits of time of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLimits {
    /// How long a session has to confirm a delivery (D69). Default 2 min.
    pub accept_timeout: Duration,
    /// How long a lost session may take to come back (D21). Default 30 s.
    pub reconnect_grace: Duration,
    /// How long a task with background runs waits for its session (D21). Default 24 h.
    pub async_grace: Duration,
    /// How long a session may give no sign of life (D24). Off by default.
    pub silence_timeout: TimeLimit,
    /// How long a task may take in all (D24). Off by default.
    pub max_runtime: TimeLimit,
}

/// The files that go with a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextFiles {
    /// Project-relative paths, in order, at most 16.
    pub files: Vec<String>,
    /// Who named them: what a project's own file names is checked more strictly (D68).
    pub named_by: NamedBy,
}

/// Whose file named something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBy {
    /// The user's configuration, or nobody.
    User,
    /// `.pi/handoff.toml`, which may come with a stranger's repository.
    Project,
}

/// Where a task's line is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkLogSettings {
    /// Project-relative path. Default `.pi/handoff-log.md`.
    pub path: String,
    /// The whole heading line. Default `## Work log`.
    pub heading: String,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            accept_timeout: Duration::from_secs(120),
            reconnect_grace: Duration::from_secs(30),
            async_grace: Duration::from_secs(24 * 3_600),
            silence_timeout: TimeLimit::Off,
            max_runtime: TimeLimit::Off,
        }
    }
}

impl Config {
    /// The settings of a project: its `[[project]]` entry, if it has one, and its own file, if that could be read.
    #[must_use]
    pub fn settings(&self, project: Option<&ProjectConfig>, own: &ProjectFile) -> Settings {
        let none = Overrides::default();
        let layers = [project.map_or(&none, |project| &project.overrides), &self.shared];
        let first = |pick: fn(&Overrides) -> Option<&String>| layers.into_iter().find_map(pick);
        let path = first(|layer| layer.work_log_path.as_ref()).or(own.work_log_path.as_ref());
        let heading = first(|layer| layer.work_log_heading.as_ref()).or(own.work_log_heading.as_ref());
        Settings {
            task: TaskLimits::of(layers),
            allow_tracked: layers.into_iter().find_map(|layer| layer.allow_tracked).unwrap_or(false),
            context: ContextFiles::of(layers, own),
            work_log: WorkLogSettings {
                path: path.cloned().unwrap_or_else(|| WORK_LOG_PATH.to_owned()),
                heading: heading.cloned().unwrap_or_else(|| WORK_LOG_HEADING.to_owned()),
            },
            notify_command: layers.into_iter().find_map(|layer| layer.notify_command.clone()).unwrap_or_default(),
            notify_timeout: layers
                .into_iter()
                .find_map(|layer| layer.notify_timeout)
                .unwrap_or(Duration::from_secs(10)),
        }
    }
}

impl TaskLimits {
    fn of(layers: [&Overrides; 2]) -> Self {
        let default = Self::default();
        let [own, shared] = layers.map(|layer| &layer.task);
        Self {
            accept_timeout: own.accept_timeout.or(shared.accept_timeout).unwrap_or(default.accept_timeout),
            reconnect_grace: own.reconnect_grace.or(shared.reconnect_grace).unwrap_or(default.reconnect_grace),
            async_grace: own.async_grace.or(shared.async_grace).unwrap_or(default.async_grace),
            silence_timeout: own.silence_timeout.or(shared.silence_timeout).unwrap_or(default.silence_timeout),
            max_runtime: own.max_runtime.or(shared.max_runtime).unwrap_or(default.max_runtime),
        }
    }
}

impl ContextFiles {
    fn of(layers: [&Overrides; 2], own: &ProjectFile) -> Self {
        if let Some(files) = layers.into_iter().find_map(|layer| layer.context_files.clone()) {
            return Self { files, named_by: NamedBy::User };
        }
        match &own.context_files {
            Some(files) => Self { files: files.clone(), named_by: NamedBy::Project },
            None => Self { files: Vec::new(), named_by: NamedBy::User },
        }
    }
}
