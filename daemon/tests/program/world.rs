//! A home of its own, and the program started in it with nothing else in its environment.

#![expect(clippy::disallowed_methods, reason = "the program itself is what is tested here")]

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Nothing that a test waits for takes longer, also on a busy machine.
pub(crate) const SOON: Duration = Duration::from_secs(60);

pub(crate) struct World {
    dir: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::Builder::new().prefix("hd").tempdir_in("/tmp").unwrap() }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    pub(crate) fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
        path
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_handoffd"));
        command.env_clear().env("HOME", self.path("home")).current_dir(self.dir.path());
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path("home/.local/state/handoffd")
    }

    /// Starts it and waits until its socket can be connected to.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        self.start_command(&mut self.command(args))
    }

    pub(crate) fn start_command(&self, command: &mut Command) -> Running {
        let running = Running { child: Some(command.spawn().unwrap()) };
        until("the daemon accepts connections", || UnixStream::connect(self.socket()?).ok());
        running
    }

    pub(crate) fn socket(&self) -> Option<PathBuf> {
        let folders = std::fs::read_dir(self.state()).ok()?.flatten();
        folders.map(|entry| entry.path().join("handoffd.sock")).find(|path| path.exists())
    }

    /// Everything in its log files.
    pub(crate) fn log(&self) -> String {
        let mut text = String::new();
        for entry in std::fs::read_dir(self.state()).unwrap().flatten() {
            if entry.file_name().to_string_lossy().starts_with("log-") {
                for file in std::fs::read_dir(entry.path()).unwrap().flatten() {
                    text += &std::fs::read_to_string(file.path()).unwrap();
                }
            }
        }
        text
    }
}

/// A daemon that runs; it is killed when a test fails.
pub(crate) struct Running {
    child: Option<Child>,
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.pid().cast_signed()).unwrap(), signal).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Output {
        let mut child = self.child.take().unwrap();
        until("the daemon ends", || child.try_wait().unwrap());
        child.wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// Waits until `look` finds something.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + SOON;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
