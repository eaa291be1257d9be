//! Which folder a path leads to: device and inode (D72).
//!
//! Links, letter case, Unicode forms and `..` all lead to one entry, because the system resolves them, not we.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The identity of a folder while the system runs. It is compared, never stored: numbers change with mounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FolderId {
    /// Number of the device.
    pub device: u64,
    /// Number of the inode.
    pub inode: u64,
}

impl FolderId {
    /// The folder that a path leads to, links followed.
    ///
    /// # Errors
    /// The system's words; `NotADirectory` for anything that is not a folder.
    pub fn of(path: &Path) -> io::Result<Self> {
        let meta = std::fs::metadata(path)?;
        if !meta.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { device: meta.dev(), inode: meta.ino() })
    }
}
