//! The running daemon: started, asked to stop, killed when dropped. What it costs is read in `process`.
#![expect(clippy::disallowed_methods, reason = "the benchmarks start the program under test")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::client::Client;

/// A daemon that does not answer, or end, within this time is broken.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks at something that takes seconds.
const LOOK: Duration = Duration::from_millis(50);

/// A daemon that answers.
pub(crate) struct Daemon {
    child: Child,
    socket: PathBuf,
    /// From the start of the process to its first answer.
    pub(crate) answered_after: Duration,
}

impl Daemon {
    /// Starts it with nothing of this machine's configuration and waits for its first answer.
    ///
    /// # Errors
    /// It does not answer; what it said is in `daemon.log` in `home`.
    pub(crate) fn start(program: &Path, home: &Path) -> Result<Self> {
        let socket = home.join("s");
        let said = home.join("daemon.log");
        let mut command = Command::new(program);
        command.env_clear().current_dir(home).stdin(Stdio::null()).stdout(Stdio::null());
        command.env("PATH", "/usr/bin:/bin").env("HOME", home).env("HANDOFFD_SOCKET", &socket);
        for (name, folder) in [("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config")] {
            command.env(name, home.join(folder));
        }
        command.stderr(File::options().create(true).append(true).open(&said)?);
        let started = Instant::now();
        let child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let mut daemon = Self { child, socket, answered_after: Duration::ZERO };
        while Client::connect(&daemon.socket).is_err() {
            if let Some(status) = daemon.child.try_wait()? {
                bail!("handoffd ended ({status}): {}", std::fs::read_to_string(&said)?);
            }
            if started.elapsed() > PATIENCE {
                bail!("handoffd does not answer: {}", std::fs::read_to_string(&said)?);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        daemon.answered_after = started.elapsed();
        Ok(daemon)
    }

    /// Its socket.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until all projects are in the state `idle` or `waiting`.
    ///
    /// # Errors
    /// They never are; names one.
    pub(crate) fn wait_settled(&self, projects: usize) -> Result<()> {
        let mut client = Client::connect(&self.socket)?;
        let end = Instant::now() + PATIENCE;
        loop {
            let status = client.call("daemon.status", &json!({}))?;
            let all = status["projects"].as_array().context("no list of projects")?;
            let unsettled = all.iter().find(|project| !matches!(project["state"].as_str(), Some("idle" | "waiting")));
            match unsettled {
                None if all.len() == projects => return Ok(()),
                _ if Instant::now() < end => std::thread::sleep(LOOK),
                Some(project) => bail!("a project does not settle: {project}"),
                None => bail!("{} projects instead of {projects}", all.len()),
            }
        }
    }

    /// Asks it to stop and waits for its end.
    ///
    /// # Errors
    /// It does not end.
    pub(crate) fn stop(mut self) -> Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("no process id")?;
        kill_process(pid, Signal::TERM)?;
        let end = Instant::now() + PATIENCE;
        while self.child.try_wait()?.is_none() {
            if Instant::now() > end {
                bail!("handoffd does not stop");
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Of a daemon that has ended both fail, which is what we want.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
