//! An MCP client that writes raw lines to `handoff mcp …` and reads what comes back.
#![expect(clippy::disallowed_methods, reason = "the harness starts the program under test")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::binaries::binaries;
use crate::wait::{PATIENCE, until};

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// 2025-11-25: a handshake, then requests.
    Handshake,
    /// 2026-07-28: every request says who asks.
    Stateless,
}

/// The server, and the client's ends of its streams. Killed when dropped.
pub struct Mcp {
    child: Child,
    era: Era,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    errors: ChildStderr,
}

impl Mcp {
    /// Starts `handoff mcp` with these arguments and variables, and opens as the era does.
    ///
    /// # Panics
    /// When it cannot be started or does not answer the handshake.
    #[must_use]
    pub fn start(era: Era, home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Self::command(home, arguments, variables);
        let mut child = command.spawn().expect("handoff starts");
        let output = child.stdout.take().expect("its output is ours");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let line: Value = serde_json::from_str(&line.unwrap()).expect("nothing but protocol is written");
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let (input, errors) = (child.stdin.take(), child.stderr.take().expect("its errors are ours"));
        let mut client = Self { child, era, input, lines, errors };
        if era == Era::Handshake {
            let params = json!({
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
            });
            let hello = client.ask("hello", "initialize", params);
            assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
            client.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        }
        client
    }

    /// The command, in an environment with nothing but the home of packets and the given variables.
    #[must_use]
    pub fn command(home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(&binaries().handoff);
        command.env_clear().env("HOME", home).env("HANDOFF_HOME", home).envs(variables.iter().copied());
        command.arg("mcp").args(arguments).current_dir(home);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Writes bytes.
    ///
    /// # Panics
    /// When the server does not read.
    pub fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().expect("the input is open").write_all(bytes).expect("the server reads");
    }

    /// Writes a request.
    pub fn send(&mut self, id: &str, method: &str, mut params: Value) {
        if self.era == Era::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(format!("{request}\n").as_bytes());
    }

    /// The next message.
    ///
    /// # Panics
    /// When none comes.
    pub fn answer(&mut self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect("the server answers")
    }

    /// Writes a request and reads its answer.
    ///
    /// # Panics
    /// When something else comes.
    pub fn ask(&mut self, id: &str, method: &str, params: Value) -> Value {
        self.send(id, method, params);
        let answer = self.answer();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls `team_handoff`.
    pub fn handoff(&mut self, id: &str, arguments: &Value) -> Value {
        self.ask(id, "tools/call", json!({"name": "team_handoff", "arguments": arguments}))
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// When there is nobody to hear it.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).expect("process ids are small");
        kill(Pid::from_raw(pid), signal).expect("the server lives");
    }

    /// Ends what the client says.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// Waits for the end: how it ended, what it wrote to standard error, and the messages that were not read.
    ///
    /// # Panics
    /// When it does not end.
    pub fn ended(mut self) -> (ExitStatus, String, Vec<Value>) {
        let status = until("the server ends", || self.child.try_wait().expect("a child of ours"));
        let mut errors = String::new();
        self.errors.read_to_string(&mut errors).expect("text");
        (status, errors, self.lines.iter().collect())
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        // It may be gone already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
