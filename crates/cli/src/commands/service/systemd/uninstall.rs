//! `handoff service uninstall`

use std::path::{Path, PathBuf};

use handoffd::keeping::Fate;
use wire::status::ProjectStatus;

use super::manager::Manager;
use super::units::possible;
use crate::commands::doctor;
use crate::commands::service::file::{self, Found};
use crate::commands::service::state;
use crate::context::Context;
use crate::daemon;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::systemctl::{SERVICE, SOCKET};

pub(in crate::commands::service) fn uninstall(ctx: &mut Context, fate: Fate) -> Result<Exit, Failure> {
    let manager = Manager::open(ctx)?;
    // As long as it runs: afterwards nobody knows it.
    let env = doctor::service_env(ctx);
    let folder = manager.user_folder(ctx)?;
    let (service, socket) = manager.units()?;
    // Disabling removes units that are links by itself.
    let mut files = Vec::new();
    for path in possible(&folder) {
        let found = file::show_before_removal(ctx, &path)?;
        files.push((path, found));
    }
    if service.is_known() || socket.is_known() {
        // Asking one that does not run would start it.
        let at_work = if service.is_active() { at_work(ctx) } else { Vec::new() };
        // A unit whose file is gone, or is no file, cannot be disabled any more.
        match service.has_file() && socket.has_file() {
            true => manager.must(&["disable", "--now", service.real_name(SERVICE), socket.real_name(SOCKET)])?,
            false => {
                manager.tell(&["disable", SERVICE]).ok();
                manager.tell(&["disable", SOCKET]).ok();
                manager.must(&["stop", SERVICE, SOCKET])?;
            }
        }
        let how = match fate {
            Fate::Keep => "`handoffd` in a terminal, or `handoff service install`",
            Fate::Remove => "and `handoff init` has put the project on a new list",
        };
        for task in at_work {
            ctx.out.warn(&format!(
                "{task} is at work: its session goes on, and `tasks.json` says RUNNING until a daemon runs again and takes \
                 the report ({how})"
            ));
        }
        ctx.out.line(format!("stopped and disabled {SERVICE} and {SOCKET}"));
    } else if files.iter().all(|(_, found)| matches!(found, Found::Absent)) {
        ctx.out.note("the service is not installed");
    }
    // Of a masked unit, systemd leaves the link by which it starts at login.
    for link in [("default.target.wants", SERVICE), ("sockets.target.wants", SOCKET)] {
        std::fs::remove_file(folder.join(link.0).join(link.1)).ok();
    }
    for (path, found) in files {
        remove(ctx, &path, &found)?;
    }
    manager.must(&["daemon-reload"])?;
    manager.tell(&["reset-failed", SERVICE, SOCKET]).ok();
    tell_what_stays(ctx, &manager, &folder);
    state::put_away(ctx, &env, fate)?;
    Ok(Exit::Good)
}

fn remove(ctx: &mut Context, path: &Path, found: &Found) -> Result<(), Failure> {
    // What a person forbade must not start at the next login because a package brings the unit.
    let stays = match found {
        Found::Masked(_) => "is masked",
        Found::NoFile => "is no file",
        _ => "",
    };
    if !stays.is_empty() {
        ctx.out.line(format!("left: {} {stays}", path.display()));
        return Ok(());
    }
    if file::remove(path)? || matches!(found, Found::Link(..)) {
        ctx.out.line(format!("removed {}", path.display()));
        // Only an empty folder of drop-ins goes.
        let parent = path.parent().filter(|parent| parent.extension().is_some_and(|extension| extension == "d"));
        if let Some(parent) = parent {
            std::fs::remove_dir(parent).ok();
        }
    }
    Ok(())
}

/// The tasks that are RUNNING, in words; none if nobody says so.
fn at_work(ctx: &Context) -> Vec<String> {
    let status = ctx.block_on(async { daemon::connect(ctx).await?.0.status().await });
    let projects = status.map(|status| status.projects).unwrap_or_default();
    let named = |project: ProjectStatus| Some(format!("{} of {}", project.task?.task_id, project.path));
    projects.into_iter().filter_map(named).collect()
}

fn tell_what_stays(ctx: &mut Context, manager: &Manager, folder: &Path) {
    let drop_ins = [SERVICE, SOCKET].map(|unit| folder.join(format!("{unit}.d")));
    for own in drop_ins.into_iter().filter(|folder| folder.exists()) {
        ctx.out.line(format!("left: your own settings in {}", own.display()));
    }
    let packages: Vec<PathBuf> = manager.other_folders(folder).map(|other| other.join(SERVICE)).collect();
    for package in packages.into_iter().filter(|file| file.exists()) {
        ctx.out.line(format!("left: {} belongs to a package, and is disabled", package.display()));
    }
    ctx.out.line("left: the logs in the journal of systemd; `handoff logs` still shows them");
}
