//! What a project's file system cannot do: announce changes, keep other hosts out, exchange two files (D16, D64, D73).

use store::sys::Sys;
use store::{PiFolder, ProjectDir};

use super::{Finding, Subject, World};

/// The daemon's own warnings where it runs, else what the kind of file system says.
pub(super) fn check(_: &World, subject: &Subject) -> Vec<Finding> {
    let mut findings: Vec<Finding> = match &subject.status {
        Some(status) => {
            let polled = status.watch.reason.iter().map(|reason| Finding::note(format!("no events: {reason}")));
            let warnings = status.warnings.iter().map(|warning| {
                Finding::warning(
                    warning.clone(),
                    "see docs/operations.md: \"Network homes and containers\", \"Limits\"",
                )
            });
            polled.chain(warnings).collect()
        }
        None => Vec::new(),
    };
    if findings.is_empty()
        && let Ok(folder) = ProjectDir::open(&subject.path, &Sys::real(), PiFolder::Require)
    {
        let kind = folder.fs_kind();
        findings.push(match kind.events_note() {
            None => Finding::good(format!("{kind} announces every change")),
            Some(note) => {
                Finding::note(format!("{note}; the last write of a planner is not protected there as on a local disk"))
            }
        });
    }
    findings
}
