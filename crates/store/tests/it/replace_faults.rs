//! Every system call of a queue write failing once: the old file stays whole, and nothing is left that blocks (D70).

use std::fs;

use store::{Expected, PiFolder, ProjectDir, SwapVerdict};

use crate::support::{EINTR, EIO, ENOSPC, EROFS, EXDEV, Project, each_fault, hash, now};

const ERRNOS: [i32; 5] = [EIO, ENOSPC, EROFS, EXDEV, EINTR];

/// A next start clears whatever was left: only the queue and `.pi` remain.
fn next_start_clears(project: &Project, label: &str) {
    let dir = project.open();
    let judge =
        |bytes: &[u8]| if bytes == b"old" || bytes == b"new" { SwapVerdict::Known } else { SwapVerdict::Unseen };
    let swept = dir.sweep_temporaries(now(), judge).unwrap();
    assert_eq!(swept.lost, Vec::<std::path::PathBuf>::new(), "{label}");
    assert_eq!(project.leftovers(), Vec::<String>::new(), "{label}");
}

#[test]
fn replacing_survives_every_fault() {
    each_fault(
        &ERRNOS,
        || Project::with_queue(b"old"),
        |project, sys| {
            let Ok(dir) = ProjectDir::open(&project.root, sys, PiFolder::Create) else { return false };
            dir.replace_queue(hash(b"old"), b"new", now()).is_ok()
        },
        |project, _, succeeded, label| {
            let expected: &[u8] = if succeeded { b"new" } else { b"old" };
            assert_eq!(project.queue_bytes(), expected, "{label}");
            next_start_clears(project, label);
            let again = project.open().replace_queue(hash(expected), b"again", now());
            assert!(again.is_ok(), "the next write works: {label}: {again:?}");
        },
    );
}

#[test]
fn creating_survives_every_fault() {
    each_fault(
        &ERRNOS,
        Project::new,
        |project, sys| {
            let Ok(dir) = ProjectDir::open(&project.root, sys, PiFolder::Create) else { return false };
            dir.replace_queue(Expected::Absent, b"new", now()).is_ok()
        },
        |project, _, succeeded, label| {
            assert_eq!(project.queue().exists(), succeeded, "{label}");
            next_start_clears(project, label);
        },
    );
}

#[test]
fn settling_survives_every_fault() {
    each_fault(
        &ERRNOS,
        || {
            let project = Project::with_queue(b"old");
            let swap = project.open().replace_queue(hash(b"old"), b"new", now()).unwrap().displaced.unwrap();
            (project, swap)
        },
        |(project, swap), sys| {
            let Ok(dir) = ProjectDir::open(&project.root, sys, PiFolder::Create) else { return false };
            swap.settle(&dir, now()).is_ok()
        },
        |(project, _), _, _, label| {
            assert_eq!(project.queue_bytes(), b"new", "{label}");
            next_start_clears(project, label);
        },
    );
}

#[test]
fn sweeping_survives_every_fault_and_loses_nothing() {
    let digits = "0123456789abcdef0123456789abcdef";
    each_fault(
        &ERRNOS,
        || {
            let project = Project::with_queue(b"queue");
            fs::write(project.root.join(format!(".tasks.json.{digits}.new")), b"half").unwrap();
            fs::write(project.root.join(format!(".tasks.json.{digits}.swap")), b"unseen").unwrap();
            project
        },
        |project, sys| {
            let Ok(dir) = ProjectDir::open(&project.root, sys, PiFolder::Create) else { return false };
            dir.sweep_temporaries(now(), |_| SwapVerdict::Unseen).is_ok()
        },
        |project, _, _, label| {
            project.open().sweep_temporaries(now(), |_| SwapVerdict::Unseen).unwrap();
            assert_eq!(project.leftovers(), ["tasks.json.lost-20261130T081203Z"], "{label}");
            assert_eq!(fs::read(project.root.join(&project.leftovers()[0])).unwrap(), b"unseen", "{label}");
        },
    );
}
