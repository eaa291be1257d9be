//! The floor: the least that any program must do for the same promise, on the same disk: see the event, read the file,
//! replace it durably, and only then write the message to a socket. It parses nothing, checks nothing and owns nothing.
//!
//! Nothing may be added here that a program could leave out, and nothing left out that the promise needs (D64).

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use anyhow::{Context as _, Result, anyhow, ensure};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::project::Project;

/// A file of this name in the project ends the thread.
const STOP: &str = "stop";

/// The floor's thread.
pub(crate) struct Floor {
    stop: PathBuf,
    thread: JoinHandle<Result<()>>,
}

impl Floor {
    /// Starts it on a project; for each write of the planner, `message` is sent once the file says RUNNING.
    ///
    /// # Errors
    /// The folder cannot be watched.
    pub(crate) fn start(project: &Project, socket: UnixStream, message: Vec<u8>) -> Result<Self> {
        let events = inotify::init(CreateFlags::CLOEXEC)?;
        inotify::add_watch(&events, project.root(), WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::ONLYDIR)?;
        let root = project.root().to_path_buf();
        let thread = std::thread::spawn(move || serve(&events, &root, &socket, &message));
        Ok(Self { stop: project.root().join(STOP), thread })
    }

    /// Ends it.
    ///
    /// # Errors
    /// It had failed.
    pub(crate) fn stop(self) -> Result<()> {
        File::create(self.stop)?;
        self.thread.join().map_err(|_| anyhow!("the floor panicked"))?
    }
}

fn serve(events: &OwnedFd, root: &Path, mut socket: &UnixStream, message: &[u8]) -> Result<()> {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(events, &mut buffer);
    let mut ours = Vec::new();
    loop {
        let event = reader.next()?;
        let name = event.file_name().map(|name| name.to_bytes().to_vec()).unwrap_or_default();
        if name == STOP.as_bytes() {
            return Ok(());
        }
        // The exchange makes an event, too.
        if name != b"tasks.json" || !event.events().contains(ReadFlags::MOVED_TO) {
            continue;
        }
        let queue = root.join("tasks.json");
        let seen = fs::read(&queue)?;
        if seen == ours {
            continue;
        }
        ours = running(&seen)?;
        let displaced = replace_durably(root, &queue, &seen, &ours)?;
        socket.write_all(message)?;
        fs::remove_file(displaced)?;
    }
}

fn running(pending: &[u8]) -> Result<Vec<u8>> {
    let text = std::str::from_utf8(pending)?;
    Ok(text.replacen("\"PENDING\"", "\"RUNNING\"", 1).into_bytes())
}

/// Private file, fsync, re-check, exchange, look at what came out, fsync of the folder.
fn replace_durably(root: &Path, queue: &Path, expected: &[u8], new: &[u8]) -> Result<PathBuf> {
    let private = root.join(".floor.new");
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&private)?;
    file.write_all(new)?;
    file.sync_all().context("cannot sync")?;
    ensure!(fs::read(queue)? == expected, "somebody else writes here");
    renameat_with(CWD, &private, CWD, queue, RenameFlags::EXCHANGE).context("cannot exchange")?;
    ensure!(fs::read(&private)? == expected, "somebody else writes here");
    File::open(root)?.sync_all().context("cannot sync the folder")?;
    Ok(private)
}
