//! Mounts for the tests about disks: a tiny tmpfs, a bind mount, one that never answers. They need root; tests ask [`Mount::possible`] first.
#![expect(clippy::disallowed_methods, reason = "the harness starts mount and umount")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Something mounted until dropped.
#[derive(Debug)]
pub struct Mount {
    target: PathBuf,
    server: Option<Child>,
}

/// Mounts a file system whose server, this shell, never reads a question; it says so and waits.
const SILENT: &str = "exec 3<>/dev/fuse && mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 silent \"$1\" && \
                      echo mounted && exec sleep 120";

impl Mount {
    /// Whether this user may mount: tried once with a real mount.
    #[must_use]
    pub fn possible() -> bool {
        let folder = tempfile::tempdir().unwrap();
        nix::unistd::getuid().is_root() && Self::tmpfs(folder.path(), 64).is_some()
    }

    /// A tmpfs of that size in KiB over an existing folder.
    #[must_use]
    pub fn tmpfs(target: &Path, kib: u32) -> Option<Self> {
        Self::make(&["-t", "tmpfs", "-o", &format!("size={kib}k,mode=0700"), "tmpfs"], target)
    }

    /// `source` seen at `target` too.
    #[must_use]
    pub fn bind(source: &Path, target: &Path) -> Option<Self> {
        Self::make(&["--bind", &source.to_string_lossy()], target)
    }

    /// A file system that does not answer, as one on a network whose server is gone; for two minutes at most. `None` where
    /// there is no FUSE.
    ///
    /// # Panics
    /// When there is no shell.
    #[must_use]
    pub fn silent(target: &Path) -> Option<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", SILENT, "sh"]).arg(target).stdout(Stdio::piped()).stderr(Stdio::null());
        // Whatever comes of it: its end is that of the mount.
        let mut mount = Self { target: target.to_path_buf(), server: Some(command.spawn().unwrap()) };
        let mut told = String::new();
        let output = mount.server.as_mut().and_then(|server| server.stdout.take())?;
        BufReader::new(output).read_line(&mut told).ok()?;
        (told == "mounted\n").then_some(mount)
    }

    /// Whether it still does not answer.
    ///
    /// # Panics
    /// When that cannot be told.
    pub fn is_silent(&mut self) -> bool {
        self.server.as_mut().is_some_and(|server| server.try_wait().unwrap().is_none())
    }

    /// Makes it read-only, or writable again.
    ///
    /// # Panics
    /// When it cannot be remounted.
    pub fn remount(&self, option: &str) {
        let option = format!("remount,{option}");
        let done = Command::new("mount").args(["-o", &option]).arg(&self.target).status();
        assert!(done.unwrap().success(), "{} cannot be remounted", self.target.display());
    }

    fn make(arguments: &[&str], target: &Path) -> Option<Self> {
        let done = Command::new("mount").args(arguments).arg(target).output().ok()?;
        done.status.success().then(|| Self { target: target.to_path_buf(), server: None })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Without a server, whoever waits for an answer gets an error, and so it can be taken off.
        if let Some(mut server) = self.server.take() {
            server.kill().ok();
            server.wait().ok();
        }
        drop(Command::new("umount").arg("-l").arg(&self.target).status());
    }
}
