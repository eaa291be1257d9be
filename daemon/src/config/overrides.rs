//! The keys that the whole configuration and each `[[project]]` have in common: `task`, `queue`, `context`,
//! `work_log`, `notify`. Absent keys stay absent here; defaults and precedence are applied in `settings`.

use std::time::Duration;

use super::reader::{Findings, Section};
use super::value::{self, DurationRange, TimeLimit};
use crate::env::Env;

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);
const MONTH: Duration = Duration::from_secs(30 * 24 * 3_600);
/// A session needs time to take a message, and a person must not wait for hours to hear that it did not.
const ACCEPT_TIMEOUT: DurationRange = DurationRange { min: SECOND, max: HOUR };
/// Long enough for a reload of the session, short enough that a dead session is noticed the same day.
const RECONNECT_GRACE: DurationRange = DurationRange { min: SECOND, max: Duration::from_secs(24 * 3_600) };
/// The longest that a background run may be waited for.
const LONG: DurationRange = DurationRange { min: SECOND, max: MONTH };
/// A hook that hangs must not live for ever.
const NOTIFY_TIMEOUT: DurationRange = DurationRange { min: Duration::from_millis(100), max: Duration::from_secs(600) };

/// Keys that were given; `None` means not given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// `task.*`
    pub task: TaskOverrides,
    /// `queue.allow_tracked` (D65)
    pub allow_tracked: Option<bool>,
    /// `context.files` (D68): project-relative, in order.
    pub context_files: Option<Vec<String>>,
    /// `work_log.path` (D30): project-relative.
    pub work_log_path: Option<String>,
    /// `work_log.heading` (D30): the whole line.
    pub work_log_heading: Option<String>,
    /// `notify.command`: program and arguments; empty is off.
    pub notify_command: Option<Vec<String>>,
    /// `notify.timeout`: from 100 ms to 10 min.
    pub notify_timeout: Option<Duration>,
}

/// The limits of time of a task (D21, D24) that were given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskOverrides {
    /// `task.accept_timeout`: from 1 s to 1 h.
    pub accept_timeout: Option<Duration>,
    /// `task.reconnect_grace`: from 1 s to 24 h.
    pub reconnect_grace: Option<Duration>,
    /// `task.async_grace`: from 1 s to 30 d.
    pub async_grace: Option<Duration>,
    /// `task.silence_timeout`: `"off"`, or from 1 s to 30 d.
    pub silence_timeout: Option<TimeLimit>,
    /// `task.max_runtime`: `"off"`, or from 1 s to 30 d.
    pub max_runtime: Option<TimeLimit>,
}

impl Overrides {
    /// Reads the five tables below `parent`.
    pub(super) fn read(parent: &mut Section<'_>, findings: &mut Findings<'_>, env: &Env) -> Self {
        let task = TaskOverrides::read(parent, findings);
        let mut queue = parent.section(findings, "queue");
        let allow_tracked = queue.get(findings, "allow_tracked", value::boolean);
        queue.finish(findings);
        let (context_files, [work_log_path, work_log_heading]) = read_project_keys(parent, findings);
        let mut notify = parent.section(findings, "notify");
        let notify_command = notify.get(findings, "command", value::command(env));
        let notify_timeout = notify.get(findings, "timeout", value::duration(NOTIFY_TIMEOUT));
        notify.finish(findings);
        Self { task, allow_tracked, context_files, work_log_path, work_log_heading, notify_command, notify_timeout }
    }
}

/// `context.files`, `work_log.path` and `work_log.heading`: the keys that a project's own file has as well.
pub(super) fn read_project_keys(
    parent: &mut Section<'_>,
    findings: &mut Findings<'_>,
) -> (Option<Vec<String>>, [Option<String>; 2]) {
    let mut context = parent.section(findings, "context");
    let files = context.get(findings, "files", value::context_files);
    context.finish(findings);
    let mut work_log = parent.section(findings, "work_log");
    let path = work_log.get(findings, "path", value::work_log_path);
    let heading = work_log.get(findings, "heading", value::heading);
    work_log.finish(findings);
    (files, [path, heading])
}

impl TaskOverrides {
    fn read(parent: &mut Section<'_>, findings: &mut Findings<'_>) -> Self {
        let mut task = parent.section(findings, "task");
        let read = Self {
            accept_timeout: task.get(findings, "accept_timeout", value::duration(ACCEPT_TIMEOUT)),
            reconnect_grace: task.get(findings, "reconnect_grace", value::duration(RECONNECT_GRACE)),
            async_grace: task.get(findings, "async_grace", value::duration(LONG)),
            silence_timeout: task.get(findings, "silence_timeout", value::time_limit(LONG)),
            max_runtime: task.get(findings, "max_runtime", value::time_limit(LONG)),
        };
        task.finish(findings);
        read
    }
}
