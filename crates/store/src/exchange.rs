//! The last step of a replace: an exchange of names, so that what was displaced can be looked at and put back (D64).
//!
//! A rename over the target would destroy whatever came between the last check and the rename. An exchange destroys
//! nothing: the displaced file is read, and if it is not what the check saw, the names are exchanged back until the
//! last bytes that the other writer wrote stand in place. Who wrote them and why is not known here.

use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::IoFault;
use crate::folder::{Folder, OpenFile};
use crate::hash::RawHash;
use crate::read::{FileBytes, Limit, ReadError, open_regular, read_file, read_open};
use crate::stamp::Identity;
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
    /// As `Changed`, but the other writer removed its file while an unseen write of its was in our hands: that write
    /// has the temporary's name.
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

/// Exchanges back until what comes out is what we had put under `target` last: then nothing newer was displaced.
fn put_back(folder: &Folder, swap: &str, target: &str, limit: Limit, ours: Seen) -> Result<Swapped, IoFault> {
    let mut in_place = ours;
    for _ in 0..COLLISIONS {
        let Some(entering) = look(folder, swap, limit)? else { return Ok(Swapped::Changed) };
        match folder.exchange(swap, target) {
            Err(fault) if fault.errno() == Errno::NOENT => return Ok(Swapped::Unseen),
            outcome => outcome?,
        };
        if stays(folder, swap, limit, in_place)? {
            // Ours, or a write that its own writer has replaced since.
            folder.unlink(swap)?;
            folder.sync()?;
            return Ok(Swapped::Changed);
        }
        in_place = entering;
    }
    Ok(Swapped::Unseen)
}

/// Whether this is what has the name, and still a moment later: whoever opened it while it had the other name is about
/// to write to it.
fn stays(folder: &Folder, name: &str, limit: Limit, expected: Seen) -> Result<bool, IoFault> {
    if look(folder, name, limit)? != Some(expected) {
        return Ok(false);
    }
    std::thread::sleep(ABOUT_TO_WRITE);
    Ok(look(folder, name, limit)? == Some(expected))
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

/// What has the name, after every change of it that is under way: a read alone does not wait for a truncation that hangs
/// in the kernel, and would see bytes that are as good as gone.
pub(crate) fn look(folder: &Folder, name: &str, limit: Limit) -> Result<Option<Seen>, IoFault> {
    let Some(stat) = folder.stat(name)? else { return Ok(None) };
    let read = open_regular(folder, name, OFlags::RDONLY).and_then(|(file, stat)| {
        file.sys.pass_changes(file.fd());
        read_open(&file, &stat, limit)
    });
    seen(Identity::of(&stat), read)
}

fn seen(identity: Identity, read: Result<FileBytes, ReadError>) -> Result<Option<Seen>, IoFault> {
    match read {
        Ok(file) => Ok(Some(Seen { identity: file.stamp.identity, hash: Some(file.hash) })),
        Err(ReadError::Missing) => Ok(None),
        Err(ReadError::NotRegular | ReadError::TooLarge { .. }) => Ok(Some(Seen { identity, hash: None })),
        Err(ReadError::Io(fault)) => Err(fault),
    }
}
