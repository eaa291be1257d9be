//! Errors of the file layer in the state machine's terms.

use lifecycle::Failure;
use store::{IoFault, Moved, ProjectDir, ReadError, ReplaceError};

pub(super) use crate::causes::chain;

/// A fault of the system, with path, step and its words (D70).
pub(super) fn io(fault: &IoFault) -> Failure {
    let advice = fault.advice().map(|advice| format!(" ({advice})")).unwrap_or_default();
    Failure::CannotWrite(format!("{}{advice}", chain(fault)))
}

/// The named folder is not the opened one: gone, or another.
pub(super) fn moved(dir: &ProjectDir, _moved: &Moved) -> Failure {
    if dir.path().exists() { Failure::Moved } else { Failure::Missing }
}

pub(super) fn replace(dir: &ProjectDir, error: &ReplaceError) -> Failure {
    match error {
        ReplaceError::Changed { .. } => Failure::Changed,
        ReplaceError::ForeignOwner { .. } => Failure::ForeignOwner(error.to_string()),
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
