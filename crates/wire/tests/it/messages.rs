//! Every example of `docs/protocol.md` has the type of its method, and comes back as it was written.

use crate::docs::document;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use wire::calls::{Call, ClientNotification, ClientRequest, DaemonNotification, DaemonRequest};
use wire::rpc::{Incoming, Params, decode, parse};
use wire::run::{Observed, RunState};
use wire::session::{Attach, Delivery, KnownDispatch};
use wire::{control, daemon_calls, hello, session};

/// One line of the document. Whose it is follows from the method, or, for a result, from the request before it.
pub(crate) enum Example {
    Call { line: String, method: String, params: Value },
    Result { method: String, from_client: bool, result: Value },
    Error(Value),
}

impl Example {
    pub(crate) fn method(&self) -> String {
        match self {
            Self::Call { method, .. } | Self::Result { method, .. } => method.clone(),
            Self::Error(_) => String::new(),
        }
    }
}

/// Whether a request with these parameters is sent by the client (`task.cancel` exists on both sides).
pub(crate) fn sent_by_client(method: &str, params: &Value) -> bool {
    let both = method == "task.cancel";
    if both { params.get("project").is_some() } else { ClientRequest::METHODS.contains(&method) }
}

pub(crate) fn examples() -> Vec<Example> {
    let text = document();
    let blocks = text.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    let mut found = Vec::new();
    for block in blocks {
        let mut asked: HashMap<String, (String, bool)> = HashMap::new();
        for line in block.lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            if let Some(method) = value["method"].as_str() {
                let params = value.get("params").cloned().unwrap_or_else(|| json!({}));
                let from_client = sent_by_client(method, &params);
                asked.insert(value["id"].to_string(), (method.to_owned(), from_client));
                found.push(Example::Call { line: line.to_owned(), method: method.to_owned(), params });
            } else if let Some(error) = value.get("error") {
                found.push(Example::Error(error.clone()));
            } else {
                let (method, from_client) = asked[&value["id"].to_string()].clone();
                found.push(Example::Result { method, from_client, result: value["result"].clone() });
            }
        }
    }
    found
}

fn value_of<T: Serialize>(message: &T) -> Value {
    serde_json::to_value(message).unwrap()
}

fn params(value: &Value) -> Params {
    Params::new(Some(wire::Raw::from_value(value).unwrap()))
}

/// Decodes parameters as their method says and writes them again.
pub(crate) fn through_params(method: &str, value: &Value) -> Result<Value, wire::error::ErrorObject> {
    let params = params(value);
    macro_rules! again {
        ($table:ident: $($variant:ident)+) => {
            $table::decode(method, &params).map(|call| match call { $($table::$variant(inner) => value_of(&inner),)+ })
        };
    }
    if sent_by_client(method, value) {
        return again!(ClientRequest: Hello SessionAttach SessionPing TaskReport DaemonStatus DaemonReload DaemonShutdown
            ProjectAdd ProjectRemove ProjectEnable ProjectDisable ProjectPause ProjectResume ProjectUnlock TaskSubmit
            TaskWait TaskCancel TaskRetry SessionTake EventsSubscribe HistoryList);
    }
    if DaemonRequest::METHODS.contains(&method) {
        return again!(DaemonRequest: TaskDispatch TaskRemind TaskCancel PacketDispatch);
    }
    if ClientNotification::METHODS.contains(&method) {
        return again!(ClientNotification: SessionState RunStarted RunFinished SessionSettled SessionLeaving);
    }
    again!(DaemonNotification: SessionNotice SessionOwnership AttachAgain Event)
}

/// Decodes a result as its method says and writes it again.
pub(crate) fn through_result(method: &str, from_client: bool, value: &Value) -> Result<Value, String> {
    fn again<C: Call>(value: &Value) -> Result<Value, String> {
        decode::<C::Result>(&value.to_string()).map(|result| value_of(&result))
    }
    match (method, from_client) {
        ("hello", _) => again::<hello::Hello>(value),
        ("session.attach", _) => again::<Attach>(value),
        ("session.ping", _) => again::<session::Ping>(value),
        ("task.report", _) => again::<session::TaskReport>(value),
        ("daemon.status", _) => again::<control::DaemonStatus>(value),
        ("daemon.reload", _) => again::<control::DaemonReload>(value),
        ("daemon.shutdown", _) => again::<control::DaemonShutdown>(value),
        ("project.add", _) => again::<control::ProjectAdd>(value),
        ("project.remove", _) => again::<control::ProjectRemove>(value),
        ("project.enable", _) => again::<control::ProjectEnable>(value),
        ("project.disable", _) => again::<control::ProjectDisable>(value),
        ("project.pause", _) => again::<control::ProjectPause>(value),
        ("project.resume", _) => again::<control::ProjectResume>(value),
        ("project.unlock", _) => again::<control::ProjectUnlock>(value),
        ("task.submit", _) => again::<control::TaskSubmit>(value),
        ("task.wait", _) => again::<control::TaskWait>(value),
        ("task.cancel", true) => again::<control::TaskCancel>(value),
        ("task.retry", _) => again::<control::TaskRetry>(value),
        ("session.take", _) => again::<control::SessionTake>(value),
        ("events.subscribe", _) => again::<control::EventsSubscribe>(value),
        ("history.list", _) => again::<control::HistoryList>(value),
        ("task.dispatch", _) => again::<daemon_calls::TaskDispatch>(value),
        ("task.remind", _) => again::<daemon_calls::TaskRemind>(value),
        ("task.cancel", false) => again::<daemon_calls::DispatchCancel>(value),
        ("packet.dispatch", _) => again::<daemon_calls::PacketDispatch>(value),
        _ => panic!("no such request: {method}"),
    }
}

