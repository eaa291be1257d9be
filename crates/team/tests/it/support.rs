//! A home in a temporary folder, and what tests ask of it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use team::{Door, Filed, Home, Refusal};
use tempfile::TempDir;

pub(crate) const PLANNER: &str = "[team_member]\nrole = \"planner\"\ntask_id = \"goal-7\"\nround = 2\n";

/// A home that is gone after the test.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// With the member `planner-1` of goal `goal-7`, round 2.
    pub(crate) fn with_planner() -> Self {
        let world = Self::new();
        world.write("agents/planner-1/agent.toml", PLANNER);
        world
    }

    pub(crate) fn home(&self) -> Home {
        Home::at(self.path(""))
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join("home").join(relative)
    }

    pub(crate) fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        put(&path, text);
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        std::fs::read_to_string(self.path(relative)).unwrap()
    }

    pub(crate) fn rows(&self, ledger: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(ledger)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn door(&self) -> Door {
        Door::new(self.home(), "planner-1")
    }

    /// Every file and folder below a folder of the home, sorted; folders end with a slash.
    pub(crate) fn tree(&self, below: &str) -> Vec<String> {
        let mut found = Vec::new();
        walk(&self.path(below), "", &mut found);
        found.sort();
        found
    }

    pub(crate) fn mode(&self, relative: &str) -> u32 {
        self.path(relative).metadata().unwrap().permissions().mode() & 0o7777
    }
}

pub(crate) fn now() -> Timestamp {
    "2026-11-30T08:12:03.120Z".parse().unwrap()
}

pub(crate) fn put(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

/// Arguments with a packet that leaves out all that the record knows.
pub(crate) fn call(id: &str) -> Map<String, Value> {
    arguments(&json!({"packet_id": id, "objective": "o", "output_format": "files"}))
}

pub(crate) fn arguments(packet: &Value) -> Map<String, Value> {
    Map::from_iter([("packet".to_owned(), packet.clone())])
}

#[track_caller]
pub(crate) fn filed(outcome: Result<Filed, Refusal>) -> Filed {
    outcome.unwrap()
}

#[track_caller]
pub(crate) fn refused(outcome: Result<Filed, Refusal>) -> (String, String) {
    let refusal = outcome.unwrap_err();
    (refusal.code.to_string(), refusal.message)
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), &format!("{name}/"), found);
            found.push(format!("{name}/"));
        } else {
            found.push(name);
        }
    }
}
