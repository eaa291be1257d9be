//! The eight rules of D16 about a lock that is there: the first that fits decides. Pure: facts in, verdict out.

use std::fmt;

use jiff::Timestamp;

use super::Claimant;
use super::content::LockContent;
use crate::fs_kind::FsKind;
use crate::liveness::{Description, Presence, differ};

/// What is known of a lock file.
#[derive(Debug)]
pub struct Facts<'a> {
    /// Its content.
    pub content: &'a Readable,
    /// Whether another process holds the guard.
    pub guard: GuardState,
    /// The file's owner.
    pub file_uid: u32,
    /// Where the project lies.
    pub fs: FsKind,
    /// Who judges.
    pub me: &'a Claimant,
}

/// How far a lock file can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readable {
    /// A lock.
    Content(Box<LockContent>),
    /// Not a lock; why, in words.
    Malformed(String),
    /// Permission is missing (a lock of another user, mode 0600).
    Forbidden,
}

/// The guard (D17) at the moment of judging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardState {
    /// Another open file holds it.
    HeldElsewhere,
    /// Nobody else holds it.
    Free,
    /// The file system cannot tell: content alone decides, and rule 7 cannot call anybody dead.
    Unsupported,
}

/// What a lock means for us. `Live` and `CannotTell` both block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockState {
    /// Its owner has ended: recovered.
    Dead,
    /// Its owner lives: never robbed.
    Live,
    /// Not decidable from here: blocks, and a person may clear it.
    CannotTell,
    /// Not a lock at all: left for inspection.
    Malformed,
}

/// A judged lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The number of the rule in D16 that decided, 1 to 8.
    pub rule: u8,
    /// What it says.
    pub state: LockState,
    /// Why, in words; no final stop.
    pub reason: String,
    /// Who holds it, as far as known.
    pub holder: Option<Holder>,
}

/// The owner that a lock names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its process number.
    pub pid: i32,
    /// Command and user, when it is in our process table.
    pub process: Description,
    /// Its host, if given.
    pub host: Option<String>,
    /// Since when, if given.
    pub since: Option<Timestamp>,
    /// The session bound to the lock, if any.
    pub session_id: Option<String>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid {}", self.pid)?;
        if let Some(command) = &self.process.command {
            write!(f, " ({command})")?;
        }
        if let Some(user) = &self.process.user {
            write!(f, " of {user}")?;
        }
        if let Some(host) = &self.host {
            write!(f, " on {host}")?;
        }
        match self.since {
            Some(since) => write!(f, " since {since:.0}"),
            None => Ok(()),
        }
    }
}

/// Judges a lock by the first rule of D16 that fits.
#[must_use]
pub fn judge(facts: &Facts<'_>) -> Verdict {
    let lock = match facts.content {
        Readable::Malformed(why) => {
            return Verdict { rule: 1, state: LockState::Malformed, reason: why.clone(), holder: None };
        }
        Readable::Content(lock) => Some(lock.as_ref()),
        Readable::Forbidden => None,
    };
    let (rule, state, reason) = before_content(facts)
        .or_else(|| lock.map(|lock| by_content(facts, lock)))
        .unwrap_or_else(|| (3, LockState::CannotTell, "it cannot be read: permission is missing".to_owned()));
    Verdict { rule, state, reason, holder: lock.map(|lock| holder(facts, lock)) }
}

type Decision = (u8, LockState, String);

/// The rule about a lock that was taken on another host.
pub(super) const ANOTHER_HOST: u8 = 5;

/// Rules 2 and 3.
fn before_content(facts: &Facts<'_>) -> Option<Decision> {
    if facts.guard == GuardState::HeldElsewhere {
        return Some((2, LockState::Live, "another process holds the guard".to_owned()));
    }
    (facts.file_uid != facts.me.host.uid)
        .then(|| (3, LockState::CannotTell, format!("the lock file belongs to user {}", facts.file_uid)))
}

/// Rules 4 to 8.
fn by_content(facts: &Facts<'_>, lock: &LockContent) -> Decision {
    let me = &facts.me.host;
    if same_table(facts, lock) {
        let (state, reason) = by_process(facts, lock);
        return (4, state, reason);
    }
    if let Some(host) = lock.host.as_ref().filter(|host| **host != me.host) {
        return (ANOTHER_HOST, LockState::CannotTell, format!("it was taken on another host, `{host}`"));
    }
    if lock.boot_id.is_some() && lock.boot_id != me.boot_id {
        return match facts.fs.is_local() && me.boot_id.is_some() {
            true => (6, LockState::Dead, "it was taken before the last boot".to_owned()),
            false => (6, LockState::CannotTell, format!("it was taken under another boot, on {}", facts.fs)),
        };
    }
    if lock.pid_ns.is_some() && lock.pid_ns != me.pid_ns {
        return by_other_table(facts, lock);
    }
    let (state, reason) = by_process(facts, lock);
    (8, state, reason)
}

/// Rule 4: boot and process table are given and ours, whatever the host is called today.
fn same_table(facts: &Facts<'_>, lock: &LockContent) -> bool {
    let me = &facts.me.host;
    lock.boot_id.is_some() && lock.boot_id == me.boot_id && lock.pid_ns.is_some() && lock.pid_ns == me.pid_ns
}

/// Rule 7: an owner of version 1 holds the guard while it lives; on a local file system that would have been seen.
fn by_other_table(facts: &Facts<'_>, lock: &LockContent) -> Decision {
    let guarded = lock.version == Some(1) && facts.fs.is_local() && facts.guard == GuardState::Free;
    match guarded {
        true => (7, LockState::Dead, "its owner in another pid namespace no longer holds the guard".to_owned()),
        false => (7, LockState::CannotTell, "it was taken in another pid namespace".to_owned()),
    }
}

/// Rules 4 and 8 ask the process table. A lock that carries our number and is not of our making is a dead one: two
/// processes of one table never share a number.
fn by_process(facts: &Facts<'_>, lock: &LockContent) -> (LockState, String) {
    let me = &facts.me.host;
    let pid = lock.pid;
    if pid == me.process.pid {
        return match facts.me.instance {
            Some(instance) if lock.is_of(instance) => (LockState::Live, "it is our own".to_owned()),
            _ => (LockState::Dead, format!("process {pid} is ourselves, and we did not take it")),
        };
    }
    match facts.me.processes.look(pid) {
        Presence::Gone => (LockState::Dead, format!("there is no process {pid}")),
        Presence::Zombie => (LockState::Dead, format!("process {pid} has ended (a zombie)")),
        Presence::Alive { started, .. } if differ(lock.started, started) => {
            (LockState::Dead, format!("process {pid} is another one: it started at another time"))
        }
        Presence::Alive { .. } => (LockState::Live, format!("process {pid} is alive")),
    }
}

fn holder(facts: &Facts<'_>, lock: &LockContent) -> Holder {
    // A number from another table would name a stranger of ours.
    let foreign = differ(lock.host.as_ref(), Some(&facts.me.host.host))
        || differ(lock.boot_id.as_ref(), facts.me.host.boot_id.as_ref())
        || differ(lock.pid_ns, facts.me.host.pid_ns);
    let ours = same_table(facts, lock) || !foreign;
    Holder {
        pid: lock.pid,
        process: if ours { facts.me.processes.describe(lock.pid) } else { Description::default() },
        host: lock.host.clone(),
        since: lock.acquired_at,
        session_id: lock.session.as_ref().map(|session| session.session_id.clone()),
    }
}
