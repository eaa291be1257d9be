//! `handoff service uninstall`

use std::path::{Path, PathBuf};

use super::manager::Manager;
use super::units::possible;
use super::{SERVICE, SOCKET};
use crate::commands::service::file::{self, Found, look_at};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::block;

pub(in crate::commands::service) fn uninstall(ctx: &mut Context) -> Result<Exit, Failure> {
    let manager = Manager::open(ctx)?;
    let folder = manager.user_folder(ctx)?;
    let (service, socket) = manager.units()?;
    if service.is_known() || socket.is_known() {
        manager.must(&["disable", "--now", SERVICE, SOCKET])?;
        ctx.out.line(format!("stopped and disabled {SERVICE} and {SOCKET}"));
    }
    // Of a masked unit, systemd leaves the link by which it starts at login.
    for link in [("default.target.wants", SERVICE), ("sockets.target.wants", SOCKET)] {
        std::fs::remove_file(folder.join(link.0).join(link.1)).ok();
    }
    for path in possible(&folder) {
        remove(ctx, &path)?;
    }
    manager.must(&["daemon-reload"])?;
    manager.tell(&["reset-failed", SERVICE, SOCKET]).ok();
    // The socket is gone with its unit; its folder is ours only while it is empty.
    if let Some(folder) = ctx.places()?.socket.path.parent().filter(|folder| folder.ends_with("handoffd")) {
        std::fs::remove_dir(folder).ok();
    }
    tell_what_stays(ctx, &manager, &folder)?;
    Ok(Exit::Good)
}

/// What a person wrote is shown before it goes, so that it can be written again.
fn remove(ctx: &mut Context, path: &Path) -> Result<(), Failure> {
    match look_at(path)? {
        // What a person forbade must not start at the next login because a package brings the unit.
        Found::Masked => {
            ctx.out.line(format!("left: {} is masked", path.display()));
            return Ok(());
        }
        Found::Edited(text) => {
            ctx.out.note(format!("{} was edited; this stood there:", path.display()));
            for line in block("  ", &text) {
                ctx.out.note(line);
            }
        }
        Found::Absent | Found::Same | Found::Ours => {}
    }
    if file::remove(path)? {
        ctx.out.line(format!("removed {}", path.display()));
        // Only an empty folder of drop-ins goes.
        let parent = path.parent().filter(|parent| parent.extension().is_some_and(|extension| extension == "d"));
        if let Some(parent) = parent {
            std::fs::remove_dir(parent).ok();
        }
    }
    Ok(())
}

fn tell_what_stays(ctx: &mut Context, manager: &Manager, folder: &Path) -> Result<(), Failure> {
    let drop_ins = [SERVICE, SOCKET].map(|unit| folder.join(format!("{unit}.d")));
    for own in drop_ins.into_iter().filter(|folder| folder.exists()) {
        ctx.out.line(format!("left: your own settings in {}", own.display()));
    }
    let packages: Vec<PathBuf> = manager.other_folders(folder).map(|other| other.join(SERVICE)).collect();
    for package in packages.into_iter().filter(|file| file.exists()) {
        ctx.out.line(format!("left: {} belongs to a package, and is disabled", package.display()));
    }
    let places = ctx.places()?;
    ctx.out.line("left: the logs in the journal of systemd; `handoff logs` still shows them");
    if places.log_dir.exists() {
        ctx.out.line(format!("left: the logs in {}", places.log_dir.display()));
    }
    ctx.out.line(format!("left: the list of projects and the journal in {}", places.state_dir.display()));
    Ok(())
}
