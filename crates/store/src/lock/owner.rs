//! Owning a project: taking the lock, keeping its binding up to date, giving it back (D16–D19).

use std::sync::Arc;

use jiff::Timestamp;
use rustix::io::Errno;

use super::Claimant;
use super::content::{Binding, Instance, LockContent};
use super::found::Found;
use super::guard::{Guard, Protection, Taken};
use super::judge::{GuardState, LockState, Readable, Verdict};
use super::publish::{self, Published};
use crate::error::IoFault;
use crate::hash::RawHash;
use crate::names;
use crate::project::{Moved, ProjectDir};
use crate::stamp::Stamp;

/// The ownership of one project.
///
/// Dropping frees the guard and leaves the file: it is judged like any other lock, by us as our own. So a panic can
/// neither delete what is not ours nor lose the binding of a RUNNING task; [`Lock::release`] is the orderly way.
#[derive(Debug)]
pub struct Lock {
    project: Arc<ProjectDir>,
    guard: Guard,
    instance: Instance,
    content: LockContent,
    hash: RawHash,
    published: Published,
}

/// How an attempt to take the lock ended.
#[derive(Debug)]
pub enum Acquisition {
    /// It is ours.
    Acquired {
        /// The ownership.
        lock: Box<Lock>,
        /// The dead owner's lock that was replaced: its binding says what became of a RUNNING task (D22).
        recovered: Option<Box<LockContent>>,
    },
    /// Somebody else's, or nobody can tell, or not a lock.
    Blocked(Verdict),
}

/// Why the lock could not be taken, kept or changed.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The folders are no longer the ones that were opened (D18).
    #[error(transparent)]
    Moved(#[from] Moved),
    /// The lock file is no longer ours (D18): stop writing, drop the [`Lock`], start over.
    #[error("the lock of `{}` is no longer ours: {reason}", project.display())]
    Lost {
        /// The project.
        project: std::path::PathBuf,
        /// What was found instead.
        reason: &'static str,
    },
    /// The content would be over 1 KiB (D14): the session id or the host name is too long.
    #[error("the lock would be over 1 KiB: the session id or the host name is too long")]
    TooLong,
    /// Only a claimant with an instance can own.
    #[error("a claimant without an instance cannot take a lock")]
    NoInstance,
    /// Other processes kept changing the lock; try again later (F064).
    #[error("the lock kept changing")]
    Contended,
    /// The system refused.
    #[error(transparent)]
    CannotWrite(#[from] IoFault),
}

/// Whether the lock file outlives the ownership.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepFile {
    /// Remove it: the project is free.
    Remove,
    /// Keep it: the binding of a RUNNING task must survive for the next daemon (D19).
    Keep,
}

/// How often a lock that changes under our hands is judged again.
const TRIES: usize = 8;

impl Lock {
    /// Takes the lock of a project if it is free or its owner is dead (D16, D17).
    ///
    /// # Errors
    ///
    /// See [`LockError`]; nothing of ours is left then. A lock that blocks is not an error.
    pub fn acquire(
        project: &Arc<ProjectDir>,
        me: &Claimant,
        session: Option<Binding>,
        now: Timestamp,
    ) -> Result<Acquisition, LockError> {
        let instance = me.instance.ok_or(LockError::NoInstance)?;
        project.still_named()?;
        let guard = match Guard::take(&project.pi) {
            Ok(Taken::Ours(guard)) => guard,
            Ok(Taken::HeldElsewhere) => return blocked_by_guard(project, me),
            Err(fault) => return blocked_by_owner(project, me, fault),
        };
        if guard.protection == Protection::Guarded {
            publish::sweep(&project.pi)?;
        }
        let content = content(me, instance, session, now);
        let bytes = content.to_bytes().ok_or(LockError::TooLong)?;
        match contend(project, me, instance, guard_state(&guard), &bytes)? {
            Round::Blocked(verdict) => Ok(Acquisition::Blocked(verdict)),
            Round::Ours { published, recovered } => {
                let (project, hash) = (Arc::clone(project), RawHash::of(&bytes));
                let lock = Box::new(Self { project, guard, instance, content, hash, published });
                Ok(Acquisition::Acquired { lock, recovered })
            }
        }
    }

    /// What stands in the file.
    #[must_use]
    pub fn content(&self) -> &LockContent {
        &self.content
    }

    /// What protects the ownership.
    #[must_use]
    pub fn protection(&self) -> &Protection {
        &self.guard.protection
    }

    /// Whether the file is still ours: same instance, same device and inode, folders and guard in place (D18). A few
    /// stats; the file is read only when its state changed.
    ///
    /// # Errors
    ///
    /// [`LockError::Moved`] and [`LockError::Lost`]; `CannotWrite` when it cannot be told.
    pub fn still_ours(&mut self) -> Result<(), LockError> {
        self.project.still_named()?;
        if !self.guard.still_named(&self.project.pi)? {
            return Err(self.lost("its guard was removed or replaced"));
        }
        let stamp = self.project.pi.stat(names::LOCK)?.as_ref().map(Stamp::of);
        match stamp {
            None => Err(self.lost("the file is gone")),
            Some(stamp) if Some(stamp) == self.published.stamp => Ok(()),
            Some(stamp) if stamp.identity != self.published.identity => Err(self.lost("another file is in its place")),
            Some(stamp) => self.still_our_content(stamp),
        }
    }

