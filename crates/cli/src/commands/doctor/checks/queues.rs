//! Each project's `tasks.json` as the daemon would judge it: what cannot be read, and what would be refused.

use queue::{Action, Reading, Room};
use rustix::process::geteuid;

use super::{Finding, Subject, World};
use crate::queue_file::{self, QUEUE, QueueFile};
use crate::shell::quoted;

/// Read as `handoff lint` reads it.
pub(super) fn check(world: &World, subject: &Subject) -> Vec<Finding> {
    let path = subject.path.join(QUEUE);
    let lint = format!("correct the file; `handoff lint {}` judges it", quoted(&path.to_string_lossy()));
    let root = match queue_file::open_root(&subject.path) {
        Ok(root) => root,
        Err(failure) => return vec![Finding::fault(failure.message, "put a plain folder in its place")],
    };
    let file = match QueueFile::read(&root, QUEUE) {
        Ok(file) => file,
        Err(failure) => {
            return vec![Finding::fault(failure.message, format!("chmod u+rw {}", quoted(&path.to_string_lossy())))];
        }
    };
    if let Reading::Unreadable(problem) = file.reading() {
        let what =
            format!("tasks.json cannot be read and is left alone ({}): {}", problem.code.as_str(), problem.message);
        return vec![Finding::fault(what, lint)];
    }
    // Root keeps the owner as it is (D3).
    let foreign = handoffd::places::folder::owner_hint(&path).filter(|_| path.exists() && !geteuid().is_root());
    if let Some(hint) = foreign {
        let remedy = format!("sudo chown \"$(id -un)\" {}", quoted(&path.to_string_lossy()));
        return vec![Finding::fault(format!("tasks.json {hint}"), remedy)];
    }
    let judged = queue::lint(file.reading(), &root, queue_file::ownership(&subject.path));
    let problems: Vec<&str> = judged.problems.iter().map(|problem| problem.message.as_str()).collect();
    let status = judged.status.map_or("missing, so the queue is empty", queue::Status::as_str);
    let mut findings = tight(file.reading()).into_iter().collect::<Vec<_>>();
    findings.push(match judged.action {
        Action::Dispatch | Action::None => Finding::good(format!("tasks.json is {status}")),
        Action::Reject => Finding::warning(format!("its task would be refused: {}", problems.join("; ")), lint),
        Action::Leave => Finding::fault(format!("tasks.json is left alone: {}", problems.join("; ")), lint),
        Action::Orphan => Finding::warning(
            "a task is RUNNING and no daemon owns it: the next one takes it up if its session lives, else makes it ERROR, and never runs it again",
            if world.running().is_some() { "handoff status" } else { world.restart() },
        ),
    });
    findings
}

/// In the daemon's words, which has the same warning once the task is handed over.
fn tight(reading: Reading<'_>) -> Option<Finding> {
    let Reading::Readable(document) = reading else { return None };
    let is_task = matches!(document.status(), queue::Status::Pending | queue::Status::Running);
    let room = Room::of(document).ok().filter(|room| is_task && room.is_tight())?;
    let what = format!("only {} bytes are left in tasks.json for the report", room.left_for_report());
    Some(Finding::warning(what, "ask for a short report, or make the instruction or members of your own shorter"))
}
