//! What a loading looked at, and whether it would find the same now. Nothing is read here but stamps.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::is_absence;

/// All that a loading depends on.
///
/// If [`Looks::still_hold`], another loading would give the same, with one exception: a change within one tick of the
/// file system's clock after the loading leaves no trace in a stamp ("racily clean"). So only a loading that found the
/// stamps of one that had ended at least a tick before may be relied on. Network file systems may answer with stamps
/// from before a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looks(pub(crate) Vec<Look>);

/// One look; `None` is an absence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Look {
    /// At a name; a link is not followed.
    Named(PathBuf, Option<Stamp>),
    /// At what a path leads to.
    Followed(PathBuf, Option<Stamp>),
    /// At the path without links.
    Real(PathBuf, Option<PathBuf>),
}

/// A state of a file or folder. Of a folder it stands for the names in it, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) kind: fs::FileType,
    /// Device and inode.
    pub(crate) identity: (u64, u64),
    pub(crate) size: u64,
    /// In seconds and nanoseconds.
    pub(crate) modified: (i64, i64),
    pub(crate) changed: (i64, i64),
}

impl Looks {
    /// Whether every look would find the same now.
    #[must_use]
    pub fn still_hold(&self) -> bool {
        self.0.iter().all(Look::still_holds)
    }

    /// Whether a clock that made a stamp may tick in whole seconds.
    #[must_use]
    pub fn are_coarse(&self) -> bool {
        self.stamps().any(|(_, stamp)| stamp.modified.1 == 0 && stamp.changed.1 == 0)
    }

    /// One path on each device.
    #[must_use]
    pub fn devices(&self) -> Vec<&Path> {
        let mut devices = std::collections::BTreeMap::new();
        for (path, stamp) in self.stamps() {
            devices.entry(stamp.identity.0).or_insert(path);
        }
        devices.into_values().collect()
    }

    fn stamps(&self) -> impl Iterator<Item = (&Path, &Stamp)> {
        self.0.iter().filter_map(|look| match look {
            Look::Named(path, stamp) | Look::Followed(path, stamp) => Some((path.as_path(), stamp.as_ref()?)),
            Look::Real(..) => None,
        })
    }
}

impl Look {
    fn still_holds(&self) -> bool {
        match self {
            Self::Named(path, stamp) => is_still(stamp.as_ref(), path.symlink_metadata().map(|meta| Stamp::of(&meta))),
            Self::Followed(path, stamp) => is_still(stamp.as_ref(), path.metadata().map(|meta| Stamp::of(&meta))),
            Self::Real(path, real) => is_still(real.as_ref(), path.canonicalize()),
        }
    }
}

fn is_still<T: PartialEq>(then: Option<&T>, now: io::Result<T>) -> bool {
    match now {
        Ok(now) => then == Some(&now),
        Err(error) => then.is_none() && is_absence(&error),
    }
}
