//! Whether a project's file system announces changes (D73). What else it cannot do the daemon finds out as it works, and `projects`
//! tells.

use store::sys::Sys;
use store::{PiFolder, ProjectDir};

use super::{Finding, Subject, World};

/// Why the daemon looks without events, else what the kind of file system says.
pub(super) fn check(_: &World, subject: &Subject) -> Vec<Finding> {
    let reason = subject.status.as_ref().and_then(|status| status.watch.reason.as_ref());
    if let Some(reason) = reason {
        return vec![Finding::note(format!("no events: {reason}"))];
    }
    // What cannot be opened is told by `folders`.
    let Ok(folder) = ProjectDir::open(&subject.path, &Sys::real(), PiFolder::Require) else { return Vec::new() };
    let kind = folder.fs_kind();
    vec![match kind.events_note() {
        None => Finding::good(format!("{kind} announces every change")),
        Some(note) => {
            Finding::note(format!("{note}; the last write of a planner is not protected there as on a local disk"))
        }
    }]
}
