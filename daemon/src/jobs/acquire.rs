//! Taking, rebinding and releasing the ownership lock; opening the folder; sweeping what a crash left (D14–D19, D22, D64).

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use lifecycle::{Acquired, Binding, Done, Failure, Holder, Keep, Process, Reason, Recovered, Verdict, WriteResult};
use queue::Document;
use store::{
    Acquisition, Claimant, FsKind, KeepFile, Limit, Lock, LockContent, LockError, LockState, PiFolder, ProcessId,
    ProjectDir, Protection, SwapVerdict, Unlocked, names,
};

use super::warnings::Matter;
use super::{Context, Files, LeftBy, failure};
use crate::convert;
use crate::history;

/// Bind and unlock have no bytes of `tasks.json` to tell of.
const NO_HASH: [u8; 32] = [0; 32];

impl Files {
    pub(super) fn acquire(&mut self, context: &Context) -> Acquired {
        self.warnings.clear();
        let before = self.dir.as_ref().map(|dir| dir.identity());
        let dir = match self.open_folder() {
            Ok(dir) => dir,
            Err(None) => return Acquired::Missing,
            Err(Some(failure)) => return Acquired::Failed(failure),
        };
        let fresh_folder = before.is_some_and(|old| old != dir.identity());
        self.lock = None; // what we lost is judged anew, under the guard
        let me = &context.hub.claimant;
        let old = previous(&dir, me);
        match Lock::acquire(&dir, me, old.as_ref().and_then(|old| old.session.clone()), context.now) {
            Ok(Acquisition::Acquired { lock, recovered }) => {
                self.note_protection(&lock, &dir);
                self.watched.note_lock(&dir);
                self.lock = Some(lock);
                let same = recovered.as_ref().filter(|content| same_boot(content, me));
                self.dead_owner_since = same.and_then(|content| content.acquired_at);
                let old = recovered.clone();
                let recovered = recovered.map(|content| recovered_from(&content, me));
                let lost = self.sweep(&dir, context).unwrap_or_else(|error| {
                    // The lock is ours all the same, and what the dead owner left must not be lost with this error.
                    tracing::warn!(project = %self.path.display(), error, "leftovers could not be swept");
                    Vec::new()
                });
                let past = self.past(context);
                let (outlived, released) = (past.take_outlived().map(Box::new), past.take_released());
                let halted = past.take_halted();
                self.left_by = old.map(|old| left_by(&old, me, released, context.now));
                self.outlived = outlived;
                self.past.take_if(|past| past.is_empty());
                Acquired::Ours { recovered, fresh_folder, lost, halted }
            }
            Ok(Acquisition::Blocked(found)) => {
                self.watched.note_lock(&dir);
                self.look_without_lock(&dir);
                Acquired::Blocked(verdict(&found))
            }
            Err(error) => Acquired::Failed(lock_failure(&dir, &error)),
        }
    }

    /// The opened folders, if the name still leads to them; else opened again. `Err(None)`: there is no folder.
    fn open_folder(&mut self) -> Result<Arc<ProjectDir>, Option<Failure>> {
        if let Some(dir) = self.dir.as_ref().filter(|dir| dir.still_named().is_ok()) {
            return Ok(dir.clone());
        }
        self.lock = None;
        match ProjectDir::open(&self.path, &store::sys::Sys::real(), PiFolder::Create) {
            Ok(dir) => {
                let dir = Arc::new(dir);
                self.watched.note_folder(&dir);
                self.dir = Some(dir.clone());
                Ok(dir)
            }
            Err(error) => {
                self.dir = None;
                Err(failure::open(&error))
            }
        }
    }

    /// What waits in a queue that is not ours, for `status` only: a lock must not hide it (F071).
    fn look_without_lock(&mut self, dir: &ProjectDir) {
        let document = dir.read_queue().ok().and_then(|file| Document::parse(&file.bytes).ok());
        let id = document.as_ref().and_then(|document| document.string(queue::Field::TaskId));
        let id = id.map(std::borrow::Cow::into_owned);
        self.queue = super::read::queue_status(document.as_ref().map(Document::status), id, &[]);
    }

    fn note_protection(&mut self, lock: &Lock, dir: &ProjectDir) {
        let unlocked = without_file_locks(lock.protection(), dir.fs_kind());
        if let Some(text) = &unlocked {
            tracing::warn!(project = %self.path.display(), "{text}");
        }
        self.warnings.set(Matter::Locks, unlocked);
        self.warnings.set(Matter::Events, dir.fs_kind().events_note());
    }

