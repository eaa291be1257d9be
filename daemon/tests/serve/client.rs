//! A client that knows nothing of the protocol but lines: what it sends is what the test wrote.

use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use crate::world::SOON;

pub(crate) struct Client {
    reader: BufReader<OwnedReadHalf>,
    pub(crate) writer: OwnedWriteHalf,
    next_id: u64,
}

impl Client {
    pub(crate) fn try_connect(path: &Path) -> Option<Self> {
        Some(Self::from_std(std::os::unix::net::UnixStream::connect(path).ok()?))
    }

    pub(crate) fn from_std(stream: std::os::unix::net::UnixStream) -> Self {
        stream.set_nonblocking(true).unwrap();
        let (reader, writer) = UnixStream::from_std(stream).unwrap().into_split();
        Self { reader: BufReader::new(reader), writer, next_id: 1 }
    }

    /// Sends bytes as they are; `false` when the daemon does not take them any more.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) -> bool {
        timeout(SOON, self.writer.write_all(bytes)).await.unwrap().is_ok()
    }

    pub(crate) async fn send(&mut self, line: &str) {
        assert!(self.send_bytes(format!("{line}\n").as_bytes()).await, "the daemon closed the connection");
    }

    /// The next line; `None` when the daemon has closed the connection.
    pub(crate) async fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        match timeout(SOON, self.reader.read_line(&mut line)).await.unwrap() {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap()),
        }
    }

    pub(crate) async fn is_closed(&mut self) -> bool {
        self.line().await.is_none()
    }

    /// Sends a request and gives its answer; notifications that come before it are passed over.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
        loop {
            let line = self.line().await.unwrap();
            if line.get("id") == Some(&json!(id)) && line.get("method").is_none() {
                return line;
            }
        }
    }

    /// As [`Client::ask`], for a request that is answered well.
    #[track_caller]
    pub(crate) fn result(&mut self, method: &str, params: Value) -> impl Future<Output = Value> {
        let place = std::panic::Location::caller();
        let method = method.to_owned();
        async move {
            let mut answer = self.ask(&method, params).await;
            assert!(answer.get("error").is_none(), "{place}: {method}: {answer}");
            answer["result"].take()
        }
    }

    /// As [`Client::ask`], for a request that is refused: the stable word.
    #[track_caller]
    pub(crate) fn refusal(&mut self, method: &str, params: Value) -> impl Future<Output = String> {
        let place = std::panic::Location::caller();
        let method = method.to_owned();
        async move {
            let answer = self.ask(&method, params).await;
            let code = answer["error"]["data"]["code"].as_str();
            code.unwrap_or_else(|| panic!("{place}: {method}: {answer}")).to_owned()
        }
    }

    pub(crate) async fn hello(&mut self) -> Value {
        self.result("hello", json!({"protocol": 1, "client": {"name": "test", "version": "0"}})).await
    }

    /// The next notification of this method.
    pub(crate) async fn notification(&mut self, method: &str) -> Value {
        loop {
            let mut line = self.line().await.unwrap();
            if line["method"] == method {
                return line["params"].take();
            }
        }
    }

    pub(crate) async fn attach(&mut self, project: &Path) -> Value {
        self.ask("session.attach", attach(project)).await
    }
}

/// The parameters of an ordinary session.
pub(crate) fn attach(project: &Path) -> Value {
    json!({
        "session_id": "s-1", "project": project, "mode": "tui", "reason": "startup", "idle": true,
        "host": {"name": "pi", "version": "1.0.0"}, "known_dispatch": null,
    })
}
