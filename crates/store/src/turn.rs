//! One writer of ours at a time in a project root, also across processes (the daemon, `handoff submit`).
//!
//! The exchange of `exchange` is safe against a writer that knows nothing of it. Two exchangers and such a writer at
//! once are not: each would take the other's attempt for something newer. So they take turns, by a `flock` on the root
//! folder itself: no file to create, none to leave behind. Strangers need not know it.

use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::IoFault;
use crate::folder::{Folder, OpenFile};

/// The turn, given back when dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _folder: OpenFile,
}

/// A turn takes a few calls and two syncs; who waits longer than `TRIES` × `PAUSE` (2 s) reports it.
const TRIES: usize = 400;
pub(crate) const PAUSE: Duration = Duration::from_millis(5);

impl Turn {
    /// Waits for the turn. Where the file system has no locks it is taken for granted.
    ///
    /// # Errors
    ///
    /// `EWOULDBLOCK` when another process holds the folder for too long.
    pub(crate) fn take(root: &Folder) -> Result<Self, IoFault> {
        // A descriptor of its own: `flock` does not tell apart users of the same open file.
        let folder = root.open_file("open the folder", ".", OFlags::RDONLY | OFlags::DIRECTORY, 0)?;
        Self::of(&folder)?;
        Ok(Self { _folder: folder })
    }

    /// Waits for the turn on an open file; it lasts until that file is closed.
    ///
    /// # Errors
    ///
    /// As [`Turn::take`].
    pub(crate) fn of(file: &OpenFile) -> Result<(), IoFault> {
        Self::within(file, TRIES)
    }

    /// As [`Turn::of`], trying so many times, [`PAUSE`] apart.
    pub(crate) fn within(file: &OpenFile, tries: usize) -> Result<(), IoFault> {
        for _ in 0..tries {
            match file.sys.try_flock(file.fd()) {
                Ok(()) | Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::BADF | Errno::NOSYS | Errno::INVAL) => {
                    return Ok(());
                }
                Err(Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
                Err(errno) => return file.fault("lock", Err(errno)),
            }
        }
        file.fault("wait for the other writer in", Err(Errno::WOULDBLOCK))
    }
}
