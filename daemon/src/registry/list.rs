//! The registered projects as a value: entries, what may be changed, and identity by folder (D72).
//!
//! Nothing is written here. Members that this program does not know come back as they were.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::index::Index;
use super::state_file::VERSION;
use crate::roots::Roots;

/// The content of `projects.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProjectList {
    version: u64,
    /// In the order of registration.
    pub projects: Vec<Entry>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// One registered project. Its state survives restarts (D77).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The root folder: absolute, links resolved when it was registered. Always UTF-8.
    pub path: PathBuf,
    /// The name that was given to it; without one, the folder's own name serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `false`: its lock is not held and nothing happens in it.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// `true`: nothing is dispatched until `resume`.
    #[serde(default)]
    pub paused: bool,
    /// Fingerprint (64 hex digits) of the task whose hold `resume` has lifted once (D65).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_lifted: Option<String>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// What can be changed in an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// `handoff enable`
    Enable,
    /// `handoff disable`
    Disable,
    /// `handoff pause`
    Pause,
    /// `handoff resume` of a paused project.
    Resume,
    /// `handoff resume` of a held one: the task with this fingerprint may be dispatched once (D65).
    LiftHold(String),
    /// The lifted task was dispatched, or another one is there.
    ForgetLiftedHold,
}

impl Default for ProjectList {
    fn default() -> Self {
        Self { version: VERSION, projects: Vec::new(), unknown: Map::new() }
    }
}

impl ProjectList {
    /// The entry of the folder that `path` leads to: the same folder, or the same path where there is none now.
    #[must_use]
    pub fn position(&self, path: &Path) -> Option<usize> {
        let by_path = self.projects.iter().position(|entry| same_path(&entry.path, path));
        by_path.or_else(|| {
            let roots = Roots::look_at(self.paths().chain([path]));
            let wanted = roots.id(path)?;
            self.paths().position(|known| roots.id(known) == Some(wanted))
        })
    }

    /// Adds the entries of folders that are not on the list; how many. A name that is taken is left out.
    pub(super) fn add_unknown(&mut self, other: Self) -> usize {
        let before = self.projects.len();
        let roots = Roots::look_at(self.paths().chain(other.paths()));
        let mut known = Index::of(self.paths().map(|path| (path.to_owned(), roots.id(path))));
        for mut entry in other.projects {
            let folder = roots.id(&entry.path);
            if known.find(&entry.path, folder).is_none() {
                let is_taken = |name: &String| self.projects.iter().any(|known| known.name.as_ref() == Some(name));
                entry.name = entry.name.filter(|name| !is_taken(name));
                known.add(entry.path.clone(), folder, self.projects.len());
                self.projects.push(entry);
            }
        }
        self.projects.len() - before
    }

    fn paths(&self) -> impl Iterator<Item = &Path> {
        self.projects.iter().map(|entry| &*entry.path)
    }

    /// As [`ProjectList::position`], the entry itself.
    #[must_use]
    pub fn get(&self, path: &Path) -> Option<&Entry> {
        self.position(path).map(|index| &self.projects[index])
    }
}

impl Entry {
    /// A new entry: enabled, not paused.
    #[must_use]
    pub fn new(path: PathBuf, name: Option<String>) -> Self {
        Self { path, name, enabled: true, paused: false, held_lifted: None, unknown: Map::new() }
    }

    /// Makes a change; whether it changed anything.
    pub fn apply(&mut self, change: Change) -> bool {
        let before = self.clone();
        match change {
            Change::Enable => self.enabled = true,
            Change::Disable => self.enabled = false,
            Change::Pause => self.paused = true,
            Change::Resume => self.paused = false,
            Change::LiftHold(fingerprint) => self.held_lifted = Some(fingerprint),
            Change::ForgetLiftedHold => self.held_lifted = None,
        }
        *self != before
    }
}

/// Equal part by part: `/a//b/` is `/a/b`.
pub(super) fn same_path(a: &Path, b: &Path) -> bool {
    a.components().eq(b.components())
}

fn yes() -> bool {
    true
}
