//! Every row of `queue.jsonl`: what `handoff lint` says of a queue file.

use queue::{Document, Ownership, Reading, lint};
use serde_json::Value;

use crate::fixture::{Tree, expected_problems, found_problems, placed, vectors};

#[test]
fn every_row() {
    let rows = vectors("queue.jsonl");
    assert!(rows.len() >= 175, "only {} rows", rows.len());
    let failures: Vec<_> = rows.iter().filter_map(|row| check(row).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn check(row: &Value) -> Result<(), String> {
    let tree = Tree::of(&row["tree"]);
    let read = Document::parse(&bytes(row));
    let reading = match &read {
        Ok(document) => Reading::Readable(document),
        Err(problem) => Reading::Unreadable(problem),
    };
    let lint = lint(reading, &tree, Ownership::Unowned);
    let found = (lint.action.as_str(), found_problems(&lint.problems));
    let expected = (row["expect"]["action"].as_str().unwrap(), expected_problems(&row["expect"]));
    if found == expected { Ok(()) } else { Err(format!("{}: {found:?}, expected {expected:?}", row["name"])) }
}

/// The file of a row: text with placeholders, or base64.
fn bytes(row: &Value) -> Vec<u8> {
    match row["tasks_json"].as_str() {
        Some(text) => placed(text).into_bytes(),
        None => base64(row["tasks_json_b64"].as_str().unwrap()),
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("no base64 digit: {c}"),
    };
    let digits: Vec<_> = text.trim_end_matches('=').bytes().map(digit).collect();
    let mut out = Vec::new();
    for chunk in digits.chunks(4) {
        let bits = chunk.iter().fold(0_u32, |bits, digit| bits << 6 | u32::from(*digit)) << (6 * (4 - chunk.len()));
        out.extend(&bits.to_be_bytes()[1..chunk.len()]);
    }
    out
}
