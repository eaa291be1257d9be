//! A private file beside its target: unpredictable name, mode 0600, gone on every path that does not put it in place.

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::IoFault;
use crate::folder::{Folder, OpenFile};
use crate::hash::RawHash;
use crate::names::{self, Stage};
use crate::stamp::{Identity, is_regular};
use crate::sys::Sys;

/// A file of ours that does not have its final name yet: its part without the folder. Whoever has it removes it.
#[derive(Debug)]
pub(crate) struct Private {
    target: String,
    digits: String,
    pub(crate) name: String,
    pub(crate) file: OpenFile,
    pub(crate) identity: Identity,
}

impl Private {
    /// Makes an empty one. A leftover or a trap under the same name is never opened: the name is new or another one
    /// is drawn (F158).
    pub(crate) fn create(folder: &Folder, target: &str, mode: u32) -> Result<Self, IoFault> {
        let mut tries = 0;
        loop {
            let digits = Sys::private_digits().map_err(|e| IoFault::new("draw a name in", &folder.path, e))?;
            let name = names::temporary(target, &digits, Stage::New);
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
            // Faults name the target: a name that is drawn anew would be another fault at each try.
            let mut file = match folder.open_file("create", &name, flags, mode) {
                Err(fault) if fault.errno() == Errno::EXIST && tries < 8 => {
                    tries += 1;
                    continue;
                }
                outcome => outcome.map_err(|fault| fault.at(folder.shown(target)))?,
            };
            file.path = folder.shown(target);
            let stat = file.stat().inspect_err(|_| {
                folder.unlink(&name).ok();
            })?;
            return Ok(Self { target: target.to_owned(), digits, name, file, identity: Identity::of(&stat) });
        }
    }

    /// Writes and syncs the content.
    fn fill(&self, bytes: &[u8]) -> Result<(), IoFault> {
        self.file.write_all(bytes)?;
        self.file.sync()
    }

    /// Takes the name that says "from here on this may be what the planner wrote" (D64).
    pub(crate) fn become_swap(&mut self, folder: &Folder) -> Result<(), IoFault> {
        let swap = names::temporary(&self.target, &self.digits, Stage::Swap);
        folder.rename(&self.name, &swap).map_err(|fault| fault.at(folder.shown(&self.target)))?;
        self.name = swap;
        Ok(())
    }

    pub(crate) fn as_seen(&self, bytes: &[u8]) -> crate::exchange::Seen {
        crate::exchange::Seen { identity: self.identity, hash: Some(RawHash::of(bytes)) }
    }

    /// Removes the name if it still leads to our inode, and only then: after an exchange the name leads to the displaced
    /// file, which is never removed here.
    pub(crate) fn remove(&self, folder: &Folder) {
        let ours = |stat| is_regular(&stat) && Identity::of(&stat) == self.identity;
        if folder.stat(&self.name).ok().flatten().is_some_and(ours) {
            folder.unlink(&self.name).ok();
        }
    }
}

/// A private file (unpredictable name, mode of its own) that is removed when this is dropped.
#[derive(Debug)]
pub struct Temporary<'f> {
    folder: &'f Folder,
    pub(crate) private: Private,
}

impl<'f> Temporary<'f> {
    /// Makes an empty one. A leftover or a trap under the same name is never opened: the name is new or another one
    /// is drawn (F158).
    ///
    /// # Errors
    ///
    /// [`IoFault`]; nothing is left then.
    pub fn create(folder: &'f Folder, target: &str, mode: u32) -> Result<Self, IoFault> {
        Ok(Self { folder, private: Private::create(folder, target, mode)? })
    }

    /// Writes and syncs the content.
    ///
    /// # Errors
    ///
    /// [`IoFault`]; a full disk shows here.
    pub fn fill(&self, bytes: &[u8]) -> Result<(), IoFault> {
        self.private.fill(bytes)
    }

    /// Takes its final name, which must be free, durably; on a fault the name is free again. `EEXIST` when it is taken.
    ///
    /// Where the file system can neither rename without replacement nor link, a check and a plain rename must do.
    ///
    /// # Errors
    ///
    /// [`IoFault`].
    pub fn publish(&self, name: &str) -> Result<(), IoFault> {
        match self.folder.rename_new(&self.private.name, name) {
            Err(fault) if fault.errno() == Errno::OPNOTSUPP => {
                if self.folder.stat(name)?.is_some() {
                    return Err(IoFault::new("put in place", self.folder.shown(name), Errno::EXIST));
                }
                self.folder.rename(&self.private.name, name)?;
            }
            outcome => outcome?,
        }
        self.folder.sync().inspect_err(|_| self.take_back(name))
    }

    /// The state must not advance when it is not durable (D70). The name is moved, not removed: it might have got
    /// another file since, which then goes back.
    fn take_back(&self, name: &str) {
        if self.folder.rename_new(name, &self.private.name).is_ok() {
            let ours = |stat| Identity::of(&stat) == self.private.identity;
            if !self.folder.stat(&self.private.name).ok().flatten().is_some_and(ours) {
                self.folder.rename_new(&self.private.name, name).ok();
            }
        }
    }

    /// Takes the place of whatever file has the name, durably.
    ///
    /// # Errors
    ///
    /// [`IoFault`]: the old file is in place, or the new one whose name may not outlive a power failure.
    pub fn put_over(&self, name: &str) -> Result<(), IoFault> {
        self.folder.rename(&self.private.name, name)?;
        self.folder.sync()
    }

    /// Whether `name` is one that a crash can have left behind while a file was written under [`Temporary::create`]
    /// for `target`.
    #[must_use]
    pub fn is_leftover(target: &str, name: &str) -> bool {
        names::temporary_stage(target, name) == Some(Stage::New)
    }
}

impl Folder {
    /// Makes the file `name` with these bytes, durably; `false` when something has the name already, which stays.
    pub(crate) fn make_file(&self, name: &str, bytes: &[u8]) -> Result<bool, IoFault> {
        if self.stat(name)?.is_some() {
            return Ok(false);
        }
        let temporary = Temporary::create(self, name, 0o666)?;
        temporary.fill(bytes)?;
        match temporary.publish(name) {
            Err(fault) if fault.errno() == Errno::EXIST => Ok(false),
            outcome => outcome.map(|()| true),
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        self.private.remove(self.folder);
    }
}
