//! `handoff service restart`, and the start after an installation.

use super::manager::{Manager, Refused, Unit};
use super::{SERVICE, SOCKET};
use crate::commands::service::started::{self, Answer};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::{Line, Tone};

pub(in crate::commands::service) fn restart(ctx: &mut Context) -> Result<Exit, Failure> {
    let manager = Manager::open(ctx)?;
    let (service, socket) = manager.units()?;
    if !service.is_known() {
        return Err(not_installed());
    }
    if service.text("NeedDaemonReload") == "yes" || socket.text("NeedDaemonReload") == "yes" {
        manager.must(&["daemon-reload"])?;
    }
    let answer = start_again(ctx, &manager, &socket)?;
    let line = Line::of(Tone::Good, "running").plain(&format!(": handoffd {}, pid {}", answer.version, answer.pid));
    ctx.out.line(line);
    Ok(Exit::Good)
}

pub(super) fn not_installed() -> Failure {
    Failure::new(Exit::NotGood, "the service is not installed").hint("`handoff service install`")
}

/// Restarts the service, or starts it. The socket stays while it is whole, so that no connection attempt is lost.
pub(super) fn start_again(ctx: &Context, manager: &Manager, socket: &Unit) -> Result<Answer, Failure> {
    // A unit that gave up is let try again; one that did not is not touched.
    manager.tell(&["reset-failed", SERVICE, SOCKET]).ok();
    if !socket.is_active() || !is_whole(ctx) || socket.text("NeedDaemonReload") == "yes" {
        // A daemon that bound the address itself must leave it before systemd takes it.
        manager.must(&["stop", SERVICE, SOCKET])?;
        manager.must(&["start", SOCKET])?;
    }
    if let Err(Refused(words)) = manager.tell(&["restart", SERVICE]) {
        return Err(not_started(manager, &words));
    }
    started::wait(ctx)
}

/// Whether the socket's file is still there: without it nobody can come in.
fn is_whole(ctx: &Context) -> bool {
    ctx.places().is_ok_and(|places| places.socket.path.exists())
}

fn not_started(manager: &Manager, words: &str) -> Failure {
    let service = manager.units().map(|(service, _)| service).unwrap_or_default();
    let why = service.why_it_failed().unwrap_or_else(|| words.to_owned());
    let message = format!("handoffd did not start: {why}");
    Failure::new(Exit::NotGood, message)
        .hint("its own words: `handoff logs`; once that is repaired: `handoff service restart`")
}
