//! A throw-away project, home and Pi folder, and one way to ask what is loaded from them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use profiles::{Loaded, Note, Places, Reason, load};
use queue::{AcceptanceRole, Agent};
use tempfile::TempDir;

/// Folders `project`, `home` (with `.pi/agent`) and `elsewhere`, side by side.
pub(crate) struct Tree {
    dir: TempDir,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let tree = Self { dir: tempfile::tempdir().unwrap() };
        for dir in ["project/.pi", "home/.pi/agent", "elsewhere"] {
            fs::create_dir_all(tree.path(dir)).unwrap();
        }
        tree
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    #[must_use]
    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    #[must_use]
    pub(crate) fn dir(self, path: &str) -> Self {
        fs::create_dir_all(self.path(path)).unwrap();
        self
    }

    #[must_use]
    pub(crate) fn link(self, path: &str, target: impl AsRef<Path>) -> Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    /// A profile that is called `name` and has `role`, an empty role being none.
    #[must_use]
    pub(crate) fn profile(self, path: &str, name: &str, role: &str) -> Self {
        self.file(path, profile(name, role))
    }

    pub(crate) fn places(&self) -> Places {
        Places::new(self.path("project"), self.path("home"))
    }

    pub(crate) fn load(&self) -> Loaded {
        load(&self.places())
    }

    /// The agents that are no builtins, by full name, in the order of the names.
    #[track_caller]
    pub(crate) fn check_names(&self, expected: &[&str]) {
        let loaded = self.load();
        let mut names: Vec<_> = own(&loaded).map(Agent::full_name).collect();
        names.sort();
        assert_eq!(names, expected, "notes: {:#?}", loaded.notes);
    }

    /// The role of one agent.
    #[track_caller]
    pub(crate) fn check_role(&self, name: &str, expected: Option<AcceptanceRole>) {
        assert_eq!(self.agent(name).role, expected, "{name}");
    }

    #[track_caller]
    pub(crate) fn agent(&self, name: &str) -> Agent {
        let loaded = self.load();
        let agent = loaded.agents.iter().find(|agent| agent.full_name() == name);
        agent.unwrap_or_else(|| panic!("no {name}; notes: {:#?}", loaded.notes)).clone()
    }

    /// The reasons noted for one path.
    pub(crate) fn reasons(&self, path: &str) -> Vec<Reason> {
        let path = self.path(path);
        let notes = self.load().notes.into_iter();
        notes.filter(|note| note.path == path).map(|Note { reason, .. }| reason).collect()
    }
}

pub(crate) const WRITER: Option<AcceptanceRole> = Some(AcceptanceRole::Writer);
pub(crate) const READ_ONLY: Option<AcceptanceRole> = Some(AcceptanceRole::ReadOnly);

pub(crate) fn profile(name: &str, role: &str) -> String {
    format!("---\nname: {name}\ndescription: d\nacceptanceRole: {role}\n---\n\nYou do the task.\n")
}

/// The agents that pi-subagents does not bring along.
pub(crate) fn own(loaded: &Loaded) -> impl Iterator<Item = &Agent> {
    let bare = Tree::new().load().agents;
    loaded.agents.iter().filter(move |agent| !bare.iter().any(|builtin| builtin.name == agent.full_name()))
}
