//! The client against a scripted daemon on a real socket.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixListener;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use wire::calls::{DaemonNotification, DaemonRequest};
use wire::client::{Client, ClientError, FromDaemon, Inbox};
use wire::control::{DaemonShutdown, ProjectPause, TaskWait};
use wire::daemon_calls::{DispatchResult, Duplicate, TaskDispatch};
use wire::error::ErrorCode;
use wire::hello::ClientInfo;

/// The daemon's end of one connection.
struct Daemon {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
}

impl Daemon {
    async fn read(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().expect("the client sends a line");
        serde_json::from_str(&line).unwrap()
    }

    async fn write(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn answer(&mut self, result: Value) -> Value {
        let request = self.read().await;
        self.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
        request
    }

    async fn refuse(&mut self, error: Value) {
        let request = self.read().await;
        self.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error })).await;
    }
}

/// A socket in a folder of its own.
struct Socket {
    _folder: TempDir,
    path: PathBuf,
    listener: UnixListener,
}

impl Socket {
    fn bind() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        Self { _folder: folder, path, listener }
    }

    async fn accept(&self) -> Daemon {
        use tokio::io::AsyncBufReadExt;
        let (stream, _) = self.listener.accept().await.unwrap();
        let (reader, writer) = stream.into_split();
        Daemon { lines: BufReader::new(reader).lines(), writer }
    }

    /// A client and a daemon that have said hello to each other.
    async fn connected(&self) -> (Client, Inbox, Daemon) {
        let daemon = async {
            let mut daemon = self.accept().await;
            let hello = daemon.answer(hello_result(1)).await;
            assert_eq!(hello["params"], json!({ "protocol": 1, "client": { "name": "t", "version": "0" } }));
            daemon
        };
        let (connected, daemon) = tokio::join!(Client::connect(&self.path, info()), daemon);
        let (client, inbox, info) = connected.unwrap();
        assert_eq!(info.pid, 7);
        (client, inbox, daemon)
    }
}

fn info() -> ClientInfo {
    ClientInfo { name: "t".to_owned(), version: "0".to_owned() }
}

fn hello_result(protocol: u32) -> Value {
    json!({ "protocol": protocol, "daemon": { "version": "9.9", "pid": 7, "instance": "i", "started_at": "t" } })
}

fn wait_for(task_id: &str) -> TaskWait {
    TaskWait { project: "p".to_owned(), task_id: Some(task_id.to_owned()), timeout_ms: None }
}

async fn connect_error(path: &Path) -> ClientError {
    Client::connect(path, info()).await.map(|_| ()).unwrap_err()
}

#[tokio::test]
async fn answers_find_their_calls_in_any_order() {
    let socket = Socket::bind();
    let (client, _inbox, mut daemon) = socket.connected().await;
    let (first, second) = (wait_for("A"), wait_for("B"));
    let script = async {
        let (a, b) = (daemon.read().await, daemon.read().await);
        assert_ne!(a["id"], b["id"]);
        for request in [b, a] {
            let why = format!("about {}", request["params"]["task_id"].as_str().unwrap());
            let result = json!({ "status": "RUNNING", "timed_out": true, "state": "waiting", "why": why });
            daemon.write(&json!({ "jsonrpc": "2.0", "id": 999, "result": {} })).await;
            daemon.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
        }
    };
    let (a, b, ()) = tokio::join!(client.call(&first), client.call(&second), script);
    assert_eq!(a.unwrap().why.as_deref(), Some("about A"));
    assert_eq!(b.unwrap().why.as_deref(), Some("about B"));
}

#[tokio::test]
async fn refusals_carry_code_message_and_problems() {
    let socket = Socket::bind();
    let (client, _inbox, mut daemon) = socket.connected().await;
    let problems = json!([{ "field": "scope", "code": "too_few_items", "message": "`scope` is empty" }]);
    let error = json!({
        "code": -32000, "message": "the task is invalid", "data": { "code": "invalid_task", "problems": problems }
    });
    let pause = ProjectPause { project: "p".to_owned() };
    let (outcome, ()) = tokio::join!(client.call(&pause), daemon.refuse(error));
    let error = outcome.unwrap_err();
    assert_eq!(error.to_string(), "the task is invalid");
    assert_eq!(error.code(), Some(ErrorCode::InvalidTask));
    assert_eq!(error.problems()[0].field.as_deref(), Some("scope"));
    assert!(!error.is_unreachable());
}

#[tokio::test]
async fn a_socket_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none");
    let error = connect_error(&path).await;
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    assert!(matches!(&error, ClientError::NotReachable { cause, .. } if cause.kind() == std::io::ErrorKind::NotFound));
    assert!(error.is_unreachable());
}

