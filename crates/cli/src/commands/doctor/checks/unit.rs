//! The unit of the service: whether it is there, starts the program that is there, and runs.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::super::service::{Manager, Unit};
use super::{Finding, World};
use crate::text::counted;

/// The unit and its state.
pub(super) fn check(world: &World) -> Vec<Finding> {
    let (service, socket) = match &world.manager {
        Manager::None(why) => {
            let what = format!("no service manager of this user can be asked ({why})");
            return vec![Finding::note(what)];
        }
        Manager::Systemd { service, socket } => (service, socket),
    };
    if !service.is_loaded() {
        return vec![not_installed(world, service)];
    }
    let mut findings = program(service).into_iter().collect::<Vec<_>>();
    findings.extend(state(world, service));
    findings.extend(deaf(socket, world.restart()));
    if service.get("NeedDaemonReload") == "yes" {
        let what = "the unit on disk is not the one that systemd has read";
        findings.push(Finding::warning(what, "systemctl --user daemon-reload"));
    }
    if !world.manager.starts_at_login() {
        let what = format!("the unit is {}: it does not start at login", enabled(service));
        findings.push(Finding::warning(what, "handoff service install"));
    }
    if findings.is_empty() {
        let what =
            format!("{} is {}, from {}", service.get("Id"), service.get("ActiveState"), service.get("FragmentPath"));
        findings.push(Finding::good(what));
    }
    findings
}

fn enabled(unit: &Unit) -> &str {
    match unit.get("UnitFileState") {
        "" => "not enabled",
        word => word,
    }
}

fn not_installed(world: &World, service: &Unit) -> Finding {
    if let Some(unmask) = service.unmask() {
        return Finding::warning("the unit is masked: nothing starts it", unmask);
    }
    match (service.get("LoadState"), world.running()) {
        ("" | "not-found", Some(status)) => Finding::note(format!(
            "handoffd is not installed as a service: the daemon (pid {}) was started by hand and ends with its terminal",
            status.daemon.pid
        ))
        .remedy("handoff service install"),
        ("" | "not-found", None) => {
            Finding::note("handoffd is not installed as a service").remedy("handoff service install")
        }
        (word, _) => Finding::fault(
            format!("systemd cannot load the unit ({word}): {}", service.get("LoadError")),
            "systemd-analyze --user verify handoffd.service",
        ),
    }
}

/// What `ExecStart` names must be there and be a program.
fn program(service: &Unit) -> Option<Finding> {
    let Some(program) = service.program() else {
        return Some(Finding::fault("the unit starts no program", "handoff service install"));
    };
    (!is_program(&program)).then(|| {
        let what = format!("the unit starts {}, which is no program any more", program.display());
        Finding::fault(what, "handoff service install")
    })
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn state(world: &World, service: &Unit) -> Option<Finding> {
    let restarts = counted(service.get("NRestarts").parse().unwrap_or(0), "restart");
    let why = service.why_it_failed();
    if let Some(seconds) = service.starts_again_in() {
        let why = why.as_deref().unwrap_or("it ended");
        let what = format!("the service is down after {restarts}: {why}; it starts again by itself in {seconds} s");
        return Some(Finding::fault(what, "handoff logs"));
    }
    match service.get("ActiveState") {
        "failed" => {
            let what =
                format!("the service has failed after {restarts}: {}", why.as_deref().unwrap_or("see `handoff logs`"));
            Some(Finding::fault(what, "handoff service restart"))
        }
        "active" => {
            let (pid, running) = (service.main_pid()?, world.running()?.daemon.pid);
            (pid != running).then(|| {
                let what = format!("the daemon that answers (pid {running}) is not that of the service (pid {pid})");
                Finding::warning(what, format!("kill {running}"))
            })
        }
        "inactive" if world.running().is_some() => {
            let what = "the daemon that answers was started by hand, while the service is stopped";
            Some(Finding::warning(what, "end it, then `handoff service restart`"))
        }
        _ => None,
    }
}

/// Without the socket, clients are refused while the daemon restarts, and none starts it.
fn deaf(socket: &Unit, restart: &'static str) -> Option<Finding> {
    let (how, remedy) = match socket.unmask() {
        Some(unmask) => ("is masked", unmask),
        None if socket.is_active() => return None,
        None => ("does not listen", restart),
    };
    Some(Finding::warning(format!("handoffd.socket {how}: a restart loses connection attempts"), remedy))
}
