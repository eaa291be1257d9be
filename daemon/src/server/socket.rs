//! The listening socket: bound so that nobody else can ever connect, put back when its file vanishes, removed at the end.
//!
//! All of this happens only under the instance lock (D77): a dead socket file may be replaced because no other daemon of
//! this user can be starting. Under socket activation the file is the service manager's and is never removed; once it has
//! vanished, nobody can come in through what was passed, and the daemon binds the path itself until it is restarted.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, connect, listen, socket};
use rustix::io::FdFlags;
use tokio::net::UnixListener;

use crate::places::folder::{FolderError, make_for_socket, make_private};
use crate::places::socket::SocketPlace;

/// Where the listening socket comes from.
#[derive(Debug)]
pub enum Listener {
    /// We bind it ourselves.
    Bind,
    /// The service manager bound it and listens already.
    Activated(StdListener),
}

/// There is no socket to listen on.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The system refused a step.
    #[error("cannot {act} the socket {}: {source}", path.display())]
    Io {
        /// The step, as a verb.
        act: &'static str,
        /// The socket.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// Somebody listens there who does not hold our instance lock.
    #[error("another program listens on {}: set HANDOFFD_SOCKET or `daemon.socket` to another path", .0.display())]
    InUse(PathBuf),
    /// Something else has that name; it is not ours to remove.
    #[error("{} is in the way: it is not a socket", .0.display())]
    NotASocket(PathBuf),
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The service manager gave us something that is no stream socket.
    #[error("the service manager passed a descriptor that cannot be used: {0}")]
    Activation(io::Error),
}

impl Listener {
    /// What the service manager passed to this process, else a socket of our own. To be called once, early.
    ///
    /// # Errors
    /// [`SocketError::Activation`]
    pub fn from_environment() -> Result<Self, SocketError> {
        let mut passed = listenfd::ListenFd::from_env();
        match passed.take_unix_listener(0).map_err(SocketError::Activation)? {
            Some(listener) => Ok(Self::Activated(listener)),
            None => Ok(Self::Bind),
        }
    }

    /// A second handle on a socket that was passed: who waits there can be spoken with also when the first is lost in a
    /// start that fails.
    #[must_use]
    pub fn passed(&self) -> Option<StdListener> {
        let Self::Activated(listener) = self else { return None };
        listener.try_clone().ok()
    }

    /// Where a passed socket listens already.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        let Self::Activated(listener) = self else { return None };
        listener.local_addr().ok()?.as_pathname().map(Path::to_path_buf)
    }
}

/// The socket that the daemon listens on.
#[derive(Debug)]
pub struct Socket {
    pub(super) listener: UnixListener,
    path: PathBuf,
    make_folder: fn(&Path) -> Result<(), FolderError>,
    file: File,
    /// That it cannot be put back was told.
    told: bool,
}

/// The file of the socket: device and inode.
type Identity = (u64, u64);

/// Whose the file of the socket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum File {
    Ours(Identity),
    /// The service manager's; `None` until it was looked at.
    Passed(Option<Identity>),
}

