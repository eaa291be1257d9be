//! Files that something left behind: temporaries of a crash, writes of a planner that were kept aside, locks that were moved
//! aside (D16, D64).

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use store::sys::Sys;
use store::{Claimant, LockState, PiFolder, ProjectDir, Temporary};

use super::super::repair::Repair;
use super::{Finding, Subject, World};
use crate::queue_file::QUEUE;
use crate::shell::quoted;

/// A temporary that is younger, in seconds, may be at work.
const AGE: i64 = 600;
/// The most entries of a folder that are looked at.
const MOST: usize = 100_000;

/// In the root and in `.pi`.
pub(super) fn check(world: &World, subject: &Subject) -> Vec<Finding> {
    let (root, pi) = (names(&subject.path), names(&subject.path.join(".pi")));
    let mut findings: Vec<Finding> = Vec::new();
    for lost in root.iter().filter(|path| begins(path, "tasks.json.lost-")) {
        let what = format!("a write of the planner was kept aside in {}", lost.display());
        let remedy = format!(
            "compare: diff {} {}; keep what is right, remove the other",
            quoted(&subject.path.join(QUEUE).to_string_lossy()),
            quoted(&lost.to_string_lossy())
        );
        findings.push(Finding::warning(what, remedy));
    }
    findings.extend(temporaries(world, subject, &root));
    let removed = pi.iter().filter(|path| begins(path, "pi-claude-handoff.lock.removed-")).count();
    if removed > 0 {
        findings.push(Finding::note(format!("{removed} locks that were moved aside lie in .pi; they can be removed")));
    }
    if findings.is_empty() {
        findings.push(Finding::good("nothing was left behind"));
    }
    findings
}

fn begins(path: &Path, prefix: &str) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten().take(MOST);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Old ones in a project that nobody owns. What is not the only copy of anything can be put away.
fn temporaries(world: &World, subject: &Subject, root: &[PathBuf]) -> Vec<Finding> {
    let old = |path: &&PathBuf| {
        let meta = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file);
        meta.is_some_and(|meta| world.now.as_second().saturating_sub(meta.mtime()) >= AGE)
    };
    let ours: Vec<&PathBuf> = root.iter().filter(|path| begins(path, ".tasks.json.")).filter(old).collect();
    if ours.is_empty() || is_owned(subject) {
        return Vec::new();
    }
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let told = |path: &&PathBuf| {
        let what = format!("{} was left by something that was killed", path.display());
        let is_new = Temporary::is_leftover(QUEUE, &name(path));
        match is_new {
            true => Finding::warning(what, "start the daemon: it clears it away")
                .repaired_by(Repair::PutAway { project: subject.path.clone(), file: (*path).clone() }),
            false if name(path).ends_with(".swap") => Finding::warning(
                format!("{what}, and may hold what the planner wrote"),
                "start the daemon: it looks and keeps it",
            ),
            false => Finding::note(format!("{} is not of handoffd's making", path.display())),
        }
    };
    ours.iter().map(told).collect()
}

/// Whether a live owner, or one that cannot be told, may be at work here.
pub(in super::super) fn is_owned(subject: &Subject) -> bool {
    is_owned_at(&subject.path)
}

/// As [`is_owned`], by the root.
pub(in super::super) fn is_owned_at(root: &Path) -> bool {
    let Ok(project) = ProjectDir::open(root, &Sys::real(), PiFolder::Require) else { return false };
    match project.explain_lock(&Claimant::current(None)) {
        Ok(verdict) => verdict.is_some_and(|verdict| verdict.state != LockState::Dead),
        Err(_) => true,
    }
}
