//! Who holds each project's lock, in words (D16). The daemon that runs knows; without one the same rules are asked here.

use store::sys::Sys;
use store::{Claimant, LockState, PiFolder, ProjectDir, Verdict};
use wire::status::LockOwner;

use super::{Finding, Subject, World};
use crate::shell::quoted;

/// The lock's owner, and what to do if it is somebody else.
pub(super) fn check(world: &World, subject: &Subject) -> Vec<Finding> {
    if let Some(lock) = subject.status.as_ref().and_then(|status| status.lock.as_ref())
        && lock.owner == LockOwner::Us
    {
        return vec![Finding::good(held(lock.pid, lock.since.as_deref()))];
    }
    // What cannot be opened is told by `folders`.
    let Ok(project) = ProjectDir::open(&subject.path, &Sys::real(), PiFolder::Require) else { return Vec::new() };
    match project.explain_lock(&Claimant::current(None)) {
        Ok(None) => vec![Finding::good("nobody holds the lock")],
        Ok(Some(verdict)) if is_of_daemon(world, &verdict) => {
            let since = verdict.holder.and_then(|holder| holder.since).map(|since| since.to_string());
            vec![Finding::good(held(world.daemon_pid(), since.as_deref()))]
        }
        Ok(Some(verdict)) => vec![explained(subject, &verdict)],
        Err(error) => vec![Finding::fault(format!("the lock cannot be looked at: {error}"), unlock(subject, ""))],
    }
}

/// Whether it is held by the daemon of this user. That one may be unable to say so: `daemon` says why.
fn is_of_daemon(world: &World, verdict: &Verdict) -> bool {
    let holder = verdict.holder.as_ref().filter(|_| verdict.state == LockState::Live);
    holder.is_some_and(|holder| Some(holder.pid.unsigned_abs()) == world.daemon_pid())
}

fn held(pid: Option<u32>, since: Option<&str>) -> String {
    let pid = pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
    let since = since.map(|since| format!(" since {since}")).unwrap_or_default();
    format!("the daemon{pid} holds the lock{since}")
}

fn unlock(subject: &Subject, yes: &str) -> String {
    format!("handoff unlock{yes} {}", quoted(&subject.path.to_string_lossy()))
}

fn explained(subject: &Subject, verdict: &Verdict) -> Finding {
    let holder = verdict.holder.as_ref();
    let who = holder.map(|holder| format!("; it names {holder}")).unwrap_or_default();
    let why = format!("{} (rule {}){who}", verdict.reason, verdict.rule);
    match verdict.state {
        LockState::Live => {
            let remedy = match holder {
                Some(holder) => {
                    format!("end process {}, or let it do the work: its lock is never taken away", holder.pid)
                }
                None => "end the process that holds the guard, or let it do the work".to_owned(),
            };
            Finding::fault(format!("somebody else holds the lock: {why}"), remedy)
        }
        LockState::CannotTell => Finding::fault(
            format!("whether the lock's owner lives cannot be told from here: {why}"),
            format!("make sure that it is dead, then `{}`", unlock(subject, " --yes")),
        ),
        LockState::Malformed => {
            Finding::fault(format!("the lock is malformed and blocks for ever: {why}"), unlock(subject, " --yes"))
        }
        LockState::Dead => {
            Finding::note(format!("a daemon that ended has left its lock: {why}; the next daemon takes it over"))
        }
    }
}
