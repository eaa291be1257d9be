//! A home of packets, looked at from outside.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use handoffd_tests::mcp::{Era, Mcp};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home.
pub(crate) struct Home {
    dir: TempDir,
}

impl Home {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// One with a planner that is on round 2 of the goal `goal-7`.
    pub(crate) fn with_planner() -> Self {
        let home = Self::new();
        home.write(
            "agents/planner-1/agent.toml",
            "[team_member]\nrole = \"planner\"\ntask_id = \"goal-7\"\nround = 2\n",
        );
        home
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    /// Writes a file, and its folders.
    pub(crate) fn write(&self, below: &str, content: &str) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, below: &str) -> String {
        std::fs::read_to_string(self.path(below)).unwrap()
    }

    pub(crate) fn mode(&self, below: &str) -> String {
        format!("{:04o}", self.path(below).metadata().unwrap().permissions().mode() & 0o7777)
    }

    /// The rows of a ledger; none when there is no file.
    pub(crate) fn rows(&self, ledger: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(ledger)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// All files below, without folders.
    pub(crate) fn files(&self) -> BTreeSet<String> {
        let mut files = BTreeSet::new();
        let mut folders = vec![self.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir().unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    files.insert(entry.path().strip_prefix(self.root()).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        files
    }

    /// The server of the planner.
    pub(crate) fn planner(&self, era: Era) -> Mcp {
        Mcp::start(era, self.root(), &["team", "--agent-id", "planner-1"], &[])
    }
}

/// A packet with the least that a member must say.
pub(crate) fn packet(id: &str) -> Value {
    json!({"packet": {"packet_id": id, "objective": "o", "output_format": "files"}})
}
