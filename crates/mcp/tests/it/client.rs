//! A client that writes raw lines, and the server that it talks to.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mcp::{Failed, serve};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::tools::toolbox;

/// A test that waits longer has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A client.
pub(crate) struct Client {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
    server: Option<JoinHandle<Result<(), Failed>>>,
    stop: Option<oneshot::Sender<()>>,
}

impl Client {
    /// Connected, and nothing said yet.
    pub(crate) fn connected() -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(PATIENCE)).unwrap();
        let (stop, stopped) = oneshot::channel();
        let (input, output) = (theirs.try_clone().unwrap(), theirs);
        let server = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let stop = async { stopped.await.unwrap_or(()) };
            let served = runtime.block_on(serve(toolbox(), input, output, stop));
            runtime.shutdown_background();
            served
        });
        Self { lines: BufReader::new(ours.try_clone().unwrap()), stream: ours, server: Some(server), stop: Some(stop) }
    }

    /// Connected, and past the handshake of 2025-11-25.
    pub(crate) fn initialized() -> Self {
        let mut client = Self::connected();
        let hello = client.ask(&initialize("2025-11-25"));
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    /// Writes bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Writes a message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// The next message; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Writes a request and reads the next message, which must be its answer.
    pub(crate) fn ask(&mut self, request: &Value) -> Value {
        self.send(request);
        let answer = self.next().unwrap();
        assert_eq!(answer["id"], request["id"], "{answer}");
        answer
    }

    /// What a call came to.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask(&call("call", tool, arguments))["result"].take()
    }

    /// The server still answers.
    #[track_caller]
    pub(crate) fn check_alive(&mut self) {
        let answer = self.call("echo", &json!({"alive": true}));
        assert_eq!(answer["structuredContent"], json!({"alive": true}), "{answer}");
    }

    /// Ends what the client says.
    pub(crate) fn end_input(&mut self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// The stop signal.
    pub(crate) fn stop_server(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Waits for the end of the server and gives what was not read.
    #[track_caller]
    pub(crate) fn ended(mut self) -> Vec<Value> {
        self.wait_for_end();
        // The thread that reads is left behind, with its end of the stream.
        self.end_input();
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Waits for the end of the server, without reading.
    #[track_caller]
    pub(crate) fn wait_for_end(&mut self) {
        let server = self.server.take().unwrap();
        let deadline = Instant::now() + PATIENCE;
        while !server.is_finished() {
            assert!(Instant::now() < deadline, "the server ends");
            std::thread::yield_now();
        }
        assert_eq!(server.join().unwrap(), Ok(()));
    }
}

/// The opening of the older protocols.
pub(crate) fn initialize(version: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }})
}

/// A call of a tool.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// A request as 2026-07-28 wants it.
pub(crate) fn stateless(mut request: Value) -> Value {
    request["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request
}
