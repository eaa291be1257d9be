//! The folder below which everything of a team lies (D36). Which folder that is, the caller knows.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use store::sys::Sys;
use store::{Folder, IoFault};

/// The home of packets. It is opened anew for every act, so that one that is made or replaced later is found.
#[derive(Debug, Clone)]
pub struct Home {
    path: PathBuf,
    sys: Sys,
}

/// The home cannot be opened or made.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// There is no such folder yet.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// Its path cannot be resolved, or it cannot be made.
    #[error("cannot {act} {}: {source}", path.display())]
    Path {
        /// What was tried.
        act: &'static str,
        /// The home.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// It cannot be opened, or something below it.
    #[error(transparent)]
    Io(#[from] IoFault),
}

impl HomeError {
    /// What a person can do, where the system's answer tells it.
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Io(fault) => fault.advice(),
            Self::Missing(_) | Self::Path { .. } => None,
        }
    }
}

impl Home {
    /// The home at an absolute path.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self::gated(path, Sys::real())
    }

    /// As [`Home::at`], with a way to the kernel that tests can gate.
    #[must_use]
    pub fn gated(path: impl Into<PathBuf>, sys: Sys) -> Self {
        Self { path: path.into(), sys }
    }

    /// Its path, as given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it. The home itself may be reached through links: it is the user who names it.
    pub(crate) fn open(&self) -> Result<Folder, HomeError> {
        let resolved = self.path.canonicalize().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => HomeError::Missing(self.path.clone()),
            _ => HomeError::Path { act: "find", path: self.path.clone(), source },
        })?;
        Ok(Folder::open(&self.sys, &resolved)?)
    }

    /// Opens it, made for this user only if it is missing.
    pub(crate) fn open_or_make(&self) -> Result<Folder, HomeError> {
        match self.open() {
            Err(HomeError::Missing(path)) => {
                DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(|source| HomeError::Path {
                    act: "make the folder",
                    path,
                    source,
                })?;
                self.open()
            }
            outcome => outcome,
        }
    }

    /// Opens a folder below it, part by part, no link followed; `None` when one of the parts is missing.
    pub(crate) fn open_below(&self, parts: &[&str]) -> Result<Option<Folder>, HomeError> {
        let mut folder = match self.open() {
            Err(HomeError::Missing(_)) => return Ok(None),
            outcome => outcome?,
        };
        for part in parts {
            folder = match folder.open_beneath(part) {
                Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(None),
                outcome => outcome?,
            };
        }
        Ok(Some(folder))
    }
}
