//! `handoff service install`

use std::path::Path;

use super::manager::Manager;
use super::restart::SocketUnit;
use super::units::Units;
use super::{restart, variables};
use crate::commands::service::file::{self, Found};
use crate::commands::service::programs::Programs;
use crate::commands::service::started::{self, Answer};
use crate::commands::service::state::Kept;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::systemctl::{SERVICE, SOCKET, Unit, linger};
use crate::text::{Line, Tone};

/// Where own settings belong.
const OWN: &str = "; what you want to keep belongs into a drop-in (`systemctl --user edit handoffd`)";

/// Whether something was changed that a running service has not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Files {
    Changed,
    AsTheyWere,
}

pub(in crate::commands::service) fn install(ctx: &mut Context, replace: bool) -> Result<Exit, Failure> {
    let manager = Manager::open(ctx)?;
    let programs = Programs::of_process(ctx)?;
    if let Some(socket) = ctx.env.handoffd_socket.as_deref()
        && manager.variable("HANDOFFD_SOCKET").map(Path::new) != Some(socket)
    {
        let message = format!("HANDOFFD_SOCKET is {} here, and a service does not see it", socket.display());
        return Err(Failure::usage(message).hint("set `daemon.socket` in the configuration instead, and unset it"));
    }
    let (service, socket) = manager.units()?;
    restart::is_allowed(&service, &socket)?;
    nobody_else_runs(ctx, &service, &socket)?;
    let kept = Kept::look(&ctx.places()?);
    let units = Units::plan(ctx, &manager, &programs)?;
    if let Some(package) = &units.package {
        ctx.out.line(format!("the unit comes with the package: {}", package.display()));
    }
    let files = put_in_place(ctx, &units, replace)?;
    let socket = restart::read_again(&manager)?;
    let (service, _) = manager.units()?;
    // systemd enables no unit by a name that is a link to another.
    let names = [service.real_name(SERVICE), socket.unit.real_name(SOCKET)];
    manager.must(&["enable", names[0], names[1]])?;
    ctx.out.line(format!("enabled {} and {}: it starts when you log in", names[0], names[1]));
    let answer = start(ctx, &manager, files, &socket)?;
    let line = Line::of(Tone::Good, "running").plain(&format!(": handoffd {}, pid {}", answer.version, answer.pid));
    ctx.out.line(line);
    Kept::tell_back(kept, ctx, &ctx.places()?);
    tell_about(ctx, &manager);
    Ok(Exit::Good)
}

/// A daemon that somebody started by hand would lose its socket's name to the socket unit.
fn nobody_else_runs(ctx: &Context, service: &Unit, socket: &Unit) -> Result<(), Failure> {
    if socket.is_active() && !service.is_active() {
        // Asking would start it.
        return Ok(());
    }
    let Ok(answer) = started::ask(ctx) else { return Ok(()) };
    if service.main_pid() == Some(answer.pid) {
        return Ok(());
    }
    let message = format!("a handoffd that is not this service is running (pid {})", answer.pid);
    let stop =
        format!("stop it, then install again: `kill {}`, or Ctrl-C in its terminal; tasks at work go on", answer.pid);
    Err(Failure::new(Exit::Refused, message).hint(stop))
}

fn put_in_place(ctx: &mut Context, units: &Units, replace: bool) -> Result<Files, Failure> {
    let mut files = Files::AsTheyWere;
    for wanted in &units.wanted {
        if wanted.put(ctx, replace, OWN)? {
            files = Files::Changed;
        }
    }
    for path in &units.surplus {
        match file::look_at(path)? {
            Found::Ours => {
                file::remove(path)?;
                ctx.out.line(format!("removed {}: it is of an earlier installation", path.display()));
                files = Files::Changed;
            }
            Found::Edited(_) => ctx.out.warn(&format!("{} stays: somebody edited it", path.display())),
            Found::Link(to, _) => {
                ctx.out.warn(&format!("{} stays: somebody made it a link to {}", path.display(), to.display()));
            }
            Found::Absent | Found::Same | Found::Masked(_) | Found::NoFile => {}
        }
    }
    Ok(files)
}

/// Starts what does not run, and restarts what runs with other files or another program.
fn start(ctx: &Context, manager: &Manager, files: Files, socket: &SocketUnit) -> Result<Answer, Failure> {
    let (service, _) = manager.units()?;
    let outdated = || started::ask(ctx).is_ok_and(|answer| answer.outdated);
    if service.is_active() && socket.unit.is_active() && files == Files::AsTheyWere && !outdated() {
        return started::wait(ctx);
    }
    restart::start_again(ctx, manager, socket)
}

fn tell_about(ctx: &Context, manager: &Manager) {
    for difference in variables::differences(ctx, manager) {
        ctx.out.warn(&difference);
    }
    match linger::is_on(&ctx.env) {
        Some(true) => {}
        Some(false) => ctx.out.warn(&format!("it stops when you log out; to keep it running: `{}`", linger::REMEDY)),
        None => ctx.out.note(format!("if it is to go on after you log out: `{}`", linger::REMEDY)),
    }
    ctx.out.note("its log: `handoff logs -f`; how it is: `handoff service status`");
}
