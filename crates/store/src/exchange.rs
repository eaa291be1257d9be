//! The last step of a replace: an exchange of names, so that what was displaced can be looked at and put back (D64).
//!
//! A rename over the target would destroy whatever came between the last check and the rename. An exchange destroys
//! nothing: the displaced file is read, and if it is not what the check saw, the names are exchanged back until the
//! last bytes that the other writer wrote stand in place. Who wrote them and why is not known here.

use std::cmp::Ordering;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::IoFault;
use crate::folder::{Folder, OpenFile};
use crate::hash::RawHash;
use crate::read::{FileBytes, Limit, ReadError, open_regular, read_file, read_open};
use crate::stamp::{Identity, Stamp};
use crate::temporary::Private;

/// A file as it was seen under a name: which one, and its bytes (`None`: not a readable file of allowed size).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) identity: Identity,
    pub(crate) hash: Option<RawHash>,
}

/// How an exchange ended.
#[derive(Debug)]
pub(crate) enum Swapped {
    /// Ours stands; the displaced file, byte for byte the expected one, has the temporary's name.
    Displaced(Seen),
    /// Ours stands; the file system has no exchange, the old file is gone.
    Plain,
    /// The target had changed or vanished; what the other writer left stands. Ours is gone.
    Changed,
    /// As `Changed`, but a write that may be unseen has the temporary's name: the other writer removed its file meanwhile, or
    /// it cannot be told which of two writes is the newer one.
    Unseen,
}

/// From opening a file to writing it, on a machine with ten times more to do than it can. Waited for only when two writers
/// have collided, and whoever collided reads the file anew in any case. A writer in place that sleeps longer between the two
/// can lose that write (D64): nothing tells who has a file open.
const ABOUT_TO_WRITE: Duration = Duration::from_millis(250);

/// How often two writers may collide before the newest write is kept aside instead.
const COLLISIONS: usize = 1000;

/// What is to be displaced.
pub(crate) struct Expectation<'f> {
    /// What its bytes must hash to.
    pub(crate) hash: RawHash,
    /// The file, if it is open already: then it is not opened again.
    pub(crate) open: Option<(&'f OpenFile, Identity)>,
}

impl From<RawHash> for Expectation<'_> {
    fn from(hash: RawHash) -> Self {
        Self { hash, open: None }
    }
}

/// Puts `temporary` (holding `ours`) in the place of `target`, which must be as `expected`.
///
/// Durable when it returns `Displaced` or `Plain`. On an error the old file stands again, unless even the way back
/// failed; then the temporary's name keeps it for the next start.
pub(crate) fn exchange_in(
    folder: &Folder,
    temporary: &Private,
    target: &str,
    limit: Limit,
    expected: &Expectation<'_>,
    ours: Seen,
) -> Result<Swapped, IoFault> {
    match folder.exchange(&temporary.name, target) {
        Err(fault) if fault.errno() == Errno::NOENT => return Ok(Swapped::Changed),
        Err(fault) => return Err(fault),
        Ok(None) => return plain(folder, temporary, target),
        Ok(Some(())) => {}
    }
    match look_at_expected(folder, &temporary.name, limit, expected) {
        Ok(Some(seen)) if seen.hash == Some(expected.hash) => match folder.sync() {
            Ok(()) => Ok(Swapped::Displaced(seen)),
            Err(fault) => {
                put_back(folder, &temporary.name, target, limit, ours)?;
                Err(fault)
            }
        },
        Ok(_) => put_back(folder, &temporary.name, target, limit, ours),
        Err(fault) => {
            put_back(folder, &temporary.name, target, limit, ours)?;
            Err(fault)
        }
    }
}

/// The re-check came just before; this is the window that the protocol's last guarantee names.
fn plain(folder: &Folder, temporary: &Private, target: &str) -> Result<Swapped, IoFault> {
    folder.rename(&temporary.name, target)?;
    folder.sync()?;
    Ok(Swapped::Plain)
}

