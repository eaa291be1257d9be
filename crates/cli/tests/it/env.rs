//! A hermetic world for the binary: an empty environment, a home of its own, paths as placeholders. No assertions here.
#![expect(clippy::disallowed_methods, reason = "tests start the binary under test and write files of their own")]

use std::ffi::OsString;
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A world.
pub(crate) struct TestEnv {
    dir: TempDir,
    variables: Vec<(OsString, OsString)>,
}

/// The binary while it runs; ended when dropped.
pub(crate) struct Running {
    child: Child,
    told: PathBuf,
    said: PathBuf,
}

/// What the binary said.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl TestEnv {
    /// A world with a home, a runtime folder, and a project that nobody has registered.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let env = Self { dir, variables: Vec::new() };
        for folder in [env.home(), env.run_dir(), env.project()] {
            std::fs::create_dir_all(folder).unwrap();
        }
        env
    }

    /// With one more variable.
    pub(crate) fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub(crate) fn run_dir(&self) -> PathBuf {
        self.root().join("run")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// Writes a file below the project, with its folders.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        write(&self.project().join(path), content.as_ref())
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.project().join(path)).unwrap()
    }

    /// The binary, to be run in the project's root.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_handoff"));
        command.env_clear().env("HOME", self.home()).env("XDG_RUNTIME_DIR", self.run_dir()).env("TERM", "dumb");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.project()).stdin(Stdio::null());
        command
    }

    /// Runs the binary in the project's root.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        self.said(self.command().args(arguments))
    }

    /// Runs a prepared command to its end.
    pub(crate) fn said(&self, command: &mut Command) -> Said {
        let output = command.output().unwrap();
        Said {
            code: output.status.code().unwrap_or(-1),
            stdout: self.placed(&output.stdout),
            stderr: self.placed(&output.stderr),
        }
    }

    /// Runs the binary with text on its standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Said {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Who refuses before it reads may have ended by now.
        if let Err(error) = child.stdin.take().unwrap().write_all(input.as_bytes()) {
            assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe, "{error}");
        }
        let output = child.wait_with_output().unwrap();
        Said {
            code: output.status.code().unwrap_or(-1),
            stdout: self.placed(&output.stdout),
            stderr: self.placed(&output.stderr),
        }
    }

    /// Starts the binary, its streams going to files; its standard input stays open.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        let name = |stream: &str| self.root().join(format!("{}-{stream}-{}", arguments[0], next_number()));
        let (said, told) = (name("stdout"), name("stderr"));
        let file = |path: &Path| std::fs::File::create(path).unwrap();
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped()).stdout(file(&said)).stderr(file(&told));
        Running { child: command.spawn().unwrap(), told, said }
    }

    /// Text with the world's paths as placeholders.
    fn placed(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let uid = rustix::process::getuid().as_raw();
        text.replace(&*self.project().to_string_lossy(), "{PROJECT}")
            .replace(&*self.home().to_string_lossy(), "{HOME}")
            .replace(&*self.root().to_string_lossy(), "{ROOT}")
            .replace(&format!("/run/user/{uid}"), "{USUAL}")
            .replace(&format!("run-{}/", handoffd::places::host::host_part()), "run-{HOST}/")
    }
}

/// A number that no other call has.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Running {
    /// What it has written to stderr so far.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.told).unwrap()).into_owned()
    }

    /// What it has written to stdout so far.
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.said).unwrap()).into_owned()
    }

    /// Types a line.
    pub(crate) fn type_line(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Sends SIGTERM and waits for its exit code.
    pub(crate) fn terminate(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }

    /// Kills it, and nothing that it has started.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Its exit code, if it has ended.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        self.child.try_wait().unwrap().and_then(|status| status.code())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Asked first: what is killed cannot end what it has started.
        if let Ok(None) = self.child.try_wait() {
            rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), rustix::process::Signal::TERM)
                .ok();
        }
        let end = Instant::now() + Duration::from_secs(5);
        while let Ok(None) = self.child.try_wait()
            && Instant::now() < end
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Said {
    /// Stdout as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}:\n{self}"))
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "--- stderr\n{}", self.stderr)?;
        }
        write!(f, "--- exit {}", self.code)
    }
}

/// Writes a file with its folders.
pub(crate) fn write(path: &Path, content: &[u8]) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
    path.to_owned()
}

/// A valid PENDING task.
pub(crate) const VALID: &str = r#"{
  "schema_version": 3,
  "status": "PENDING",
  "task_id": "T-1",
  "task_type": "IMPLEMENT",
  "required_role": "writer",
  "instruction": "Add a flag.",
  "working_dir": ".",
  "scope": ["src"],
  "acceptance_criteria": ["it works"],
  "created_at": "2026-11-30T08:00:00Z",
  "created_by": "claude-code"
}
"#;
