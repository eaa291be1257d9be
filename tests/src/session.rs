//! The double of a session: attaches, takes tasks in the manner a test chooses, and counts what it was given.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::peer::{Peer, Request, RpcError};
use crate::process::SessionProcess;
use crate::wait;

/// What a session does with a `task.dispatch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Takes it; an id it already has is a duplicate.
    Accept,
    /// Declines as busy.
    Busy,
    /// Declines as too late.
    Expired,
    /// Answers with a JSON-RPC error.
    Fail,
    /// Says nothing.
    Silent,
    /// Ends the connection without an answer.
    HangUp,
}

/// What the session says it knows (`known_dispatch`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// A client without records.
    LeftOut,
    /// It keeps records and has none.
    Nothing,
    /// It has this dispatch in its conversation.
    Delivered(String),
    /// It heard of this dispatch, which did not reach its conversation.
    Undelivered(String),
}

/// How to attach.
#[derive(Debug, Clone)]
pub struct Attach {
    /// The session's id.
    pub session_id: String,
    /// `reason` of the protocol.
    pub reason: &'static str,
    /// Whether it is idle at once.
    pub idle: bool,
    /// What it knows.
    pub known: Known,
    /// As which team member it attaches.
    pub member: Option<String>,
}

impl Attach {
    /// A fresh idle session.
    #[must_use]
    pub fn idle(session_id: &str) -> Self {
        Self { session_id: session_id.to_owned(), reason: "startup", idle: true, known: Known::Nothing, member: None }
    }

    /// A fresh busy session.
    #[must_use]
    pub fn busy(session_id: &str) -> Self {
        Self { idle: false, ..Self::idle(session_id) }
    }

    /// The same session after its connection was lost.
    #[must_use]
    pub fn again(session_id: &str, known: Known) -> Self {
        Self { session_id: session_id.to_owned(), reason: "reconnect", idle: false, known, member: None }
    }

    /// As this team member.
    #[must_use]
    pub fn member(self, agent_id: &str) -> Self {
        Self { member: Some(agent_id.to_owned()), ..self }
    }

    fn params(&self, project: &Path) -> Value {
        let mut params = json!({
            "session_id": self.session_id, "project": project, "mode": "tui", "reason": self.reason,
            "idle": self.idle, "host": {"name": "pi", "version": "1.6.0"}
        });
        if let Some(agent_id) = &self.member {
            params["member"] = json!({"agent_id": agent_id});
        }
        match &self.known {
            Known::LeftOut => {}
            Known::Nothing => params["known_dispatch"] = Value::Null,
            Known::Delivered(id) => params["known_dispatch"] = json!({"dispatch_id": id, "delivered": true}),
            Known::Undelivered(id) => params["known_dispatch"] = json!({"dispatch_id": id, "delivered": false}),
        }
        params
    }
}

/// One task as it came.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// The id of the request, to answer it later.
    pub request: Value,
    /// `dispatch_id`.
    pub id: String,
    /// `task_id`; for a packet its own id.
    pub task_id: String,
    /// All parameters.
    pub params: Value,
    /// `tasks.json` at the moment it came.
    pub queue: Vec<u8>,
}

struct Inner {
    manner: Manner,
    taken: Vec<String>,
    dispatches: Vec<Dispatch>,
}

/// An attached session.
pub struct Session {
    /// Its connection.
    pub peer: Arc<Peer>,
    /// The answer to `session.attach`.
    pub attached: Value,
    /// Its process.
    pub process: Arc<SessionProcess>,
    inner: Arc<Mutex<Inner>>,
    session_id: String,
    project: PathBuf,
}

impl Session {
    /// Connects the process, says hello and attaches.
    ///
    /// # Errors
    /// The refusal.
    ///
    /// # Panics
    /// When the daemon cannot be reached or does not answer.
    pub fn attach(
        process: &Arc<SessionProcess>,
        socket: &Path,
        project: &Path,
        how: &Attach,
    ) -> Result<Self, RpcError> {
        let inner = Inner { manner: Manner::Accept, taken: Vec::new(), dispatches: Vec::new() };
        Self::open(process, socket, project, how, Arc::new(Mutex::new(inner))).expect("the daemon's socket answers")
    }

    /// As [`Session::attach`]; `None` while there is no daemon, or when it refuses.
    #[must_use]
    pub fn try_attach(process: &Arc<SessionProcess>, socket: &Path, project: &Path, how: &Attach) -> Option<Self> {
        let inner = Inner { manner: Manner::Accept, taken: Vec::new(), dispatches: Vec::new() };
        Self::open(process, socket, project, how, Arc::new(Mutex::new(inner)))?.ok()
    }

    /// Attaches once more from the same process, with the records that it has.
    ///
    /// # Errors
    /// The refusal.
    pub fn reattach(&self, socket: &Path, how: &Attach) -> Result<Self, RpcError> {
        Self::open(&self.process, socket, &self.project, how, Arc::clone(&self.inner))
            .expect("the daemon's socket answers")
    }

    /// As [`Session::reattach`]; `None` while there is no daemon, or when it refuses.
    #[must_use]
    pub fn try_reattach(&self, socket: &Path, how: &Attach) -> Option<Self> {
        Self::open(&self.process, socket, &self.project, how, Arc::clone(&self.inner))?.ok()
    }