    /// Removes our leftovers; a planner's write that nobody saw is kept and told (D64).
    fn sweep(&self, dir: &ProjectDir, context: &Context) -> Result<Vec<String>, String> {
        let queue = dir.read_queue().ok().and_then(|file| Document::parse(&file.bytes).ok());
        let current = queue.map(|document| document.fingerprint());
        let judge = |bytes: &[u8]| {
            let Ok(document) = Document::parse(bytes) else { return SwapVerdict::Unseen };
            let print = document.fingerprint();
            let known = (document.status() != queue::Status::Pending && document.is_written_by_us())
                || current == Some(print)
                || history::was_dispatched(&context.hub.journal, &self.path, &print.to_string());
            if known { SwapVerdict::Known } else { SwapVerdict::Unseen }
        };
        let swept = dir.sweep_temporaries(context.now, judge).map_err(|fault| failure::chain(&fault))?;
        Ok(swept.lost.iter().map(|path| path.display().to_string()).collect())
    }

    pub(super) fn bind(&mut self, binding: Option<&Binding>, _context: &Context) -> WriteResult {
        let dir = self.opened()?;
        let lock = self.lock.as_mut().ok_or(Failure::LockLost)?;
        let session = binding.map(|binding| store::Binding {
            session_id: binding.session_id.clone(),
            pid: i32::try_from(binding.process.pid).unwrap_or(i32::MAX),
            started: Some(binding.process.started),
            since: binding.since.map(convert::timestamp),
            background: binding.background,
        });
        let result = lock.rewrite(session);
        self.watched.note_lock(&dir);
        result.map(|()| NO_HASH).map_err(|error| lock_failure(&dir, &error))
    }

    pub(super) fn release(&mut self, keep: Keep) -> Done {
        let keep = match keep {
            Keep::Remove => KeepFile::Remove,
            Keep::File => KeepFile::Keep,
        };
        if let Some(lock) = self.lock.take()
            && let Err(error) = lock.release(keep)
        {
            tracing::warn!(project = %self.path.display(), %error, "the lock could not be removed; it will be judged dead");
        }
        self.dir = None;
        Done::Released
    }

    pub(super) fn unlock(&mut self, confirm: bool, context: &Context) -> Done {
        let moved = match (confirm, self.open_folder()) {
            (true, Ok(dir)) => dir.unlock(&context.hub.claimant, context.now),
            _ => return Done::Unlocked { moved: false },
        };
        match moved {
            Ok(Unlocked::Moved { moved_to, .. }) => {
                tracing::warn!(project = %self.path.display(), to = %moved_to.display(), "a lock was moved aside");
                self.moved_to = Some(moved_to.display().to_string());
                Done::Unlocked { moved: true }
            }
            Ok(_) => Done::Unlocked { moved: false },
            Err(error) => {
                tracing::warn!(project = %self.path.display(), %error, "a lock could not be moved aside");
                Done::Unlocked { moved: false }
            }
        }
    }
}

/// What is missing on which mount, why, and what still protects the user (F086).
fn without_file_locks(protection: &Protection, fs: FsKind) -> Option<String> {
    match protection {
        Protection::Guarded => None,
        Protection::ContentOnly { reason } => Some(format!(
            "there are no file locks on {fs} ({reason}): only the content of the lock file protects the queue"
        )),
    }
}

/// The lock that lies there, if it is from this boot: its binding is carried over, so that a crash between two writes
/// of ours cannot lose it.
fn previous(dir: &ProjectDir, me: &Claimant) -> Option<LockContent> {
    let file = dir.read_pi_file(names::LOCK, Limit::Lock).ok()?;
    LockContent::parse(&file.bytes).ok().filter(|content| same_boot(content, me))
}

fn same_boot(content: &LockContent, me: &Claimant) -> bool {
    content.boot_id.is_some() && content.boot_id == me.host.boot_id && content.pid_ns == me.host.pid_ns
}

/// A foreign lock has no version.
fn left_by(content: &LockContent, me: &Claimant, released: bool, now: Timestamp) -> LeftBy {
    if me.instance.is_some_and(|instance| content.is_of(instance)) {
        return LeftBy::Us;
    }
    match released && content.version.is_some() {
        true => LeftBy::Before,
        false => LeftBy::Dead(dead_owner(content, now).into()),
    }
}

