//! Running one command: no shell, a few named variables, the document on standard input, and an end in any case.
//!
//! It is the head of a process group of its own, and at the timeout, or when the daemon stops, the whole group is killed. It
//! is always reaped.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::document;
use super::queue::Order;
use crate::env::Env;

/// So much of what the command says on its standard error is kept for the log, in bytes.
const SAID: u64 = 1024;
/// A command that has ended may have left others that hold its standard error open: no longer wait for it than this.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// Starts that may be under way. On a file system that does not answer each holds a thread, also when it was given up.
const MOST_STARTING: usize = 8;
/// Where programs are when the daemon was given no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The whole environment of the command. `NOTIFY_SOCKET` and all else of a service manager is not in it.
pub(super) struct Surroundings {
    variables: Vec<(&'static str, OsString)>,
    starting: Arc<Semaphore>,
}

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
        let variables = std::iter::once(("PATH", path)).chain(others).collect();
        Self { variables, starting: Arc::new(Semaphore::new(MOST_STARTING)) }
    }

    /// For messages.
    pub(super) fn path(&self) -> String {
        let path = self.variables.iter().find(|(name, _)| *name == "PATH").map(|(_, value)| value.as_os_str());
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
    /// It was killed since the daemon stops.
    Stopped,
    /// There is no such program, or it cannot be run.
    NotStarted(String),
}

/// A start of the program that may never come back.
type Starting = JoinHandle<io::Result<Child>>;

/// Runs the command to its end, or until `stop`.
pub(super) async fn run(surroundings: &Surroundings, order: &Order, stop: impl Future<Output = ()>) -> Ended {
    match start(surroundings, order) {
        Ok(starting) => follow(starting, order, stop).await,
        Err(error) => Ended::NotStarted(error.to_string()),
    }
}

/// From the start, which the time limit covers as well.
pub(super) async fn follow(mut starting: Starting, order: &Order, stop: impl Future<Output = ()>) -> Ended {
    let cut_short = async {
        tokio::select! {
            () = tokio::time::sleep(order.timeout) => Ended::TimedOut,
            () = stop => Ended::Stopped,
        }
    };
    tokio::pin!(cut_short);
    let started = tokio::select! {
        started = &mut starting => started.unwrap_or_else(|error| Err(io::Error::other(error))),
        cut = &mut cut_short => {
            tokio::spawn(end_late(starting));
            return match cut {
                Ended::TimedOut => Ended::NotStarted("the file system that it lies on does not answer".to_owned()),
                cut => cut,
            };
        }
    };
    let mut child = match started {
        Ok(child) => child,
        Err(error) => return Ended::NotStarted(error.to_string()),
    };
    let group = group_of(&child);
    let talked = tokio::select! {
        talked = converse(&mut child, order) => talked.map_err(|error| Ended::NotStarted(error.to_string())),
        cut = cut_short => Err(cut),
    };
    match talked {
        Ok((status, said)) => ended(status, said),
        Err(cut) => {
            end(&mut child, group).await;
            cut
        }
    }
}

/// Starts it on a blocking thread: the file system that the program lies on may not answer.
fn start(surroundings: &Surroundings, order: &Order) -> io::Result<Starting> {
    let Some((program, arguments)) = order.command.split_first() else {
        return Err(io::Error::from(io::ErrorKind::NotFound));
    };
    let starting = Arc::clone(&surroundings.starting).try_acquire_owned();
    let starting = starting.map_err(|_| io::Error::other("too many starts before it still hang"))?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().current_dir("/").process_group(0).kill_on_drop(true);
    command.envs(surroundings.variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    Ok(tokio::task::spawn_blocking(move || {
        let child = command.spawn();
        drop(starting);
        child
    }))
}

/// Ends what starts when nobody waits for it any more.
async fn end_late(starting: Starting) {
    if let Ok(Ok(mut child)) = starting.await {
        let group = group_of(&child);
        end(&mut child, group).await;
    }
}

fn group_of(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
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
