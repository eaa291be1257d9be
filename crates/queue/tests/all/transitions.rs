//! Our writes: which fields change, and what stays as it was (D3, D12, D13, D63).

use jiff::Timestamp;
use queue::{
    Action, AsyncStatus, Code, DispatchId, Document, Field, Observed, Ownership, Reading, ReportContext, Room, Run,
    RunState, Status, cancel_pending, check_report, finish_by_us, finish_from_report, format_time, limits, lint,
    reject, start,
};
use serde_json::{Value, json};

use crate::fixture::{Tree, VALID, document, task};
use crate::reports::{agents, complete_report};

const AT: &str = "2026-11-30T08:12:03.120Z";

fn at() -> Timestamp {
    AT.parse().unwrap()
}

fn id() -> DispatchId {
    DispatchId::from_random(0xabc)
}

fn parsed(text: &str) -> Value {
    Document::parse(text.as_bytes()).unwrap();
    serde_json::from_str(text).unwrap()
}

/// A document as an earlier task left it: all our fields are there.
fn with_left_overs(status: &str) -> Document {
    let old = json!({
        "status": status, "assigned_agent": "a", "assigned_model": "m", "thinking": "high", "started_at": "s",
        "completed_at": "c", "updated_by": "u", "result": "r", "files_changed": ["f"], "tests_run": ["t"],
        "error": "e", "report": {"version": 1},
    });
    document(&task(&old))
}

/// The members of our fields, in the document's order.
#[track_caller]
fn check_ours(text: &str, expected: &Value) {
    let all = parsed(text);
    let ours = all.as_object().unwrap().iter().filter(|(key, _)| {
        Field::from_name(key).is_some_and(|field| field == Field::Status || field.owner() == queue::Owner::Worker)
    });
    let ours: Value = ours.map(|(key, value)| (key.clone(), value.clone())).collect::<serde_json::Map<_, _>>().into();
    assert_eq!(ours.to_string(), expected.to_string());
}

#[test]
fn start_adds_what_it_sets_and_nothing_else() {
    let before = Document::parse(VALID.as_bytes()).unwrap();
    let text = start(&before, id(), at()).unwrap();
    let updated_by = format!("handoffd/{}", id());
    let expected = VALID.replace("PENDING", "RUNNING").replace(
        "\"claude-code\"\n",
        &format!("\"claude-code\",\n  \"started_at\": \"{AT}\",\n  \"updated_by\": \"{updated_by}\"\n"),
    );
    assert_eq!(text, expected);
    let after = Document::parse(text.as_bytes()).unwrap();
    assert_eq!((after.status(), after.dispatch_id()), (Status::Running, Some(id())));
    assert_eq!(after.fingerprint(), before.fingerprint());
    assert!(after.is_written_by_us() && !before.is_written_by_us());
}

#[test]
fn start_clears_the_last_outcome() {
    let text = start(&with_left_overs("PENDING"), id(), at()).unwrap();
    check_ours(
        &text,
        &json!({
            "status": "RUNNING", "assigned_agent": null, "assigned_model": null, "thinking": null, "started_at": AT,
            "completed_at": null, "updated_by": id().updated_by(), "result": null, "files_changed": null,
            "tests_run": null, "error": null, "report": null,
        }),
    );
}

#[test]
fn an_end_by_us_keeps_who_started_it_and_when() {
    let text = finish_by_us(&with_left_overs("RUNNING"), "gone", at()).unwrap();
    check_ours(
        &text,
        &json!({
            "status": "ERROR", "assigned_agent": null, "assigned_model": null, "thinking": null, "started_at": "s",
            "completed_at": AT, "updated_by": "u", "result": null, "files_changed": null, "tests_run": null,
            "error": "gone", "report": null,
        }),
    );
    let running = document(&task(&json!({"status": "RUNNING"})));
    let text = finish_by_us(&running, "gone", at()).unwrap();
    check_ours(&text, &json!({"status": "ERROR", "completed_at": AT, "error": "gone"}));
}

