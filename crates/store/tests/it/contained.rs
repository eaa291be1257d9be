//! Reading context files and other files that a project names (D1, D68, F203).

use std::fs;
use std::os::unix::fs::symlink;

use store::{ContainedError, Limit, OpenError, PiFolder, ProjectDir, ReadError, sys::Sys};

use crate::support::Project;

fn kind(error: &ContainedError) -> &'static str {
    match error {
        ContainedError::Outside => "outside",
        ContainedError::Read(ReadError::Missing) => "missing",
        ContainedError::Read(ReadError::NotRegular) => "not regular",
        ContainedError::Read(ReadError::TooLarge { .. }) => "too large",
        ContainedError::Read(ReadError::Io(_)) => "io",
    }
}

#[test]
fn files_are_read_inside_and_never_outside() {
    let project = Project::new();
    let root = &project.root;
    fs::create_dir(root.join("docs")).unwrap();
    fs::write(root.join("docs/plan.md"), b"plan").unwrap();
    fs::write(root.with_file_name("secret"), b"secret").unwrap();
    fs::write(root.join("big"), vec![b'x'; Limit::Context.bytes() + 1]).unwrap();
    fs::write(root.join("full"), vec![b'x'; Limit::Context.bytes()]).unwrap();
    symlink("docs", root.join("relative")).unwrap();
    symlink(root.join("docs"), root.join("absolute")).unwrap();
    symlink("../secret", root.join("escape")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("fifo"), rustix::fs::Mode::RUSR).unwrap();
    let dir = project.open();
    let read = |path: &str| dir.read_contained(path, Limit::Context).map(|file| file.bytes.len());
    for path in ["docs/plan.md", "relative/plan.md", "absolute/plan.md", "docs/../docs/plan.md"] {
        assert_eq!(read(path).unwrap(), 4, "{path}");
    }
    assert_eq!(read("full").unwrap(), Limit::Context.bytes());
    for (path, expected) in [
        ("escape", "outside"),
        ("../secret", "outside"),
        ("/etc/passwd", "outside"),
        ("loop", "outside"),
        ("nul\0", "outside"),
        ("nothing", "missing"),
        ("docs/plan.md/x", "missing"),
        ("docs", "not regular"),
        ("fifo", "not regular"),
        ("big", "too large"),
    ] {
        assert_eq!(kind(&read(path).unwrap_err()), expected, "{path}");
    }
}

#[test]
fn files_are_made_inside_and_never_outside() {
    let project = Project::new();
    let root = &project.root;
    let outside = root.with_file_name("outside");
    fs::create_dir(&outside).unwrap();
    fs::create_dir(root.join("docs")).unwrap();
    symlink("docs", root.join("inside")).unwrap();
    symlink(&outside, root.join("escape")).unwrap();
    symlink("../outside/file", root.join("docs/taken")).unwrap();
    fs::write(root.join("file"), b"theirs").unwrap();
    let dir = project.open();
    let make = |path: &str| dir.make_contained(path, b"ours");
    for path in ["x", "a/b/x", "inside/x", "docs/../a/y"] {
        assert!(make(path).unwrap(), "{path}");
        assert_eq!(fs::read(root.join(path)).unwrap(), b"ours");
        assert!(!make(path).unwrap(), "{path} is there");
    }
    assert!(!make("file").unwrap() && !make("docs/taken").unwrap(), "what has the name stays");
    assert_eq!(fs::read(root.join("file")).unwrap(), b"theirs");
    for (path, expected) in
        [("escape/x", "outside"), ("escape/a/x", "outside"), ("../outside/x", "outside"), ("file/x", "io")]
    {
        assert_eq!(kind(&make(path).unwrap_err()), expected, "{path}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn the_queue_is_read_only_as_a_regular_file() {
    let project = Project::new();
    let read = || project.open().read_queue().map(|file| file.bytes);
    assert!(matches!(read(), Err(ReadError::Missing)));
    fs::write(project.root.join("real"), b"{}").unwrap();
    symlink("real", project.queue()).unwrap();
    assert!(matches!(read(), Err(ReadError::NotRegular)));
    fs::remove_file(project.queue()).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, project.queue(), rustix::fs::Mode::RUSR).unwrap();
    assert!(matches!(read(), Err(ReadError::NotRegular)));
    fs::remove_file(project.queue()).unwrap();
    fs::write(project.queue(), vec![b' '; Limit::Queue.bytes() + 1]).unwrap();
    assert!(matches!(read(), Err(ReadError::TooLarge { .. })));
    fs::write(project.queue(), b"{}").unwrap();
    assert_eq!(read().unwrap(), b"{}");
}

#[test]
fn what_is_no_project_is_refused() {
    let project = Project::new();
    let open = |path: &std::path::Path, pi| ProjectDir::open(path, &Sys::real(), pi);
    let root = &project.root;
    assert!(matches!(open(&root.join("nothing"), PiFolder::Create), Err(OpenError::Missing(_))));
    fs::write(root.join("file"), b"").unwrap();
    assert!(matches!(open(&root.join("file"), PiFolder::Create), Err(OpenError::NotAFolder(_))));
    fs::remove_dir(root.join(".pi")).unwrap();
    assert!(matches!(open(root, PiFolder::Require), Err(OpenError::NoPiFolder(_))));
    symlink("/tmp", root.join(".pi")).unwrap();
    assert!(matches!(open(root, PiFolder::Create), Err(OpenError::PiNotAFolder(_))));
    fs::remove_file(root.join(".pi")).unwrap();
    assert!(open(root, PiFolder::Create).is_ok(), "a missing `.pi` is made");
    assert!(root.join(".pi").is_dir());
    let odd = root.join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"odd-\xff"));
    fs::create_dir(&odd).unwrap();
    assert!(matches!(open(&odd, PiFolder::Create), Err(OpenError::NotUtf8(_))));
}
