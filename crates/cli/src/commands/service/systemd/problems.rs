//! What is wrong with the service, in the words of `handoff service status`, and what helps.

use super::manager::Manager;
use super::variables;
use crate::commands::service::started::Answer;
use crate::context::Context;
use crate::failure::Failure;
use crate::systemctl::{SERVICE, SOCKET, Unit};

const AGAIN: &str = "`handoff service restart`";
const INSTALL: &str = "`handoff service install`";

/// What starts it: a unit that a package has just brought, or that was uninstalled, is to be enabled first.
fn again(service: &Unit) -> &'static str {
    if service.get("UnitFileState") == "disabled" { INSTALL } else { AGAIN }
}

/// Why it does not run, and what helps.
fn not_running(service: &Unit) -> String {
    let why = service.why_it_failed();
    if let Some(unmask) = service.unmask() {
        return format!("{SERVICE} is masked, so nothing starts it: `{unmask}`, then {INSTALL}");
    }
    if let Some(seconds) = service.starts_again_in() {
        let why = why.unwrap_or_else(|| "it ended".to_owned());
        return format!("{why}; it starts again by itself in {seconds} s, or now with {AGAIN}");
    }
    let said = service.get("StatusText");
    match (service.get("ActiveState"), why) {
        // It tells clients the same, and ends.
        ("activating", _) if !said.is_empty() => format!("it cannot start: {said}; once that is repaired: {AGAIN}"),
        ("activating", _) => "it is starting: look again in a moment; `handoff logs -f` shows how far it is".to_owned(),
        ("deactivating", _) => format!("it is stopping; then {AGAIN}"),
        (_, Some(why)) => format!("it does not run: {why}; once that is repaired: {AGAIN}"),
        (_, None) => format!("it does not run; start it with {}", again(service)),
    }
}

/// One sentence for each thing that somebody should look at, with its remedy.
pub(super) fn problems(
    ctx: &Context,
    manager: &Manager,
    (service, socket): (&Unit, &Unit),
    answer: &Result<Answer, Failure>,
) -> Vec<String> {
    let mut problems = Vec::new();
    if !service.is_active() {
        problems.push(not_running(service));
    }
    if service.unmask().is_some() {
        // Nothing else can be seen of it, or helps.
        return problems;
    }
    if let Some(unmask) = socket.unmask() {
        problems.push(format!("{SOCKET} is masked, so a restart loses connection attempts: `{unmask}`, then {AGAIN}"));
    } else if !socket.is_active() {
        problems.push(format!("{SOCKET} does not listen, so a restart loses connection attempts: {}", again(service)));
    }
    match answer {
        Ok(answer) if Some(answer.pid) != service.main_pid() => {
            problems.push(format!("another handoffd answers (pid {}): stop it, then {AGAIN}", answer.pid));
        }
        Ok(answer) if answer.outdated => {
            problems.push(format!("the program on disk is newer than the one that runs: {AGAIN}"));
        }
        Ok(answer) if answer.version != crate::VERSION => {
            problems.push(format!("it is {}, this is handoff {}: {AGAIN}", answer.version, crate::VERSION));
        }
        Err(failure) if service.is_active() => problems.push(format!("{}: {AGAIN}", failure.message)),
        Ok(_) | Err(_) => {}
    }
    let program = service.program();
    if let Some(program) = program.filter(|program| !program.exists()) {
        problems.push(format!("its program {} is gone: {INSTALL}", program.display()));
    }
    if service.get("UnitFileState") != "enabled" {
        problems.push(format!("{SERVICE} does not start when you log in: {INSTALL}"));
    }
    if service.get("NeedDaemonReload") == "yes" {
        problems.push(format!("the unit has changed since it was loaded: {AGAIN}"));
    }
    problems.extend(variables::differences(ctx, manager));
    problems
}