#[test]
fn a_rejection_belongs_to_no_dispatch() {
    let problems =
        [queue::Problem::at("scope", Code::TooFewItems, "is empty"), queue::Problem::whole(Code::QueueFull, "x")];
    let text = reject(&with_left_overs("PENDING"), &problems, at()).unwrap();
    let ours = parsed(&text);
    assert_eq!(ours["error"], "Rejected PENDING task: `scope` is empty; x");
    assert_eq!((&ours["updated_by"], &ours["started_at"]), (&json!("handoffd"), &Value::Null));
    let pending = document(&task(&json!({})));
    let text = reject(&pending, &problems[..1], at()).unwrap();
    let error = "Rejected PENDING task: `scope` is empty";
    check_ours(&text, &json!({"status": "ERROR", "completed_at": AT, "updated_by": "handoffd", "error": error}));
    assert!(Document::parse(text.as_bytes()).unwrap().is_written_by_us());
}

#[test]
fn a_long_rejection_is_cut_by_characters_and_a_cancel_is_not() {
    let long = "🦀".repeat(5_000);
    let pending = document(&task(&json!({})));
    let text = reject(&pending, &[queue::Problem::whole(Code::UnknownValue, long.clone())], at()).unwrap();
    assert_eq!(parsed(&text)["error"].as_str().unwrap().chars().count(), limits::CUT_CHARS);
    let text = cancel_pending(&pending, &long, at()).unwrap();
    assert_eq!(parsed(&text)["error"], format!("Cancelled: {long}"));
}

#[test]
fn times_have_milliseconds() {
    for (given, expected) in [
        ("2026-11-30T08:12:03Z", "2026-11-30T08:12:03.000Z"),
        ("2026-11-30T08:12:03.1209999Z", "2026-11-30T08:12:03.120Z"),
        ("2026-11-30T08:12:03.5+02:00", "2026-11-30T06:12:03.500Z"),
    ] {
        assert_eq!(format_time(given.parse().unwrap()), expected);
    }
}

/// A task padded so that the document has `size` bytes.
fn padded(changes: &Value, size: usize) -> Document {
    let mut value = task(changes);
    value["x_pad"] = "".into();
    let length = value.to_string().len();
    value["x_pad"] = "p".repeat(size - length).into();
    let document = document(&value);
    assert_eq!(document.text().len(), size);
    document
}

#[test]
fn room_is_told_to_the_byte() {
    let small = document(&task(&json!({})));
    let running = start(&small, id(), at()).unwrap().len();
    let room = Room::of(&small).unwrap();
    assert_eq!(room.left_for_report(), limits::QUEUE_BYTES - running);
    assert!(!room.is_tight());
    let overhead = running - small.text().len();
    let last = padded(&json!({}), limits::QUEUE_BYTES - overhead);
    assert_eq!(Room::of(&last).unwrap().left_for_report(), 0);
    assert!(Room::of(&last).unwrap().is_tight());
    let over = padded(&json!({}), limits::QUEUE_BYTES - overhead + 1);
    assert_eq!(Room::of(&over).unwrap_err().size, limits::QUEUE_BYTES + 1);
}

#[test]
fn without_room_for_running_error_is_written_and_without_room_for_that_nothing() {
    #[track_caller]
    fn check(document: &Document, action: Action) {
        let found = lint(Reading::Readable(document), &Tree::with_src(), Ownership::Unowned);
        let problems: Vec<_> = found.problems.iter().map(|problem| (problem.field.as_deref(), problem.code)).collect();
        assert_eq!((found.action, problems), (action, vec![(None, Code::QueueFull)]));
    }
    // With every field of ours in place, RUNNING needs more than an ERROR with a short text.
    let ours = json!({
        "started_at": 0, "completed_at": 0, "updated_by": 0, "error": 0, "assigned_agent": 0, "report": 0,
    });
    let size = |text: String| text.len();
    let plain = document(&task(&ours));
    let running = size(start(&plain, id(), at()).unwrap()) - plain.text().len();
    let both = limits::QUEUE_BYTES - running;
    assert!(Room::of(&padded(&ours, both)).is_ok());
    check(&padded(&ours, both + 1), Action::Reject);
    check(&padded(&ours, limits::QUEUE_BYTES), Action::Leave);
    check(&padded(&json!({"scope": []}), limits::QUEUE_BYTES), Action::Leave);
}

