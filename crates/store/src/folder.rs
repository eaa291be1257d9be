//! A folder held open by descriptor, and files opened beneath it. Every failure names path and act.
//!
//! Only single names and contained relative paths go in; what the files mean is not known here.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, Stat};
use rustix::io::Errno;

use crate::error::IoFault;
use crate::stamp::Identity;
use crate::sys::{Outcome, Sys, shown};

/// A directory descriptor with the path it was opened by.
#[derive(Debug)]
pub struct Folder {
    pub(crate) sys: Sys,
    fd: OwnedFd,
    pub(crate) path: PathBuf,
    pub(crate) identity: Identity,
}

/// An open file with its path.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) sys: Sys,
    fd: OwnedFd,
    pub(crate) path: PathBuf,
}

impl Folder {
    /// Opens the folder at an absolute path; the last part must not be a link.
    ///
    /// # Errors
    ///
    /// [`IoFault`], which names the path.
    pub fn open(sys: &Sys, path: &Path) -> Result<Self, IoFault> {
        let fault = |errno| IoFault::new("open the folder", path, errno);
        let fd = sys.open_folder(path).map_err(fault)?;
        let identity = Identity::of(&sys.stat(fd.as_fd()).map_err(fault)?);
        Ok(Self { sys: sys.clone(), fd, path: path.to_owned(), identity })
    }

    /// Opens the folder `name` directly beneath this one; a link is refused.
    ///
    /// # Errors
    ///
    /// [`IoFault`]: nothing there, not a folder, a link.
    pub fn open_beneath(&self, name: &str) -> Result<Self, IoFault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let file = self.open_file("open the folder", name, flags, 0)?;
        let identity = Identity::of(&file.stat()?);
        Ok(Self { sys: self.sys.clone(), fd: file.fd, path: file.path, identity })
    }

    pub(crate) fn fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }

    fn fault<T>(&self, act: &'static str, name: &str, outcome: Outcome<T>) -> Result<T, IoFault> {
        outcome.map_err(|errno| IoFault::new(act, shown(&self.path, Path::new(name)), errno))
    }

    pub(crate) fn open_file(
        &self,
        act: &'static str,
        name: &str,
        flags: OFlags,
        mode: u32,
    ) -> Result<OpenFile, IoFault> {
        let fd = self.fault(act, name, self.sys.open_at(self.fd(), Path::new(name), flags, mode))?;
        Ok(OpenFile { sys: self.sys.clone(), fd, path: shown(&self.path, Path::new(name)) })
    }

    pub(crate) fn mkdir(&self, name: &str, mode: u32) -> Result<(), IoFault> {
        self.fault("create the folder", name, self.sys.mkdir_at(self.fd(), Path::new(name), mode))
    }

    /// What the name stands for, links not followed; `None` when there is nothing. Does not allocate on success.
    pub(crate) fn stat(&self, name: &str) -> Result<Option<Stat>, IoFault> {
        match self.sys.stat_at(self.fd(), Path::new(name)) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => self.fault("look at", name, Err(errno)),
        }
    }

    /// Whether we may write to the file of that name.
    ///
    /// # Errors
    ///
    /// [`IoFault`]: why not.
    pub fn may_write(&self, name: &str) -> Result<(), IoFault> {
        self.fault("write to", name, self.sys.may_write(self.fd(), Path::new(name)))
    }

    /// Gives the file `from` the name `to`, whatever has it now.
    ///
    /// # Errors
    ///
    /// [`IoFault`]; nothing has changed then.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), IoFault> {
        self.fault("replace", to, self.sys.rename(self.fd(), Path::new(from), Path::new(to)))
    }

    /// Gives `from` the name `to`, which must be free. Where the file system has no such rename, by a hard link.
    ///
    /// `EEXIST` when the name is taken; `EOPNOTSUPP` when the file system has neither.
    pub(crate) fn rename_new(&self, from: &str, to: &str) -> Result<(), IoFault> {
        match self.sys.rename_new(self.fd(), Path::new(from), Path::new(to)) {
            Err(errno) if lacks_rename_flags(errno) => self.link_new(from, to),
            outcome => self.fault("put in place", to, outcome),
        }
    }

    fn link_new(&self, from: &str, to: &str) -> Result<(), IoFault> {
        match self.sys.link(self.fd(), Path::new(from), Path::new(to)) {
            Ok(()) => self.unlink(from).inspect_err(|_| self.take_back_link(from, to)),
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::MLINK) => {
                self.fault("put in place", to, Err(Errno::OPNOTSUPP))
            }
            outcome => self.fault("put in place", to, outcome),
        }
    }

    /// Half a rename must not look like a whole one. The new name goes only while it is still the same file.
    fn take_back_link(&self, from: &str, to: &str) {
        let identity = |name| self.stat(name).ok().flatten().as_ref().map(Identity::of);
        if identity(from).is_some() && identity(from) == identity(to) {
            self.unlink(to).ok();
        }
    }

    /// Exchanges two names; `None` where the file system has no exchange.
    pub(crate) fn exchange(&self, from: &str, to: &str) -> Result<Option<()>, IoFault> {
        match self.sys.exchange(self.fd(), Path::new(from), Path::new(to)) {
            Err(errno) if lacks_rename_flags(errno) => Ok(None),
            outcome => self.fault("replace", to, outcome).map(Some),
        }
    }

    /// Removes a file's name.
    ///
    /// # Errors
    ///
    /// [`IoFault`]; the name is still there then.
    pub fn unlink(&self, name: &str) -> Result<(), IoFault> {
        self.fault("remove", name, self.sys.unlink(self.fd(), Path::new(name)))
    }

    /// Makes creations, renames and removals in this folder durable.
    ///
    /// # Errors
    ///
    /// [`IoFault`]: what was done may not outlive a power failure.
    pub fn sync(&self) -> Result<(), IoFault> {
        self.fault("sync the folder", "", self.sys.sync(self.fd()))
    }

    /// The names in it that are UTF-8, in no order.
    ///
    /// # Errors
    ///
    /// [`IoFault`].
    pub fn list(&self) -> Result<Vec<String>, IoFault> {
        self.fault("list", "", self.sys.list(self.fd()))
    }

    pub(crate) fn shown(&self, name: &str) -> PathBuf {
        shown(&self.path, Path::new(name))
    }
}

