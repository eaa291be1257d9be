//! `handoff service status`: looks and starts nothing, not even through the socket.

use serde::Serialize;

use super::manager::{Manager, Unit};
use super::{SERVICE, SOCKET, linger, restart, variables};
use crate::commands::service::file::{Found, look_at};
use crate::commands::service::started::{self, Answer};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::{Line, Tone};
use crate::time;

/// The document of `--json`.
#[derive(Debug, Serialize)]
struct Report {
    manager: &'static str,
    /// `running`, `stopped`, `failed`, …: systemd's word but for the first two.
    state: String,
    /// Why it does not run, once it has failed.
    why: Option<String>,
    pid: Option<u32>,
    version: Option<String>,
    started_at: Option<String>,
    /// How often systemd started it again by itself.
    restarts: u32,
    /// The unit file, and who made it: `install`, `edited` or `package`.
    unit: String,
    unit_from: &'static str,
    drop_ins: Vec<String>,
    program: Option<String>,
    socket_unit: String,
    socket: Option<String>,
    starts_at_login: bool,
    goes_on_after_logout: Option<bool>,
    log: String,
    /// One sentence for each thing that somebody should look at, with its remedy.
    problems: Vec<String>,
}

pub(in crate::commands::service) fn status(ctx: &mut Context, json: bool) -> Result<Exit, Failure> {
    let manager = Manager::open(ctx)?;
    let (service, socket) = manager.units()?;
    if !service.is_known() {
        return Err(restart::not_installed());
    }
    // A service that does not run would be started by the question.
    let answer = if service.is_active() { started::ask(ctx) } else { Err(Failure::usage("it does not run")) };
    let report = report(ctx, &manager, (&service, &socket), answer)?;
    if json {
        ctx.out.json(&report);
    } else {
        print(ctx, &report);
    }
    Ok(if report.state == "running" && report.problems.is_empty() { Exit::Good } else { Exit::NotGood })
}

fn report(
    ctx: &Context,
    manager: &Manager,
    (service, socket): (&Unit, &Unit),
    answer: Result<Answer, Failure>,
) -> Result<Report, Failure> {
    let problems = problems(ctx, manager, (service, socket), &answer);
    let answer = answer.ok();
    let unit = service.text("FragmentPath").to_owned();
    let unit_from = match look_at(unit.as_ref())? {
        _ if !std::path::Path::new(&unit).starts_with(manager.user_folder(ctx)?) => "package",
        Found::Edited(_) => "edited",
        _ => "install",
    };
    Ok(Report {
        manager: "systemd",
        state: state(service).to_owned(),
        why: service.why_it_failed().filter(|_| !service.is_active()),
        pid: Some(service.number("MainPID")).filter(|pid| *pid != 0),
        version: answer.as_ref().map(|answer| answer.version.clone()),
        started_at: answer.as_ref().map(|answer| answer.started_at.clone()),
        restarts: service.number("NRestarts"),
        unit,
        unit_from,
        drop_ins: service.text("DropInPaths").split_whitespace().map(str::to_owned).collect(),
        program: service.program().map(str::to_owned),
        socket_unit: socket.text("ActiveState").to_owned(),
        socket: answer.map(|answer| answer.socket),
        starts_at_login: service.text("UnitFileState") == "enabled",
        goes_on_after_logout: linger::is_on(ctx),
        log: ctx.places()?.log_dir.display().to_string(),
        problems,
    })
}

fn state(service: &Unit) -> &str {
    match service.text("ActiveState") {
        "active" => "running",
        "inactive" => "stopped",
        other => other,
    }
}

fn problems(
    ctx: &Context,
    manager: &Manager,
    (service, socket): (&Unit, &Unit),
    answer: &Result<Answer, Failure>,
) -> Vec<String> {
    let again = "`handoff service restart`";
    let mut problems = Vec::new();
    if !service.is_active() {
        problems.push(match service.why_it_failed() {
            Some(why) => format!("it does not run: {why}; once that is repaired: {again}"),
            None => format!("it does not run; start it with {again}"),
        });
    }
    if !socket.is_active() {
        problems.push(format!("{SOCKET} does not listen, so a restart loses connection attempts: {again}"));
    }
    match answer {
        Ok(answer) if answer.pid != service.number("MainPID") => {
            problems.push(format!("another handoffd answers (pid {}): stop it, then {again}", answer.pid));
        }
        Ok(answer) if answer.outdated => {
            problems.push(format!("the program on disk is newer than the one that runs: {again}"));
        }
        Ok(answer) if answer.version != crate::VERSION => {
            problems.push(format!("it is {}, this is handoff {}: {again}", answer.version, crate::VERSION));
        }
        Err(failure) if service.is_active() => problems.push(format!("{}: {again}", failure.message)),
        Ok(_) | Err(_) => {}
    }
    let program = service.program().map(std::path::Path::new);
    if let Some(program) = program.filter(|program| !program.exists()) {
        problems.push(format!("its program {} is gone: `handoff service install`", program.display()));
    }
    if service.text("UnitFileState") != "enabled" {
        problems.push(format!("{SERVICE} does not start when you log in: `handoff service install`"));
    }
    if service.text("NeedDaemonReload") == "yes" {
        problems.push(format!("the unit has changed since it was loaded: {again}"));
    }
    problems.extend(variables::differences(ctx, manager));
    problems
}

fn print(ctx: &mut Context, report: &Report) {
    let now = ctx.now();
    let tone = if report.state == "running" { Tone::Good } else { Tone::Bad };
    let mut state = report.state.clone();
    if let Some(started) = &report.started_at {
        state += &format!(" for {}", time::age(started, now));
    }
    let pid = report.pid.map(|pid| format!(", pid {pid}")).unwrap_or_default();
    let version = report.version.as_ref().map(|version| format!(", version {version}")).unwrap_or_default();
    let mut rows = vec![("state", Line::of(tone, &state).plain(&format!("{pid}{version}")))];
    rows.extend(report.why.as_ref().map(|why| ("why", Line::from(why.as_str()))));
    if report.restarts > 0 {
        rows.push(("started again", Line::from(format!("{} times by systemd", report.restarts))));
    }
    let from = match report.unit_from {
        "package" => "from a package",
        "edited" => "edited by hand",
        _ => "from `handoff service install`",
    };
    rows.push(("unit", Line::from(format!("{} ({from})", report.unit))));
    rows.extend(report.drop_ins.iter().map(|path| ("drop-in", Line::from(path.as_str()))));
    rows.extend(report.program.as_ref().map(|program| ("program", Line::from(program.as_str()))));
    let socket = report.socket.clone().unwrap_or_default();
    rows.push(("socket", Line::from(format!("{} {socket}", report.socket_unit))));
    rows.push(("at login", Line::from(if report.starts_at_login { "starts" } else { "does not start" })));
    rows.push(("after logout", Line::from(after_logout(report.goes_on_after_logout))));
    rows.push(("log", Line::from("`handoff logs -f`")));
    for (name, value) in rows {
        ctx.out.line(Line::of(Tone::Dim, name).padded(15).join(&value));
    }
    for problem in &report.problems {
        ctx.out.warn(problem);
    }
}

fn after_logout(goes_on: Option<bool>) -> String {
    match goes_on {
        Some(true) => "goes on".to_owned(),
        Some(false) => format!("stops; to keep it running: `{}`", linger::REMEDY),
        None => format!("not known; to keep it running: `{}`", linger::REMEDY),
    }
}
