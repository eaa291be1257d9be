//! The running daemon: started from the real program, asked through its socket, ended by signals.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::control::Control;
use crate::peer::RpcError;
use crate::process::SessionProcess;
use crate::project::Project;
use crate::session::{Attach, Session};
use crate::wait;
use crate::world::World;

/// A daemon. Killed when dropped; its log is shown when the test fails.
pub struct Daemon {
    child: Child,
    socket: PathBuf,
    records: Vec<PathBuf>,
}

impl Daemon {
    /// Starts it and does not wait for its socket. `records` are files and folders shown when the test fails.
    ///
    /// # Panics
    /// When the program cannot be started.
    #[must_use]
    pub fn start(mut command: Command, socket: &Path, records: Vec<PathBuf>) -> Self {
        let child = command.spawn().expect("handoffd starts");
        Self { child, socket: socket.to_path_buf(), records }
    }

    /// The address of its socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Its process id.
    ///
    /// # Panics
    /// Never in practice.
    #[must_use]
    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("process ids are small"))
    }

    /// A control connection.
    ///
    /// # Panics
    /// When the daemon does not answer.
    #[must_use]
    pub fn control(&self) -> Control {
        let pid = self.child.id();
        wait::until("the daemon says hello", || {
            Control::try_open(&self.socket).filter(|open| open.hello["daemon"]["pid"] == pid)
        })
    }

    /// Attaches a session.
    ///
    /// # Errors
    /// The refusal.
    pub fn try_attach(
        &self,
        process: &Arc<SessionProcess>,
        project: &Project,
        how: &Attach,
    ) -> Result<Session, RpcError> {
        Session::attach(process, &self.socket, project.root(), how)
    }

    /// Attaches a session that must be let in.
    ///
    /// # Panics
    /// When it is refused.
    #[must_use]
    pub fn attach(&self, process: &Arc<SessionProcess>, project: &Project, how: &Attach) -> Session {
        self.try_attach(process, project, how).expect("the session is let in")
    }

    /// Attaches an idle session from a process of its own.
    ///
    /// # Panics
    /// When it is refused.
    #[must_use]
    pub fn idle_session(&self, world: &World, project: &Project, id: &str) -> Session {
        self.attach(&world.process(), project, &Attach::idle(id))
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// When the daemon is gone.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("the daemon is there");
    }

    /// Kills it as `kill -9` does.
    pub fn kill(mut self) {
        self.end();
    }

    /// Asks it to stop and waits for its end.
    ///
    /// # Panics
    /// When it does not end.
    pub fn terminate(mut self) -> ExitStatus {
        self.signal(Signal::SIGTERM);
        self.wait()
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it does not end.
    pub fn wait(&mut self) -> ExitStatus {
        wait::until("the daemon ends", || self.child.try_wait().expect("it is our child"))
    }

    /// Whether it still runs.
    ///
    /// # Panics
    /// Never in practice.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_none()
    }

    fn end(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Everything it wrote about itself, for a failing test and for tests about logs.
    #[must_use]
    pub fn log(&self) -> String {
        let mut text = String::new();
        for place in &self.records {
            gather(place, &mut text);
        }
        text
    }
}

impl Drop for Daemon {
    #[expect(clippy::print_stderr, reason = "what the daemon said belongs to the failed test's output")]
    fn drop(&mut self) {
        let early = self.child.try_wait().ok().flatten();
        self.end();
        if std::thread::panicking() {
            if let Some(status) = early {
                eprintln!("--- the daemon had ended: {status}, signal {:?}", status.signal());
            }
            eprintln!("{}", self.log());
        }
    }
}

fn gather(place: &Path, text: &mut String) {
    if let Ok(entries) = std::fs::read_dir(place) {
        let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        paths.iter().for_each(|path| gather(path, text));
    } else if let Ok(bytes) = std::fs::read(place) {
        text.push_str(&format!("--- {}\n{}\n", place.display(), String::from_utf8_lossy(&bytes)));
    }
}
