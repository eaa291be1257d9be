//! Whether a daemon answers, and what it says of itself.

use store::{Presence, Processes as _, SystemProcesses};

use super::{Finding, World};
use crate::exit::Exit;

/// The daemon, or why there is none.
pub(super) fn check(world: &World) -> Vec<Finding> {
    let status = match &world.daemon {
        Ok(status) => status,
        Err(failure) if failure.exit != Exit::Unreachable => {
            // One that answers, but not to this program: what helps is not always to start it again.
            let remedy = failure.hints.first().map_or_else(|| world.restart().to_owned(), Clone::clone);
            return vec![Finding::fault(failure.message.clone(), remedy)];
        }
        Err(failure) => return vec![absent(world, &failure.message)],
    };
    let daemon = &status.daemon;
    let what = format!("handoffd {} answers (pid {}, since {})", daemon.version, daemon.pid, daemon.started_at);
    let mut findings = vec![Finding::good(what)];
    findings.extend(daemon.warnings.iter().map(|warning| Finding::warning(warning.clone(), "handoff logs")));
    findings
}

/// A daemon that holds the instance lock and does not answer is another matter than none.
fn absent(world: &World, message: &str) -> Finding {
    match world.daemon_pid() {
        Some(pid) if is_stopped(pid) => {
            let what = format!(
                "the daemon (pid {pid}) is stopped, by Ctrl-Z or a signal, and answers nobody: nothing is handed over meanwhile"
            );
            Finding::fault(what, format!("kill -CONT {pid}"))
        }
        Some(pid) if world.has_no_socket() => {
            let what = format!("the daemon (pid {pid}) runs and cannot be reached: its socket is not there");
            Finding::fault(what, world.after_ten_seconds(pid))
        }
        Some(pid) => {
            let what = format!("a daemon (pid {pid}) holds the instance lock and does not answer: {message}");
            let remedy = match world.unit() {
                Some(_) => world.restart().to_owned(),
                None => format!(
                    "look at it with `handoff logs`; end it with `kill {pid}`, or `kill -9 {pid}`, and start it again"
                ),
            };
            Finding::fault(what, remedy)
        }
        None => match closed_lock(world) {
            Some((lock, command)) => Finding::fault(
                format!("no daemon can start: its lock {lock} cannot be used: permission is missing"),
                command,
            ),
            None => Finding::fault(format!("{message}: nothing is handed over meanwhile"), start(world)),
        },
    }
}

/// What brings it back. With an invalid configuration it would only fail once more.
fn start(world: &World) -> String {
    match &world.config_problems {
        Err(_) => format!("correct the configuration, then: {}", world.restart()),
        Ok(_) => world.restart().to_owned(),
    }
}

fn closed_lock(world: &World) -> Option<(String, String)> {
    let lock = world.places.as_ref().ok()?.instance_lock();
    // A folder above it that is closed is told by `socket`.
    let command = store::allow(&lock).filter(|_| lock.exists())?;
    Some((lock.display().to_string(), command))
}

fn is_stopped(pid: u32) -> bool {
    let presence = i32::try_from(pid).map(|pid| SystemProcesses.look(pid));
    matches!(presence, Ok(Presence::Alive { stopped: true, .. }))
}