/// Whose a recovered lock was and how old it is, as far as it says so (F060).
fn dead_owner(content: &LockContent, now: Timestamp) -> String {
    let host = content.host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
    let since = content.acquired_at.map(|since| {
        // A clock that was set back makes no age.
        let age = Duration::try_from(now.duration_since(since)).unwrap_or_default();
        let age = humantime::format_duration(Duration::from_secs(age.as_secs()));
        format!(" since {since:.0}, {age} ago")
    });
    format!("pid {}{host}{}", content.pid, since.unwrap_or_default())
}

fn recovered_from(content: &LockContent, me: &Claimant) -> Recovered {
    let session = content.session.as_ref().filter(|_| same_boot(content, me));
    let alive =
        session.is_some_and(|session| me.processes.is_alive(ProcessId { pid: session.pid, started: session.started }));
    let binding = session.map(|session| Binding {
        session_id: session.session_id.clone(),
        process: Process { pid: session.pid.unsigned_abs(), started: session.started.unwrap_or(0) },
        since: session.since.map(|at| lifecycle::Wall(at.as_millisecond())),
        background: session.background,
    });
    Recovered { binding, alive }
}

pub(super) fn verdict(found: &store::Verdict) -> Verdict {
    let reason = match found.state {
        LockState::Live => Reason::LockLive,
        LockState::Malformed => Reason::LockMalformed,
        LockState::CannotTell | LockState::Dead => Reason::LockUnknown,
    };
    let holder = found.holder.as_ref().map(|holder| Holder {
        pid: Some(holder.pid.unsigned_abs()),
        command: holder.process.command.clone(),
        user: holder.process.user.clone(),
        host: holder.host.clone(),
        since: holder.since.map(|at| lifecycle::Wall(at.as_millisecond())),
    });
    let holder = holder.unwrap_or_default();
    // A person must look at it, so it is named (F070).
    let file = if reason == Reason::LockMalformed { format!(" (.pi/{})", names::LOCK) } else { String::new() };
    Verdict { rule: found.rule, reason, text: format!("{}{}{file}", found.reason, named(&holder)), holder }
}

/// Who holds the lock, as far as it is known (D16: live and undecidable locks are named).
fn named(holder: &Holder) -> String {
    let parts = [
        holder.pid.map(|pid| format!("pid {pid}")),
        holder.command.as_ref().map(|command| format!("command {command}")),
        holder.user.as_ref().map(|user| format!("user {user}")),
        holder.host.as_ref().map(|host| format!("host {host}")),
        holder.since.map(|since| format!("since {}", convert::time(since))),
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) }
}

pub(super) fn lock_failure(dir: &ProjectDir, error: &LockError) -> Failure {
    match error {
        LockError::Moved(at) => failure::moved(dir, at),
        LockError::Lost { .. } => Failure::LockLost,
        LockError::CannotWrite(fault) => failure::io(fault),
        LockError::TooLong | LockError::NoInstance | LockError::Contended => {
            Failure::CannotWrite(failure::chain(error).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f086_what_a_mount_without_file_locks_lacks_is_said_with_its_name_and_what_is_left() {
        let nfs = FsKind::Network { name: "nfs" };
        let without = Protection::ContentOnly { reason: "No locks available".to_owned() };
        let expected = "there are no file locks on nfs (No locks available): only the content of the lock file protects \
                        the queue";
        assert_eq!(without_file_locks(&without, nfs).as_deref(), Some(expected));
        assert_eq!(without_file_locks(&Protection::Guarded, nfs), None);
    }

    #[test]
    fn f060_a_dead_owner_is_named_with_the_age_of_its_lock() {
        let check = |lock: &str, expected: &str| {
            let content = LockContent::parse(lock.as_bytes()).unwrap();
            assert_eq!(dead_owner(&content, "2026-11-30T08:00:00Z".parse().unwrap()), expected);
        };
        check(
            r#"{"pid": 7, "host": "h", "acquired_at": "2026-11-30T06:59:30.250Z"}"#,
            "pid 7 on h since 2026-11-30T06:59:30Z, 1h 29s ago",
        );
        check(r#"{"pid": 7, "acquired_at": "2026-12-01T00:00:00Z"}"#, "pid 7 since 2026-12-01T00:00:00Z, 0s ago");
        check(r#"{"pid": 7}"#, "pid 7");
    }
}
