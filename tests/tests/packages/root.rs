//! A throw-away system: a folder in which dpkg installs as it would below `/`, and a person with an empty home.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::good;

/// The system, gone with its last use.
pub(crate) struct Root {
    folder: TempDir,
}

impl Root {
    /// One in which nothing is installed.
    pub(crate) fn new() -> Self {
        // Short: the path of a socket has little room.
        let folder = tempfile::Builder::new().prefix("deb").tempdir_in("/tmp").unwrap();
        for name in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "home", "run"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("var/lib/dpkg/status"), "").unwrap();
        fs::write(folder.path().join("var/lib/dpkg/available"), "").unwrap();
        Self { folder }
    }

    /// A path below it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// dpkg on this system. What the package depends on is on the real one.
    #[track_caller]
    pub(crate) fn dpkg(&self, action: &str, what: &Path) -> String {
        let is_root = nix::unistd::getuid().is_root();
        let mut command = if is_root { Command::new("dpkg") } else { Command::new("fakeroot") };
        if !is_root {
            command.arg("dpkg");
        }
        command.arg(format!("--root={}", self.folder.path().display()));
        // Its scripts would find no shell inside; they know by `DPKG_ROOT` that this is no system that runs.
        command.args(["--force-depends", "--force-not-root", "--force-script-chrootless", action]).arg(what);
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C");
        good(&mut command)
    }

    /// A program of it, run by a person of whom nothing is known.
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.path("usr/bin").join(name));
        command.env_clear().current_dir(self.path("home")).env("HOME", self.path("home"));
        command.env("XDG_RUNTIME_DIR", self.path("run")).env("PATH", "/usr/bin:/bin");
        command
    }

    /// Every file that is not dpkg's own and not the person's.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.path("usr")];
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    found.push(entry.path().strip_prefix(self.folder.path()).unwrap().display().to_string());
                }
            }
        }
        found.sort();
        found
    }
}
