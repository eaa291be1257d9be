//! What a folder held open can do for files that are not a project's: folders made on the way, a lock beside a file.
//!
//! Names are single parts; no link is followed. What the files mean is the caller's.

use std::path::Path;
use std::time::Duration;

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use crate::error::IoFault;
use crate::folder::{Folder, OpenFile};
use crate::stamp::{Identity, file_type, is_regular};
use crate::turn::{PAUSE, Turn};

/// What a name stands for; a link is itself, not what it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, pipe, socket or device.
    Other,
}

/// An advisory lock (`flock`) on a file, ours until dropped. It dies with its process, however that ends.
#[derive(Debug)]
pub struct FileLock {
    _file: OpenFile,
}

/// How often a lock file that is swapped under our hands is opened again.
const TRIES: usize = 8;

impl Folder {
    /// What the name directly beneath stands for; `None` when it is free.
    ///
    /// # Errors
    ///
    /// [`IoFault`].
    pub fn kind(&self, name: &str) -> Result<Option<Kind>, IoFault> {
        Ok(self.stat(name)?.map(|stat| match file_type(&stat) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            _ => Kind::Other,
        }))
    }

    /// Opens the folder `name` directly beneath, which is made if it is missing, durably and for this user only.
    ///
    /// # Errors
    ///
    /// [`IoFault`]: a link or a file has the name, or the folder cannot be made.
    pub fn open_or_make(&self, name: &str) -> Result<Self, IoFault> {
        self.open_or_make_as(name, 0o700)
    }

    /// As [`Folder::open_or_make`], for everybody to read where the umask allows it: a folder of a project.
    pub(crate) fn open_or_make_shared(&self, name: &str) -> Result<Self, IoFault> {
        self.open_or_make_as(name, 0o755)
    }

    fn open_or_make_as(&self, name: &str, mode: u32) -> Result<Self, IoFault> {
        match self.open_beneath(name) {
            Err(fault) if fault.errno() == Errno::NOENT => {}
            outcome => return outcome,
        }
        match self.mkdir(name, mode) {
            Ok(()) => self.sync()?,
            // Another process was quicker.
            Err(fault) if fault.errno() == Errno::EXIST => {}
            Err(fault) => return Err(fault),
        }
        self.open_beneath(name)
    }

    /// Locks the file `name` directly beneath, which is made if it is missing and never removed; waits for at most
    /// `patience` for another holder. Where the file system has no locks, nobody is kept out.
    ///
    /// # Errors
    ///
    /// [`IoFault`]: a link, a folder or a device has the name; another process holds it for longer.
    pub fn lock_file(&self, name: &str, patience: Duration) -> Result<FileLock, IoFault> {
        let pauses = usize::try_from(patience.as_millis() / PAUSE.as_millis()).unwrap_or(usize::MAX);
        for _ in 0..TRIES {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
            let file = self.open_file("open the lock file", name, flags, 0o600)?;
            Turn::within(&file, pauses.max(1))?;
            let stat = file.stat()?;
            if !is_regular(&stat) {
                return file.fault("use as lock file", Err(Errno::INVAL));
            }
            // Who removed the file while we waited left us with a lock that nobody will look at.
            if self.stat(name)?.is_some_and(|named| Identity::of(&named) == Identity::of(&stat)) {
                return Ok(FileLock { _file: file });
            }
        }
        Err(IoFault::new("lock", self.shown(name), Errno::AGAIN))
    }

    /// Removes an empty folder directly beneath.
    ///
    /// # Errors
    ///
    /// [`IoFault`]: not empty, not a folder, not there.
    pub fn remove_folder(&self, name: &str) -> Result<(), IoFault> {
        self.sys
            .rmdir(self.fd(), Path::new(name))
            .map_err(|errno| IoFault::new("remove the folder", self.shown(name), errno))
    }
}