impl Socket {
    /// Binds and listens, or takes over what was passed. Needs a runtime. Only for the holder of the instance lock.
    ///
    /// # Errors
    /// [`SocketError`]; a live socket of somebody else is left alone.
    pub fn open(listener: Listener, place: &SocketPlace) -> Result<Self, SocketError> {
        let (listener, path, file) = match listener {
            Listener::Bind => {
                let (listener, file) = bind_private(&place.path)?;
                (listener, place.path.clone(), File::Ours(file))
            }
            Listener::Activated(listener) => {
                let address = listener.local_addr().map_err(SocketError::Activation)?;
                let path = address.as_pathname().unwrap_or(&place.path).to_path_buf();
                (listener, path, File::Passed(None))
            }
        };
        // Only a folder that we chose is one that we may close to others.
        let chosen = matches!(file, File::Ours(_)) && !place.origin.is_explicit();
        let make_folder = if chosen { make_private } else { make_for_socket };
        let listener = in_runtime(listener, &path)?;
        Ok(Self { listener, path, make_folder, file, told: false })
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks whether the file still leads to us, and binds again if a cleaner has removed it (F104). Connections stay.
    pub(super) fn put_back(&mut self) {
        let there = identity(&self.path);
        if self.leads_here(there) {
            return;
        }
        match self.bind_again() {
            Ok(passed) => {
                self.told = false;
                let socket = self.path.display();
                match passed {
                    true => tracing::warn!(%socket, "{PASSED_WAS_GONE}"),
                    false => tracing::warn!(%socket, "the socket's file had vanished; it was bound again"),
                }
            }
            Err(error) if !self.told => {
                self.told = true;
                tracing::error!(%error, "the socket's file has vanished and cannot be put back; trying again");
            }
            Err(_) => {}
        }
    }

    fn leads_here(&mut self, there: Option<Identity>) -> bool {
        // The service manager's is tried once: an earlier daemon may have bound the path itself, and left a dead file. Not
        // before we serve: a connection that nobody takes out of the queue starts the daemon again.
        if self.file == File::Passed(None) && there.is_some() && is_live(&self.path) {
            self.file = File::Passed(there);
        }
        let (File::Ours(known) | File::Passed(Some(known))) = self.file else { return false };
        there == Some(known)
    }

    /// Whether it was the service manager's before.
    fn bind_again(&mut self) -> Result<bool, SocketError> {
        (self.make_folder)(self.path.parent().unwrap_or(Path::new("/")))?;
        let (listener, file) = bind_private(&self.path)?;
        self.listener = in_runtime(listener, &self.path)?;
        let before = std::mem::replace(&mut self.file, File::Ours(file));
        Ok(matches!(before, File::Passed(_)))
    }
}

/// It does not say that all is well: the service manager still keeps connections for a path that leads elsewhere.
const PASSED_WAS_GONE: &str = "the file of the service manager's socket had vanished; the daemon listens there itself, and a \
                               restart would lose connection attempts: `handoff service restart` makes it whole";

impl Drop for Socket {
    /// Removes the file if it is still ours.
    fn drop(&mut self) {
        if let File::Ours(ours) = self.file
            && identity(&self.path) == Some(ours)
        {
            std::fs::remove_file(&self.path).ok();
        }
    }
}

fn identity(path: &Path) -> Option<Identity> {
    let meta = path.symlink_metadata().ok()?;
    Some((meta.dev(), meta.ino()))
}

fn in_runtime(listener: StdListener, path: &Path) -> Result<UnixListener, SocketError> {
    let refused = |source| io_error("listen on", path, source);
    listener.set_nonblocking(true).map_err(refused)?;
    UnixListener::from_std(listener).map_err(refused)
}

/// Bind, change the mode, listen, in this order: before `listen` nobody can connect, whatever the umask is (F110).
fn bind_private(path: &Path) -> Result<(StdListener, Identity), SocketError> {
    make_room(path)?;
    let refused = |act| move |errno: Errno| io_error(act, path, errno.into());
    let socket = new_socket().map_err(refused("create"))?;
    let address = UnixAddr::new(path).map_err(refused("bind"))?;
    bind(socket.as_raw_fd(), &address).map_err(refused("bind"))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .map_err(|source| io_error("change the mode of", path, source))?;
    let file = identity(path).ok_or_else(|| io_error("look at", path, io::ErrorKind::NotFound.into()))?;
    listen(&socket, Backlog::MAXCONN).map_err(refused("listen on"))?;
    Ok((socket.into(), file))
}

/// A stream socket that programs we start do not inherit. The runtime's one thread is also the one that starts programs,
/// so nothing is started between the two calls.
fn new_socket() -> nix::Result<OwnedFd> {
    let fd = socket(AddressFamily::Unix, SockType::Stream, SockFlag::empty(), None)?;
    rustix::io::fcntl_setfd(&fd, FdFlags::CLOEXEC).map_err(|error| Errno::from_raw(error.raw_os_error()))?;
    Ok(fd)
}

/// Removes a dead socket's file; a live one, or anything that is no socket, is left alone (F091, F105).
pub(crate) fn make_room(path: &Path) -> Result<(), SocketError> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(io_error("look at", path, source)),
        Ok(meta) if !meta.file_type().is_socket() => Err(SocketError::NotASocket(path.to_path_buf())),
        Ok(_) if is_live(path) => Err(SocketError::InUse(path.to_path_buf())),
        Ok(_) => std::fs::remove_file(path).map_err(|source| io_error("replace", path, source)),
    }
}

/// Whether somebody listens there. Does not wait: a listener that is stopped and has a full backlog is alive, too.
fn is_live(path: &Path) -> bool {
    let Ok(fd) = new_socket() else { return true };
    if rustix::io::ioctl_fionbio(&fd, true).is_err() {
        return true;
    }
    let Ok(address) = UnixAddr::new(path) else { return true };
    !matches!(connect(fd.as_raw_fd(), &address), Err(Errno::ECONNREFUSED | Errno::ENOENT))
}

fn io_error(act: &'static str, path: &Path, source: io::Error) -> SocketError {
    SocketError::Io { act, path: path.to_path_buf(), source }
}