    fn open(
        process: &Arc<SessionProcess>,
        socket: &Path,
        project: &Path,
        how: &Attach,
        inner: Arc<Mutex<Inner>>,
    ) -> Option<Result<Self, RpcError>> {
        let taking = Arc::clone(&inner);
        let handler = Box::new(move |peer: &Peer, request: &Request| take(&taking, peer, request));
        let peer = process.connect(socket, &project.join("tasks.json"), handler).ok()?;
        let hello = peer.call("hello", json!({"protocol": 1, "client": {"name": "double", "version": "1"}}));
        let attached = hello.and_then(|_| peer.call("session.attach", how.params(project)));
        let (process, session_id, project) = (Arc::clone(process), how.session_id.clone(), project.to_path_buf());
        Some(attached.map(|attached| Self { peer, attached, process, inner, session_id, project }))
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.session_id
    }

    /// `ownership` at attach.
    #[must_use]
    pub fn ownership(&self) -> &str {
        self.attached["ownership"].as_str().unwrap_or_default()
    }

    /// From now on takes tasks in this manner.
    ///
    /// # Panics
    /// Never in practice.
    pub fn set_manner(&self, manner: Manner) {
        self.inner.lock().unwrap().manner = manner;
    }

    /// All tasks that came, in order.
    ///
    /// # Panics
    /// Never in practice.
    #[must_use]
    pub fn dispatches(&self) -> Vec<Dispatch> {
        self.inner.lock().unwrap().dispatches.clone()
    }

    /// How often this task came.
    #[must_use]
    pub fn count(&self, task_id: &str) -> usize {
        self.dispatches().iter().filter(|dispatch| dispatch.task_id == task_id).count()
    }

    /// Waits for the first message with this task.
    ///
    /// # Panics
    /// When it does not come.
    pub fn wait_dispatch(&self, task_id: &str) -> Dispatch {
        self.wait_nth_dispatch(task_id, 1)
    }

    /// Waits for the `nth` message (from 1) with this task.
    ///
    /// # Panics
    /// When it does not come.
    pub fn wait_nth_dispatch(&self, task_id: &str, nth: usize) -> Dispatch {
        wait::until(&format!("message {nth} with task {task_id}"), || {
            self.dispatches().into_iter().filter(|dispatch| dispatch.task_id == task_id).nth(nth - 1)
        })
    }

    /// Says that it is idle or busy.
    pub fn state(&self, state: &str) {
        self.peer.notify("session.state", &json!({"state": state}));
    }

    /// Says that its turn ended.
    pub fn settled(&self, dispatch: &Dispatch) {
        self.peer.notify("session.settled", &json!({"dispatch_id": dispatch.id}));
    }

    /// Says that it leaves.
    pub fn leave(&self, reason: &str) {
        self.peer.notify("session.leaving", &json!({"reason": reason}));
    }

    /// Tells of a run that began.
    pub fn run_started(&self, dispatch: &Dispatch, run: Value) {
        self.tell_run("session.run_started", dispatch, run);
    }

    /// Tells of a run that ended.
    pub fn run_finished(&self, dispatch: &Dispatch, run: Value) {
        self.tell_run("session.run_finished", dispatch, run);
    }

    fn tell_run(&self, method: &str, dispatch: &Dispatch, mut run: Value) {
        run["dispatch_id"] = json!(dispatch.id);
        self.peer.notify(method, &run);
    }

    /// Reports.
    ///
    /// # Errors
    /// The refusal.
    pub fn report(&self, dispatch: &Dispatch, report: Value) -> Result<Value, RpcError> {
        self.peer.call("task.report", json!({"dispatch_id": dispatch.id, "report": report}))
    }

    /// Reports, must be believed, and ends its turn.
    ///
    /// # Panics
    /// When the report is refused.
    pub fn finish(&self, dispatch: &Dispatch, report: Value) {
        let expected = json!({"status": report["status"], "work_log": "appended"});
        let answer = self.report(dispatch, report).expect("the report is accepted");
        assert_eq!(answer, expected);
        self.settled(dispatch);
    }

    /// One round trip: everything sent before has been read by the daemon.
    ///
    /// # Panics
    /// Without an answer.
    pub fn ping(&self) {
        self.peer.call("session.ping", json!({})).expect("a ping is answered");
    }

    /// Ends the connection without a word.
    pub fn hang_up(&self) {
        self.peer.close();
        self.peer.wait_closed();
    }
}

fn take(inner: &Mutex<Inner>, peer: &Peer, request: &Request) {
    match request.method.as_str() {
        "task.dispatch" | "packet.dispatch" => {}
        "task.remind" => return peer.answer(&request.id, &json!({"accepted": true})),
        "task.cancel" => return peer.answer(&request.id, &json!({"aborted": true})),
        _ => return,
    }
    let text = |key: &str| request.params[key].as_str().unwrap_or_default().to_owned();
    let packet_id = request.params["packet"]["packet_id"].as_str().map(str::to_owned);
    let (id, task_id) = (text("dispatch_id"), packet_id.unwrap_or_else(|| text("task_id")));
    let mut inner = inner.lock().unwrap();
    let duplicate = inner.taken.contains(&id);
    let (request, params) = (request.clone(), request.params.clone());
    inner.dispatches.push(Dispatch {
        request: request.id.clone(),
        id: id.clone(),
        task_id,
        params,
        queue: request.queue,
    });
    let declined = |reason: &str| peer.answer(&request.id, &json!({"accepted": false, "reason": reason}));
    match inner.manner {
        Manner::Accept if duplicate => peer.answer(&request.id, &json!({"accepted": true, "duplicate": true})),
        Manner::Accept => {
            inner.taken.push(id);
            peer.answer(&request.id, &json!({"accepted": true}));
        }
        Manner::Busy => declined("busy"),
        Manner::Expired => declined("expired"),
        Manner::Fail => peer.refuse(&request.id, "the conversation is closed"),
        Manner::Silent => {}
        Manner::HangUp => peer.close(),
    }
}
