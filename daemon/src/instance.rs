//! One daemon a user and host: an exclusive `flock` that comes before the socket and before any project (D77, F090).
//!
//! Only the instance lock is here, and nothing else may be locked with it. The file is deleted by nobody but its holder
//! ([`Instance::retire`]): whoever deletes a lock file that another holds lets two owners in.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::files::{FileError, is_named};

/// How long a loser waits for the winner's name to appear in the file.
const NAME_WAIT: Duration = Duration::from_secs(1);
/// The content is far smaller; more is not ours.
const MAX_CONTENT: u64 = 8 * 1024;

/// The lock, held until it is dropped or the process ends in any way.
#[derive(Debug)]
pub struct Instance {
    file: File,
}

/// Who holds or held the lock, as its content says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The daemon's process.
    pub pid: u32,
    /// Its socket; `None` if the path is not UTF-8.
    pub socket: Option<PathBuf>,
}

/// This process cannot be the daemon.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// Another daemon runs for this user on this host (exit code 3).
    #[error("another handoffd is running{}: it holds {}", described(holder.as_ref()), path.display())]
    Held {
        /// The lock file.
        path: PathBuf,
        /// The other daemon; `None` if it did not say so within a second.
        holder: Option<Holder>,
    },
    /// The file system of the state folder has no file locks (a network home, for example). Another start does not
    /// help (exit code 2, F086).
    #[error(
        "cannot lock {}: {source}: there are no file locks on {fs}, and nothing else keeps two daemons apart, so none \
         is started and no project is touched; set `daemon.state_dir` to a folder on a disk of this machine",
        path.display()
    )]
    NoLocks {
        /// The lock file.
        path: PathBuf,
        /// What it lies on, as far as that is known.
        fs: String,
        /// The system's words.
        source: io::Error,
    },
    /// The lock cannot be taken at all, so nothing is known and nothing may be started.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Instance {
    /// Takes the lock and writes pid and socket into it. The folder must exist. Does not wait for another daemon.
    ///
    /// # Errors
    /// [`InstanceError::Held`] with the other's pid and socket; [`InstanceError::NoLocks`] on a file system without
    /// locks; [`InstanceError::File`] if the file cannot be opened, locked or written.
    pub fn acquire(path: &Path, socket: &Path) -> Result<Self, InstanceError> {
        Self::acquire_by(path, socket, File::try_lock)
    }

    fn acquire_by(
        path: &Path,
        socket: &Path,
        mut try_lock: impl FnMut(&File) -> Result<(), TryLockError>,
    ) -> Result<Self, InstanceError> {
        loop {
            let file = open(path).map_err(|error| FileError::io("open", path, error))?;
            match try_lock(&file) {
                Ok(()) => {}
                // A network file system may wait for its server, and be interrupted.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(TryLockError::WouldBlock) => {
                    return Err(InstanceError::Held { path: path.to_path_buf(), holder: wait_for_name(path) });
                }
                Err(TryLockError::Error(error)) => return Err(not_locked(path, error)),
            }
            // Somebody may have deleted or replaced the file between the two steps: a lock on a file that no one
            // else will open protects nothing.
            if is_named(&file, path).map_err(|error| FileError::io("look at", path, error))? {
                let mut instance = Self { file };
                instance.write(socket).map_err(|error| FileError::io("write", path, error))?;
                return Ok(instance);
            }
        }
    }

    /// Gives the lock up and takes its file away, last of all of a state folder that is no longer used. Whoever opened the
    /// file before looks at its name once more, and makes a new one.
    ///
    /// # Errors
    /// [`FileError`]: the file stays, and nobody holds it.
    pub fn retire(self, path: &Path) -> Result<(), FileError> {
        std::fs::remove_file(path).map_err(|error| FileError::io("remove", path, error))
    }

    fn write(&mut self, socket: &Path) -> io::Result<()> {
        let holder =
            Holder { pid: std::process::id(), socket: Some(socket.to_path_buf()).filter(|s| s.to_str().is_some()) };
        self.file.set_len(0)?;
        self.file.rewind()?;
        let mut line = serde_json::to_vec(&holder)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

impl Drop for Instance {
    /// Empties the file, so that it never names a daemon that ended in order, and unlocks it: closing alone would leave
    /// the lock with a child that another thread has just forked and that has not yet run its program.
    fn drop(&mut self) {
        self.file.set_len(0).ok();
        self.file.unlock().ok();
    }
}

/// Whom the lock file names, whether or not that daemon still runs; `None` if it names nobody. Takes no lock: a client
/// that only looks must never be the reason why a daemon cannot start.
#[must_use]
pub fn read_holder(path: &Path) -> Option<Holder> {
    // A pipe in its place has no writer to wait for.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path).ok()?;
    let mut text = String::new();
    file.take(MAX_CONTENT).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Whether the daemon that the lock file names is alive. Takes no lock, either.
#[must_use]
pub fn is_held(path: &Path) -> bool {
    read_holder(path).is_some_and(|holder| is_alive(holder.pid))
}

fn not_locked(path: &Path, source: io::Error) -> InstanceError {
    use rustix::io::Errno;
    match Errno::from_io_error(&source) {
        Some(Errno::NOLCK | Errno::OPNOTSUPP | Errno::BADF | Errno::NOSYS | Errno::INVAL) => {
            let fs = store::FsKind::of(path).map_or_else(|_| "this file system".to_owned(), |kind| kind.to_string());
            InstanceError::NoLocks { path: path.to_path_buf(), fs, source }
        }
        _ => FileError::io("lock", path, source).into(),
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::CLOEXEC | rustix::fs::OFlags::NONBLOCK;
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

/// The winner writes its name just after it locked: until then the file is empty or names a daemon that was killed.
fn wait_for_name(path: &Path) -> Option<Holder> {
    let deadline = Instant::now() + NAME_WAIT;
    loop {
        let holder = read_holder(path).filter(|holder| is_alive(holder.pid));
        if holder.is_some() || Instant::now() > deadline {
            return holder;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

fn described(holder: Option<&Holder>) -> String {
    match holder {
        Some(Holder { pid, socket: Some(socket) }) => format!(" (pid {pid}, socket {})", socket.display()),
        Some(Holder { pid, socket: None }) => format!(" (pid {pid})"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn the_second_is_told_pid_and_socket_of_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("handoffd-h.lock");
        let first = Instance::acquire(&path, Path::new("/run/s")).unwrap();
        let error = Instance::acquire(&path, Path::new("/run/t")).unwrap_err();
        let pid = std::process::id();
        let expected = format!("another handoffd is running (pid {pid}, socket /run/s): it holds {}", path.display());
        assert_eq!(error.to_string(), expected);
        assert!(is_held(&path));
        drop(first);
        assert_eq!((read_holder(&path), is_held(&path)), (None, false));
        assert!(Instance::acquire(&path, Path::new("/run/t")).is_ok());
    }

    #[test]
    fn a_lock_that_is_retired_is_free_and_gone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        Instance::acquire(&path, Path::new("/s")).unwrap().retire(&path).unwrap();
        assert!(!path.exists());
        let next = Instance::acquire(&path, Path::new("/s")).unwrap();
        assert!(matches!(Instance::acquire(&path, Path::new("/s")), Err(InstanceError::Held { .. })));
        drop(next);
    }

    #[test]
    fn of_twenty_starts_at_once_one_wins_in_every_round() {
        let dir = tempfile::tempdir().unwrap();
        for round in 0..50 {
            let path = dir.path().join(format!("{round}.lock"));
            let barrier = Barrier::new(20);
            let results: Vec<_> = thread::scope(|scope| {
                let start = || {
                    barrier.wait();
                    Instance::acquire(&path, Path::new("/run/s"))
                };
                let starts: Vec<_> = (0..20).map(|_| scope.spawn(start)).collect();
                starts.into_iter().map(|start| start.join().unwrap()).collect()
            });
            let (won, lost): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
            assert_eq!((won.len(), lost.len()), (1, 19));
            for error in lost.into_iter().filter_map(Result::err) {
                assert!(matches!(error, InstanceError::Held { holder: Some(_), .. }), "{error}");
            }
        }
    }

    #[test]
    fn f086_a_lock_call_that_was_interrupted_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        let mut interruptions = 3;
        let try_lock = |file: &File| match interruptions {
            0 => file.try_lock(),
            _ => {
                interruptions -= 1;
                Err(TryLockError::Error(rustix::io::Errno::INTR.into()))
            }
        };
        assert!(Instance::acquire_by(&path, Path::new("/s"), try_lock).is_ok());
    }

    #[test]
    fn f086_a_state_folder_without_file_locks_is_told_with_its_mount_and_the_remedy() {
        use rustix::io::Errno;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        let mount = store::FsKind::of(dir.path()).unwrap();
        for errno in [Errno::NOLCK, Errno::OPNOTSUPP, Errno::BADF] {
            let refuse = |_: &File| Err(TryLockError::Error(errno.into()));
            let error = Instance::acquire_by(&path, Path::new("/s"), refuse).unwrap_err();
            assert!(matches!(error, InstanceError::NoLocks { .. }), "{error:?}");
            let said = error.to_string();
            let parts = [format!("{errno}"), format!("no file locks on {mount}"), "`daemon.state_dir`".to_owned()];
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        }
    }

    #[test]
    fn what_a_killed_daemon_left_in_the_file_is_overwritten_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        let old = format!(r#"{{"pid":1,"socket":"/{}"}}"#, "old".repeat(60));
        File::create(&path).unwrap().write_all(old.as_bytes()).unwrap();
        let held = Instance::acquire(&path, Path::new("/new")).unwrap();
        let expected = Holder { pid: std::process::id(), socket: Some("/new".into()) };
        assert_eq!(read_holder(&path), Some(expected));
        drop(held);
    }

    #[test]
    fn a_link_or_a_folder_in_place_of_the_lock_is_refused_with_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path().join("target"), &link).unwrap();
        for path in [link.as_path(), dir.path()] {
            let error = Instance::acquire(path, Path::new("/s")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("cannot open {}: ", path.display())), "{error}");
        }
        assert!(!dir.path().join("target").exists());
    }

    #[test]
    fn a_pipe_in_place_of_the_lock_keeps_nobody_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let of = path.clone();
        thread::spawn(move || tell.send(read_holder(&of)).unwrap());
        assert_eq!(told.recv_timeout(Duration::from_secs(60)), Ok(None));
        assert!(Instance::acquire(&path, Path::new("/s")).is_err());
    }

    #[test]
    fn garbage_in_the_file_names_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l");
        for content in ["", "{", "[]", "{\"pid\":-1}", "\u{0}"] {
            File::create(&path).unwrap().write_all(content.as_bytes()).unwrap();
            assert_eq!(read_holder(&path), None, "{content:?}");
        }
    }
}
