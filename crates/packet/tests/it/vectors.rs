//! Every row of `task_packet.jsonl`, by both ways in: `expect` is the text's reader, `expect_via_tool` the tool's door.

use packet::{Refusal, TaskPacket, door};
use serde_json::Value;

pub(crate) fn rows() -> Vec<Value> {
    let path = format!("{}/../../tests/vectors/task_packet.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows.len() >= 515, "only {} rows", rows.len());
    rows
}

#[test]
fn every_row_through_the_reader() {
    check_all(|row| {
        let outcome = door::check(row["input"].as_str().unwrap().as_bytes());
        compare(&outcome, &row["expect"])
    });
}

#[test]
fn every_row_through_the_door() {
    check_all(|row| {
        let argument = Value::String(row["input"].as_str().unwrap().to_owned());
        let outcome = door::open(argument).and_then(door::admit);
        compare(&outcome, row.get("expect_via_tool").unwrap_or(&row["expect"]))
    });
}

/// Clients send the packet as an object, too; it must make no difference.
#[test]
fn every_row_that_is_a_tree_through_the_door() {
    check_all(|row| {
        let Ok(tree) = serde_json::from_str::<Value>(row["input"].as_str().unwrap()) else { return Ok(()) };
        if tree.is_string() {
            return Ok(());
        }
        let outcome = door::open(tree).and_then(door::admit);
        compare(&outcome, row.get("expect_via_tool").unwrap_or(&row["expect"]))
    });
}

#[track_caller]
fn check_all(check: impl Fn(&Value) -> Result<(), String>) {
    let failures: Vec<String> =
        rows().iter().filter_map(|row| check(row).err().map(|why| format!("{}: {why}", row["name"]))).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn compare(outcome: &Result<TaskPacket, Refusal>, expect: &Value) -> Result<(), String> {
    let packet = match outcome {
        Ok(packet) if expect["ok"] == true => packet,
        Err(refusal) if expect["ok"] == false => return compare_refusal(refusal, expect),
        other => return Err(format!("{other:?}, expected {expect}")),
    };
    let written = packet.normalized();
    let tree: Value = serde_json::from_str(&written).map_err(|error| error.to_string())?;
    equal(&tree, &expect["normalized"])?;
    // The rows are in written order, so that the text can be compared, too.
    equal(&tree.to_string(), &expect["normalized"].to_string())?;
    equal(&written.len(), &usize::try_from(expect["bytes"].as_u64().unwrap()).unwrap())?;
    equal(&packet.written_len(), &written.len())
}

fn compare_refusal(refusal: &Refusal, expect: &Value) -> Result<(), String> {
    equal(&refusal.code(), &expect["code"].as_str().unwrap())?;
    let message = refusal.to_string();
    if let Some(exact) = expect["message"].as_str() {
        equal(&message.as_str(), &exact)?;
    }
    let mentions = expect["must_mention"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing: Vec<&str> = mentions.filter(|text| !message.contains(text)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("{message:?} does not mention {missing:?}")) }
}

fn equal<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) }
}
