//! Putting a lock file in place and taking it away, so that nobody ever sees half of one (D15, D18).

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::IoFault;
use crate::exchange::{Swapped, exchange_in};
use crate::folder::{Folder, OpenFile};
use crate::hash::RawHash;
use crate::names;
use crate::read::Limit;
use crate::stamp::{Identity, Stamp, is_regular};
use crate::sys::Sys;
use crate::temporary::Temporary;

/// A lock file of ours that stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Published {
    pub(crate) identity: Identity,
    /// `None` when it could not be looked at any more: then the next look reads the file.
    pub(crate) stamp: Option<Stamp>,
}

impl Published {
    fn new(identity: Identity, file: &OpenFile) -> Self {
        Self { identity, stamp: file.stat().ok().as_ref().map(Stamp::of) }
    }
}

/// Publishes `bytes` where no lock is; `None` when one came first. Durable, or taken back.
pub(crate) fn publish(pi: &Folder, bytes: &[u8]) -> Result<Option<Published>, IoFault> {
    let temporary = Temporary::create(pi, names::LOCK, 0o600)?;
    temporary.fill(bytes)?;
    let placed = match pi.rename_new(&temporary.private.name, names::LOCK) {
        Err(fault) if fault.errno() == Errno::EXIST => return Ok(None),
        Err(fault) if fault.errno() == Errno::OPNOTSUPP => return publish_in_place(pi, bytes),
        outcome => outcome,
    };
    confirm(pi, &temporary.private.file, temporary.private.identity, placed)
}

/// For file systems with neither links nor flags (exFAT, some FUSE): only under the guard, and a crash in between
/// leaves an empty lock, which is malformed and left for a person.
fn publish_in_place(pi: &Folder, bytes: &[u8]) -> Result<Option<Published>, IoFault> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    let file = match pi.open_file("create", names::LOCK, flags, 0o600) {
        Err(fault) if fault.errno() == Errno::EXIST => return Ok(None),
        outcome => outcome?,
    };
    let written = file.write_all(bytes).and_then(|()| file.sync()).and_then(|()| file.stat());
    match written {
        Ok(stat) => confirm(pi, &file, Identity::of(&stat), Ok(())),
        Err(fault) => {
            // Just made by us with `O_EXCL`, under the guard: nobody else's.
            pi.unlink(names::LOCK).ok();
            Err(fault)
        }
    }
}

/// The last step of a publication; on a fault the lock is taken away again, since nobody will know that it is held.
fn confirm(
    pi: &Folder,
    file: &OpenFile,
    identity: Identity,
    placed: Result<(), IoFault>,
) -> Result<Option<Published>, IoFault> {
    match placed.and_then(|()| pi.sync()) {
        Ok(()) => Ok(Some(Published::new(identity, file))),
        Err(fault) => {
            remove_ours(pi, identity).ok();
            Err(fault)
        }
    }
}

/// Replaces the lock whose bytes hash to `expected`; `None` when another one stands there, which then stays.
///
/// Durable, or the old one stands again.
pub(crate) fn replace(pi: &Folder, expected: RawHash, bytes: &[u8]) -> Result<Option<Published>, IoFault> {
    let temporary = Temporary::create(pi, names::LOCK, 0o600)?;
    temporary.fill(bytes)?;
    let ours = temporary.private.as_seen(bytes);
    match exchange_in(pi, &temporary.private, names::LOCK, Limit::Lock, &expected.into(), ours)? {
        Swapped::Displaced(_) => {
            pi.unlink(&temporary.private.name).ok();
        }
        Swapped::Plain => {}
        Swapped::Changed => return Ok(None),
        // A lock that its owner released while it was in our hands.
        Swapped::Unseen => {
            pi.unlink(&temporary.private.name)?;
            return Ok(None);
        }
    }
    Ok(Some(Published::new(temporary.private.identity, &temporary.private.file)))
}

/// Removes the lock if it is the file with this identity, durably; whether it was.
///
/// It is moved aside first and looked at there: between a look and an `unlink` the name could get another file.
pub(crate) fn remove_ours(pi: &Folder, identity: Identity) -> Result<bool, IoFault> {
    let is_ours = |name: &str| Ok(pi.stat(name)?.is_some_and(|stat| Identity::of(&stat) == identity));
    if !is_ours(names::LOCK)? {
        return Ok(false);
    }
    let digits = Sys::private_digits().map_err(|errno| IoFault::new("draw a name in", &pi.path, errno))?;
    let aside = names::temporary(names::LOCK, &digits, names::Stage::New);
    match pi.rename_new(names::LOCK, &aside) {
        Err(fault) if fault.errno() == Errno::NOENT => return Ok(false),
        Err(fault) if fault.errno() == Errno::OPNOTSUPP => {
            pi.unlink(names::LOCK)?;
            return pi.sync().map(|()| true);
        }
        outcome => outcome?,
    }
    if !is_ours(&aside)? {
        pi.rename_new(&aside, names::LOCK)?;
        return Ok(false);
    }
    pi.unlink(&aside)?;
    pi.sync()?;
    Ok(true)
}

/// Removes what a crash left of our temporaries. Only under the guard: then nobody is writing one.
pub(crate) fn sweep(pi: &Folder) -> Result<(), IoFault> {
    for name in pi.list()? {
        if names::temporary_stage(names::LOCK, &name).is_some() && pi.stat(&name)?.as_ref().is_some_and(is_regular) {
            pi.unlink(&name)?;
        }
    }
    Ok(())
}