#[tokio::test]
async fn a_socket_nobody_listens_on_is_not_reachable() {
    let socket = Socket::bind();
    let Socket { _folder, path, listener } = socket;
    drop(listener);
    let error = connect_error(&path).await;
    assert!(
        matches!(&error, ClientError::NotReachable { cause, .. } if cause.kind() == std::io::ErrorKind::ConnectionRefused),
        "{error:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_daemon_that_does_not_answer_is_told_apart() {
    let socket = Socket::bind();
    let error = connect_error(&socket.path).await;
    assert!(matches!(error, ClientError::NoAnswer { method: "hello", limit } if limit == Duration::from_secs(5)));
    assert_eq!(error.to_string(), "the daemon did not answer `hello` within 5 s");
    assert!(error.is_unreachable());
}

#[tokio::test]
async fn another_protocol_names_both_numbers() {
    #[track_caller]
    fn check(error: &ClientError, expected: &str) {
        assert!(matches!(error, ClientError::Protocol { ours: 1, .. }), "{error:?}");
        assert_eq!(error.to_string(), expected);
    }
    let socket = Socket::bind();
    let refusing = async {
        let data = json!({ "code": "unsupported_protocol", "supported": [2, 3] });
        let mut daemon = socket.accept().await;
        daemon.refuse(json!({ "code": -32000, "message": "no", "data": data })).await;
    };
    let (error, ()) = tokio::join!(connect_error(&socket.path), refusing);
    check(&error, "this program speaks protocol 1, the daemon speaks 2, 3");

    let newer = async { socket.accept().await.answer(hello_result(2)).await };
    let (error, _) = tokio::join!(connect_error(&socket.path), newer);
    check(&error, "this program speaks protocol 1, the daemon (9.9) speaks 2");
}

#[tokio::test]
async fn a_closed_connection_ends_waiting_calls_the_inbox_and_new_calls() {
    let socket = Socket::bind();
    let (client, mut inbox, mut daemon) = socket.connected().await;
    let wait = wait_for("A");
    let script = async {
        daemon.read().await;
        drop(daemon);
    };
    let (outcome, ()) = tokio::join!(client.call(&wait), script);
    assert!(matches!(outcome.unwrap_err(), ClientError::Closed { .. }));
    assert_eq!(inbox.next().await, None);
    let later = client.call(&DaemonShutdown {}).await.unwrap_err();
    assert_eq!(later.to_string(), "the connection to the daemon has ended: the daemon closed it");
}

#[tokio::test]
async fn an_answer_of_another_shape_is_told() {
    let socket = Socket::bind();
    let (client, _inbox, mut daemon) = socket.connected().await;
    let pause = ProjectPause { project: "p".to_owned() };
    let (outcome, _) = tokio::join!(client.call(&pause), daemon.answer(json!({ "path": 5 })));
    let error = outcome.unwrap_err();
    assert!(matches!(error, ClientError::BadAnswer { method: "project.pause", .. }), "{error:?}");
    assert!(error.to_string().contains("`path`"), "{error}");
}

#[tokio::test]
async fn garbage_and_long_lines_end_the_connection() {
    for garbage in [b"not json\n".to_vec(), vec![b' '; wire::limits::DAEMON_LINE + 1]] {
        let socket = Socket::bind();
        let (client, _inbox, mut daemon) = socket.connected().await;
        let wait = wait_for("A");
        let script = async {
            daemon.read().await;
            // The client closes before it has read all of it.
            daemon.writer.write_all(&garbage).await.ok();
        };
        let (outcome, ()) = tokio::join!(client.call(&wait), script);
        assert!(matches!(outcome.unwrap_err(), ClientError::Closed { .. }));
    }
}

#[tokio::test]
async fn a_session_is_asked_and_answers() {
    let socket = Socket::bind();
    let (client, mut inbox, mut daemon) = socket.connected().await;
    let dispatch = json!({
        "dispatch_id": "d", "task_id": "T", "message": "m", "planner": { "n": 1 }, "context": [], "expires_at": "t"
    });
    let notice = json!({ "level": "info", "text": "hi" });
    daemon.write(&json!({ "jsonrpc": "2.0", "method": "session.notice", "params": notice })).await;
    daemon.write(&json!({ "jsonrpc": "2.0", "method": "session.of_tomorrow", "params": {} })).await;
    daemon.write(&json!({ "jsonrpc": "2.0", "id": "x-1", "method": "task.dispatch", "params": dispatch })).await;

    let Some(FromDaemon::Notification(DaemonNotification::SessionNotice(notice))) = inbox.next().await else {
        panic!("the notice comes first")
    };
    assert_eq!(notice.text, "hi");
    let Some(FromDaemon::Request { id, call: DaemonRequest::TaskDispatch(task) }) = inbox.next().await else {
        panic!("then the task; what is not known is left out")
    };
    assert_eq!(task.planner.get(), r#"{"n":1}"#);
    client.answer::<TaskDispatch>(&id, &DispatchResult::Accepted { duplicate: Duplicate::No }).await.unwrap();
    assert_eq!(daemon.read().await, json!({ "jsonrpc": "2.0", "id": "x-1", "result": { "accepted": true } }));
}

/// The inbox is bounded: a client that does not read makes the daemon wait, and loses nothing.
#[tokio::test]
async fn nothing_is_lost_when_the_inbox_is_read_late() {
    const NOTICES: usize = 20_000;
    let socket = Socket::bind();
    let (_client, mut inbox, mut daemon) = socket.connected().await;
    let writer = tokio::spawn(async move {
        for number in 0..NOTICES {
            let params = json!({ "level": "info", "text": number.to_string() });
            daemon.write(&json!({ "jsonrpc": "2.0", "method": "session.notice", "params": params })).await;
        }
        daemon
    });
    for number in 0..NOTICES {
        let Some(FromDaemon::Notification(DaemonNotification::SessionNotice(notice))) = inbox.next().await else {
            panic!("notice {number} is missing")
        };
        assert_eq!(notice.text, number.to_string());
        assert!(number > 0 || !writer.is_finished(), "20,000 notices do not fit into a bounded inbox");
    }
    writer.await.unwrap();
}

#[tokio::test]
async fn wrong_and_unwanted_requests_are_answered_by_the_client_itself() {
    #[track_caller]
    fn check(answer: &Value, id: i64, code: i64) {
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(code)), "{answer}");
    }
    let socket = Socket::bind();
    let (_client, inbox, mut daemon) = socket.connected().await;
    daemon.write(&json!({ "jsonrpc": "2.0", "id": 1, "method": "task.juggle" })).await;
    check(&daemon.read().await, 1, -32601);
    daemon.write(&json!({ "jsonrpc": "2.0", "id": 2, "method": "task.remind", "params": ["d", "t"] })).await;
    check(&daemon.read().await, 2, -32602);
    daemon.write(&json!({ "jsonrpc": "2.0", "id": 3, "method": 5 })).await;
    check(&daemon.read().await, 3, -32600);
    drop(inbox);
    let params = json!({ "dispatch_id": "d", "text": "t" });
    daemon.write(&json!({ "jsonrpc": "2.0", "id": 4, "method": "task.remind", "params": params })).await;
    check(&daemon.read().await, 4, -32601);
}

