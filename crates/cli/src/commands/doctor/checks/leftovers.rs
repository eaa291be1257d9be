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
use crate::text::counted;

/// A temporary that is younger, in seconds, may be at work.
const AGE: i64 = 600;
/// The most entries of a folder that are looked at.
const MOST: usize = 100_000;

/// More of a kind in one project are one finding.
const FEW: usize = 3;

/// In the root and in `.pi`.
pub(super) fn check(world: &World, subject: &Subject) -> Vec<Finding> {
    let (root, pi) = (names(&subject.path), names(&subject.path.join(".pi")));
    let lost: Vec<&PathBuf> = root.iter().filter(|path| begins(path, "tasks.json.lost-")).collect();
    let mut findings = folded(&lost, |paths| kept_aside(subject, paths));
    findings.extend(temporaries(world, subject, &root));
    let removed = pi.iter().filter(|path| begins(path, "pi-claude-handoff.lock.removed-")).count();
    if removed > 0 {
        let locks = counted(removed as u64, "lock");
        findings.push(Finding::note(format!("in .pi: {locks} moved aside, which can be removed")));
    }
    if findings.is_empty() {
        findings.push(Finding::good("nothing was left behind"));
    }
    findings
}

/// Each by itself, or all at once: a finding a file would bury all else.
fn folded(paths: &[&PathBuf], tell: impl Fn(&[&PathBuf]) -> Finding) -> Vec<Finding> {
    match paths.len() {
        0 => Vec::new(),
        count if count <= FEW => paths.chunks(1).map(tell).collect(),
        _ => vec![tell(paths)],
    }
}

/// The one file, or how many there are and the last of them; the names of writes that were kept aside go by their time.
fn named(paths: &[&PathBuf]) -> String {
    match paths {
        [one] => one.display().to_string(),
        [.., last] => format!("{} files, the last {}", paths.len(), last.display()),
        [] => String::new(),
    }
}

fn kept_aside(subject: &Subject, paths: &[&PathBuf]) -> Finding {
    let queue = quoted(&subject.path.join(QUEUE).to_string_lossy());
    let last = paths.last().map(|path| quoted(&path.to_string_lossy())).unwrap_or_default();
    let (what, which) = match paths.len() {
        1 => (format!("a write of the planner was kept aside in {}", named(paths)), "the other"),
        count => (format!("{count} writes of the planner were kept aside, the last in {last}"), "the others"),
    };
    Finding::warning(what, format!("compare with `diff {queue} {last}`, keep what is right, remove {which}"))
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
    let (new, other): (Vec<&PathBuf>, Vec<&PathBuf>) =
        ours.into_iter().partition(|path| Temporary::is_leftover(QUEUE, &name(path)));
    let (swap, foreign): (Vec<&PathBuf>, Vec<&PathBuf>) =
        other.into_iter().partition(|path| name(path).ends_with(".swap"));
    let mut findings = folded(&new, |paths| {
        let files = paths.iter().map(|path| (*path).clone()).collect();
        Finding::warning(
            format!("left by something that was killed: {}", named(paths)),
            "start the daemon: it clears it away",
        )
        .repaired_by(Repair::PutAway { project: subject.path.clone(), files })
    });
    findings.extend(folded(&swap, |paths| {
        let what = format!("left by something that was killed, and may hold what the planner wrote: {}", named(paths));
        Finding::warning(what, "start the daemon: it looks and keeps it")
    }));
    findings.extend(folded(&foreign, |paths| Finding::note(format!("not of handoffd's making: {}", named(paths)))));
    findings
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
