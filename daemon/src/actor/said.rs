//! Facts in the words of the log, where their level takes a decision: one line a fact, a warning where somebody should look.

use std::path::Path;

use lifecycle::Level;
use wire::status::{ProjectState, ProjectStatus};

use crate::jobs::LeftBy;

/// The state that a person sees. What else is told of the same matter is no warning of its own.
pub(super) fn state(project: &Path, shown: &ProjectStatus) {
    let (state, reason) = (shown.state.as_str(), shown.reason.map(|reason| reason.as_str()));
    let why = shown.why.as_deref();
    let next = shown.next.as_deref().map(|next| lifecycle::elsewhere(next, &shown.path, &shown.path));
    let project = project.display();
    if needs_a_look(shown.state) {
        tracing::warn!(%project, state, reason, why, next, "the state has changed");
    } else {
        tracing::info!(%project, state, reason, why, "the state has changed");
    }
}

fn needs_a_look(state: ProjectState) -> bool {
    use ProjectState as State;
    matches!(state, State::Blocked | State::Halted | State::Held | State::Unreadable | State::Missing | State::Stuck)
}

/// The lock is ours now. That its owner died is a warning; that a daemon stopped in order is none.
pub(super) fn lock_taken(project: &Path, left_by: Option<LeftBy>) {
    let project = project.display();
    match left_by {
        None => tracing::info!(%project, "the lock is ours"),
        Some(LeftBy::Before) => tracing::info!(%project, "the lock is ours; the daemon before this one left it to us"),
        Some(LeftBy::Us) => tracing::info!(%project, "the lock is ours again"),
        Some(LeftBy::Dead(owner)) => tracing::warn!(%project, %owner, "the lock of a dead owner was recovered"),
    }
}

/// A session came, went or changed its place; `what` is the state machine's word.
pub(super) fn session(project: &Path, session: &str, what: &str) {
    let said = match what {
        "attached" => "a session has attached, tasks go to it",
        "owner" => "tasks go to this session now",
        "standby" => "a session has attached and stands by",
        "lost" => "the connection of a session was lost",
        _ => "a session has left",
    };
    tracing::info!(project = %project.display(), session, "{said}");
}

/// A person paused the project, or lifted that, while something else is its state: a task that runs goes on.
pub(super) fn paused(project: &Path, paused: bool) {
    let project = project.display();
    match paused {
        true => {
            tracing::info!(%project, "a person paused the project; what runs goes on, and nothing is dispatched after it");
        }
        false => tracing::info!(%project, "a person lifted the pause of the project"),
    }
}

/// What the session was told. What is only good to know follows from a state or an end that is told by itself.
pub(super) fn notice(project: &Path, urgency: Level, text: &str) {
    let project = project.display();
    match urgency {
        Level::Info => tracing::debug!(%project, "{text}"),
        Level::Warning => tracing::warn!(%project, "{text}"),
        Level::Error => tracing::error!(%project, "{text}"),
    }
}

/// A task has ended. `why` is the daemon's own reason; what a report says is not for the log (F277).
pub(super) fn ended(project: &Path, task: &str, complete: bool, why: Option<&str>) {
    let project = project.display();
    if complete {
        tracing::info!(%project, task, status = "COMPLETE", "the task has ended");
    } else {
        tracing::warn!(%project, task, status = "ERROR", why, "the task has ended");
    }
}
