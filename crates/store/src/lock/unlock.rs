//! What a person may do about a lock: have it explained, and move it aside when nobody lives behind it (D16, end).

use std::path::PathBuf;

use jiff::Timestamp;

use super::Claimant;
use super::found::Found;
use super::guard::{Guard, Protection, Taken};
use super::judge::{GuardState, LockState, Verdict};
use super::owner::LockError;
use crate::names;
use crate::project::ProjectDir;
use crate::stamp::Identity;
use crate::swap::move_aside;

/// How an unlock ended.
#[derive(Debug)]
pub enum Unlocked {
    /// There is no lock.
    NoLock,
    /// Moved aside; what it was judged to be.
    Moved {
        /// `….lock.removed-<time>`.
        moved_to: PathBuf,
        /// The rule that fitted.
        verdict: Verdict,
    },
    /// Its owner lives: end that process instead.
    Refused(Verdict),
}

impl ProjectDir {
    /// Which rule fits the lock that is there; `None` when there is none. Changes nothing but takes the guard for a
    /// moment.
    ///
    /// # Errors
    ///
    /// [`LockError`] when it cannot be read.
    pub fn explain_lock(&self, me: &Claimant) -> Result<Option<Verdict>, LockError> {
        let (guard, state) = self.probe_guard()?;
        let verdict = Found::read(self)?.map(|found| found.judge(self, state, me));
        drop(guard);
        Ok(verdict)
    }

    /// Moves a malformed, dead or undecidable lock aside. One that a rule calls live stays, and so does any lock while
    /// another process holds the guard, even a malformed one: its owner is there.
    ///
    /// # Errors
    ///
    /// [`LockError`]; the lock then stands.
    pub fn unlock(&self, me: &Claimant, now: Timestamp) -> Result<Unlocked, LockError> {
        self.still_named()?;
        let (guard, state) = self.probe_guard()?;
        let Some(found) = Found::read(self)? else { return Ok(Unlocked::NoLock) };
        let mut verdict = found.judge(self, state, me);
        if state == GuardState::HeldElsewhere && verdict.rule == 1 {
            let reason = format!("another process holds the guard; the lock itself is malformed: {}", verdict.reason);
            verdict = Verdict { rule: 2, state: LockState::Live, reason, ..verdict };
        }
        if verdict.state == LockState::Live {
            return Ok(Unlocked::Refused(verdict));
        }
        let base = format!("{}.removed-{}", names::LOCK, names::time_in_name(now));
        let moved_to = move_aside(&self.pi, names::LOCK, &base)?;
        let moved = moved_to.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if self.pi.stat(moved)?.is_none_or(|stat| Identity::of(&stat) != found.identity) {
            // Another lock took the name in between: it goes back.
            self.pi.rename_new(moved, names::LOCK)?;
            return Err(LockError::Contended);
        }
        drop(guard);
        Ok(Unlocked::Moved { moved_to, verdict })
    }

    fn probe_guard(&self) -> Result<(Option<Guard>, GuardState), LockError> {
        // Looking must not make a guard where none was ever needed.
        if self.pi.stat(names::GUARD)?.is_none() {
            return Ok((None, GuardState::Free));
        }
        match Guard::take(&self.pi) {
            Ok(Taken::HeldElsewhere) => Ok((None, GuardState::HeldElsewhere)),
            Ok(Taken::Ours(guard)) if guard.protection == Protection::Guarded => Ok((Some(guard), GuardState::Free)),
            Ok(Taken::Ours(guard)) => Ok((Some(guard), GuardState::Unsupported)),
            // Another user's guard, or a read-only file system: judged by content alone.
            Err(fault) if fault.kind() == std::io::ErrorKind::PermissionDenied => Ok((None, GuardState::Unsupported)),
            Err(fault) if fault.kind() == std::io::ErrorKind::ReadOnlyFilesystem => Ok((None, GuardState::Unsupported)),
            Err(fault) => Err(fault.into()),
        }
    }
}
