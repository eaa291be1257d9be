//! One project folder as a user would have it, and looking at what handoffd made of it. Changing `tasks.json` is
//! `planner`'s business.
#![expect(clippy::disallowed_methods, reason = "the harness plays the user, who writes files as they like")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::wait;

/// The heading of the work log.
pub const HEADING: &str = "## Work log";

/// A project folder.
#[derive(Debug, Clone)]
pub struct Project {
    root: PathBuf,
}

impl Project {
    /// Makes the folder with two agents, a source file, a work log and an IDLE queue.
    ///
    /// # Panics
    /// When files cannot be made.
    #[must_use]
    pub fn create(root: &Path) -> Self {
        let project = Self::bare(root);
        fs::create_dir_all(root.join(".pi/agents")).unwrap();
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join("src/main.rs"), "fn main() {}\n").unwrap();
        for (name, role) in [("builder", "writer"), ("checker", "read-only")] {
            let profile =
                format!("---\nname: {name}\ndescription: d\nacceptanceRole: {role}\n---\n\nYou do the task.\n");
            fs::write(root.join(format!(".pi/agents/{name}.md")), profile).unwrap();
        }
        fs::write(project.work_log(), format!("# Notes\n\n{HEADING}\n\n")).unwrap();
        fs::write(project.queue(), "{\"schema_version\": 3, \"status\": \"IDLE\"}\n").unwrap();
        project
    }

    /// An existing or future folder, left as it is.
    #[must_use]
    pub fn bare(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// The root folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `tasks.json`.
    #[must_use]
    pub fn queue(&self) -> PathBuf {
        self.root.join("tasks.json")
    }

    /// The ownership lock.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.root.join(".pi/pi-claude-handoff.lock")
    }

    /// The work log.
    #[must_use]
    pub fn work_log(&self) -> PathBuf {
        self.root.join(".pi/handoff-log.md")
    }

    /// The lines below the heading of the work log.
    ///
    /// # Panics
    /// When the log cannot be read.
    #[must_use]
    pub fn log_lines(&self) -> Vec<String> {
        let text = fs::read_to_string(self.work_log()).unwrap();
        let below = text.split_once(HEADING).map_or("", |(_, below)| below);
        below.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    /// The bytes of the queue.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        fs::read(self.queue()).unwrap()
    }

    /// The queue, parsed. `null` while it is missing or unreadable.
    #[must_use]
    pub fn document(&self) -> Value {
        fs::read(self.queue()).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// One member of the queue, `null` if absent.
    #[must_use]
    pub fn member(&self, key: &str) -> Value {
        self.document()[key].take()
    }

    /// `status` of the queue.
    #[must_use]
    pub fn status(&self) -> String {
        self.member("status").as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the queue has this status; answers the document.
    ///
    /// # Panics
    /// When it never has.
    pub fn wait_status(&self, status: &str) -> Value {
        wait::until(&format!("{} becomes {status}, now {}", self.root.display(), self.document()), || {
            Some(self.document()).filter(|document| document["status"] == status)
        })
    }

    /// Waits until the task of this id has this status.
    ///
    /// # Panics
    /// When it never has.
    pub fn wait_task(&self, id: &str, status: &str) -> Value {
        wait::until(&format!("task {id} becomes {status}"), || {
            Some(self.document()).filter(|document| document["status"] == status && document["task_id"] == id)
        })
    }

    /// Names in the root that look like temporaries or kept writes of handoffd.
    ///
    /// # Panics
    /// When the folder cannot be listed.
    #[must_use]
    pub fn remains(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&self.root)
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with(".tasks.json.") || name.starts_with("tasks.json."))
            .collect();
        names.sort();
        names
    }
}