#[test]
fn every_example_comes_back_as_it_was_written() {
    let examples = examples();
    assert!(examples.len() > 80);
    for example in examples {
        match example {
            Example::Call { line, method, params } => {
                let named = match parse(line.as_bytes()).unwrap() {
                    Incoming::Request(request) => request.method,
                    Incoming::Notification(notification) => notification.method,
                    Incoming::Response(_) => panic!("{line}"),
                };
                assert_eq!(named, method);
                assert_eq!(through_params(&method, &params), Ok(params), "{method}");
            }
            Example::Result { method, from_client, result } => {
                assert_eq!(through_result(&method, from_client, &result), Ok(result), "{method}");
            }
            Example::Error(error) => {
                let object: wire::error::ErrorObject = decode(&error.to_string()).unwrap();
                assert_eq!(value_of(&object), error);
                if object.code == wire::error::REFUSED {
                    assert_eq!(value_of(&object.refusal().unwrap()), error["data"]);
                }
            }
        }
    }
}

/// `hello`, `daemon.status` and `daemon.shutdown` keep this shape in all protocol versions: never change these lines.
#[test]
fn frozen_messages_keep_their_shape() {
    let frozen = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let hello = frozen(r#"{"protocol":1,"client":{"name":"n","version":"v"}}"#);
    assert_eq!(through_params("hello", &hello), Ok(hello));
    let answer = frozen(r#"{"protocol":1,"daemon":{"version":"v","pid":1,"instance":"i","started_at":"t"}}"#);
    assert_eq!(through_result("hello", true, &answer), Ok(answer));
    let status = frozen(include_str!("../fixtures/status.json"));
    assert_eq!(through_result("daemon.status", true, &status), Ok(status));
    assert_eq!(through_params("daemon.status", &json!({})), Ok(json!({})));
    assert_eq!(through_params("daemon.shutdown", &json!({})), Ok(json!({})));
    assert_eq!(through_result("daemon.shutdown", true, &json!({})), Ok(json!({})));
}

fn attach_params() -> Value {
    json!({
        "session_id": "s", "project": "/p", "mode": "tui", "reason": "startup", "idle": true,
        "host": { "name": "pi", "version": "1" }
    })
}

#[test]
fn known_dispatch_has_three_cases() {
    #[track_caller]
    fn check(known: Option<Value>, expected: &KnownDispatch) {
        let mut message = attach_params();
        if let Some(known) = known {
            message["known_dispatch"] = known;
        }
        let attach: Attach = params(&message).decode().unwrap();
        assert_eq!(&attach.known_dispatch, expected);
        assert_eq!(value_of(&attach), message);
    }
    check(None, &KnownDispatch::NotTold);
    check(Some(Value::Null), &KnownDispatch::None);
    let delivery = Delivery { dispatch_id: "d".to_owned(), delivered: false };
    check(Some(json!({ "dispatch_id": "d", "delivered": false })), &KnownDispatch::Known(delivery));
}

#[test]
fn session_ids_have_1_to_256_bytes() {
    #[track_caller]
    fn check(id: &str, good: bool) {
        let mut message = attach_params();
        message["session_id"] = id.into();
        let outcome = params(&message).decode::<Attach>();
        assert_eq!(outcome.is_ok(), good, "{}: {outcome:?}", id.len());
        if let Err(error) = outcome {
            assert!(error.message.contains("`session_id`"), "{error}");
        }
    }
    check("", false);
    check("x", true);
    check(&"x".repeat(256), true);
    check(&"x".repeat(257), false);
    check(&"ä".repeat(128), true);
    check(&"ä".repeat(129), false);
}

#[test]
fn a_mode_of_a_child_is_read_and_not_a_wrong_parameter() {
    let mut message = attach_params();
    message["mode"] = "print".into();
    let attach: Attach = params(&message).decode().unwrap();
    assert_eq!(attach.mode, session::Mode::Other);
}

#[test]
fn observed_is_a_list_or_says_that_it_is_all() {
    #[track_caller]
    fn check(value: &Value, all: bool, states: &[RunState]) {
        let observed: Observed = decode(&value.to_string()).unwrap();
        assert_eq!(observed.all, all);
        assert_eq!(observed.runs.iter().map(|run| run.state).collect::<Vec<_>>(), states);
        let again: Observed = decode(&value_of(&observed).to_string()).unwrap();
        assert_eq!(again, observed);
    }
    let run = |state: &str| json!({ "run_id": "r", "agent": "a", "state": state });
    check(&json!([]), false, &[]);
    check(&json!([run("running"), run("complete")]), false, &[RunState::Running, RunState::Complete]);
    check(&json!({ "all": true, "runs": [run("failed"), run("partial")] }), true, &[RunState::Failed; 2]);
    check(&json!({ "all": false, "runs": [run("stopped")] }), false, &[RunState::Stopped]);
    check(&json!({ "runs": [run("rejected"), run("levitating")] }), false, &[RunState::Rejected, RunState::Running]);
}

#[test]
fn background_left_out_or_null_is_true() {
    #[track_caller]
    fn check(background: Option<Value>, expected: bool) {
        let mut run = json!({ "run_id": "r", "agent": "a", "state": "running" });
        if let Some(background) = background {
            run["background"] = background;
        }
        assert_eq!(decode::<wire::run::Run>(&run.to_string()).unwrap().background, expected);
    }
    check(None, true);
    check(Some(Value::Null), true);
    check(Some(true.into()), true);
    check(Some(false.into()), false);
}

#[test]
fn a_run_may_stand_in_its_own_member() {
    let run = json!({ "run_id": "r", "agent": "a", "background": true, "state": "running" });
    let flat = json!({ "dispatch_id": "d", "run_id": "r", "agent": "a", "background": true, "state": "running" });
    let nested = json!({ "dispatch_id": "d", "run": run });
    assert_eq!(through_params("session.run_started", &nested), Ok(flat.clone()));
    assert_eq!(through_params("session.run_finished", &nested), Ok(flat));
}

#[test]
fn a_refused_dispatch_is_refused_whatever_its_reason() {
    use daemon_calls::{DispatchRefusal, DispatchResult, Duplicate};
    #[track_caller]
    fn check(text: &str, expected: &DispatchResult) {
        assert_eq!(&decode::<DispatchResult>(text).unwrap(), expected);
    }
    let refused = |reason| DispatchResult::Refused { reason };
    check(r#"{"accepted":true}"#, &DispatchResult::Accepted { duplicate: Duplicate::No });
    check(r#"{"accepted":true,"duplicate":true}"#, &DispatchResult::Accepted { duplicate: Duplicate::Yes });
    check(r#"{"accepted":true,"duplicate":null}"#, &DispatchResult::Accepted { duplicate: Duplicate::No });
    check(r#"{"accepted":false,"reason":"expired"}"#, &refused(DispatchRefusal::Expired));
    check(r#"{"accepted":false,"reason":"tired"}"#, &refused(DispatchRefusal::Other));
    check(r#"{"accepted":false,"reason":null}"#, &refused(DispatchRefusal::Other));
    check(r#"{"accepted":false}"#, &refused(DispatchRefusal::Other));
    decode::<DispatchResult>("{}").unwrap_err();
}

#[test]
fn history_rows_are_bounded() {
    let rows = |limit| control::HistoryList { limit, ..control::HistoryList::default() }.rows();
    assert_eq!(rows(None), 50);
    assert_eq!(rows(Some(0)), 0);
    assert_eq!(rows(Some(500)), 500);
    assert_eq!(rows(Some(u64::MAX)), 500);
}

/// Numbers, escapes, order and white space of reports and planner fields survive (D3, D49).
#[test]
fn raw_members_keep_their_bytes() {
    let report = r#"{ "b":1.10, "a":1e400,"é":"\u00e9\/" ,"a":[ ]}"#;
    let text = format!(r#"{{"dispatch_id":"d","report":{report}}}"#);
    let message: session::TaskReport = decode(&text).unwrap();
    assert_eq!(message.report.get(), report);
    let line = wire::rpc::request_line(&1.into(), &message, wire::limits::CLIENT_LINE).unwrap();
    assert!(String::from_utf8(line).unwrap().contains(report));
}

#[test]
fn words_of_a_newer_daemon_are_read_as_other() {
    let event: wire::event::Event = decode(r#"{"seq":1,"at":"t","project":null,"kind":"eclipse","sun":0}"#).unwrap();
    assert_eq!(event.what, wire::event::EventKind::Other);
    let data = wire::Raw::parse(r#"{"code":"no_moon","problems":[{"field":null,"code":"x","message":"y"}]}"#).unwrap();
    let error = wire::error::ErrorObject { code: -32000, message: "m".to_owned(), data: Some(data) };
    let refusal = error.refusal().unwrap();
    assert_eq!(refusal.code, wire::error::ErrorCode::Other);
    assert_eq!(refusal.problems.len(), 1);
}
