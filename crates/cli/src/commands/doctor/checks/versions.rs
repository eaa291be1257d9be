//! Version skew: the daemon that runs, this program, the daemon's program on disk, and the clients' files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::super::repair::Repair;
use super::{Finding, World};
use crate::VERSION;
use crate::commands::init::pi;
use crate::shell::quoted;
use crate::spawn;

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most of a file of a client that is read.
const MAX_FILE: u64 = 1024 * 1024;

/// Everything that has a version.
pub(super) fn check(world: &World) -> Vec<Finding> {
    let mut findings: Vec<Finding> = running(world).into_iter().collect();
    findings.extend(on_disk(world));
    findings.extend(extension(world));
    findings.extend(plugin(world));
    if findings.is_empty() {
        findings.push(Finding::good(format!("all that is here is {VERSION}")));
    }
    findings
}

fn running(world: &World) -> Option<Finding> {
    let daemon = &world.running()?.daemon;
    if daemon.outdated {
        let what = format!("the daemon runs an older build ({}) than the one on disk", daemon.version);
        return Some(Finding::warning(what, world.restart()));
    }
    (daemon.version != VERSION).then(|| {
        let what = format!("the daemon is {}, this program is {VERSION}", daemon.version);
        Finding::warning(what, "install both programs from one version, then restart the daemon")
    })
}

/// The daemon's program: the unit's, else the one beside this program.
fn on_disk(world: &World) -> Option<Finding> {
    let beside = || Some(std::env::current_exe().ok()?.canonicalize().ok()?.parent()?.join("handoffd"));
    let program = world.unit().and_then(|unit| unit.program()).or_else(beside).filter(|path| path.is_file())?;
    let told = spawn::told(program.to_str()?, &["--version"], None, PATIENCE).ok()?;
    let version = told.trim().rsplit(' ').next().unwrap_or_default();
    (version != VERSION).then(|| {
        let what = format!("{} is {version}, this program is {VERSION}", program.display());
        Finding::warning(what, "install both programs from one version, then restart the daemon")
    })
}

/// The Pi extension, if Pi's settings name it.
fn extension(world: &World) -> Option<Finding> {
    let found = pi::installed(&world.shell)?;
    let version = version_in(&found.folder.join("package.json")).unwrap_or_else(|| "of no version".to_owned());
    if version == VERSION {
        return None;
    }
    let what = format!(
        "the Pi extension in {} is {version}, this program is {VERSION}; a session takes another up with /reload",
        found.folder.display()
    );
    let finding = Finding::warning(what, "handoff init --pi");
    Some(if found.is_copy { finding.repaired_by(Repair::RenewPi(found.folder)) } else { finding })
}

/// The plugin of Claude Code, as Claude Code's own list of plugins has it.
fn plugin(world: &World) -> Option<Finding> {
    let list = world.shell.home.as_ref()?.join(".claude/plugins/installed_plugins.json");
    let list: Value = serde_json::from_slice(&read(&list)?).ok()?;
    let (name, entry) = list["plugins"].as_object()?.iter().find(|(name, _)| name.starts_with("handoff@"))?;
    let entry = entry.get(0).unwrap_or(entry);
    let folder = PathBuf::from(entry["installPath"].as_str()?);
    let version = version_in(&folder.join(".claude-plugin/plugin.json"))?;
    (version != VERSION).then(|| {
        let what = format!(
            "the plugin of Claude Code is {version}, this program is {VERSION}; a new session takes another up"
        );
        Finding::warning(what, format!("claude plugin update {}", quoted(name)))
    })
}

fn version_in(manifest: &Path) -> Option<String> {
    let manifest: Value = serde_json::from_slice(&read(manifest)?).ok()?;
    manifest["version"].as_str().map(str::to_owned)
}

fn read(path: &Path) -> Option<Vec<u8>> {
    handoffd::files::read_bounded(path, MAX_FILE, handoffd::files::Links::Follow).ok()?
}
