//! One connection to the daemon: JSON lines, one call at a time. It knows the envelope of the protocol and no method.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

/// No answer takes longer, or the daemon is broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection that has said hello.
pub(crate) struct Client {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
    line: String,
    next: u64,
}

impl Client {
    /// Connects and says hello.
    ///
    /// # Errors
    /// Nobody listens, or the answer is no greeting.
    pub(crate) fn connect(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).context("cannot connect")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let lines = BufReader::with_capacity(256 * 1024, stream.try_clone()?);
        let mut client = Self { stream, lines, line: String::new(), next: 1 };
        client.call("hello", &json!({"protocol": 1, "client": {"name": "benches", "version": "1"}}))?;
        Ok(client)
    }

    /// Calls a method and waits for its answer. What the daemon says meanwhile is dropped.
    ///
    /// # Errors
    /// The connection broke, or the answer is an error.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut value = self.read()?;
            if value["method"].is_null() && value["id"] == id {
                ensure!(value["error"].is_null(), "{method}: {}", value["error"]);
                return Ok(value["result"].take());
            }
        }
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: &Value) -> Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Answers a request of the daemon.
    pub(crate) fn answer(&mut self, id: &Value, result: &Value) -> Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    /// Waits for the next whole line, read but not looked at: for taking times. [`Client::take_line`] has its content.
    pub(crate) fn wait_line(&mut self) -> Result<()> {
        self.line.clear();
        let read = self.lines.read_line(&mut self.line).context("no line from the daemon")?;
        ensure!(read > 0, "the daemon ended the connection");
        Ok(())
    }

    /// The line that [`Client::wait_line`] read.
    pub(crate) fn take_line(&self) -> Result<Value> {
        serde_json::from_str(&self.line).context("the daemon sent a line that is no JSON")
    }

    /// Length of that line in bytes, its end included.
    pub(crate) fn line_bytes(&self) -> usize {
        self.line.len()
    }

    fn read(&mut self) -> Result<Value> {
        self.wait_line()?;
        self.take_line()
    }

    fn send(&mut self, value: &Value) -> Result<()> {
        let mut line = value.to_string();
        line.push('\n');
        self.stream.write_all(line.as_bytes()).context("cannot write to the daemon")
    }
}
