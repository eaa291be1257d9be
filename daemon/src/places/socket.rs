//! The address of the socket: one order for daemon and client, and one clear error when it is too long (F100, F102).
//!
//! Nothing is bound, opened or removed here.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Size of `sun_path` in bytes, the terminating NUL included.
pub const SOCKET_PATH_SIZE: usize = if cfg!(target_os = "linux") { 108 } else { 104 };

/// What made us look for the socket at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketOrigin {
    /// `HANDOFFD_SOCKET`.
    Variable,
    /// `daemon.socket` in the configuration.
    Config,
    /// `$XDG_RUNTIME_DIR/handoffd/handoffd.sock`.
    RuntimeDir,
    /// `<state dir>/run-<host>/handoffd.sock`.
    StateDir,
    /// The instance lock in the state folder names the socket of the daemon that holds or held it (D77).
    InstanceLock,
    /// The usual runtime folder of this user, although `XDG_RUNTIME_DIR` is not set (cron, ssh, sudo).
    UsualRuntimeDir,
}

impl SocketOrigin {
    /// The words that stand behind a path in a message.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Variable => "from HANDOFFD_SOCKET",
            Self::Config => "from `daemon.socket` in the configuration",
            Self::RuntimeDir => "from XDG_RUNTIME_DIR",
            Self::StateDir => "in the state folder",
            Self::InstanceLock => "named by the daemon's instance lock",
            Self::UsualRuntimeDir => "the usual place, XDG_RUNTIME_DIR is not set",
        }
    }

    /// Whether the user named this very path, so that a client must not look anywhere else.
    #[must_use]
    pub fn is_explicit(self) -> bool {
        matches!(self, Self::Variable | Self::Config)
    }
}

/// A socket's path and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketPlace {
    /// Absolute path.
    pub path: PathBuf,
    /// What led to it.
    pub origin: SocketOrigin,
}

/// The path cannot be the address of a socket on this system.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the socket path ({}) is {length} bytes long, the limit is {} ({SOCKET_PATH_SIZE} with the closing NUL): {}; \
     set HANDOFFD_SOCKET or `daemon.socket` to a shorter path",
    origin.words(), SOCKET_PATH_SIZE - 1, path.display()
)]
pub struct SocketPathTooLong {
    /// The path.
    pub path: PathBuf,
    /// Where it comes from.
    pub origin: SocketOrigin,
    /// Its length in bytes.
    pub length: usize,
}

impl SocketPlace {
    /// Checks that the system can bind and reach this path.
    ///
    /// # Errors
    /// [`SocketPathTooLong`] with the length and the limit.
    pub fn check_length(&self) -> Result<(), SocketPathTooLong> {
        let length = self.path.as_os_str().as_bytes().len();
        if length < SOCKET_PATH_SIZE {
            return Ok(());
        }
        Err(SocketPathTooLong { path: self.path.clone(), origin: self.origin, length })
    }
}

/// Says that no daemon answered, naming every place that was tried (F102).
#[must_use]
pub fn not_reachable(tried: &[SocketPlace]) -> String {
    let places: Vec<String> =
        tried.iter().map(|place| format!("{} ({})", place.path.display(), place.origin.words())).collect();
    format!("no daemon answers at {}", places.join(" or at "))
}

/// `<runtime dir>/handoffd/handoffd.sock`.
pub(super) fn in_runtime_dir(runtime_dir: &Path) -> PathBuf {
    runtime_dir.join("handoffd/handoffd.sock")
}

/// The runtime folder that systemd gives this user, whether or not the environment names it. Linux only.
pub(super) fn usual_runtime_dir() -> Option<PathBuf> {
    let uid = OsString::from(nix::unistd::geteuid().to_string());
    cfg!(target_os = "linux").then(|| Path::new("/run/user").join(uid))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(length: usize) -> SocketPlace {
        let path = PathBuf::from(format!("/{}", "s".repeat(length - 1)));
        SocketPlace { path, origin: SocketOrigin::RuntimeDir }
    }

    #[test]
    fn the_longest_path_that_fits_can_really_be_bound() {
        let dir = tempfile::Builder::new().prefix("s").tempdir_in("/tmp").unwrap();
        let used = dir.path().as_os_str().len() + 1;
        let longest = SocketPlace {
            path: dir.path().join("s".repeat(SOCKET_PATH_SIZE - 1 - used)),
            origin: SocketOrigin::Config,
        };
        assert_eq!(longest.check_length(), Ok(()));
        assert!(std::os::unix::net::UnixListener::bind(&longest.path).is_ok());
        let over = SocketPlace { path: longest.path.with_extension("x"), origin: SocketOrigin::Config };
        assert!(over.check_length().is_err());
        assert!(std::os::unix::net::UnixListener::bind(&over.path).is_err());
    }

    #[test]
    fn a_long_path_is_named_with_length_and_limit() {
        let error = place(SOCKET_PATH_SIZE).check_length().unwrap_err().to_string();
        let limit = SOCKET_PATH_SIZE - 1;
        let start = format!(
            "the socket path (from XDG_RUNTIME_DIR) is {SOCKET_PATH_SIZE} bytes long, the limit is {limit} \
             ({SOCKET_PATH_SIZE} with the closing NUL): /sss"
        );
        assert!(error.starts_with(&start), "{error}");
    }

    #[test]
    fn every_place_that_was_tried_is_named() {
        let tried = [place(4), SocketPlace { path: "/r/s".into(), origin: SocketOrigin::StateDir }];
        let expected = "no daemon answers at /sss (from XDG_RUNTIME_DIR) or at /r/s (in the state folder)";
        assert_eq!(not_reachable(&tried), expected);
    }
}
