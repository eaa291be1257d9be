//! Mounts for the tests about disks: a tiny tmpfs, a bind mount. They need root; tests ask [`Mount::possible`] first.
#![expect(clippy::disallowed_methods, reason = "the harness starts mount and umount")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Something mounted until dropped.
#[derive(Debug)]
pub struct Mount {
    target: PathBuf,
}

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
        done.status.success().then(|| Self { target: target.to_path_buf() })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.target).status());
    }
}
