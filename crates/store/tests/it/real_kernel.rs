//! Faults that the kernel itself makes. They need root and mounts; where that is not allowed each test says so and
//! passes, and `replace_faults` has the injected version.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use store::{ReplaceError, sys::Sys};

use crate::support::{Project, hash, now};

/// A mount of this test's own, unmounted when dropped.
struct Mount(PathBuf);

impl Mount {
    fn new(arguments: &[&str], at: &Path) -> Option<Self> {
        run("mount", arguments, at).then(|| Self(at.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        assert!(run("umount", &["-l"], &self.0), "the test's mount is undone");
    }
}

fn run(program: &str, arguments: &[&str], path: &Path) -> bool {
    let output = Command::new(program).args(arguments).arg(path).output();
    let done = output.as_ref().is_ok_and(|output| output.status.success());
    if !done {
        println!("skipped: `{program} {arguments:?}` is not permitted here");
    }
    done
}

/// The queue is as before, nothing of ours is left, and the error number is the kernel's.
fn refused(project: &Project, outcome: Result<store::Replaced, ReplaceError>, errno: i32) {
    let Err(ReplaceError::CannotWrite(fault)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(fault.raw_os_error(), errno, "{fault}");
    assert!(fault.advice().is_some(), "{fault}");
    assert_eq!((project.queue_bytes(), project.leftovers()), (b"old".to_vec(), vec![]));
}

#[test]
fn a_full_disk() {
    let project = Project::new();
    let Some(_mount) = Mount::new(&["-t", "tmpfs", "-o", "size=64k", "tmpfs"], &project.root) else { return };
    fs::create_dir(project.root.join(".pi")).unwrap();
    fs::write(project.queue(), b"old").unwrap();
    let dir = project.open();
    refused(&project, dir.replace_queue(hash(b"old"), &vec![b'x'; 100_000], now()), 28);
    let replaced = dir.replace_queue(hash(b"old"), b"small", now()).unwrap();
    assert!(replaced.displaced.is_some(), "works again when there is room");
}

#[test]
fn a_read_only_mount() {
    let project = Project::new();
    let Some(mount) = Mount::new(&["-t", "tmpfs", "tmpfs"], &project.root) else { return };
    fs::create_dir(project.root.join(".pi")).unwrap();
    fs::write(project.queue(), b"old").unwrap();
    assert!(run("mount", &["-o", "remount,ro"], &mount.0));
    refused(&project, project.open().replace_queue(hash(b"old"), b"new", now()), 30);
}

#[test]
fn an_immutable_file() {
    let project = Project::with_queue(b"old");
    if !run("chattr", &["+i"], &project.queue()) {
        return;
    }
    let outcome = project.open().replace_queue(hash(b"old"), b"new", now());
    assert!(run("chattr", &["-i"], &project.queue()));
    refused(&project, outcome, 1);
}

#[test]
fn a_file_that_is_mounted_by_itself() {
    let project = Project::with_queue(b"old");
    let outside = project.root.with_file_name("outside");
    fs::write(&outside, b"old").unwrap();
    let Some(_mount) = Mount::new(&["--bind", outside.to_str().unwrap()], &project.queue()) else { return };
    refused(&project, project.open().replace_queue(hash(b"old"), b"new", now()), 16);
}

#[test]
fn the_kind_of_file_system_is_told() {
    let project = Project::new();
    let kind = project.open_with(&Sys::real()).fs_kind();
    assert!(kind.is_local() || kind.events_note().is_some(), "{kind}");
    let Some(_mount) = Mount::new(&["-t", "tmpfs", "tmpfs"], &project.root) else { return };
    assert_eq!(project.open().fs_kind(), store::FsKind::Local { name: "tmpfs" });
}
