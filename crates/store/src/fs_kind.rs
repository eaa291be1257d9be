//! What kind of file system a project lies on, and what follows for events, hangs and lock verdicts (D16, D73).

use std::fmt;
use std::io;
use std::path::Path;

use crate::sys::platform;

/// The kind of file system, by its `statfs` answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FsKind {
    /// On this machine's own storage.
    Local {
        /// Such as `ext4`.
        name: &'static str,
    },
    /// Shared with other machines through a server or host.
    Network {
        /// Such as `nfs`.
        name: &'static str,
    },
    /// Served by a user process (also virtiofs): anything may be behind it.
    Fuse,
    /// Not known to us.
    Other {
        /// The `statfs` magic number.
        magic: u32,
    },
}

impl FsKind {
    /// The kind of the file system that the path leads to.
    ///
    /// # Errors
    ///
    /// Nothing is there, or the system refuses.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(platform::fs_kind(&rustix::fs::statfs(path)?))
    }

    /// Whether every process that can write here runs under this kernel (D16 rules 6 and 7).
    #[must_use]
    pub const fn is_local(self) -> bool {
        matches!(self, Self::Local { .. })
    }

    /// Whether a call may never come back, so that sweeps belong on the blocking pool (D73).
    #[must_use]
    pub const fn can_hang(self) -> bool {
        !self.is_local()
    }

    /// Whether all changes are announced by file system events. Where not, the sweep alone finds them.
    #[must_use]
    pub const fn has_events(self) -> bool {
        self.is_local()
    }

    /// The sentence for `status` where [`Self::has_events`] is false.
    #[must_use]
    pub fn events_note(self) -> Option<String> {
        if self.has_events() {
            return None;
        }
        Some(format!("changes made elsewhere send no events on {self}; they are found by the sweep"))
    }
}

impl fmt::Display for FsKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local { name } | Self::Network { name } => f.write_str(name),
            Self::Fuse => f.write_str("fuse"),
            Self::Other { magic } => write!(f, "an unknown file system ({magic:#x})"),
        }
    }
}
