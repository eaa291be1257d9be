//! One project folder and the planner who writes into it.
#![expect(clippy::disallowed_methods, reason = "the planner writes files as planners do")]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// A project folder.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    root: PathBuf,
}

impl Project {
    /// Makes a folder as a user would have it: an IDLE queue, two agents, a work log.
    pub(crate) fn create(root: &Path) -> Result<Self> {
        fs::create_dir_all(root.join(".pi/agents"))?;
        for (name, role) in [("builder", "writer"), ("checker", "read-only")] {
            let profile =
                format!("---\nname: {name}\ndescription: d\nacceptanceRole: {role}\n---\n\nYou do the task.\n");
            fs::write(root.join(format!(".pi/agents/{name}.md")), profile)?;
        }
        fs::write(root.join(".pi/handoff-log.md"), "# Notes\n\n## Work log\n\n")?;
        fs::write(root.join("tasks.json"), idle_text(0))?;
        Ok(Self { root: root.to_path_buf() })
    }

    /// The root folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The queue file.
    pub(crate) fn queue(&self) -> PathBuf {
        self.root.join("tasks.json")
    }

    /// Writes the planner's next file beside the queue, durably, so that its own cost is over when the clock starts.
    pub(crate) fn prepare(&self, text: &str) -> Result<Prepared> {
        let private = self.root.join(".planner.tmp");
        let mut file = File::create(&private)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(Prepared { private, queue: self.queue() })
    }
}

/// A planner's write that lacks only its rename.
#[derive(Debug)]
pub(crate) struct Prepared {
    private: PathBuf,
    queue: PathBuf,
}

impl Prepared {
    /// Renames it over the queue.
    pub(crate) fn publish(self) -> Result<()> {
        Ok(fs::rename(self.private, self.queue)?)
    }
}

/// A valid PENDING task.
pub(crate) fn pending_text(id: &str) -> String {
    format!(
        r#"{{
  "schema_version": 3,
  "status": "PENDING",
  "task_id": "{id}",
  "task_type": "IMPLEMENT",
  "required_role": "writer",
  "preferred_agent": "builder",
  "gate": "none",
  "gate_reason": null,
  "parent_task_id": null,
  "instruction": "Append one line to notes.txt that says what this project is for, and keep the rest as it is.",
  "working_dir": ".",
  "scope": ["notes.txt", "src"],
  "acceptance_criteria": ["notes.txt has one more line", "nothing else changed"],
  "plan_ref": null,
  "created_at": "2026-09-01T10:00:00Z",
  "created_by": "claude-code",
  "assigned_agent": null,
  "assigned_model": null,
  "thinking": null,
  "started_at": null,
  "completed_at": null,
  "updated_by": null,
  "result": null,
  "files_changed": null,
  "tests_run": null,
  "error": null,
  "report": null
}}
"#
    )
}

/// A file with nothing to do in it; all numbers give the same length.
pub(crate) fn idle_text(number: usize) -> String {
    format!("{{\"schema_version\": 3, \"status\": \"IDLE\", \"note\": \"{number:08}\"}}\n")
}
