//! Repositories for tests: made by hand, so that nothing depends on a `git` program, and by `git` where there is one.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    unreachable_pub,
    dead_code,
    reason = "helpers of tests, each test uses some"
)]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Makes a file with its folders.
pub fn put(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).unwrap().write_all(content.as_ref()).unwrap();
}

/// The least that is a git folder.
pub fn git_folder(git_dir: &Path) {
    put(&git_dir.join("HEAD"), "ref: refs/heads/main\n");
    for folder in ["objects", "refs"] {
        fs::create_dir_all(git_dir.join(folder)).unwrap();
    }
}

/// A temporary folder with its links resolved.
pub fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

/// Runs `git` away from any configuration of this machine; `None` when there is no such program.
pub fn run_git(folder: &Path, args: &[&str]) -> Option<Output> {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"])
        .args(args)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output();
    match output {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => panic!("cannot run git: {error}"),
    }
}

/// A repository made by `git init`; `None`, said on stderr, when there is no such program.
pub fn real_repository(folder: &Path, options: &[&str]) -> Option<()> {
    fs::create_dir_all(folder).unwrap();
    if run_git(folder, &["--version"]).is_none() {
        eprintln!("skipped: there is no program `git` here");
        return None;
    }
    git(folder, &[&["init", "-q", "-b", "main"], options].concat());
    Some(())
}

/// Runs `git`, which must be there and succeed.
#[track_caller]
pub fn git(folder: &Path, args: &[&str]) {
    let output = run_git(folder, args).unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}
