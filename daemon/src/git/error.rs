//! Why a question about a repository has no answer.

use std::{io, path::Path};

/// The repository's files could not be read or understood. Not an error of ours: the caller notes it and goes on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotTell {
    /// The system refused.
    #[error("cannot {act} {path}: {words}")]
    Io {
        /// What was tried.
        act: &'static str,
        /// On what.
        path: String,
        /// The system's words.
        words: String,
    },
    /// Something else than a regular file stands there.
    #[error("{path} is not a regular file")]
    NotRegular {
        /// Where.
        path: String,
    },
    /// Over a limit, so it was not read.
    #[error("{path} has {bytes} bytes, over the limit of {limit}")]
    TooLarge {
        /// Which file.
        path: String,
        /// Its size.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Its content is not what git writes.
    #[error("{path} cannot be understood: {fault}")]
    Format {
        /// Which file.
        path: String,
        /// What is wrong with it.
        fault: String,
    },
    /// The path asked about leaves the project or has too many parts.
    #[error("{path} is not a path that can be looked up")]
    Path {
        /// Which path.
        path: String,
    },
}

impl CannotTell {
    pub(super) fn io(act: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::Io { act, path: path.display().to_string(), words: error.to_string() }
    }

    pub(super) fn format(path: &Path, fault: impl Into<String>) -> Self {
        Self::Format { path: path.display().to_string(), fault: fault.into() }
    }
}
