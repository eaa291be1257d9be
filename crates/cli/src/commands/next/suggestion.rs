//! The suggested command as it works from the folder where the person is: the daemon writes it for the project's root.

use std::path::Path;

use wire::status::ProjectStatus;

/// Whether a suggested command mends something. One that waits or ends a task does not.
pub(crate) fn mends(next: &str) -> bool {
    !next.starts_with("handoff wait") && !ends_a_task(next)
}

/// Whether it ends a task, which is no remedy: what it waits for is in the words beside it.
pub(crate) fn ends_a_task(next: &str) -> bool {
    next.starts_with("handoff cancel")
}

/// Whether a model that plans may be told that it helps, for then it may run it: `attach` would make it the worker.
pub(crate) fn helps_a_planner(next: &str) -> bool {
    mends(next) && !next.contains("handoff attach")
}

/// The command for the working folder `here`.
pub(crate) fn local(project: &ProjectStatus, all: &[ProjectStatus], here: Option<&Path>) -> Option<String> {
    let next = project.next.as_ref()?;
    let root = Path::new(&project.path);
    if here.is_some_and(|here| here == root || here.canonicalize().is_ok_and(|here| here == root)) {
        return Some(next.clone());
    }
    let unique = all.iter().filter(|other| other.name == project.name).count() == 1 && !project.name.contains('/');
    let which = if unique { &project.name } else { &project.path };
    Some(lifecycle::elsewhere(next, which, &project.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_and_a_cancel_mend_nothing() {
        for (next, expected) in [
            ("handoff wait", false),
            ("handoff cancel T-1", false),
            ("handoff resume", true),
            ("handoff init", true),
            ("pi --session cancel", true),
        ] {
            assert_eq!(mends(next), expected, "{next}");
            assert_eq!(helps_a_planner(next), expected, "{next}");
        }
        for next in ["handoff attach", "cd /w/shop && handoff attach"] {
            assert!(mends(next) && !helps_a_planner(next), "{next}");
        }
    }
}
