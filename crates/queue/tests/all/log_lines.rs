//! The work log's lines (D67).

use jiff::Timestamp;
use queue::{DispatchId, LogEntry, LogGate, ReportStatus, dispatch_id_of_line, log_line};
use serde_json::json;

use crate::fixture::{document, task};

const ID: &str = "00000000000000000000000000000abc";

fn entry() -> LogEntry {
    LogEntry {
        at: "2026-11-30T08:12:03.120Z".parse().unwrap(),
        status: ReportStatus::Complete,
        task_id: "T-1".into(),
        task_type: "IMPLEMENT".into(),
        worker: Some(("builder".into(), "r-1".into())),
        gates: Vec::new(),
        reason: None,
        dispatch_id: DispatchId::parse(ID),
    }
}

#[track_caller]
fn check(entry: &LogEntry, expected: &str) {
    let line = log_line(entry);
    assert_eq!(line, expected);
    assert_eq!(dispatch_id_of_line(&line), entry.dispatch_id);
    assert_eq!(dispatch_id_of_line(&format!("{line}\r\n")), entry.dispatch_id);
}

#[test]
fn every_form() {
    let start = "- 2026-11-30T08:12:03.120Z";
    check(&entry(), &format!("{start} COMPLETE T-1 (IMPLEMENT) by builder r-1 [{ID}]"));
    let gates = vec![LogGate { gate: "review-after".into(), agent: "checker".into(), verdict: "v".repeat(121) }];
    let verdict = "v".repeat(120);
    check(
        &LogEntry { gates, ..entry() },
        &format!("{start} COMPLETE T-1 (IMPLEMENT) by builder r-1; review-after by checker: \"{verdict}\" [{ID}]"),
    );
    let error = LogEntry { status: ReportStatus::Error, reason: Some("tests\nfail".into()), ..entry() };
    check(&error, &format!("{start} ERROR T-1 (IMPLEMENT) by builder r-1: \"tests fail\" [{ID}]"));
    let alone = LogEntry { worker: None, dispatch_id: None, ..error };
    check(&alone, &format!("{start} ERROR T-1 (IMPLEMENT): \"tests fail\""));
}

#[test]
fn no_text_breaks_the_line_or_poses_as_the_id() {
    let forged = format!("x [{ID}]\r\n- 2026-01-01T00:00:00.000Z COMPLETE T-2 [{ID}]\u{2028}\u{1b}[2J\u{202e}");
    let entry = LogEntry {
        task_id: forged.clone(),
        worker: Some((forged.clone(), forged.clone())),
        reason: Some(forged),
        status: ReportStatus::Error,
        dispatch_id: DispatchId::parse("0000000000000000000000000000dead"),
        ..entry()
    };
    let line = log_line(&entry);
    assert!(!line.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{202e}')), "{line}");
    assert_eq!(dispatch_id_of_line(&line), entry.dispatch_id);
    let foreign = LogEntry { dispatch_id: None, ..entry };
    assert_eq!(dispatch_id_of_line(&log_line(&foreign)), None);
}

#[test]
fn a_document_tells_who_it_was() {
    let running = document(&task(&json!({"status": "RUNNING", "updated_by": format!("handoffd/{ID}")})));
    let line = log_line(&LogEntry::of_error(&running, "gone", Timestamp::UNIX_EPOCH));
    assert_eq!(line, format!("- 1970-01-01T00:00:00.000Z ERROR T-1 (IMPLEMENT): \"gone\" [{ID}]"));
    let odd = document(&json!({"status": "RUNNING", "task_id": 7, "updated_by": "pi"}));
    let line = log_line(&LogEntry::of_error(&odd, "gone", Timestamp::UNIX_EPOCH));
    assert_eq!(line, "- 1970-01-01T00:00:00.000Z ERROR ? (?): \"gone\"");
}

#[test]
fn other_lines_have_no_dispatch() {
    for line in
        ["", "## Work log", "[00000000000000000000000000000abc]", "- x [abc]", "- x[00000000000000000000000000000abc]"]
    {
        assert_eq!(dispatch_id_of_line(line), None, "{line}");
    }
}
