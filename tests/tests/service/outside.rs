//! Getting inside: the same program again, under a user manager of its own.

use std::path::Path;
use std::process::Command;

use handoffd_tests::binaries::{ARE_BUILT, binaries};
use libtest_mimic::{Completion, Trial};

const INSIDE: &str = "HANDOFF_TEST_UNDER_SYSTEMD";
const TOOL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tools/with-user-systemd");
/// The tool's own code for "could not be set up".
const NOT_SET_UP: i32 = 125;

pub(crate) fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Runs this program inside, with its arguments; its exit code, or why there is no inside.
pub(crate) fn run_inside() -> Result<u8, String> {
    if let Some(missing) = missing() {
        return Err(missing);
    }
    binaries();
    let program = std::env::current_exe().expect("a program knows its path");
    // Nothing of the shell's environment: the manager, and with it the service, has what a login gives.
    let status = Command::new("bash")
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"), ("TERM", "dumb"), ("USER", "root"), ("RUST_BACKTRACE", "1")])
        .envs([(INSIDE, "1"), (ARE_BUILT, "1")])
        .arg(TOOL)
        .arg(program)
        .args(std::env::args_os().skip(1))
        .status()
        .map_err(|error| format!("bash cannot be started: {error}"))?;
    match status.code() {
        Some(NOT_SET_UP) => Err("no user manager could be started in a namespace of its own; see above".to_owned()),
        code => Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
    }
}

fn missing() -> Option<String> {
    let needs = ["/lib/systemd/systemd", "/usr/bin/systemctl", "/usr/bin/unshare", "/usr/bin/dbus-daemon"];
    if let Some(missing) = needs.iter().find(|path| !Path::new(path).exists()) {
        let remedy = "Debian: apt-get install systemd dbus util-linux";
        return Some(format!("{missing} is not there ({remedy})"));
    }
    let root = nix::unistd::getuid().is_root();
    (!root).then(|| "only root can make the namespace".to_owned())
}

/// The tests, each saying why it did not run; a failure where they must.
pub(crate) fn left_out(names: Vec<&'static str>, why: &str) -> Vec<Trial> {
    let must = std::env::var_os("CI").is_some_and(|value| value == "true");
    let trial = |name: &'static str| {
        let why = format!("left out: {why}");
        Trial::ignorable_test(name, move || if must { Err(why.into()) } else { Ok(Completion::ignored_with(why)) })
    };
    names.into_iter().map(trial).collect()
}
