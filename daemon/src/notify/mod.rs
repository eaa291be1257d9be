//! Interface only, until the hook runner is merged.

use std::time::Duration;

use wire::daemon_calls::NoticeLevel;

/// Runs the person's own command.
#[derive(Debug)]
pub struct Notifier;

/// What the command is told.
#[derive(Debug, Clone)]
pub struct Notice {
    /// The project's root.
    pub project: String,
    /// Its name.
    pub name: String,
    /// What kind of notice.
    pub kind: &'static str,
    /// How urgent.
    pub level: NoticeLevel,
    /// One sentence.
    pub text: String,
    /// The task it is about.
    pub task_id: Option<String>,
}

impl Notifier {
    /// Queues a notice; never blocks.
    pub fn send(&self, _command: &[String], _timeout: Duration, notice: Notice) {
        let Notice { project, kind, .. } = notice;
        tracing::debug!(project, kind, "notice");
    }
}
