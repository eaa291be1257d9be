//! One JSON-RPC connection seen from the client: calls and their answers, and everything the daemon says by itself.
//! How lines travel is behind [`Wire`]: a socket of this process, or one of a relay process.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::wait::PATIENCE;

/// An error answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// The JSON-RPC code.
    pub code: i64,
    /// For people.
    pub message: String,
    /// `data`, or null.
    pub data: Value,
}

impl RpcError {
    /// `data.code`, the stable name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.data["code"].as_str().unwrap_or_default()
    }
}

/// How a line leaves.
pub trait Wire: Send {
    /// Sends one line; a connection that is gone swallows it.
    fn send(&mut self, line: &str);
    /// Ends the connection.
    fn close(&mut self);
}

/// A request of the daemon, with the queue file as it was when it came, for a `task.dispatch` through a relay.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its id; null for a notification.
    pub id: Value,
    /// What is asked.
    pub method: String,
    /// Its parameters.
    pub params: Value,
    /// `tasks.json` at that moment.
    pub queue: Vec<u8>,
}

/// What is done with each request as it comes.
pub type Handler = Box<dyn Fn(&Peer, &Request) + Send + Sync>;

#[derive(Default)]
struct Heard {
    answers: HashMap<u64, Value>,
    requests: Vec<Request>,
    closed: bool,
}

/// The connection.
pub struct Peer {
    wire: Mutex<Box<dyn Wire>>,
    heard: Mutex<Heard>,
    changed: Condvar,
    next: AtomicU64,
    handler: Handler,
}

impl Peer {
    /// A peer whose lines the caller feeds to [`Peer::hear`].
    #[must_use]
    pub fn new(wire: Box<dyn Wire>, handler: Handler) -> Arc<Self> {
        Arc::new(Self {
            wire: Mutex::new(wire),
            heard: Mutex::default(),
            changed: Condvar::new(),
            next: AtomicU64::new(1),
            handler,
        })
    }

    /// Connects from this process.
    ///
    /// # Errors
    /// What the system says.
    pub fn connect(socket: &Path, handler: Handler) -> std::io::Result<Arc<Self>> {
        let stream = UnixStream::connect(socket)?;
        let reader = stream.try_clone()?;
        let peer = Self::new(Box::new(Direct(stream)), handler);
        let hearing = Arc::clone(&peer);
        std::thread::spawn(move || {
            for line in BufReader::new(reader).lines().map_while(Result::ok) {
                hearing.hear(&line, Vec::new());
            }
            hearing.hear_end();
        });
        Ok(peer)
    }

    /// Takes in one line of the daemon.
    ///
    /// # Panics
    /// When it is not JSON: the daemon never sends such a line.
    pub fn hear(&self, line: &str, queue: Vec<u8>) {
        let mut value: Value = serde_json::from_str(line).expect("the daemon sends JSON lines");
        if let Some(method) = value["method"].as_str() {
            let method = method.to_owned();
            let request = Request { id: value["id"].take(), method, params: value["params"].take(), queue };
            (self.handler)(self, &request);
            self.heard.lock().unwrap().requests.push(request);
        } else if let Some(id) = value["id"].as_u64() {
            self.heard.lock().unwrap().answers.insert(id, value);
        } else {
            self.heard.lock().unwrap().answers.insert(0, value);
        }
        self.changed.notify_all();
    }

    /// Notes that the connection ended.
    pub fn hear_end(&self) {
        self.heard.lock().unwrap().closed = true;
        self.changed.notify_all();
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// The error answer.
    ///
    /// # Panics
    /// Without an answer in time.
    pub fn call(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        self.answer_to(self.ask(method, params), method)
    }

    /// Sends a request and does not wait; answers its id.
    pub fn ask(&self, method: &str, params: Value) -> u64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// Waits for the answer to an earlier request.
    ///
    /// # Errors
    /// The error answer.
    ///
    /// # Panics
    /// Without an answer in time.
    pub fn answer_to(&self, id: u64, method: &str) -> Result<Value, RpcError> {
        let wanted = |heard: &mut Heard| {
            let closed = heard.closed;
            heard.answers.remove(&id).or_else(|| closed.then(|| closed_answer(method)))
        };
        let mut answer = self.wait_for(PATIENCE * 3, method, wanted);
        if answer["error"].is_null() {
            return Ok(answer["result"].take());
        }
        let mut error = answer["error"].take();
        Err(RpcError {
            code: error["code"].as_i64().unwrap_or_default(),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            data: error["data"].take(),
        })
    }

    /// The answer without a usable id, as malformed lines get it.
    ///
    /// # Panics
    /// Without one in time.
    pub fn answer_without_id(&self) -> Value {
        self.wait_for(PATIENCE, "an answer without id", |heard| heard.answers.remove(&0))
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Answers a request of the daemon.
    pub fn answer(&self, id: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
    }

    /// Refuses a request of the daemon with an error.
    pub fn refuse(&self, id: &Value, message: &str) {
        let error = json!({"code": -32603, "message": message});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string());
    }

    /// Sends a line as it is.
    pub fn send(&self, line: &str) {
        self.wire.lock().unwrap().send(line);
    }

    /// Ends the connection from our side.
    pub fn close(&self) {
        self.wire.lock().unwrap().close();
    }

    /// Whether the daemon ended the connection.
    pub fn is_closed(&self) -> bool {
        self.heard.lock().unwrap().closed
    }

    /// Waits until the connection has ended.
    ///
    /// # Panics
    /// When it does not.
    pub fn wait_closed(&self) {
        self.wait_for(PATIENCE, "the connection ends", |heard| heard.closed.then_some(()));
    }

    /// Everything the daemon said with this method so far.
    pub fn told(&self, method: &str) -> Vec<Request> {
        let heard = self.heard.lock().unwrap();
        heard.requests.iter().filter(|request| request.method == method).cloned().collect()
    }

    /// Waits for a request or notification that fits.
    ///
    /// # Panics
    /// When none comes.
    pub fn wait_told(&self, method: &str, fits: impl Fn(&Value) -> bool) -> Request {
        let wanted = |heard: &mut Heard| {
            let found = heard.requests.iter().find(|request| request.method == method && fits(&request.params));
            found.cloned()
        };
        self.wait_for(PATIENCE, method, wanted)
    }

    fn wait_for<T>(&self, limit: Duration, what: &str, mut look: impl FnMut(&mut Heard) -> Option<T>) -> T {
        let end = Instant::now() + limit;
        let mut heard = self.heard.lock().unwrap();
        loop {
            if let Some(found) = look(&mut heard) {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "not within {limit:?}: {what} (closed: {})", heard.closed);
            heard = self.changed.wait_timeout(heard, left).unwrap().0;
        }
    }
}

fn closed_answer(method: &str) -> Value {
    json!({"error": {"code": 0, "message": format!("the connection ended before {method} was answered"), "data": {"code": "closed"}}})
}

struct Direct(UnixStream);

impl Wire for Direct {
    fn send(&mut self, line: &str) {
        // A connection that is gone is told by the reader.
        drop(self.0.write_all(format!("{line}\n").as_bytes()));
    }

    fn close(&mut self) {
        drop(self.0.shutdown(Shutdown::Both));
    }
}
