//! File events below the home: a hint that it is worth a look. Without them the sweep is enough (D73).

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use ::notify::event::{AccessKind, AccessMode};
use ::notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify as Signal;

use crate::config::WatchMode;

/// The watched folders; one watcher for all members.
pub(super) struct Watching {
    mode: WatchMode,
    changed: Arc<Signal>,
    watcher: Option<RecommendedWatcher>,
    folders: HashSet<PathBuf>,
    /// A fault was logged.
    told: bool,
}

impl Watching {
    pub(super) fn new(mode: WatchMode, changed: Arc<Signal>) -> Self {
        Self { mode, changed, watcher: None, folders: HashSet::new(), told: false }
    }

    /// Watches exactly these folders, as far as they are there and the system has room for it. Blocking.
    pub(super) fn watch(&mut self, wanted: Vec<PathBuf>) {
        if self.mode == WatchMode::Poll {
            return;
        }
        let wanted: HashSet<PathBuf> = wanted.into_iter().filter(|folder| folder.is_dir()).collect();
        if wanted == self.folders {
            return;
        }
        let Some(mut watcher) = self.watcher.take().or_else(|| self.open()) else { return };
        for gone in self.folders.difference(&wanted) {
            // An error says that it is not watched any more, which is what is wanted.
            watcher.unwatch(gone).ok();
        }
        self.folders.retain(|folder| wanted.contains(folder));
        for folder in wanted {
            if self.folders.contains(&folder) {
                continue;
            }
            match watcher.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.folders.insert(folder);
                }
                Err(error) => self.tell(&error),
            }
        }
        self.watcher = Some(watcher);
    }

    /// Watches nothing: nobody is attached.
    pub(super) fn stop(&mut self) {
        self.watcher = None;
        self.folders.clear();
    }

    fn open(&mut self) -> Option<RecommendedWatcher> {
        let changed = self.changed.clone();
        let handler = move |event: ::notify::Result<Event>| {
            if event.as_ref().map_or(true, matters) {
                changed.notify_one();
            }
        };
        ::notify::recommended_watcher(handler).map_err(|error| self.tell(&error)).ok()
    }

    fn tell(&mut self, error: &::notify::Error) {
        if !std::mem::replace(&mut self.told, true) {
            tracing::warn!(%error, "packets are noticed by looking each second: their folders cannot be watched");
        }
    }
}

/// Whether an event can be news: not our own reading, and not what only writers need.
fn matters(event: &Event) -> bool {
    if event.need_rescan() || event.paths.is_empty() {
        return true;
    }
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => {}
        EventKind::Access(_) => return false,
        _ => {}
    }
    event.paths.iter().any(|path| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        !name.starts_with(b".") && !name.ends_with(b".lock")
    })
}

impl fmt::Debug for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watching").field("folders", &self.folders).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    #[track_caller]
    fn check(kind: EventKind, path: &str, expected: bool) {
        let event = Event::new(kind).add_path(Path::new("/h/team_packets/T-1/r1").join(path));
        assert_eq!(matters(&event), expected, "{kind:?} {path}");
    }

    #[test]
    fn only_packets_and_folders_are_heard() {
        let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
        check(written, "planner-to-executor.json", true);
        check(EventKind::Any, "r2", true);
        check(EventKind::Access(AccessKind::Open(AccessMode::Any)), "planner-to-executor.json", false);
        check(written, ".delivered.jsonl", false);
        check(written, "planner-to-executor.json.lock", false);
        check(EventKind::Any, ".planner-to-executor.json.0123.new", false);
        assert!(matters(&Event::new(EventKind::Any)), "one without a path may be anything (F023)");
    }

    #[tokio::test]
    async fn a_file_in_a_watched_folder_is_a_hint_and_in_another_it_is_not() {
        let home = tempfile::tempdir().unwrap();
        let (one, other) = (home.path().join("one"), home.path().join("other"));
        std::fs::create_dir(&one).unwrap();
        std::fs::create_dir(&other).unwrap();
        let changed = Arc::new(Signal::new());
        let mut watching = Watching::new(WatchMode::Auto, changed.clone());
        watching.watch(vec![one.clone(), home.path().join("missing")]);
        std::fs::File::create(one.join("a.json")).unwrap();
        tokio::time::timeout(Duration::from_secs(60), changed.notified()).await.unwrap();
        watching.watch(vec![other.clone()]);
        std::fs::File::create(other.join("a.json")).unwrap();
        tokio::time::timeout(Duration::from_secs(60), changed.notified()).await.unwrap();
        watching.stop();
        assert!(watching.folders.is_empty());
    }
}
