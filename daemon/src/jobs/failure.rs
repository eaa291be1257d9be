//! Errors of the file layer in the state machine's terms.

use std::io::ErrorKind;

use lifecycle::{Cause, Failure};
use store::sys::Sys;
use store::{IoFault, LogError, Moved, OpenError, PiFolder, ProjectDir, ReadError, ReplaceError, WorkLog};

pub(super) use crate::causes::chain;

/// A fault of the system, with path, step and its words (D70), and the command that helps; without one, advice.
pub(super) fn io(fault: &IoFault) -> Failure {
    let next = fault.remedy();
    let advice = fault.advice().filter(|_| next.is_none()).map(|advice| format!(" ({advice})")).unwrap_or_default();
    Failure::CannotWrite(Cause { words: format!("{}{advice}", chain(fault)), next })
}

/// Why a project's folders cannot be opened; `None`: there is no project.
pub(super) fn open(error: &OpenError) -> Option<Failure> {
    match error {
        OpenError::Missing(_) | OpenError::NotAFolder(_) => None,
        OpenError::Io(fault) => Some(io(fault)),
        _ => Some(Failure::CannotWrite(Cause { words: chain(error), next: error.remedy() })),
    }
}

/// Why the work log takes no line (D30).
pub(super) fn work_log(log: &WorkLog, error: &LogError) -> Cause {
    Cause { words: chain(error), next: log.remedy(error) }
}

/// The named folder is not the opened one: gone, or another. One that was closed to us cannot be compared, and is neither.
pub(super) fn moved(dir: &ProjectDir, _moved: &Moved) -> Failure {
    if matches!(dir.path().try_exists(), Ok(false)) {
        return Failure::Missing;
    }
    match ProjectDir::open(dir.path(), &Sys::real(), PiFolder::Require) {
        Err(OpenError::Io(fault)) if fault.kind() == ErrorKind::PermissionDenied => io(&fault),
        _ => Failure::Moved,
    }
}

pub(super) fn replace(dir: &ProjectDir, error: &ReplaceError) -> Failure {
    match error {
        ReplaceError::Changed { .. } => Failure::Changed,
        ReplaceError::ForeignOwner { path, .. } => {
            let next = Some(format!("sudo chown \"$(id -un)\" {}", queue::quoted(&path.to_string_lossy())));
            Failure::ForeignOwner(Cause { words: error.to_string(), next })
        }
        ReplaceError::Moved(at) => moved(dir, at),
        ReplaceError::TooLarge { size } => Failure::TooLarge { limit: queue::limits::QUEUE_BYTES, size: *size },
        ReplaceError::CannotWrite(fault) => io(fault),
    }
}

pub(super) fn read(error: &ReadError) -> Failure {
    match error {
        ReadError::Io(fault) => io(fault),
        ReadError::Missing | ReadError::NotRegular | ReadError::TooLarge { .. } => Failure::Changed,
    }
}