fn run(number: usize) -> Run {
    Run {
        run_id: format!("r-{number}"),
        agent: "builder".into(),
        background: true,
        state: RunState::Complete,
        model: Some("mock/mock-main".into()),
        thinking: None,
        result: Some("not stored".into()),
        parent_run_id: None,
        pid: Some(7),
    }
}

#[test]
fn a_report_is_stored_with_its_evidence() {
    let running = document(&task(
        &json!({"status": "RUNNING", "updated_by": id().updated_by(), "started_at": "s", "error": null}),
    ));
    let observed = Observed { all: true, runs: vec![run(1)] };
    let mut report = complete_report();
    report["files_changed"] = json!(["./src//main.rs", "src/a/../main.rs", "src/b.rs"]);
    report["error"] = " ".into();
    report["worker"]["result"] = "🦀".repeat(4_001).into();
    let agents = agents();
    let context = ReportContext {
        queue: &running,
        expected: None,
        paths: &Tree::with_src(),
        agents: &agents,
        observed: Some(&observed),
    };
    let accepted = check_report(&report.to_string(), &context).unwrap();
    assert_eq!(accepted.async_status, Some(AsyncStatus { checked: Some(true), ..AsyncStatus::default() }));
    let finished = finish_from_report(&running, &accepted, at()).unwrap();
    assert_eq!(finished.omitted, 0);
    check_ours(
        &finished.text,
        &json!({
            "status": "COMPLETE", "updated_by": id().updated_by(), "started_at": "s", "completed_at": AT,
            "assigned_agent": "builder", "assigned_model": "mock/mock-main", "thinking": "medium",
            "result": "Added the flag.", "files_changed": ["src/main.rs", "src/b.rs"], "tests_run": ["cargo test"],
            "error": null,
            "report": {
                "version": 1,
                "captured_at": AT,
                "worker": {
                    "agent": "builder", "run_id": "r-1", "status": "COMPLETE", "model": "mock/mock-main",
                    "thinking": "medium", "result": "🦀".repeat(4_000),
                },
                "gate_evidence": [],
                "async_status": {"checked": true, "pending_run_ids": [], "failed_run_ids": []},
                "observed": {
                    "all": true,
                    "runs": [{
                        "run_id": "r-1", "agent": "builder", "background": true, "state": "complete",
                        "model": "mock/mock-main", "pid": 7,
                    }],
                    "omitted": 0,
                },
            },
        }),
    );
}

#[test]
fn observed_runs_make_room_from_the_end() {
    let observed = Observed { all: false, runs: (1..=70).map(run).collect() };
    let agents = agents();
    let finish = |running: &Document| {
        let paths = Tree::with_src();
        let context =
            ReportContext { queue: running, expected: None, paths: &paths, agents: &agents, observed: Some(&observed) };
        let accepted = check_report(&complete_report().to_string(), &context).unwrap();
        finish_from_report(running, &accepted, at())
    };
    let running = json!({"status": "RUNNING"});
    let full = finish(&document(&task(&running))).unwrap();
    assert_eq!(full.omitted, 6);
    let stored = parsed(&full.text);
    assert_eq!(stored["report"]["observed"]["omitted"], 6);
    assert_eq!(stored["report"]["observed"]["runs"].as_array().unwrap().len(), 64);

    let overhead = full.text.len() - document(&task(&running)).text().len();
    let tight = finish(&padded(&running, limits::QUEUE_BYTES - overhead + 1)).unwrap();
    assert_eq!(tight.omitted, 7);
    let runs = parsed(&tight.text)["report"]["observed"]["runs"].as_array().unwrap().clone();
    assert_eq!((runs.len(), &runs[62]["run_id"]), (63, &json!("r-63")));

    let bare = finish(&padded(&running, limits::QUEUE_BYTES - 1_000)).unwrap();
    assert!(bare.omitted > 60 && bare.text.len() <= limits::QUEUE_BYTES);
    assert!(finish(&padded(&running, limits::QUEUE_BYTES - 300)).unwrap_err().size > limits::QUEUE_BYTES);
}
