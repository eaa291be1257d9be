//! The home of one test: nothing is installed at its begin, nothing is left at its end.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use handoffd_tests::binaries::binaries;
use handoffd_tests::session::Dispatch;
use handoffd_tests::{Attach, Control, Known, Project, Session, SessionProcess, Task, report, wait};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

pub(crate) const SERVICE: &str = "handoffd.service";
pub(crate) const SOCKET: &str = "handoffd.socket";

/// One test's home. Everything of the service is taken down when it is dropped.
pub(crate) struct Home {
    bin: PathBuf,
}

/// What a program said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Home {
    /// A home with both programs in `~/app/bin`.
    pub(crate) fn new() -> Self {
        Self::with_programs_in("app/bin")
    }

    pub(crate) fn with_programs_in(folder: &str) -> Self {
        let home = Self { bin: home().join(folder) };
        home.clean();
        put_programs(&home.bin);
        home
    }

    /// A home in which the service runs.
    pub(crate) fn installed() -> Self {
        let home = Self::new();
        home.handoff(&["service", "install"]).good();
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        home().join(name)
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }

    pub(crate) fn units(&self) -> PathBuf {
        home().join(".config/systemd/user")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR").unwrap()).join("handoffd/handoffd.sock")
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn configure(&self, text: &str) {
        self.write(".config/handoffd/config.toml", text);
    }

    /// Settings of a person beside the unit.
    pub(crate) fn drop_in(&self, text: &str) {
        self.write(&format!(".config/systemd/user/{SERVICE}.d/50-own.conf"), text);
        self.systemctl(&["daemon-reload"]).good();
    }

    pub(crate) fn handoff(&self, arguments: &[&str]) -> Said {
        said(Command::new(self.program("handoff")).args(arguments).current_dir(home()))
    }

    pub(crate) fn systemctl(&self, arguments: &[&str]) -> Said {
        said(Command::new("systemctl").args(["--user", "--no-pager"]).args(arguments))
    }

    /// What systemd says of a unit.
    pub(crate) fn show(&self, unit: &str, property: &str) -> String {
        let property = format!("--property={property}");
        self.systemctl(&["show", &property, "--value", unit]).good().out.trim().to_owned()
    }

    pub(crate) fn pid(&self) -> i32 {
        self.show(SERVICE, "MainPID").parse().unwrap()
    }

    pub(crate) fn state(&self) -> String {
        self.show(SERVICE, "ActiveState")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).expect("the service has a process");
    }

    /// A control connection: one attempt, because a service that says it is ready must be.
    pub(crate) fn connect(&self) -> Control {
        Control::try_open(&self.socket()).expect("the daemon answers at once")
    }

    pub(crate) fn project(&self, name: &str) -> Project {
        let root = self.path(name);
        fs::create_dir_all(&root).unwrap();
        let project = Project::create(&root);
        self.handoff(&["projects", "add", root.to_str().unwrap()]).good();
        project
    }

    /// A project with a task at work in a session.
    pub(crate) fn at_work(&self) -> AtWork {
        let project = self.project("shop");
        let control = self.connect();
        control.wait_state(&project, "idle", "");
        let process = SessionProcess::start(Path::new(env!("CARGO_BIN_EXE_session_relay")));
        let session = Session::attach(&process, &self.socket(), project.root(), &Attach::idle("s-1")).expect("let in");
        project.plan(&Task::new("t-1"));
        let dispatch = session.wait_dispatch("t-1");
        session.ping();
        wait::until_true("it is accepted", || control.project(&project)["task"]["delivery"] == "accepted");
        AtWork { project, session, dispatch }
    }

    fn clean(&self) {
        self.systemctl(&["disable", "--now", SERVICE, SOCKET]);
        self.systemctl(&["unmask", "--runtime", SERVICE, SOCKET]);
        for entry in fs::read_dir(home()).unwrap() {
            let path = entry.unwrap().path();
            let removed =
                if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.unwrap();
        }
        fs::create_dir_all(self.units()).unwrap();
        self.systemctl(&["daemon-reload"]).good();
        self.systemctl(&["reset-failed"]);
    }
}

impl Drop for Home {
    #[expect(clippy::print_stderr, reason = "what was said belongs to the failed test's output")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.systemctl(&["status", SERVICE, SOCKET]).out);
            eprintln!("{}", self.handoff(&["logs"]).out);
            let journal = said(Command::new("journalctl").args(["--no-pager", "--lines=60"]));
            eprintln!("--- the journal\n{}", journal.out);
        }
        self.clean();
    }
}

/// A task that a session has, and the session.
pub(crate) struct AtWork {
    pub(crate) project: Project,
    pub(crate) session: Session,
    pub(crate) dispatch: Dispatch,
}

impl AtWork {
    /// The session comes back to the next daemon, and the task ends well and was sent once.
    pub(crate) fn ends_well_at(&self, socket: &Path) {
        self.session.peer.wait_closed();
        let how = Attach::again("s-1", Known::Delivered(self.dispatch.id.clone()));
        let back = wait::until("the session is let in again", || self.session.try_reattach(socket, &how));
        assert_eq!(back.attached["task"]["dispatch_id"], self.dispatch.id.as_str());
        back.finish(&self.dispatch, report::complete());
        assert_eq!((self.project.status().as_str(), back.count("t-1")), ("COMPLETE", 1));
        assert_eq!(self.project.log_lines().len(), 1);
    }
}

impl Said {
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn failed_with(self, code: i32, words: &str) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        assert!(self.err.contains(words), "no {words:?} in {self:?}");
        self
    }
}

pub(crate) fn home() -> PathBuf {
    PathBuf::from(std::env::var_os("HOME").expect("the tool makes a home"))
}

/// Copies both programs into a folder.
pub(crate) fn put_programs(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for from in [&binaries().handoffd, &binaries().handoff] {
        let to = folder.join(from.file_name().unwrap());
        assert!(Command::new("cp").arg("--remove-destination").arg(from).arg(&to).status().unwrap().success());
        fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

pub(crate) fn said(command: &mut Command) -> Said {
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Said { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
}
