//! Rows are written on one line, read again by this version and every later one.

use proptest::prelude::*;
use wire::Raw;
use wire::journal::{Accepted, Ended, Entry, Head, Row};
use wire::session::EndStatus;

const OLD_ROWS: &str = include_str!("../fixtures/journal-0.1.jsonl");

fn ended(planner: &str) -> Row {
    Row {
        at: "2026-11-30T08:12:03.120Z".to_owned(),
        project: Some("/p".to_owned()),
        entry: Entry::Ended(Ended {
            task_id: "T-1".to_owned(),
            dispatch_id: Some("0123456789abcdef0123456789abcdef".to_owned()),
            status: EndStatus::Complete,
            error: None,
            started_at: Some("2026-11-30T08:10:00.000Z".to_owned()),
            completed_at: Some("2026-11-30T08:12:03.120Z".to_owned()),
            fingerprint: None,
            created_at: None,
            planner: Some(Raw::parse(planner).unwrap()),
            result: Some("two\nlines".to_owned()),
            report: Some(Raw::parse("{\"version\": 1}").unwrap()),
            verdict: None,
            log_line: Some("- … COMPLETE T-1".to_owned()),
        }),
    }
}

#[test]
fn a_row_is_one_line_and_comes_back() {
    let row = ended(r#"{"n":1.10,"huge":1e400,"é":"\u00e9"}"#);
    let line = row.to_line().unwrap();
    assert!(!line.contains('\n'), "{line}");
    assert_eq!(Row::parse(&line).unwrap(), row);
}

#[test]
fn a_planner_that_is_spread_over_lines_stays_on_the_row() {
    let line = ended("{\n  \"task_id\": \"T-1\"\n}").to_line().unwrap();
    assert!(!line.contains('\n'), "{line}");
    let Entry::Ended(ended) = Row::parse(&line).unwrap().entry else { panic!("{line}") };
    assert_eq!(ended.planner.unwrap().get(), "{   \"task_id\": \"T-1\" }");
}

#[test]
fn the_kind_stands_in_the_row() {
    let entry = Entry::Accepted(Accepted {
        task_id: "T".to_owned(),
        dispatch_id: "d".to_owned(),
        session_id: Some("s".to_owned()),
    });
    assert_eq!(entry.kind(), "accepted");
    let row = Row { at: "t".to_owned(), project: None, entry };
    assert_eq!(
        row.to_line().unwrap(),
        r#"{"at":"t","project":null,"kind":"accepted","task_id":"T","dispatch_id":"d","session_id":"s"}"#
    );
}

/// Rows with members, words and kinds of other versions are read as far as they are known.
#[test]
fn rows_of_other_versions_are_read() {
    let rows: Vec<Row> = OLD_ROWS.lines().map(|line| Row::parse(line).unwrap()).collect();
    let kinds: Vec<&str> = rows.iter().map(|row| row.entry.kind()).collect();
    assert_eq!(kinds, ["state", "pending", "running", "other", "ended"]);
    let heads: Vec<Head> = OLD_ROWS.lines().map(|line| Head::parse(line).unwrap()).collect();
    assert_eq!(heads[3].kind, "teleported");
    assert_eq!(heads[3].task_id.as_deref(), Some("T-1"));
    let Entry::Ended(ended) = &rows[4].entry else { panic!("{:?}", rows[4]) };
    assert_eq!((ended.status, &ended.planner, &ended.log_line), (EndStatus::Error, &None, &None));
}

/// `history.list` passes rows on as they stand, members of later versions included.
#[test]
fn unknown_members_survive_in_a_history() {
    let rows: Vec<Raw> = OLD_ROWS.lines().map(|line| Raw::parse(line).unwrap()).collect();
    let result = wire::control::HistoryResult { rows, more: false };
    let text = serde_json::to_string(&result).unwrap();
    let again: wire::control::HistoryResult = wire::rpc::decode(&text).unwrap();
    let lines: Vec<&str> = again.rows.iter().map(Raw::get).collect();
    assert_eq!(lines, OLD_ROWS.lines().collect::<Vec<_>>());
}

#[test]
fn a_torn_row_is_an_error() {
    let line = ended("{}").to_line().unwrap();
    for end in (0..line.len()).filter(|end| line.is_char_boundary(*end)) {
        Row::parse(&line[..end]).unwrap_err();
    }
    for odd in ["[]", "1", "{}", r#"{"at":"t"}"#, r#"["t","ended"]"#, r#"{"at":"t","kind":"accepted"}"#] {
        Row::parse(odd).unwrap_err();
    }
}

proptest! {
    #[test]
    fn no_line_panics(line in ".{0,200}") {
        prop_assert!(Row::parse(&line).is_err() || line.contains("kind"));
    }
}