#[tokio::test]
async fn a_flushed_notification_is_on_its_way_when_the_program_ends() {
    let socket = Socket::bind();
    let (client, inbox, mut daemon) = socket.connected().await;
    let leaving = wire::session::Leaving { reason: wire::session::LeaveReason::Quit };
    client.notify(&leaving).await.unwrap();
    client.flush().await.unwrap();
    drop((client, inbox));
    assert_eq!(daemon.read().await["params"], json!({ "reason": "quit" }));
    assert!(daemon.lines.next_line().await.unwrap().is_none(), "the connection ends with the last client");
}

#[tokio::test]
async fn a_message_that_the_daemon_would_not_read_is_not_sent() {
    let socket = Socket::bind();
    let (client, _inbox, mut daemon) = socket.connected().await;
    let pause = ProjectPause { project: "x".repeat(wire::limits::CLIENT_LINE) };
    assert!(matches!(client.call(&pause).await.unwrap_err(), ClientError::Encode(_)));
    let (outcome, _) = tokio::join!(client.call(&DaemonShutdown {}), daemon.answer(json!({})));
    outcome.unwrap();
}

#[tokio::test]
async fn a_call_that_was_given_up_does_not_disturb_the_next() {
    let socket = Socket::bind();
    let (client, _inbox, mut daemon) = socket.connected().await;
    let error = client.call_within(&wait_for("A"), Some(Duration::ZERO)).await.unwrap_err();
    assert!(matches!(error, ClientError::NoAnswer { method: "task.wait", .. }), "{error:?}");
    let pause = ProjectPause { project: "p".to_owned() };
    let script = async {
        let mut request = daemon.read().await;
        if request["method"] == "task.wait" {
            daemon.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "status": "ERROR" } })).await;
            request = daemon.read().await;
        }
        let result = json!({ "path": "/p", "name": "p", "state": "paused", "reason": null, "why": null, "next": null });
        daemon.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    };
    let (outcome, ()) = tokio::join!(client.call(&pause), script);
    assert_eq!(outcome.unwrap().name, "p");
}

#[tokio::test]
async fn a_daemon_that_closes_at_once_is_told() {
    let socket = Socket::bind();
    let closing = async { drop(socket.listener.accept().await.unwrap().0) };
    let (error, ()) = tokio::join!(connect_error(&socket.path), closing);
    assert!(matches!(error, ClientError::Closed { .. }), "{error:?}");
}
