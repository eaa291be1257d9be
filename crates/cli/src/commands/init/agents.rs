//! The example agent profiles: without a profile that has a role, no task can end COMPLETE (D27).

use std::path::Path;

use queue::{AcceptanceRole, ProjectPaths as _, Resolution};
use store::{ContainedError, ProjectDir};

use super::Made;

const WRITER: &str = "\
---
name: handoff-writer
description: Does one writing task of the queue, inside its scope
acceptanceRole: writer
---

You do one task. Change only what its scope names, meet every acceptance criterion, and run the tests that prove it.

End with: what you changed (each file), which tests you ran and how they ended, and what is left open. If you cannot
finish, say so plainly and say why.
";

const REVIEWER: &str = "\
---
name: handoff-reviewer
description: Reviews or answers one task of the queue without changing anything
acceptanceRole: read-only
tools: read, grep, find, ls
---

You look at work that another agent has done, or answer a question about the code. You change nothing.

Begin with one line: `APPROVED` or `NOT APPROVED`, and why. Then the findings, the most serious first, each with file and
line. Check every acceptance criterion by itself, and say what you could not check.
";

/// Where the example of a role lies in a project.
pub(super) fn example(role: AcceptanceRole) -> &'static str {
    match role {
        AcceptanceRole::Writer => ".pi/agents/handoff-writer.md",
        AcceptanceRole::ReadOnly => ".pi/agents/handoff-reviewer.md",
    }
}

/// The profiles by name, made or kept. A link in the project may lead anywhere: nothing is made outside.
pub(super) fn make(project: &ProjectDir) -> Vec<(String, Made)> {
    let profiles = [(AcceptanceRole::Writer, WRITER), (AcceptanceRole::ReadOnly, REVIEWER)];
    let one = |(role, text): (AcceptanceRole, &str)| {
        let name = example(role).to_owned();
        let made = match project.make_contained(&name, text.as_bytes()) {
            Ok(true) => Made::New,
            Ok(false) => Made::Kept,
            // A person's own profiles, which lie elsewhere.
            Err(ContainedError::Outside) if is_there(project.resolved_path(), role) => Made::Kept,
            Err(error) => Made::Failed(failed(project, &name, &error)),
        };
        (name, made)
    };
    profiles.into_iter().map(one).collect()
}

fn failed(project: &ProjectDir, name: &str, error: &ContainedError) -> String {
    let path = project.resolved_path().join(name);
    match (error, path.parent()) {
        (ContainedError::Outside, Some(folder)) => format!(
            "{name} is not made: {} leads out of the project; put a plain folder in its place, or a profile with \
             `acceptanceRole` where the link leads",
            folder.display()
        ),
        _ => format!("cannot make {}: {error}", path.display()),
    }
}

fn is_there(root: &Path, role: AcceptanceRole) -> bool {
    root.join(example(role)).symlink_metadata().is_ok()
}

/// Whether [`make`] would make the example of this role: not behind a folder that is closed, or is none.
pub(super) fn would_make(project: &ProjectDir, role: AcceptanceRole) -> bool {
    let folder = example(role).rsplit_once('/').map_or(".", |(folder, _)| folder);
    let there = project.resolved_path().join(example(role)).symlink_metadata();
    let is_free = there.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    matches!(project.resolve(folder), Resolution::Inside { .. }) && is_free
}
