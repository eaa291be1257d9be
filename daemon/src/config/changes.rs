//! What a reload changed: which keys only a restart takes up, which are taken up at once, and for which projects.
//!
//! It compares two configurations that were read; keeping the last good one (F280) is the caller's business.

use std::path::PathBuf;

use super::{Config, Overrides, ProjectConfig};

/// The difference of two configurations, as dotted keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Keys whose new value counts after the next start.
    pub restart: Vec<&'static str>,
    /// Keys whose new value counts now; those of `task`, `queue`, `context`, `work_log` and `notify` concern every
    /// project without a value of its own.
    pub live: Vec<&'static str>,
    /// `[[project]]` entries that are new, gone or different, by path.
    pub projects: Vec<PathBuf>,
}

impl Changes {
    /// Compares key by key; the order of `[[project]]` entries and the lines they stand in do not matter.
    #[must_use]
    pub fn between(old: &Config, new: &Config) -> Self {
        Self { restart: restart(old, new), live: live(old, new), projects: projects(old, new) }
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.restart.is_empty() && self.live.is_empty() && self.projects.is_empty()
    }
}

/// The socket is bound, the lock held, the watcher and the log's writer set up once.
fn restart(old: &Config, new: &Config) -> Vec<&'static str> {
    different([
        ("daemon.socket", old.daemon.socket != new.daemon.socket),
        ("daemon.state_dir", old.daemon.state_dir != new.daemon.state_dir),
        ("watch.mode", old.watch.mode != new.watch.mode),
        ("watch.sweep_interval", old.watch.sweep_interval != new.watch.sweep_interval),
        ("log.dir", old.log.dir != new.log.dir),
        ("log.format", old.log.format != new.log.format),
        ("log.max_size", old.log.max_size != new.log.max_size),
        ("log.max_total", old.log.max_total != new.log.max_total),
        ("log.keep", old.log.keep != new.log.keep),
    ])
}

fn live(old: &Config, new: &Config) -> Vec<&'static str> {
    let mut keys = different([
        ("log.level", old.log.level != new.log.level),
        ("secrets.check", old.secrets.check != new.secrets.check),
        ("team.home", old.team.home != new.team.home),
        ("team.language", old.team.language != new.team.language),
    ]);
    keys.extend(shared(&old.shared, &new.shared));
    keys
}

fn shared(old: &Overrides, new: &Overrides) -> Vec<&'static str> {
    different([
        ("task.accept_timeout", old.task.accept_timeout != new.task.accept_timeout),
        ("task.reconnect_grace", old.task.reconnect_grace != new.task.reconnect_grace),
        ("task.async_grace", old.task.async_grace != new.task.async_grace),
        ("task.silence_timeout", old.task.silence_timeout != new.task.silence_timeout),
        ("task.max_runtime", old.task.max_runtime != new.task.max_runtime),
        ("queue.allow_tracked", old.allow_tracked != new.allow_tracked),
        ("context.files", old.context_files != new.context_files),
        ("work_log.path", old.work_log_path != new.work_log_path),
        ("work_log.heading", old.work_log_heading != new.work_log_heading),
        ("notify.command", old.notify_command != new.notify_command),
        ("notify.timeout", old.notify_timeout != new.notify_timeout),
    ])
}

fn projects(old: &Config, new: &Config) -> Vec<PathBuf> {
    let same = |a: &ProjectConfig, b: &ProjectConfig| ProjectConfig { line: a.line, ..b.clone() } == *a;
    let without = |from: &Config, other: &Config| -> Vec<PathBuf> {
        let lost = from.projects.iter().filter(|one| !other.projects.iter().any(|two| same(one, two)));
        lost.map(|project| project.path.clone()).collect()
    };
    let mut paths = without(old, new);
    paths.extend(without(new, old));
    paths.sort();
    paths.dedup();
    paths
}

fn different<const N: usize>(keys: [(&'static str, bool); N]) -> Vec<&'static str> {
    keys.into_iter().filter(|(_, changed)| *changed).map(|(key, _)| key).collect()
}
