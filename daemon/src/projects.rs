//! The table of projects: where each one's mailbox is, which folder it is, and whether it takes part.
//!
//! Only the manager changes it; the server looks things up. Nothing here touches a file system: whoever looks for a
//! folder brings its identity along.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lifecycle::Admin;
use tokio::sync::oneshot;
use tokio::time::timeout;
use wire::status::ProjectStatus;

use crate::actor::mail::{Mail, ProjectRef};
use crate::config::Settings;
use crate::folder_id::FolderId;

/// All projects of one daemon, in the order of the registry.
#[derive(Debug, Default)]
pub struct Projects {
    entries: Mutex<Vec<Entry>>,
}

/// One project.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its mailbox.
    pub project: ProjectRef,
    /// The folder that its path leads to; `None` while there is none.
    pub folder: Option<FolderId>,
    /// Whether it takes part: a disabled project takes no session.
    pub admin: Admin,
    /// A person paused it.
    pub paused: bool,
    /// Its settings.
    pub settings: Arc<Settings>,
}

impl Projects {
    /// All projects.
    #[must_use]
    pub fn all(&self) -> Vec<ProjectRef> {
        self.lock().iter().map(|entry| entry.project.clone()).collect()
    }

    /// The project of this path, compared part by part.
    #[must_use]
    pub fn by_path(&self, path: &Path) -> Option<Entry> {
        self.lock().iter().find(|entry| &*entry.project.path == path).cloned()
    }

    /// The project whose root is this folder, whatever its path is called (D72).
    #[must_use]
    pub fn by_folder(&self, folder: FolderId) -> Option<Entry> {
        self.lock().iter().find(|entry| entry.folder == Some(folder)).cloned()
    }

    /// The projects of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Vec<Entry> {
        self.lock().iter().filter(|entry| &*entry.project.name == name).cloned().collect()
    }

    /// Adds a project, or puts it in the place of the one with the same path.
    pub fn insert(&self, new: Entry) {
        let mut entries = self.lock();
        match entries.iter_mut().find(|entry| entry.project.path == new.project.path) {
            Some(entry) => *entry = new,
            None => entries.push(new),
        }
    }

    /// Notes whether a project takes part.
    pub fn set_admin(&self, path: &Path, admin: Admin) {
        self.change(path, |entry| entry.admin = admin);
    }

    /// Notes whether a person paused it.
    pub fn set_paused(&self, path: &Path, paused: bool) {
        self.change(path, |entry| entry.paused = paused);
    }

    /// Notes its settings.
    pub fn set_settings(&self, path: &Path, settings: &Arc<Settings>) {
        self.change(path, |entry| entry.settings = settings.clone());
    }

    /// Notes which folder a project's path leads to now.
    pub fn set_folder(&self, path: &Path, folder: Option<FolderId>) {
        self.change(path, |entry| entry.folder = folder);
    }

    /// Forgets a project.
    pub fn remove(&self, path: &Path) {
        self.lock().retain(|entry| &*entry.project.path != path);
    }

    fn change(&self, path: &Path, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.lock().iter_mut().find(|entry| &*entry.project.path == path) {
            change(entry);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the project's actor says of it, unless it has ended or takes longer than `within`.
pub async fn ask_status(project: &ProjectRef, within: Duration) -> Option<ProjectStatus> {
    let (tell, told) = oneshot::channel();
    let asking = async {
        project.send(Mail::Status(tell)).await;
        told.await.ok()
    };
    timeout(within, asking).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, ProjectFile};

    fn entry(path: &str, name: &str, inode: Option<u64>) -> Entry {
        let (mail, _) = tokio::sync::mpsc::channel(1);
        let project = ProjectRef { path: Arc::from(Path::new(path)), name: Arc::from(name), mail };
        let settings = Arc::new(Config::default().settings(None, &ProjectFile::default()));
        let folder = inode.map(|inode| FolderId { device: 1, inode });
        Entry { project, folder, admin: Admin::Active, paused: false, settings }
    }

    #[test]
    fn a_project_is_found_by_every_spelling_of_its_folder_and_by_its_name() {
        let table = Projects::default();
        table.insert(entry("/w/a", "a", Some(1)));
        table.insert(entry("/w/b", "b", None));
        table.insert(entry("/x/b", "b", Some(3)));
        let found = |entry: Option<Entry>| entry.map(|entry| entry.project.shown());
        assert_eq!(found(table.by_path(Path::new("/w//a/"))).as_deref(), Some("/w/a"));
        assert_eq!(found(table.by_folder(FolderId { device: 1, inode: 3 })).as_deref(), Some("/x/b"));
        assert_eq!(found(table.by_folder(FolderId { device: 2, inode: 3 })), None);
        assert_eq!(table.named("b").len(), 2);
    }

    #[test]
    fn the_same_path_is_one_entry_and_keeps_its_place() {
        let table = Projects::default();
        table.insert(entry("/w/a", "a", Some(1)));
        table.insert(entry("/w/b", "b", Some(2)));
        table.insert(entry("/w/a", "again", None));
        table.set_admin(Path::new("/w/a"), Admin::Disabled);
        table.remove(Path::new("/w/b"));
        let names: Vec<_> = table.all().into_iter().map(|project| project.name).collect();
        assert_eq!(names, [Arc::from("again")]);
        assert_eq!(table.by_path(Path::new("/w/a")).map(|entry| entry.admin), Some(Admin::Disabled));
    }
}
