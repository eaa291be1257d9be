//! The guard: an exclusive `flock` on a file beside the lock, held for as long as the lock is ours (D17).

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::IoFault;
use crate::folder::{Folder, OpenFile};
use crate::names;
use crate::stamp::{Identity, is_regular};

/// What protects a held lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection {
    /// The guard: nobody who follows the protocol can take the lock while we live.
    Guarded,
    /// The file system has no file locks: only the lock's content does. Shown by `status` and `doctor`.
    ContentOnly {
        /// The system's words.
        reason: String,
    },
}

/// The guard, ours until dropped.
#[derive(Debug)]
pub(crate) struct Guard {
    _file: OpenFile,
    identity: Identity,
    pub(crate) protection: Protection,
}

/// How an attempt to take the guard ended.
#[derive(Debug)]
pub(crate) enum Taken {
    Ours(Guard),
    HeldElsewhere,
}

/// How often a guard file that is swapped under our hands is opened again (it never should be).
const TRIES: usize = 8;

impl Guard {
    /// Takes the guard without waiting; the file is made once and never removed.
    pub(crate) fn take(pi: &Folder) -> Result<Taken, IoFault> {
        for _ in 0..TRIES {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
            let file = pi.open_file("open the guard", names::GUARD, flags, 0o600)?;
            let protection = match file.sys.try_flock(file.fd()) {
                Ok(()) => Protection::Guarded,
                Err(Errno::WOULDBLOCK) => return Ok(Taken::HeldElsewhere),
                Err(errno @ (Errno::NOLCK | Errno::OPNOTSUPP | Errno::BADF | Errno::NOSYS | Errno::INVAL)) => {
                    Protection::ContentOnly { reason: errno.to_string() }
                }
                Err(errno) => return file.fault("lock", Err(errno)),
            };
            // The name may have been replaced between the open and the lock: then we locked a file nobody will look at.
            let stat = file.stat()?;
            let identity = Identity::of(&stat);
            if !is_regular(&stat) {
                return file.fault("use as guard", Err(Errno::INVAL));
            }
            if is_named(pi, identity)? {
                return Ok(Taken::Ours(Self { _file: file, identity, protection }));
            }
        }
        Err(IoFault::new("lock", pi.shown(names::GUARD), Errno::AGAIN))
    }

    /// Whether the name still leads to the file we locked.
    pub(crate) fn still_named(&self, pi: &Folder) -> Result<bool, IoFault> {
        is_named(pi, self.identity)
    }
}

fn is_named(pi: &Folder, identity: Identity) -> Result<bool, IoFault> {
    Ok(pi.stat(names::GUARD)?.is_some_and(|stat| Identity::of(&stat) == identity))
}
