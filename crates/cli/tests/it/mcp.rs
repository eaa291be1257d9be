//! A client that speaks MCP with `handoff mcp planner`, of either era. No assertions here but that it answers.
#![expect(clippy::expect_used, reason = "a test that cannot go on says where by panicking")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::env::TestEnv;

/// A test that waits longer has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2025-11-25: a handshake, then requests.
    Handshake,
    /// 2026-07-28: every request says who asks.
    Stateless,
}

/// The server and the client's ends of its streams; ended when dropped.
pub(crate) struct Client {
    child: Child,
    era: Era,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
}

impl Client {
    /// Starts the server in the world's project and opens as the era does.
    pub(crate) fn start(world: &TestEnv, era: Era) -> Self {
        Self::start_with(world, era, |_| {})
    }

    /// The same with a command that is prepared further.
    pub(crate) fn start_with(world: &TestEnv, era: Era, prepare: impl FnOnce(&mut std::process::Command)) -> Self {
        let mut command = world.command();
        command.args(["mcp", "planner"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        prepare(&mut command);
        let mut child = command.spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let message = serde_json::from_str(&line.unwrap()).expect("nothing but protocol is written");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let mut client = Self { child, era, input, messages };
        if era == Era::Handshake {
            let params = json!({
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
            });
            assert_eq!(client.ask("initialize", params)["protocolVersion"], "2025-11-25");
            client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        client
    }

    pub(crate) fn write(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{message}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// Sends a request.
    pub(crate) fn send(&mut self, id: &str, method: &str, mut params: Value) {
        if self.era == Era::Stateless {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// The next message.
    pub(crate) fn next(&mut self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("the server answers")
    }

    /// Sends a request and gives its result.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send("1", method, params);
        let mut answer = self.next();
        assert_eq!(answer["id"], "1", "{answer}");
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].take()
    }

    /// Calls a tool. What it is answered has the same text for models and for programs, and fits the tool's schema.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Reply {
        Reply::of(&self.ask("tools/call", json!({"name": tool, "arguments": arguments})))
    }

    /// Sends a call and leaves it running.
    pub(crate) fn begin(&mut self, id: &str, tool: &str, arguments: &Value, meta: &Value) {
        self.send(id, "tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta}));
    }

    /// Ends the input and gives the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// What a tool answered.
pub(crate) struct Reply {
    /// Whether it refused.
    pub(crate) refused: bool,
    /// What a model reads.
    pub(crate) text: String,
    /// What a program reads.
    pub(crate) content: Value,
}

impl Reply {
    #[track_caller]
    pub(crate) fn of(result: &Value) -> Self {
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        let content = result["structuredContent"].clone();
        assert_eq!(content["text"], text.as_str(), "clients forward one of the two");
        let refused = result["isError"] == true;
        assert_eq!(content["ok"], !refused, "{content}");
        Self { refused, text, content }
    }

    /// The words have all of these.
    #[track_caller]
    pub(crate) fn says(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.text.contains(part), "no {part:?} in:\n{}", self.text);
        }
    }
}