/// File systems say in three ways that they know no flags for a rename.
fn lacks_rename_flags(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

impl OpenFile {
    pub(crate) fn fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn into_fd(self) -> OwnedFd {
        self.fd
    }

    pub(crate) fn from_fd(sys: &Sys, fd: OwnedFd, path: PathBuf) -> Self {
        Self { sys: sys.clone(), fd, path }
    }

    pub(crate) fn fault<T>(&self, act: &'static str, outcome: Outcome<T>) -> Result<T, IoFault> {
        outcome.map_err(|errno| IoFault::new(act, &self.path, errno))
    }

    pub(crate) fn stat(&self) -> Result<Stat, IoFault> {
        self.fault("look at", self.sys.stat(self.fd()))
    }

    /// At most `limit` bytes from `offset` on.
    pub(crate) fn read(&self, offset: u64, limit: usize, expected: usize) -> Result<Vec<u8>, IoFault> {
        let mut bytes = vec![0_u8; expected.saturating_add(1).min(limit)];
        let mut length = 0;
        while length < limit {
            if length == bytes.len() {
                bytes.resize(length.saturating_mul(2).min(limit), 0);
            }
            let at = offset.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
            match self.fault("read", self.sys.read_at(self.fd(), &mut bytes[length..], at))? {
                0 => break,
                count => length += count,
            }
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    /// Writes everything, in as many calls as the system wants.
    pub(crate) fn write_all(&self, mut bytes: &[u8]) -> Result<(), IoFault> {
        while !bytes.is_empty() {
            match self.fault("write", self.sys.write(self.fd(), bytes))? {
                0 => return self.fault("write", Err(Errno::NOSPC)),
                count => bytes = bytes.get(count..).unwrap_or_default(),
            }
        }
        Ok(())
    }

    pub(crate) fn sync(&self) -> Result<(), IoFault> {
        self.fault("sync", self.sys.sync(self.fd()))
    }
}
