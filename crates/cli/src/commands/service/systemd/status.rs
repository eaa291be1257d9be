//! `handoff service status`: looks and starts nothing, not even through the socket.

use std::path::Path;

use serde::Serialize;

use super::manager::Manager;
use super::problems::problems;
use super::restart;
use crate::commands::service::file::{Found, look_at};
use crate::commands::service::started::{self, Answer};
use crate::context::Context;
use crate::door;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::systemctl::judge::{Listener, Seen};
use crate::systemctl::{SERVICE, Unit, linger};
use crate::text::{Line, Tone, counted};
use crate::time;

/// The document of `--json`.
#[derive(Debug, Serialize)]
struct Report {
    manager: &'static str,
    /// `running`, `stopped`, `restarting` (in the pause before it), `masked`, else systemd's word: `failed`, …
    state: String,
    /// Why it does not run, once it has failed.
    why: Option<String>,
    pid: Option<u32>,
    version: Option<String>,
    started_at: Option<String>,
    /// Seconds until systemd starts it again by itself.
    starts_again_in: Option<u64>,
    /// How often systemd started it again by itself.
    restarts: u32,
    /// The unit file, and who made it: `install`, `edited`, `link`, `package`, `masked`, or `gone`.
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
    let path = ctx.places()?.socket.path;
    // Of a service that does not run, the question would start it.
    let listener = service.is_active().then(|| door::listener(ctx, &path)).flatten();
    let listener = listener.map_or(Listener::Nobody, Listener::Process);
    let answers = answer.as_ref().ok().map(|answer| answer.pid);
    let problems = problems(ctx, manager, Seen { service, socket, answers, listener }, &answer);
    let answer = answer.ok();
    let unit = service.get("FragmentPath").to_owned();
    let unit_from = match look_at(unit.as_ref())? {
        _ if service.unmask().is_some() => "masked",
        _ if unit.is_empty() => "gone",
        _ if !Path::new(&unit).starts_with(manager.user_folder(ctx)?) => "package",
        Found::Edited(_) => "edited",
        Found::Link(..) => "link",
        _ if service.real_name(SERVICE) != SERVICE => "link",
        _ => "install",
    };
    Ok(Report {
        manager: "systemd",
        state: state(service).to_owned(),
        why: service.why_it_failed().filter(|_| !service.is_active()),
        pid: service.main_pid(),
        version: answer.as_ref().map(|answer| answer.version.clone()),
        started_at: answer.as_ref().map(|answer| answer.started_at.clone()),
        starts_again_in: service.starts_again_in(),
        restarts: service.number("NRestarts"),
        unit,
        unit_from,
        drop_ins: service.get("DropInPaths").split_whitespace().map(str::to_owned).collect(),
        program: service.program().map(|program| program.display().to_string()),
        socket_unit: socket.get("ActiveState").to_owned(),
        socket: answer.map(|answer| answer.socket),
        starts_at_login: service.starts_at_login(),
        goes_on_after_logout: linger::is_on(&ctx.env),
        log: ctx.places()?.log_dir.display().to_string(),
        problems,
    })
}

fn state(service: &Unit) -> &str {
    match service.get("ActiveState") {
        "active" => "running",
        _ if service.unmask().is_some() => "masked",
        _ if service.starts_again_in().is_some() => "restarting",
        "inactive" => "stopped",
        other => other,
    }
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
        rows.push(("started again", Line::from(format!("{} by systemd", counted(report.restarts.into(), "time")))));
    }
    let from = match report.unit_from {
        "package" => "from a package",
        "edited" => "edited by hand",
        "masked" => "masked",
        "gone" => "its file is gone",
        "link" => "a link that somebody made",
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
