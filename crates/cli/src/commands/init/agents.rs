//! The example agent profiles: without a profile that has a role, no task can end COMPLETE (D27).

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use queue::AcceptanceRole;

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

/// The profiles by name, made or kept.
pub(super) fn make(root: &Path) -> Vec<(String, Made)> {
    let profiles = [(AcceptanceRole::Writer, WRITER), (AcceptanceRole::ReadOnly, REVIEWER)];
    let one = |(role, text): (AcceptanceRole, &str)| {
        let name = example(role).to_owned();
        let made = create(&root.join(&name), text)
            .unwrap_or_else(|error| Made::Failed(format!("cannot make {}: {error}", root.join(&name).display())));
        (name, made)
    };
    profiles.into_iter().map(one).collect()
}

fn create(path: &Path, text: &str) -> io::Result<Made> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).create(folder)?;
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| Made::New),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Made::Kept),
        Err(error) => Err(error),
    }
}