/// Exchanges back until the newest write has the name, and removes the other file when nobody writes to it any more.
///
/// Writes follow one another, and each goes to the file that had the name when it was opened. So a change under the name is
/// newer than one beside it, as long as the names stay. Over an exchange that cannot be told, and the clock decides.
fn put_back(folder: &Folder, swap: &str, target: &str, limit: Limit, ours: Seen) -> Result<Swapped, IoFault> {
    let look = || Both::look(folder, swap, target, limit);
    let mut known = look()?;
    let mut newest = match known.target {
        Some(found) if found.seen != ours => Place::Target,
        _ => Place::Swap,
    };
    for _ in 0..COLLISIONS {
        if known.swap.is_none() {
            return Ok(Swapped::Changed);
        }
        if newest == Place::Swap {
            match folder.exchange(swap, target) {
                Err(fault) if fault.errno() == Errno::NOENT => return Ok(Swapped::Unseen),
                outcome => outcome?,
            };
            let now = look()?;
            let Some(found) = known.newest_after_exchange(&now) else { return Ok(Swapped::Unseen) };
            (newest, known) = (found, now);
            if newest == Place::Swap {
                continue;
            }
        }
        // Whoever opened it while it had the name is about to write to it.
        std::thread::sleep(ABOUT_TO_WRITE);
        let now = look()?;
        if now.swap == known.swap {
            // Ours, or a write that its own writer has replaced since.
            folder.unlink(swap)?;
            folder.sync()?;
            return Ok(Swapped::Changed);
        }
        newest = if now.target.is_some() && now.target != known.target { Place::Target } else { Place::Swap };
        known = now;
    }
    Ok(Swapped::Unseen)
}

/// One of the two names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Swap,
    Target,
}

/// A file that was found under a name.
#[derive(Debug, Clone, Copy)]
struct Found {
    seen: Seen,
    /// When it was written to, in nanoseconds, if it can be read.
    modified: Option<i128>,
}

impl PartialEq for Found {
    fn eq(&self, other: &Self) -> bool {
        self.seen == other.seen
    }
}

/// What both names lead to.
#[derive(Debug, Clone, Copy)]
struct Both {
    swap: Option<Found>,
    target: Option<Found>,
}

impl Both {
    fn look(folder: &Folder, swap: &str, target: &str, limit: Limit) -> Result<Self, IoFault> {
        Ok(Self { swap: find(folder, swap, limit)?, target: find(folder, target, limit)? })
    }

    /// Where the newest write is after the newest one until then got the name; `None` if that cannot be told.
    fn newest_after_exchange(&self, now: &Self) -> Option<Place> {
        match (now.target == self.swap, now.swap == self.target) {
            // Somebody removed it: there is nothing to put back.
            _ if now.swap.is_none() => Some(Place::Swap),
            (_, true) => Some(Place::Target),
            (true, false) => Some(Place::Swap),
            (false, false) => match now.swap?.modified?.cmp(&now.target?.modified?) {
                Ordering::Greater => Some(Place::Swap),
                Ordering::Less => Some(Place::Target),
                Ordering::Equal => None,
            },
        }
    }
}

/// As [`look`], through the open file if that is the one.
fn look_at_expected(
    folder: &Folder,
    name: &str,
    limit: Limit,
    expected: &Expectation<'_>,
) -> Result<Option<Seen>, IoFault> {
    match (folder.stat(name)?, expected.open) {
        (None, _) => Ok(None),
        (Some(stat), Some((file, identity))) if Identity::of(&stat) == identity => {
            seen(identity, read_open(file, &stat, limit))
        }
        (Some(stat), _) => seen(Identity::of(&stat), read_file(folder, name, limit)),
    }
}

/// What has the name.
pub(crate) fn look(folder: &Folder, name: &str, limit: Limit) -> Result<Option<Seen>, IoFault> {
    Ok(find(folder, name, limit)?.map(|found| found.seen))
}

/// What has the name, after every change of it that is under way: a read alone does not wait for a truncation that hangs
/// in the kernel, and would see bytes that are as good as gone.
fn find(folder: &Folder, name: &str, limit: Limit) -> Result<Option<Found>, IoFault> {
    let Some(stat) = folder.stat(name)? else { return Ok(None) };
    let read = open_regular(folder, name, OFlags::RDONLY).and_then(|(file, stat)| {
        file.sys.pass_changes(file.fd());
        let read = read_open(&file, &stat, limit)?;
        // A write that comes in between makes the file newer than its bytes, never older.
        Ok(FileBytes { stamp: Stamp::of(&file.stat()?), ..read })
    });
    found(Identity::of(&stat), read)
}

fn seen(identity: Identity, read: Result<FileBytes, ReadError>) -> Result<Option<Seen>, IoFault> {
    Ok(found(identity, read)?.map(|found| found.seen))
}

fn found(identity: Identity, read: Result<FileBytes, ReadError>) -> Result<Option<Found>, IoFault> {
    match read {
        Ok(file) => {
            let seen = Seen { identity: file.stamp.identity, hash: Some(file.hash) };
            Ok(Some(Found { seen, modified: Some(file.stamp.modified_ns) }))
        }
        Err(ReadError::Missing) => Ok(None),
        Err(ReadError::NotRegular | ReadError::TooLarge { .. }) => {
            Ok(Some(Found { seen: Seen { identity, hash: None }, modified: None }))
        }
        Err(ReadError::Io(fault)) => Err(fault),
    }
}
