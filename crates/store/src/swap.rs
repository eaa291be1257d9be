//! The file that a replace displaced, and what is left of replaces after a crash (D64).

use std::path::PathBuf;

use jiff::Timestamp;
use rustix::io::Errno;

use crate::error::IoFault;
use crate::exchange::{Seen, look};
use crate::folder::Folder;
use crate::hash::RawHash;
use crate::names::{self, Stage};
use crate::project::ProjectDir;
use crate::read::{Limit, ReadError, read_file};
use crate::stamp::{Identity, is_regular};
use crate::turn::Turn;

/// The displaced file of a replace. A writer that had it open may still write to it; so it is read once more when the
/// session accepts, and only then removed. Dropped unsettled (a crash) it is found by the next sweep of temporaries.
#[derive(Debug)]
#[must_use = "an unsettled swap file stays on disk"]
pub struct SwapFile {
    name: String,
    seen: Seen,
}

/// What became of a displaced file.
#[derive(Debug, PartialEq, Eq)]
pub enum Settled {
    /// Unchanged, and removed.
    Clean,
    /// Somebody wrote to it after it was displaced: kept under this path. The project must halt and tell.
    Lost {
        /// `tasks.json.lost-<time>`.
        kept_as: PathBuf,
    },
}

/// What a swap file from an earlier run is, by its bytes (D64).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwapVerdict {
    /// We wrote it, or it is the task that stands in the queue, or one that the journal knows as dispatched.
    Known,
    /// A write of the planner that nobody saw.
    Unseen,
}

/// What a sweep of temporaries did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Removed leftovers of ours.
    pub removed: Vec<PathBuf>,
    /// Writes of the planner that nobody had seen, under their new names: halt and tell.
    pub lost: Vec<PathBuf>,
}

impl SwapFile {
    pub(crate) fn new(name: String, identity: Identity, hash: RawHash) -> Self {
        Self { name, seen: Seen { identity, hash: Some(hash) } }
    }

    /// Its name in the project root.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the file once more; removes it if it is as it was, else keeps it as lost. `now` names the kept file.
    ///
    /// # Errors
    ///
    /// [`IoFault`]; the file then stays for the next call or the sweep at the next start.
    pub fn settle(&self, project: &ProjectDir, now: Timestamp) -> Result<Settled, IoFault> {
        match look(&project.root, &self.name, Limit::Queue)? {
            None => Ok(Settled::Clean),
            Some(seen) if seen == self.seen => {
                project.root.unlink(&self.name)?;
                Ok(Settled::Clean)
            }
            Some(_) => Ok(Settled::Lost { kept_as: keep_as_lost(&project.root, &self.name, now)? }),
        }
    }
}

impl ProjectDir {
    /// Clears what earlier runs left beside the queue: call it at start, with the ownership lock held.
    ///
    /// A `.new` is removed. A `.swap` is given to `judge` and removed if known; what is unseen or cannot be judged
    /// (not a regular file, too large) is kept as lost. Things with our names that we cannot have made (a folder or
    /// link called `.new`) are left alone (F158).
    ///
    /// # Errors
    ///
    /// The first [`IoFault`]; what was done until then is done, and another call goes on from there.
    pub fn sweep_temporaries(
        &self,
        now: Timestamp,
        mut judge: impl FnMut(&[u8]) -> SwapVerdict,
    ) -> Result<Swept, IoFault> {
        let _turn = Turn::take(&self.root)?;
        let mut swept = Swept::default();
        for name in self.root.list()? {
            let remove = match names::temporary_stage(names::QUEUE, &name) {
                None => continue,
                Some(Stage::New) if self.root.stat(&name)?.as_ref().is_some_and(is_regular) => true,
                Some(Stage::New) => continue,
                Some(Stage::Swap) => match read_file(&self.root, &name, Limit::Queue) {
                    Ok(file) => judge(&file.bytes) == SwapVerdict::Known,
                    Err(ReadError::Missing) => continue,
                    Err(ReadError::NotRegular | ReadError::TooLarge { .. }) => false,
                    Err(ReadError::Io(fault)) => return Err(fault),
                },
            };
            if remove {
                self.root.unlink(&name)?;
                swept.removed.push(self.root.shown(&name));
            } else {
                swept.lost.push(keep_as_lost(&self.root, &name, now)?);
            }
        }
        Ok(swept)
    }
}

/// Gives `name` a free name `tasks.json.lost-<time>`, durably.
pub(crate) fn keep_as_lost(root: &Folder, name: &str, now: Timestamp) -> Result<PathBuf, IoFault> {
    let base = format!("{}.lost-{}", names::QUEUE, names::time_in_name(now));
    move_aside(root, name, &base)
}

/// Gives `name` the name `base`, or the next free one with a number, durably.
pub(crate) fn move_aside(folder: &Folder, name: &str, base: &str) -> Result<PathBuf, IoFault> {
    for kept in names::candidates(base) {
        match folder.rename_new(name, &kept) {
            Err(fault) if fault.errno() == Errno::EXIST => {}
            Err(fault) if fault.errno() == Errno::OPNOTSUPP => {
                if folder.stat(&kept)?.is_some() {
                    continue;
                }
                folder.rename(name, &kept)?;
                return folder.sync().map(|()| folder.shown(&kept));
            }
            Err(fault) => return Err(fault),
            Ok(()) => return folder.sync().map(|()| folder.shown(&kept)),
        }
    }
    Err(IoFault::new("find a free name for", folder.shown(base), Errno::EXIST))
}
