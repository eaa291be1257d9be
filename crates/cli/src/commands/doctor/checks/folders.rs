//! The folders of each project: whether the daemon's user can open and write them. What stands in them is for the other checks,
//! which have nothing to look at where this one finds them closed.

use std::fs::File;
use std::io;

use store::sys::Sys;
use store::{IoFault, OpenError, PiFolder, ProjectDir};

use super::{Finding, Subject, World};
use crate::queue_file::QUEUE;
use crate::shell::quoted;

/// The root and `.pi`.
pub(super) fn check(_: &World, subject: &Subject) -> Vec<Finding> {
    let told = match ProjectDir::open(&subject.path, &Sys::real(), PiFolder::Require) {
        Ok(project) => project.may_write().map_err(|fault| denied(&fault)),
        Err(error) => Err(closed(subject, &error)),
    };
    vec![told.map_or_else(|finding| finding, |()| Finding::good("root and .pi can be read and written"))]
}

/// Whether the checks of what is in `.pi` can look at anything.
pub(super) fn can_open(subject: &Subject) -> bool {
    ProjectDir::open(&subject.path, &Sys::real(), PiFolder::Require).is_ok()
}

/// Whether nothing in the root can be looked at, as its mode forbids it.
pub(super) fn is_closed(subject: &Subject) -> bool {
    let is_denied = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    let within = subject.path.join(QUEUE).symlink_metadata().map(drop);
    File::open(&subject.path).map(drop).and(within).err().is_some_and(is_denied)
}

fn denied(fault: &IoFault) -> Finding {
    let advice = fault.remedy().or_else(|| fault.advice().map(str::to_owned));
    Finding::fault(format!("no task can be started: {fault}"), advice.unwrap_or_else(|| LOOK.to_owned()))
}

fn closed(subject: &Subject, error: &OpenError) -> Finding {
    match error {
        OpenError::NoPiFolder(_) => Finding::fault(
            "there is no .pi folder, so no task can be started",
            format!("handoff init {}", quoted(&subject.path.to_string_lossy())),
        ),
        OpenError::Io(fault) => denied(fault),
        _ => Finding::fault(
            format!("no task can be started: {error}"),
            error.remedy().unwrap_or_else(|| "put a plain folder in its place".to_owned()),
        ),
    }
}

const LOOK: &str = "look at owner and mode of the folder";
