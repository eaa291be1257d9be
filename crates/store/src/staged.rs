//! A replace of `tasks.json` in two halves (D64): the new bytes reach the disk first, and take their place later.
//!
//! The first sync is most of the time that a replace takes, and nothing is decided by it: whatever must be known before
//! the file changes can be found out meanwhile. What may be written, and what it means, is not known here.

use std::ops::Deref;

use jiff::Timestamp;
use rustix::fs::OFlags;

use crate::attributes::{Attributes, CannotKeep};
use crate::exchange::{Expectation, Seen, Swapped, exchange_in};
use crate::folder::OpenFile;
use crate::hash::RawHash;
use crate::names;
use crate::project::ProjectDir;
use crate::read::{Limit, OpenQueue, ReadError, open_regular, read_open};
use crate::replace::{CHANGED, Method, ReplaceError, Replaced};
use crate::stamp::{Identity, Stamp};
use crate::swap::{SwapFile, keep_as_lost};
use crate::temporary::Private;
use crate::turn::Turn;

/// New bytes beside `tasks.json`, not in place and not durable yet. Dropped, they are gone.
#[derive(Debug)]
#[must_use = "dropping it gives the replace up"]
pub struct Unsynced<P: Deref<Target = ProjectDir>>(Staged<P>);

/// New bytes on the disk beside `tasks.json`, durable, and not in place. Dropped, they are gone.
#[derive(Debug)]
#[must_use = "dropping it gives the replace up"]
pub struct Staged<P: Deref<Target = ProjectDir>> {
    project: P,
    temporary: Private,
    /// The file that is to be replaced, open since it was checked.
    old: Old,
    ours: Seen,
}

/// A `tasks.json` that was found to have the expected bytes.
#[derive(Debug)]
struct Old {
    file: OpenFile,
    identity: Identity,
    attributes: Attributes,
    hash: RawHash,
}

impl<P: Deref<Target = ProjectDir>> Staged<P> {
    /// The first half: writes and syncs `bytes` beside a `tasks.json` whose bytes hash to `expected`. Nobody sees them.
    ///
    /// # Errors
    ///
    /// See [`ReplaceError`]; nothing is left then.
    pub fn write(project: P, expected: RawHash, bytes: &[u8]) -> Result<Self, ReplaceError> {
        Self::begin(project, expected, bytes)?.sync()
    }

    /// As [`Staged::write`], without the wait for the disk.
    ///
    /// # Errors
    ///
    /// See [`ReplaceError`]; nothing is left then.
    pub fn begin(project: P, expected: RawHash, bytes: &[u8]) -> Result<Unsynced<P>, ReplaceError> {
        let old = project.old_queue(expected)?;
        Self::over(project, old, bytes)
    }

    /// As [`Staged::begin`], over the file that was just read.
    ///
    /// # Errors
    ///
    /// See [`ReplaceError`]; nothing is left then.
    pub fn begin_over(project: P, queue: OpenQueue, bytes: &[u8]) -> Result<Unsynced<P>, ReplaceError> {
        let OpenQueue { read, file, stat } = queue;
        let attributes = Attributes::of(&file, &stat)?;
        let old = Old { file, identity: Identity::of(&stat), attributes, hash: read.hash };
        Self::over(project, old, bytes)
    }

    fn over(project: P, old: Old, bytes: &[u8]) -> Result<Unsynced<P>, ReplaceError> {
        if bytes.len() > Limit::Queue.bytes() {
            return Err(ReplaceError::TooLarge { size: bytes.len() });
        }
        let temporary = Private::create(&project.root, names::QUEUE, 0o600)?;
        let ours = temporary.as_seen(bytes);
        let staged = Self { project, temporary, old, ours };
        staged.old.give_to(&staged.temporary.file)?;
        staged.temporary.file.write_all(bytes)?;
        Ok(Unsynced(staged))
    }
}

impl<P: Deref<Target = ProjectDir>> Unsynced<P> {
    /// Waits for the disk.
    ///
    /// # Errors
    ///
    /// The system refused; nothing is left then.
    pub fn sync(self) -> Result<Staged<P>, ReplaceError> {
        self.0.temporary.file.sync()?;
        Ok(self.0)
    }
}

