//! Opening a file that a project names, and making one that it lacks, without ever leaving the project (D68, F203).
//!
//! The kernel itself refuses every way out (`openat2`, `RESOLVE_BENEATH`). It also refuses an absolute link that points
//! back inside; such a path, and any path where the call does not exist, is resolved and then opened part by part with
//! no link followed, so that a swap in between is an error and not an escape.

use std::fs::File;
use std::path::Path;

use queue::{Kind, ProjectPaths as _, Resolution};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::IoFault;
use crate::folder::{Folder, OpenFile};
use crate::project::ProjectDir;
use crate::read::{FileBytes, Limit, ReadError, open_regular, read_open};
use crate::stamp::is_regular;
use crate::sys::platform;

/// Why a contained file was not opened or read.
#[derive(Debug, thiserror::Error)]
pub enum ContainedError {
    /// The path, or a link on it, leads out of the project.
    #[error("leads out of the project")]
    Outside,
    /// Not readable; the reasons of a bounded read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl From<IoFault> for ContainedError {
    fn from(fault: IoFault) -> Self {
        Self::Read(fault.into())
    }
}

impl ProjectDir {
    /// Opens a regular file for reading. `relative` is project-relative; links are followed while they stay inside.
    ///
    /// # Errors
    ///
    /// See [`ContainedError`].
    pub fn open_contained(&self, relative: &str) -> Result<File, ContainedError> {
        Ok(File::from(self.open_inside(relative)?.into_fd()))
    }

    /// Reads a contained file with its size checked first.
    ///
    /// # Errors
    ///
    /// See [`ContainedError`].
    pub fn read_contained(&self, relative: &str, limit: Limit) -> Result<FileBytes, ContainedError> {
        let file = self.open_inside(relative)?;
        read_open(&file, &file.stat()?, limit).map_err(ContainedError::from)
    }

    /// Makes the file with these bytes, durably, and the folders on the way to it; `false` when something has the name
    /// already, which stays as it is. Links on the way are followed while they stay inside.
    ///
    /// # Errors
    ///
    /// See [`ContainedError`]; folders that were made stay.
    pub fn make_contained(&self, relative: &str, bytes: &[u8]) -> Result<bool, ContainedError> {
        let (folders, name) = relative.rsplit_once('/').unwrap_or((".", relative));
        let Resolution::Inside { relative: folders, .. } = self.resolve(folders) else {
            return Err(ContainedError::Outside);
        };
        let mut made: Option<Folder> = None;
        for part in folders.split('/').filter(|part| *part != ".") {
            made = Some(made.as_ref().unwrap_or(&self.root).open_or_make_shared(part)?);
        }
        Ok(made.as_ref().unwrap_or(&self.root).make_file(name, bytes)?)
    }

    fn open_inside(&self, relative: &str) -> Result<OpenFile, ContainedError> {
        if relative.starts_with('/') || relative.contains('\0') {
            return Err(ContainedError::Outside);
        }
        match platform::open_beneath(self.root.fd(), Path::new(relative)) {
            Ok(fd) => {
                let file = OpenFile::from_fd(&self.root.sys, fd, self.root.shown(relative));
                if is_regular(&file.stat()?) { Ok(file) } else { Err(ReadError::NotRegular.into()) }
            }
            Err(Errno::NOENT | Errno::NOTDIR) => Err(ReadError::Missing.into()),
            Err(Errno::LOOP) => Err(ContainedError::Outside),
            Err(Errno::NXIO | Errno::NODEV) => Err(ReadError::NotRegular.into()),
            Err(Errno::XDEV | Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => self.open_resolved(relative),
            Err(errno) => Err(IoFault::new("open", self.root.shown(relative), errno).into()),
        }
    }

    fn open_resolved(&self, relative: &str) -> Result<OpenFile, ContainedError> {
        let resolved = match self.resolve(relative) {
            Resolution::Outside { .. } | Resolution::Loop => return Err(ContainedError::Outside),
            Resolution::Inside { kind: Kind::Missing, .. } => return Err(ReadError::Missing.into()),
            Resolution::Inside { kind: Kind::Directory, .. } => return Err(ReadError::NotRegular.into()),
            Resolution::Inside { relative, kind: Kind::Other } => relative,
        };
        let Some((folders, name)) = resolved.rsplit_once('/') else {
            return Ok(open_regular(&self.root, &resolved, OFlags::RDONLY)?.0);
        };
        let mut parts = folders.split('/');
        let mut folder = self.root.open_beneath(parts.next().unwrap_or("."))?;
        for part in parts {
            folder = folder.open_beneath(part)?;
        }
        Ok(open_regular(&folder, name, OFlags::RDONLY)?.0)
    }
}
