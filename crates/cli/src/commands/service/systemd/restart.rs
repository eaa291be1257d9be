//! `handoff service restart`, and the start after an installation.

use super::manager::{Manager, Refused};
use crate::commands::service::started::{self, Answer};
use crate::context::Context;
use crate::door;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::systemctl::{SERVICE, SOCKET, Unit};
use crate::text::{Line, Tone};

pub(in crate::commands::service) fn restart(ctx: &mut Context) -> Result<Exit, Failure> {
    let manager = Manager::open(ctx)?;
    let (service, socket) = manager.units()?;
    if !service.is_known() {
        return Err(not_installed());
    }
    is_allowed(&service, &socket)?;
    let socket = read_again(&manager)?;
    // A file that was emptied, or linked to /dev/null, is a mask only now.
    is_allowed(&manager.units()?.0, &socket.unit)?;
    let answer = start_again(ctx, &manager, &socket)?;
    let line = Line::of(Tone::Good, "running").plain(&format!(": handoffd {}, pid {}", answer.version, answer.pid));
    ctx.out.line(line);
    Ok(Exit::Good)
}

pub(super) fn not_installed() -> Failure {
    Failure::new(Exit::NotGood, "the service is not installed").hint("`handoff service install`")
}

/// What a person forbade is not started.
pub(super) fn is_allowed(service: &Unit, socket: &Unit) -> Result<(), Failure> {
    let masked =
        [(SERVICE, service), (SOCKET, socket)].into_iter().find_map(|(name, unit)| Some((name, unit.unmask()?)));
    masked.map_or(Ok(()), |(name, unmask)| {
        let message = format!("{name} is masked: somebody does not want it to be started");
        Err(Failure::new(Exit::Refused, message).hint(format!("`{unmask}`")))
    })
}

/// The socket unit after systemd has read all units again.
#[derive(Debug)]
pub(super) struct SocketUnit {
    /// As it is now.
    pub(super) unit: Unit,
    listens: Listens,
}

/// How the socket listens.
#[derive(Debug, PartialEq, Eq)]
enum Listens {
    AsItShould,
    /// As its files said before they were changed.
    AsBefore,
}

/// Makes systemd read the units. It is not asked whether they have changed: of a drop-in in a new folder it knows nothing.
pub(super) fn read_again(manager: &Manager) -> Result<SocketUnit, Failure> {
    let (_, before) = manager.units()?;
    manager.must(&["daemon-reload"])?;
    let (_, unit) = manager.units()?;
    let is_same = |name| before.get(name) == unit.get(name);
    let same = before.get("NeedDaemonReload") != "yes" && is_same("FragmentPath") && is_same("DropInPaths");
    Ok(SocketUnit { unit, listens: if same { Listens::AsItShould } else { Listens::AsBefore } })
}

/// Restarts the service, or starts it. The socket stays while it is whole, so that no connection attempt is lost.
pub(super) fn start_again(ctx: &Context, manager: &Manager, socket: &SocketUnit) -> Result<Answer, Failure> {
    // A unit that gave up is let try again; one that did not is not touched.
    manager.tell(&["reset-failed", SERVICE, SOCKET]).ok();
    let service = manager.units()?.0;
    if !socket.unit.is_active() || !is_whole(ctx, &service) || socket.listens == Listens::AsBefore {
        // A daemon that bound the address itself must leave it before systemd takes it.
        manager.must(&["stop", SERVICE, SOCKET])?;
        manager.must(&["start", SOCKET])?;
    }
    if let Err(Refused(words)) = manager.tell(&["restart", SERVICE]) {
        return Err(not_started(manager, &words));
    }
    started::wait(ctx)
}

/// Whether the socket's file still leads to systemd: without it nobody can come in, or only as long as the daemon runs that
/// has bound the path itself (F104). Asking one that does not run would start it.
fn is_whole(ctx: &Context, service: &Unit) -> bool {
    let Ok(places) = ctx.places() else { return false };
    let path = &places.socket.path;
    path.exists() && !(service.is_active() && door::listener(ctx, path) == service.main_pid())
}

fn not_started(manager: &Manager, words: &str) -> Failure {
    let service = manager.units().map(|(service, _)| service).unwrap_or_default();
    let why = service.why_it_failed().unwrap_or_else(|| words.to_owned());
    let failure = Failure::new(Exit::NotGood, format!("handoffd did not start: {why}"));
    if service.program().is_some_and(|program| !program.exists()) {
        return failure.hint("the unit names a program that is gone: `handoff service install` writes it for this one");
    }
    failure.hint("its own words: `handoff logs`; once that is repaired: `handoff service restart`")
}