impl Old {
    fn give_to(&self, file: &OpenFile) -> Result<(), ReplaceError> {
        self.attributes.give_to(file).map_err(|why| match why {
            CannotKeep::Owner => ReplaceError::ForeignOwner {
                path: self.file.path.clone(),
                uid: self.attributes.uid,
                gid: self.attributes.gid,
            },
            CannotKeep::Io(fault) => fault.into(),
        })
    }
}

impl<P: Deref<Target = ProjectDir>> Drop for Staged<P> {
    fn drop(&mut self) {
        self.temporary.remove(&self.project.root);
    }
}

impl ProjectDir {
    /// The check: the name leads to a regular file with exactly the expected bytes.
    fn old_queue(&self, expected: RawHash) -> Result<Old, ReplaceError> {
        let (file, stat) = open_regular(&self.root, names::QUEUE, OFlags::RDONLY).map_err(changed)?;
        let attributes = Attributes::of(&file, &stat)?;
        let identity = Identity::of(&stat);
        match read_open(&file, &stat, Limit::Queue).map_err(changed)?.hash == expected {
            true => Ok(Old { file, identity, attributes, hash: expected }),
            false => Err(CHANGED),
        }
    }

    /// The re-check: the name still leads to that file, and bytes and attributes are as they were. The file is not opened
    /// again: each opening wakes everybody who watches the folder, ourselves too.
    fn still_holds(&self, old: &Old) -> Result<(), ReplaceError> {
        let stat = self.root.stat(names::QUEUE)?.filter(|stat| Identity::of(stat) == old.identity).ok_or(CHANGED)?;
        let same = Attributes::of(&old.file, &stat)? == old.attributes
            && read_open(&old.file, &stat, Limit::Queue).map_err(changed)?.hash == old.hash;
        if same { Ok(()) } else { Err(CHANGED) }
    }
}

fn changed(error: ReadError) -> ReplaceError {
    match error {
        ReadError::Io(fault) => ReplaceError::CannotWrite(fault),
        ReadError::Missing | ReadError::NotRegular | ReadError::TooLarge { .. } => CHANGED,
    }
}

impl<P: Deref<Target = ProjectDir>> Staged<P> {
    /// The second half: checks bytes, attributes and folders again, exchanges, syncs the folder. Durable when it returns.
    ///
    /// `now` only names a file that must be kept aside.
    ///
    /// # Errors
    ///
    /// See [`ReplaceError`].
    pub fn put_in_place(self, now: Timestamp) -> Result<Replaced, ReplaceError> {
        let turn = Turn::take(&self.project.root)?;
        self.put_in_place_in(&turn, now)
    }

    /// As [`Staged::put_in_place`], in a turn that was taken already.
    pub(crate) fn put_in_place_in(mut self, _: &Turn, now: Timestamp) -> Result<Replaced, ReplaceError> {
        let project = &*self.project;
        project.still_named()?;
        self.temporary.become_swap(&project.root)?;
        project.still_holds(&self.old)?;
        let root = &project.root;
        let expected = Expectation { hash: self.old.hash, open: Some((&self.old.file, self.old.identity)) };
        let swapped = exchange_in(root, &self.temporary, names::QUEUE, Limit::Queue, &expected, self.ours)?;
        let stamp = self.temporary.file.stat().ok().as_ref().map(Stamp::of);
        match swapped {
            Swapped::Displaced(seen) => {
                let displaced = Some(SwapFile::new(self.temporary.name.clone(), seen.identity, self.old.hash));
                Ok(Replaced { method: Method::Exchanged, stamp, displaced })
            }
            Swapped::Plain => Ok(Replaced { method: Method::PlainRename, stamp, displaced: None }),
            Swapped::Changed => Err(CHANGED),
            Swapped::Unseen => {
                let kept_as = Some(keep_as_lost(root, &self.temporary.name, now)?);
                Err(ReplaceError::Changed { kept_as })
            }
        }
    }
}
