//! The Debian package, from its making to its removal. It is built and takes a while, so this runs with `HANDOFF_SLOW=1` only.
//! `cargo install` is a step of `.ci/run`.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "helpers of tests fail like tests, and tests start what a person would"
)]

mod debian;
mod root;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use handoffd_tests::binaries::binaries;

/// Whether tests over 30 s were asked for.
fn slow() -> bool {
    std::env::var_os("HANDOFF_SLOW").is_some_and(|value| value == "1")
}

/// The repository.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The folder that cargo builds into.
fn target() -> PathBuf {
    binaries().handoff.parent().unwrap().parent().unwrap().to_owned()
}

/// Runs it to its end; it must succeed.
#[track_caller]
fn good(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", both(&output));
    both(&output)
}

fn both(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(repository()).env("CARGO_TARGET_DIR", target());
    command
}
