//! The installed tools: Node, Pi, pi-subagents, and what the extension needs to be checked. They lie in `target/lab`, or
//! where `HANDOFF_LAB` says, and are made once; another lock file makes another folder.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use handoffd_tests::binaries::binaries;

use crate::command;
use crate::needs::Trouble;

/// Exit code of the installer: the registry cannot be reached.
const UNREACHABLE: i32 = 3;

/// The folder of the extension.
pub(crate) fn extension() -> PathBuf {
    client("pi")
}

/// The folder of a client.
pub(crate) fn client(name: &str) -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().expect("`tests` is a folder of the repository").join("clients").join(name)
}

/// Where the tools lie.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("HANDOFF_LAB").map_or_else(
        || {
            let profile = binaries().handoffd.parent().expect("a program lies in a folder");
            profile.parent().expect("a profile's folder lies in the target folder").join("lab")
        },
        PathBuf::from,
    )
}

/// Makes sure of the tools named; answers the Node to run things with. One run installs, others wait for it.
pub(crate) fn install(names: &[&str]) -> Result<PathBuf, Trouble> {
    installed_by(&extension().join("lab/install.mjs"), names, "bin ")
}

/// Why the registry cannot be reached: tried once a run, since npm takes its time to give up.
static UNREACHED: OnceLock<String> = OnceLock::new();

/// Runs an installer; answers the path that it names after `word`.
pub(crate) fn installed_by(installer: &Path, names: &[&str], word: &str) -> Result<PathBuf, Trouble> {
    if let Some(why) = UNREACHED.get() {
        return Err(Trouble::Missing(why.clone()));
    }
    let folder = folder();
    let failed =
        |what: &str, error: &dyn std::fmt::Display| Trouble::Failed(format!("{what} {}: {error}", folder.display()));
    std::fs::create_dir_all(&folder).map_err(|error| failed("cannot make", &error))?;
    let lock = File::create(folder.join("lock")).map_err(|error| failed("no lock in", &error))?;
    lock.lock().map_err(|error| failed("cannot lock", &error))?;
    let mut node = Command::new("node");
    node.arg(installer).arg(&folder).args(names);
    let ended = command::run(node, Duration::from_mins(10)).map_err(Trouble::Failed)?;
    match ended.status.and_then(|status| status.code()) {
        Some(0) => ended
            .said
            .lines()
            .find_map(|line| line.strip_prefix(word))
            .map(PathBuf::from)
            .ok_or_else(|| Trouble::Failed(format!("the installer names no program:\n{}", ended.said))),
        Some(UNREACHABLE) => {
            let last = ended.said.lines().last().unwrap_or_default();
            let why = format!("{} lacks a tool: {last}", folder.display());
            Err(Trouble::Missing(UNREACHED.get_or_init(|| why).clone()))
        }
        _ => Err(Trouble::Failed(format!("the tools cannot be installed:\n{}", ended.said))),
    }
}

/// Runs a script of the extension's package on the installed Node.
pub(crate) fn run_script(script: &str) -> Result<(), Trouble> {
    let node = install(&["node", "extension"])?;
    let bin = node.parent().expect("a program lies in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(bin.to_path_buf()).chain(std::env::split_paths(&path));
    let mut npm = Command::new("npm");
    npm.current_dir(extension())
        .args(["run", "--silent", script])
        .env("PATH", std::env::join_paths(folders).map_err(|error| Trouble::Failed(error.to_string()))?)
        .env("HANDOFF_BIN", &binaries().handoff)
        .env("HANDOFFD_BIN", &binaries().handoffd);
    finished(command::run(npm, Duration::from_mins(5)))
}

/// A program that must have ended well.
pub(crate) fn finished(ended: Result<command::Ended, String>) -> Result<(), Trouble> {
    let ended = ended.map_err(Trouble::Failed)?;
    match ended.status {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(Trouble::Failed(format!("{}\n{status}", ended.said))),
        None => Err(Trouble::Failed(format!("{}\nit did not end in time", ended.said))),
    }
}
