//! Running a program with a deadline, its output kept for a failure.

use std::fs::File;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// How long a program may take to clean up when it is asked to end.
const LAST_WORDS: Duration = Duration::from_secs(30);

/// How a program ended.
pub(crate) struct Ended {
    /// `None`: it was killed at the deadline.
    pub(crate) status: Option<ExitStatus>,
    /// Both of its streams.
    pub(crate) said: String,
}

/// Runs it to its end, or until `limit` is over.
pub(crate) fn run(mut command: Command, limit: Duration) -> Result<Ended, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = tempfile::NamedTempFile::new().map_err(|error| format!("no temporary file: {error}"))?;
    let stream = || File::options().append(true).open(output.path()).map_err(|error| format!("no output: {error}"));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(stream()?)
        .stderr(stream()?)
        .spawn()
        .map_err(|error| format!("cannot start {name}: {error}"))?;
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("process ids are small"));
    let start = Instant::now();
    let mut asked = false;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| format!("{name}: {error}"))? {
            break Some(status).filter(|_| !asked);
        }
        if !asked && start.elapsed() > limit {
            let _gone = kill(pid, Signal::SIGTERM);
            asked = true;
        }
        if start.elapsed() > limit + LAST_WORDS {
            drop(child.kill());
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let bytes = std::fs::read(output.path()).map_err(|error| format!("cannot read what {name} said: {error}"))?;
    Ok(Ended { status, said: String::from_utf8_lossy(&bytes).into_owned() })
}
