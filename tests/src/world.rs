//! A throw-away world: home, XDG folders, socket, projects, configuration, and a minimal environment. Nothing of the
//! machine's own configuration is seen by the programs that are started here.
#![expect(clippy::disallowed_methods, reason = "the harness starts the programs under test and plays the user")]

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use serde_json::Value;

use crate::binaries::binaries;
use crate::daemon::Daemon;
use crate::process::SessionProcess;
use crate::project::Project;

/// The world of one test.
pub struct World {
    folder: tempfile::TempDir,
    relay: PathBuf,
    settings: RefCell<String>,
    projects: RefCell<Vec<(PathBuf, String)>>,
    started: Cell<u32>,
}

impl World {
    /// A world with nothing in it. `relay` is the program of `SessionProcess`; use the macro `world!`.
    ///
    /// # Panics
    /// When folders cannot be made.
    #[must_use]
    pub fn new(relay: &str) -> Self {
        // Short: the path of a socket has little room.
        let folder = tempfile::Builder::new().prefix("ho").tempdir_in("/tmp").unwrap();
        for name in ["home", "run", "state", "config/handoffd"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Self {
            folder,
            relay: PathBuf::from(relay),
            settings: RefCell::default(),
            projects: RefCell::default(),
            started: Cell::new(0),
        }
    }

    /// A path inside this world.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The daemon's address.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.path("run/s")
    }

    /// The daemon's state folder.
    #[must_use]
    pub fn state_dir(&self) -> PathBuf {
        self.path("state/handoffd")
    }

    /// A new project that the configuration names.
    #[must_use]
    pub fn project(&self, name: &str) -> Project {
        let project = Project::create(&self.path(name));
        self.configure(&project, "");
        project
    }

    /// Names a project in the configuration, with settings (TOML) of its own.
    ///
    /// # Panics
    /// When the configuration cannot be written.
    pub fn configure(&self, project: &Project, settings: &str) {
        self.forget(project);
        self.projects.borrow_mut().push((project.root().to_path_buf(), settings.to_owned()));
        self.write_config();
    }

    /// Takes a project out of the configuration; the daemon is told by a reload or a restart.
    ///
    /// # Panics
    /// When the configuration cannot be written.
    pub fn forget(&self, project: &Project) {
        self.projects.borrow_mut().retain(|(root, _)| root != project.root());
        self.write_config();
    }

    /// Sets the configuration's text above the projects (TOML).
    ///
    /// # Panics
    /// When the configuration cannot be written.
    pub fn settings(&self, text: &str) {
        text.clone_into(&mut self.settings.borrow_mut());
        self.write_config();
    }

    /// The configuration file.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.path("config/handoffd/config.toml")
    }

    fn write_config(&self) {
        let mut text = self.settings.borrow().clone();
        for (root, settings) in self.projects.borrow().iter() {
            text.push_str(&format!("\n[[project]]\npath = \"{}\"\n{settings}\n", root.display()));
        }
        fs::write(self.config_file(), text).unwrap();
    }

    /// A command with this world's environment and nothing else.
    #[must_use]
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        self.furnish(&mut command);
        command
    }

    fn furnish(&self, command: &mut Command) {
        command
            .env_clear()
            .current_dir(self.folder.path())
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
            .env("HOME", self.path("home"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("HANDOFFD_SOCKET", self.socket())
            .env("RUST_BACKTRACE", "1")
            .stdin(Stdio::null());
    }

    /// Starts the daemon and waits until it answers.
    #[must_use]
    pub fn start(&self) -> Daemon {
        let daemon = self.spawn(&[]);
        drop(daemon.control());
        daemon
    }

    /// Starts the daemon with arguments and does not wait.
    #[must_use]
    pub fn spawn(&self, arguments: &[&str]) -> Daemon {
        let mut command = self.command(&binaries().handoffd);
        command.args(arguments);
        self.spawn_command(command)
    }

    /// Starts the daemon behind a shell line that ends in `exec "$@"`: for limits and masks.
    #[must_use]
    pub fn spawn_in_shell(&self, line: &str) -> Daemon {
        let mut command = self.command(Path::new("/bin/sh"));
        command.args(["-c", line, "sh"]).arg(&binaries().handoffd);
        self.spawn_command(command)
    }

    fn spawn_command(&self, mut command: Command) -> Daemon {
        let number = self.started.get() + 1;
        self.started.set(number);
        let said = self.path(&format!("daemon-{number}.err"));
        command.stdout(Stdio::null()).stderr(File::create(&said).unwrap());
        Daemon::start(command, &self.socket(), vec![said, self.state_dir()])
    }

    /// Runs `handoff` in a folder.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn handoff_in(&self, folder: &Path, arguments: &[&str]) -> Output {
        let mut command = self.command(&binaries().handoff);
        command.current_dir(folder).args(arguments).output().expect("handoff starts")
    }

    /// Runs `handoff --json` in a project's folder; answers exit code and document (null if it is none).
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn handoff_json(&self, project: &Project, arguments: &[&str]) -> (i32, Value) {
        let output = self.handoff_in(project.root(), arguments);
        let document = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code().unwrap_or(-1), document)
    }

    /// A copy of a program inside this world, where every user may run it: the checkout may lie in a private folder.
    ///
    /// # Panics
    /// When it cannot be copied.
    #[must_use]
    pub fn copy_of(&self, program: &Path) -> PathBuf {
        let copy = self.path(&format!("copy-of-{}", program.file_name().unwrap().to_string_lossy()));
        self.copy_program(program, &copy);
        copy
    }

    /// Copies a program by another process: were it written by this one, a test in another thread that starts a program
    /// at that moment would hold it open for writing, and it could not be started (`ETXTBSY`).
    ///
    /// # Panics
    /// When it cannot be copied.
    pub fn copy_program(&self, from: &Path, to: &Path) {
        let done = self.command("cp".as_ref()).arg(from).arg(to).status();
        assert!(done.unwrap().success(), "{} cannot be copied", from.display());
        fs::set_permissions(to, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A shell script in this world that can be started.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let (source, script) = (self.path(&format!("{name}.txt")), self.path(name));
        fs::write(&source, format!("#!/bin/sh\n{text}\n")).unwrap();
        self.copy_program(&source, &script);
        script
    }

    /// The program that [`SessionProcess`] starts.
    #[must_use]
    pub fn relay(&self) -> &Path {
        &self.relay
    }

    /// Whether a tool that is not part of every system is there.
    #[must_use]
    pub fn has_tool(&self, name: &str) -> bool {
        ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].iter().any(|folder| Path::new(folder).join(name).exists())
    }

    /// A host process for sessions.
    #[must_use]
    pub fn process(&self) -> Arc<SessionProcess> {
        SessionProcess::start(&self.relay)
    }
}

/// A new [`World`], with the relay program of this package.
#[macro_export]
macro_rules! world {
    () => {
        $crate::World::new(env!("CARGO_BIN_EXE_session_relay"))
    };
}
