//! Where the programs under test lie, and building them once a run: cargo tells a package only the places of its own
//! programs. Starting them is the business of `world`, `daemon` and `process`.
#![expect(clippy::disallowed_methods, reason = "the harness starts cargo and the programs under test")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The programs under test.
#[derive(Debug)]
pub struct Binaries {
    /// The daemon.
    pub handoffd: PathBuf,
    /// The command line.
    pub handoff: PathBuf,
}

/// Set for a test program that must not build.
pub const ARE_BUILT: &str = "HANDOFF_TEST_PROGRAMS_ARE_BUILT";

/// Builds `handoffd` and `handoff` with the profile of the running test, once a run, and says where they are.
///
/// # Panics
/// When they cannot be built.
pub fn binaries() -> &'static Binaries {
    static BUILT: OnceLock<Binaries> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = profile_folder();
        // A test that starts itself again, in surroundings where cargo cannot build, has done it before.
        if std::env::var_os(ARE_BUILT).is_none() {
            build_once(&folder);
        }
        Binaries { handoffd: folder.join("handoffd"), handoff: folder.join("handoff") }
    })
}

/// `target/<profile>`: a test program lies in its `deps`.
fn profile_folder() -> PathBuf {
    let program = std::env::current_exe().expect("the test knows its own path");
    let deps = program.parent().expect("a program lies in a folder");
    let folder = if deps.ends_with("deps") { deps.parent().expect("deps has a parent") } else { deps };
    folder.to_path_buf()
}

/// nextest starts a process for each test and gives all of one run the same id: the first one builds, the others wait.
fn build_once(folder: &Path) {
    let Some(run) = std::env::var_os("NEXTEST_RUN_ID") else { return build(folder) };
    let lock = File::create(folder.join(".e2e-build.lock")).expect("a lock beside the programs");
    lock.lock().expect("the lock of the build");
    let stamp = folder.join(".e2e-built");
    if std::fs::read(&stamp).is_ok_and(|built| built == run.as_encoded_bytes()) {
        return;
    }
    build(folder);
    std::fs::write(stamp, run.as_encoded_bytes()).expect("the stamp of the build");
}

fn build(folder: &Path) {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--quiet", "-p", "handoffd", "-p", "cli", "--bins"]);
    command.arg("--target-dir").arg(folder.parent().expect("the target folder"));
    if folder.ends_with("release") {
        command.arg("--release");
    }
    let status = command.status().expect("cargo can be started");
    assert!(status.success(), "the programs under test do not build");
}
