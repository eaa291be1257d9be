//! Why the registry cannot do what was asked, in words that name the thing and what to do.

use std::path::PathBuf;

use super::LOCK_WAIT;
use super::select::SelectError;
use super::state_file::StateFileError;
use crate::files::FileError;
use crate::places::folder::FolderError;

/// The registry cannot do what was asked; the file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The file cannot be read or written, is damaged or too new.
    #[error(transparent)]
    StateFile(#[from] StateFileError),
    /// The state folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Another process holds the registry's lock for too long.
    #[error("{} has been locked by another process for {} s: is one stopped?", path.display(), LOCK_WAIT.as_secs())]
    Busy {
        /// The lock file.
        path: PathBuf,
    },
    /// JSON and the socket protocol cannot hold the path.
    #[error("the path {} is not UTF-8: such a folder cannot be a project, rename it", path.display())]
    NotUtf8 {
        /// The path, with a mark for what cannot be shown.
        path: PathBuf,
    },
    /// There is no folder to register.
    #[error("cannot register {}: {source}", path.display())]
    NoFolder {
        /// The path as given.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// Every folder of this machine lies in it.
    #[error("/ cannot be a project: every folder lies in it")]
    Everything,
    /// The name cannot be used.
    #[error("the name {name:?} {reason}")]
    BadName {
        /// The name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// Another project has the name.
    #[error("the name {name} belongs to {}", path.display())]
    NameTaken {
        /// The name.
        name: String,
        /// The other project.
        path: PathBuf,
    },
    /// No project fits, or several.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// Only the configuration names the project, and that file is the user's.
    #[error("{} is not registered: line {line} of the configuration names it, remove it there", path.display())]
    OnlyConfigured {
        /// The project.
        path: PathBuf,
        /// The line of its `[[project]]`.
        line: usize,
    },
}

impl From<FileError> for RegistryError {
    fn from(error: FileError) -> Self {
        Self::StateFile(error.into())
    }
}
