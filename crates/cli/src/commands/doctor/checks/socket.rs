//! The socket and the folders of our own: whose they are, and who could tamper with them.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use handoffd::registry::StateFileError;
use rustix::process::geteuid;
use store::put_aside;

use super::super::repair::Repair;
use super::{Finding, Hidden, World};
use crate::shell::quoted;

/// Whose write permission is one too many.
const OTHERS: u32 = 0o022;
/// In a folder of this mode, only the owner of a file may replace it.
const STICKY: u32 = 0o1000;

/// Socket, its folder, state folder, registry.
pub(super) fn check(world: &World) -> Vec<Finding> {
    let places = match &world.places {
        Ok(places) => places,
        Err(error) => return vec![Finding::fault(error.to_string(), "set what it names, then restart the daemon")],
    };
    let mut findings = Vec::new();
    if world.hidden == Hidden::Yes
        && let Some(status) = world.running()
    {
        let elsewhere = world.shell_places.as_ref().map(|places| places.socket.path.display().to_string());
        let what = format!(
            "this shell looks for the daemon at {}; it listens at {}",
            elsewhere.unwrap_or_else(|error| error.to_string()),
            status.daemon.socket
        );
        let remedy = format!("export HANDOFFD_SOCKET={}", quoted(&status.daemon.socket));
        findings.push(Finding::fault(what, remedy));
    }
    let socket = &places.socket.path;
    let own = [Some(places.state_dir.as_path()), socket.parent().filter(|_| !places.socket.origin.is_explicit())];
    findings.extend(own.into_iter().flatten().filter_map(private_folder));
    findings.extend(shared_folder(world));
    findings.extend(socket_file(world, socket));
    if let (Err(error), true) = (&world.registry, findings.is_empty()) {
        findings.push(list(error));
    }
    if findings.is_empty() {
        findings.push(Finding::good(format!("{} ({})", socket.display(), places.socket.origin.words())));
    }
    findings
}

/// The list of projects; its own words say what comes after the command.
fn list(error: &StateFileError) -> Finding {
    let remedy = match error {
        StateFileError::Corrupt { path, .. } => put_aside(path),
        StateFileError::Newer { .. } => "install both programs of that version".to_owned(),
        StateFileError::File(_) => "repair what the system says".to_owned(),
    };
    Finding::fault(error.to_string(), remedy)
}

/// A folder of ours. One that is not there is made at the next start.
fn private_folder(path: &Path) -> Option<Finding> {
    let meta = path.metadata().ok()?;
    if !meta.is_dir() {
        let what = format!("{} is not a folder", path.display());
        return Some(Finding::fault(what, put_aside(path)));
    }
    if let Some(finding) = foreign(path, &meta) {
        return Some(finding);
    }
    if let Some(command) = store::allow(path) {
        let what = format!("{} cannot be used (mode {:o})", path.display(), meta.mode() & 0o7777);
        return Some(Finding::fault(what, command));
    }
    let mode = meta.mode() & 0o7777;
    let (finding, can): (fn(String, String) -> Finding, _) = match mode {
        mode if mode & OTHERS != 0 => (Finding::fault, "write to"),
        mode if mode & 0o077 != 0 => (Finding::warning, "look into"),
        _ => return None,
    };
    let what = format!("other users can {can} {} (mode {mode:o})", path.display());
    Some(finding(what, format!("chmod 700 {}", shown(path))).repaired_by(Repair::CloseFolder(path.to_owned())))
}

/// A folder that the user named for the socket may be shared, but not open to all.
fn shared_folder(world: &World) -> Option<Finding> {
    let place = &world.places.as_ref().ok()?.socket;
    let folder = place.path.parent().filter(|_| place.origin.is_explicit())?;
    let meta = folder.metadata().ok()?;
    (meta.mode() & 0o002 != 0 && meta.mode() & STICKY == 0).then(|| {
        let what = format!("every user can replace what is in {}, the socket too", folder.display());
        Finding::fault(what, format!("chmod o-w {}", shown(folder)))
    })
}

fn socket_file(world: &World, socket: &Path) -> Option<Finding> {
    let Ok(meta) = socket.symlink_metadata() else { return vanished(world, socket) };
    if !meta.file_type().is_socket() {
        let what = format!("{} is not a socket, so no daemon can listen there", socket.display());
        return Some(Finding::fault(what, put_aside(socket)));
    }
    if let Some(finding) = foreign(socket, &meta) {
        return Some(finding);
    }
    let mode = meta.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let what = format!("{} has the mode {mode:o} instead of 600", socket.display());
        return Some(Finding::warning(what, format!("chmod 600 {}", shown(socket))));
    }
    // One that lives and is silent is told of by `daemon`.
    world.daemon_pid().is_none().then(|| {
        Finding::note(format!(
            "{} is there and nobody answers: a daemon that was killed leaves it, the next one takes its place",
            socket.display()
        ))
    })
}

/// A daemon that lives, answers nowhere, and could not make its socket again (F104).
fn vanished(world: &World, socket: &Path) -> Option<Finding> {
    let pid = world.daemon_pid().filter(|_| world.running().is_none())?;
    let what = format!("{} has vanished, so nobody reaches the daemon (pid {pid})", socket.display());
    Some(Finding::fault(what, world.after_ten_seconds(pid)))
}

fn foreign(path: &Path, meta: &Metadata) -> Option<Finding> {
    let hint = handoffd::places::folder::owner_hint(path)?;
    // Root would take from its owner what is right.
    let remedy = match geteuid().is_root() {
        true => format!("run it as user {}, without sudo", meta.uid()),
        false => format!("sudo chown -R \"$(id -un)\" {}", shown(path)),
    };
    Some(Finding::fault(format!("{} (user {}) {hint}", path.display(), meta.uid()), remedy))
}

fn shown(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}
