//! Why a context file keeps a task from being handed over (D68): the file, and the one rule it breaks.

use store::{IoFault, Limit};

use super::{MAX_FILES, MAX_TOTAL_BYTES};
use crate::git::CannotTell;

/// Nothing is dispatched until the file, or the list that names it, has changed.
#[derive(Debug, thiserror::Error)]
#[error("the context file {path:?} {rule}")]
pub struct Blocked {
    /// As it was named.
    pub path: String,
    /// What is wrong with it.
    pub rule: Rule,
}

/// What is asked of a context file. Each reads on after the file's name.
#[derive(Debug, thiserror::Error)]
pub enum Rule {
    /// The list is too long; the path is the first that is too many.
    #[error("is number {number} of the list, which may have {MAX_FILES}")]
    TooMany {
        /// Counted from one.
        number: usize,
    },
    /// Absolute, or it leads out of the project as written or by a link, or links on it form a loop.
    #[error("does not lead to a place inside the project")]
    Outside,
    /// A folder, FIFO, socket or device.
    #[error("is not a regular file")]
    NotRegular,
    /// Larger than one file may be.
    #[error("is larger than {} KiB", Limit::Context.bytes() / 1024)]
    TooLarge,
    /// With it, all of them are larger than they may be.
    #[error("makes all context files together larger than {} KiB", MAX_TOTAL_BYTES / 1024)]
    TotalTooLarge,
    /// Not text.
    #[error("is not UTF-8")]
    NotUtf8,
    /// `.pi/handoff.toml` names it, but its name is one of those that usually hold secrets.
    #[error("has a name that usually holds secrets ({pattern}), which `.pi/handoff.toml` may not choose")]
    SecretName {
        /// Which kind of name.
        pattern: &'static str,
    },
    /// `.pi/handoff.toml` names it, but it is not part of the repository.
    #[error("is ignored by git ({by}), so `.pi/handoff.toml` may not choose it")]
    IgnoredByGit {
        /// The rule and the file that has it.
        by: String,
    },
    /// `.pi/handoff.toml` names it, and it cannot be told whether git ignores it.
    #[error("may be ignored by git: {0}")]
    MayBeIgnored(CannotTell),
    /// The system refused.
    #[error("cannot be read: {0}")]
    Unreadable(IoFault),
}
