//! What each project is doing, where that needs somebody, and the daemon's warnings about it. The words and the command are the
//! daemon's own: those of `handoff status` and `handoff next`. Causes that a check of their own explains are left to that check.

use wire::status::{ProjectState, ProjectStatus, StateReason};

use super::{Enabled, Finding, Subject, World};
use crate::commands::next::suggestion;
use crate::shell::quoted;

/// The state.
pub(super) fn check(world: &World, subject: &Subject) -> Vec<Finding> {
    let root = quoted(&subject.path.to_string_lossy());
    if subject.enabled == Enabled::No {
        return vec![Finding::note("a person switched it off").remedy(format!("handoff enable {root}"))];
    }
    if !subject.path.is_dir() {
        let what = format!("{} is not there", subject.path.display());
        return vec![Finding::fault(what, format!("restore it, or `handoff projects remove {root}`"))];
    }
    let Some(status) = &subject.status else {
        return match world.running() {
            Some(_) => vec![Finding::warning("the daemon does not know it yet", "handoff status")],
            None => Vec::new(),
        };
    };
    let all = world.running().map(|status| status.projects.as_slice()).unwrap_or_default();
    let next = suggestion::local(status, all, None);
    let warnings = status.warnings.iter().map(|warning| {
        Finding::warning(warning.clone(), "see docs/operations.md: \"Network homes and containers\", \"Limits\"")
    });
    std::iter::once(judged(status, next)).chain(warnings).collect()
}

fn judged(status: &ProjectStatus, next: Option<String>) -> Finding {
    let why = status.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let what = format!("{}{why}", status.state);
    // It is being run.
    let next = next.map(|next| if next == "handoff doctor" { "handoff logs".to_owned() } else { next });
    let next = next.unwrap_or_else(|| "handoff status".to_owned());
    // Ending the task mends nothing.
    let next = match suggestion::ends_a_task(&next) {
        true => format!("do what it says, or end the task: `{next}`"),
        false => next,
    };
    match (status.state, status.reason) {
        // Explained by `queues`, `locks`, `tracked`, `work-logs`, `context`.
        (ProjectState::Unreadable, _)
        | (
            ProjectState::Blocked | ProjectState::Held,
            Some(
                StateReason::LockLive
                | StateReason::LockUnknown
                | StateReason::LockMalformed
                | StateReason::WorkLog
                | StateReason::ContextFile
                | StateReason::TrackedByGit,
            ),
        ) => Finding::note(what),
        (ProjectState::Blocked | ProjectState::Halted | ProjectState::Missing | ProjectState::Stuck, _) => {
            Finding::fault(what, next)
        }
        (ProjectState::Held, _) => Finding::warning(what, next),
        (ProjectState::Paused | ProjectState::Leaving | ProjectState::Waiting, _) => {
            match status.next.as_deref().is_some_and(suggestion::mends) {
                true => Finding::note(what).remedy(next),
                false => Finding::note(what),
            }
        }
        _ => Finding::good(what),
    }
}
