//! Running one command: no shell, a few named variables, the document on standard input, and an end in any case.
//!
//! It is the head of a process group of its own, and at the timeout the whole group is killed. It is always reaped.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, Command};

use super::document;
use super::queue::Order;
use crate::env::Env;

/// So much of what the command says on its standard error is kept for the log, in bytes.
const SAID: u64 = 1024;
/// A command that has ended may have left others that hold its standard error open: no longer wait for it than this.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// Where programs are when the daemon was given no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The whole environment of the command. `NOTIFY_SOCKET` and all else of a service manager is not in it.
pub(super) struct Surroundings(Vec<(&'static str, OsString)>);

impl Surroundings {
    pub(super) fn of(env: &Env) -> Self {
        let path = env.path.clone().unwrap_or_else(|| DEFAULT_PATH.into());
        let others = [
            ("HOME", env.home.as_ref().map(|path| path.clone().into_os_string())),
            ("USER", env.user.clone()),
            ("LANG", env.lang.clone()),
            // Where desktop notices find the session bus.
            ("XDG_RUNTIME_DIR", env.xdg_runtime_dir.as_ref().map(|path| path.clone().into_os_string())),
            ("HANDOFFD_SOCKET", env.handoffd_socket.as_ref().map(|path| path.clone().into_os_string())),
        ];
        let others = others.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Self(std::iter::once(("PATH", path)).chain(others).collect())
    }

    /// For messages.
    pub(super) fn path(&self) -> String {
        let path = self.0.iter().find(|(name, _)| *name == "PATH").map(|(_, value)| value.as_os_str());
        path.unwrap_or(OsStr::new("")).to_string_lossy().into_owned()
    }
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// With this exit code.
    Code {
        /// 0 is success.
        code: i32,
        /// The beginning of its standard error.
        said: String,
    },
    /// By a signal.
    Signal {
        /// Which.
        signal: i32,
        /// The beginning of its standard error.
        said: String,
    },
    /// It was killed at the timeout.
    TimedOut,
    /// There is no such program, or it cannot be run.
    NotStarted(String),
}

/// Runs the command to its end.
pub(super) async fn run(surroundings: &Surroundings, order: &Order) -> Ended {
    let mut child = match start(surroundings, order).await {
        Ok(child) => child,
        Err(error) => return Ended::NotStarted(error.to_string()),
    };
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    match tokio::time::timeout(order.timeout, converse(&mut child, order)).await {
        Ok(Ok((status, said))) => ended(status, said),
        Ok(Err(error)) => {
            end(&mut child, group).await;
            Ended::NotStarted(error.to_string())
        }
        Err(_) => {
            end(&mut child, group).await;
            Ended::TimedOut
        }
    }
}

/// Starts it on a blocking thread: the file system that the program lies on may not answer.
async fn start(surroundings: &Surroundings, order: &Order) -> io::Result<Child> {
    let Some((program, arguments)) = order.command.split_first() else {
        return Err(io::Error::from(io::ErrorKind::NotFound));
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().current_dir("/").process_group(0).kill_on_drop(true);
    command.envs(surroundings.0.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let started = tokio::task::spawn_blocking(move || command.spawn()).await;
    started.unwrap_or_else(|error| Err(io::Error::other(error)))
}

async fn converse(child: &mut Child, order: &Order) -> io::Result<(ExitStatus, String)> {
    let line = document::line(order);
    let (input, errors) = (child.stdin.take(), child.stderr.take());
    let tell = async move {
        if let Some(mut input) = input {
            // A command may ignore what it is told.
            input.write_all(&line).await.ok();
        }
    };
    let mut said = Vec::new();
    let status = {
        let listen = listen(errors, &mut said);
        tokio::pin!(listen);
        let talk = async { tokio::join!(tell, child.wait()).1 };
        tokio::pin!(talk);
        tokio::select! {
            status = &mut talk => {
                tokio::time::timeout(LAST_WORDS, listen).await.ok();
                status
            }
            () = &mut listen => talk.await,
        }
    };
    Ok((status?, String::from_utf8_lossy(&said).trim().to_owned()))
}

/// Keeps the beginning and reads on, so that a talkative command is not stopped by a full pipe.
async fn listen(errors: Option<ChildStderr>, said: &mut Vec<u8>) {
    let Some(mut errors) = errors else { return };
    (&mut errors).take(SAID).read_to_end(said).await.ok();
    tokio::io::copy(&mut errors, &mut tokio::io::sink()).await.ok();
}

/// Kills the group while its head still has its number, then reaps the head.
async fn end(child: &mut Child, group: Option<Pid>) {
    if let (Some(group), Ok(None)) = (group, child.try_wait()) {
        // An error means that it has ended by itself.
        kill_process_group(group, Signal::KILL).ok();
    }
    child.wait().await.ok();
}

fn ended(status: ExitStatus, said: String) -> Ended {
    match status.code() {
        Some(code) => Ended::Code { code, said },
        None => Ended::Signal { signal: status.signal().unwrap_or(0), said },
    }
}