    fn still_our_content(&mut self, stamp: Stamp) -> Result<(), LockError> {
        let found = Found::read(&self.project)?;
        match found {
            Some(Found { content: Readable::Content(content), identity, hash: Some(hash), .. })
                if identity == stamp.identity && content.is_of(self.instance) && content.host == self.content.host =>
            {
                (self.published.stamp, self.hash) = (Some(stamp), hash);
                Ok(())
            }
            _ => Err(self.lost("its content was changed")),
        }
    }

    /// Writes another session binding into the file, durably, if it is still ours.
    ///
    /// # Errors
    ///
    /// See [`LockError`]; the old binding then stands.
    pub fn rewrite(&mut self, session: Option<Binding>) -> Result<(), LockError> {
        self.still_ours()?;
        let content = LockContent { session, ..self.content.clone() };
        let bytes = content.to_bytes().ok_or(LockError::TooLong)?;
        match publish::replace(&self.project.pi, self.hash, &bytes) {
            Ok(Some(published)) => {
                (self.content, self.hash, self.published) = (content, RawHash::of(&bytes), published);
                Ok(())
            }
            Ok(None) => Err(self.lost("it was changed while being written")),
            Err(fault) => {
                self.adopt_what_stands(RawHash::of(&bytes), content);
                Err(fault.into())
            }
        }
    }

    /// After a fault either of our two files may stand: whichever does is ours.
    fn adopt_what_stands(&mut self, hash: RawHash, content: LockContent) {
        let Ok(Some(found)) = Found::read(&self.project) else { return };
        if found.hash == Some(hash) {
            (self.content, self.hash) = (content, hash);
        } else if found.hash != Some(self.hash) {
            return;
        }
        self.published = Published { identity: found.identity, stamp: None };
    }

    /// Ends the ownership. The guard is freed after the file is gone. A file that is not ours any more stays.
    ///
    /// # Errors
    ///
    /// [`IoFault`] when the file could not be removed: it will be judged dead once this process has ended.
    pub fn release(mut self, keep: KeepFile) -> Result<(), IoFault> {
        if keep == KeepFile::Keep || self.still_ours().is_err() {
            return Ok(());
        }
        publish::remove_ours(&self.project.pi, self.published.identity).map(|_| ())
    }

    fn lost(&self, reason: &'static str) -> LockError {
        LockError::Lost { project: self.project.path().to_owned(), reason }
    }
}

enum Round {
    Ours { published: Published, recovered: Option<Box<LockContent>> },
    Blocked(Verdict),
}

/// Publishes where no lock is, replaces a dead one, stops at any other; again when the lock changes meanwhile.
fn contend(
    project: &ProjectDir,
    me: &Claimant,
    instance: Instance,
    guard: GuardState,
    bytes: &[u8],
) -> Result<Round, LockError> {
    for _ in 0..TRIES {
        let Some(found) = Found::read(project)? else {
            match publish::publish(&project.pi, bytes)? {
                Some(published) => return Ok(Round::Ours { published, recovered: None }),
                None => continue,
            }
        };
        let verdict = found.judge(project, guard, me);
        let (Readable::Content(old), Some(hash)) = (found.content, found.hash) else {
            return Ok(Round::Blocked(verdict));
        };
        // Under the guard nobody else is this instance: what we lost or kept earlier is ours again. What names another
        // host never was ours (F085).
        let ours = old.is_of(instance) && verdict.rule != super::judge::ANOTHER_HOST;
        if verdict.state != LockState::Dead && !ours {
            return Ok(Round::Blocked(verdict));
        }
        if let Some(published) = publish::replace(&project.pi, hash, bytes)? {
            return Ok(Round::Ours { published, recovered: Some(old) });
        }
    }
    Err(LockError::Contended)
}

fn content(me: &Claimant, instance: Instance, session: Option<Binding>, now: Timestamp) -> LockContent {
    LockContent {
        version: Some(1),
        pid: me.host.process.pid,
        started: me.host.process.started,
        boot_id: me.host.boot_id.clone(),
        pid_ns: me.host.pid_ns,
        host: Some(me.host.host.clone()),
        uid: Some(me.host.uid.into()),
        instance: Some(instance.to_string()),
        acquired_at: Some(now),
        session,
    }
}

fn guard_state(guard: &Guard) -> GuardState {
    match guard.protection {
        Protection::Guarded => GuardState::Free,
        Protection::ContentOnly { .. } => GuardState::Unsupported,
    }
}

fn blocked_by_guard(project: &ProjectDir, me: &Claimant) -> Result<Acquisition, LockError> {
    let verdict = match Found::read(project)? {
        Some(found) => found.judge(project, GuardState::HeldElsewhere, me),
        None => Verdict {
            rule: 2,
            state: LockState::Live,
            reason: "another process holds the guard and is taking or releasing the lock".to_owned(),
            holder: None,
        },
    };
    Ok(Acquisition::Blocked(verdict))
}

/// The guard of another user (mode 0600) cannot be opened: its lock says the same more clearly (rule 3).
fn blocked_by_owner(project: &ProjectDir, me: &Claimant, fault: IoFault) -> Result<Acquisition, LockError> {
    if matches!(fault.errno(), Errno::ACCESS | Errno::PERM)
        && let Some(found) = Found::read(project)?
        && found.uid != me.host.uid
    {
        return Ok(Acquisition::Blocked(found.judge(project, GuardState::Unsupported, me)));
    }
    Err(fault.into())
}
