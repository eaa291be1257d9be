//! Every system call around the lock failing once: never an empty or blocking lock, never a lost one (F067, F070).

use std::sync::Arc;

use store::sys::Sys;
use store::{Acquisition, Binding, KeepFile, Lock, LockContent, PiFolder, ProjectDir, Unlocked};

use crate::support::{EINTR, EIO, ENOSPC, EROFS, EXDEV, Project, each_fault, names, now};
use crate::world::{GONE, LIVE, claimant, earlier, lock_path, put_lock, read_lock};

const ERRNOS: [i32; 5] = [EIO, ENOSPC, EROFS, EXDEV, EINTR];

fn open(project: &Project, sys: &Sys) -> Option<Arc<ProjectDir>> {
    ProjectDir::open(&project.root, sys, PiFolder::Create).ok().map(Arc::new)
}

fn acquire(dir: &Arc<ProjectDir>, instance: u128) -> Option<Lock> {
    match Lock::acquire(dir, &claimant(instance), None, now()) {
        Ok(Acquisition::Acquired { lock, .. }) => Some(*lock),
        _ => None,
    }
}

fn binding() -> Binding {
    Binding { session_id: "s-1".to_owned(), pid: LIVE, started: Some(7), since: None, background: true }
}

/// The next start of a daemon gets the lock, and no leftover outlives that.
fn next_start_owns(project: &Project, label: &str) {
    let lock = acquire(&Arc::new(project.open()), 99).unwrap_or_else(|| panic!("blocked: {label}"));
    assert_eq!(&read_lock(project), lock.content(), "{label}");
    assert_eq!(names(&project.root.join(".pi")), ["pi-claude-handoff.lock", "pi-claude-handoff.lock.guard"], "{label}");
}

#[test]
fn taking_a_free_lock() {
    each_fault(
        &ERRNOS,
        Project::new,
        |project, sys| open(project, sys).and_then(|dir| acquire(&dir, 1)).is_some(),
        |project, _, succeeded, label| {
            if !succeeded && lock_path(project).exists() {
                assert_eq!(read_lock(project).pid, 100, "complete and ours: {label}");
            }
            next_start_owns(project, label);
        },
    );
}

#[test]
fn recovering_a_dead_lock() {
    let dead = LockContent { session: Some(binding()), ..earlier(GONE, 1) };
    each_fault(
        &ERRNOS,
        || {
            let project = Project::new();
            put_lock(&project, &dead);
            project
        },
        |project, sys| open(project, sys).and_then(|dir| acquire(&dir, 1)).is_some(),
        |project, _, succeeded, label| {
            assert!(succeeded || read_lock(project) == dead, "the dead owner's binding stays: {label}");
            next_start_owns(project, label);
        },
    );
}

#[test]
fn rewriting_the_binding() {
    each_fault(
        &ERRNOS,
        Project::new,
        |project, sys| {
            let Some(mut lock) = open(project, sys).and_then(|dir| acquire(&dir, 1)) else { return false };
            let before = read_lock(project);
            let written = lock.rewrite(Some(binding())).is_ok();
            let expected = if written { Some(binding()) } else { None };
            assert_eq!(read_lock(project), LockContent { session: expected, ..before });
            assert_eq!(&read_lock(project), lock.content(), "what we think is what stands");
            lock.still_ours().or_else(|_| lock.still_ours()).unwrap();
            written
        },
        |project, _, _, label| next_start_owns(project, label),
    );
}

#[test]
fn releasing() {
    each_fault(
        &ERRNOS,
        Project::new,
        |project, sys| {
            let Some(lock) = open(project, sys).and_then(|dir| acquire(&dir, 1)) else { return false };
            lock.release(KeepFile::Remove).is_ok()
        },
        |project, _, _, label| next_start_owns(project, label),
    );
}

#[test]
fn unlocking() {
    each_fault(
        &ERRNOS,
        || {
            let project = Project::new();
            put_lock(&project, &earlier(GONE, 1));
            project
        },
        |project, sys| {
            let Some(dir) = open(project, sys) else { return false };
            matches!(dir.unlock(&claimant(1), now()), Ok(Unlocked::Moved { .. }))
        },
        |project, _, _, label| {
            let kept: Vec<String> = names(&project.root.join(".pi"))
                .into_iter()
                .filter(|name| name == "pi-claude-handoff.lock" || name.contains("removed"))
                .collect();
            assert_eq!(kept.len(), 1, "the lock is in one place: {label}: {kept:?}");
        },
    );
}
