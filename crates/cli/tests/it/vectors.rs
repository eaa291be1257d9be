//! Every row of the shared vectors through the built binary: what a script would see.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::env::{TestEnv, VALID, write};

#[test]
fn every_queue_row_is_judged_as_expected_and_left_as_it_was() {
    let rows = rows("queue.jsonl");
    assert!(rows.len() >= 175, "only {} rows", rows.len());
    check_all(&rows, queue_row);
}

#[test]
fn every_report_row_is_judged_as_expected() {
    let rows = rows("report.jsonl");
    assert!(rows.len() >= 112, "only {} rows", rows.len());
    check_all(&rows, report_row);
}

#[test]
fn every_packet_row_is_judged_as_expected() {
    let rows = rows("task_packet.jsonl");
    assert!(rows.len() >= 515, "only {} rows", rows.len());
    let env = TestEnv::new();
    check_all(&rows, |row| packet_row(&env, row));
}

fn check_all(rows: &[Value], check: impl Fn(&Value) -> Result<(), String>) {
    let failures: Vec<_> =
        rows.iter().filter_map(|row| check(row).err().map(|why| format!("{}: {why}", row["name"]))).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn rows(name: &str) -> Vec<Value> {
    let path = format!("{}/../../tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn queue_row(row: &Value) -> Result<(), String> {
    let env = TestEnv::new();
    grow(&env, &env.project(), &row["tree"]);
    let bytes = match row["tasks_json"].as_str() {
        Some(text) => placed(&env, text).into_bytes(),
        None => base64(row["tasks_json_b64"].as_str().unwrap()),
    };
    let path = env.file("tasks.json", &bytes);
    let before = listing(&env.project());
    let said = env.run(&["lint", "--json"]);
    let (found, expect) = (said.json(), &row["expect"]);
    let good = matches!(found["action"].as_str(), Some("dispatch" | "none"));
    equal(&found["action"], &expect["action"])?;
    equal(&codes(&found["problems"]), &codes(&expect["problems"]))?;
    equal(&said.code, &i32::from(!good))?;
    equal(&std::fs::read(path).unwrap(), &bytes)?;
    equal(&listing(&env.project()), &before)
}

fn report_row(row: &Value) -> Result<(), String> {
    let agent_dir = "pi-agent";
    let env = TestEnv::new();
    let agent_dir = env.root().join(agent_dir);
    let env = env.with("PI_CODING_AGENT_DIR", &agent_dir);
    grow(&env, &env.project(), &row["tree"]);
    grow(&env, &agent_dir, &row["user_tree"]);
    let mut task: Value = serde_json::from_str(VALID).unwrap();
    task["status"] = "RUNNING".into();
    for (key, value) in row["queue"].as_object().unwrap() {
        task[key] = value.clone();
    }
    env.file("tasks.json", placed(&env, &task.to_string()));
    let report = write(&env.root().join("report.json"), placed(&env, &row["report"].to_string()).as_bytes());
    let observed = write(&env.root().join("observed.json"), row["observed"].to_string().as_bytes());
    let mut arguments = vec!["report", "check", report.to_str().unwrap(), "--json"];
    if !row["observed"].is_null() {
        arguments.extend(["--observed", observed.to_str().unwrap()]);
    }
    let said = env.run(&arguments);
    let (found, expect) = (said.json(), &row["expect"]);
    equal(&found["ok"], &expect["ok"])?;
    equal(&found["status"], &expect["status"])?;
    equal(&codes(&found["problems"]), &codes(&expect["problems"]))?;
    equal(&said.code, &i32::from(expect["ok"] != true))
}

fn packet_row(env: &TestEnv, row: &Value) -> Result<(), String> {
    let file = env.file("packet.json", row["input"].as_str().unwrap());
    // Not `run`, which puts placeholders into what was said.
    let said = env.command().args(["packet", "check", "--json"]).arg(file).output().unwrap();
    let (found, expect) = (serde_json::from_slice::<Value>(&said.stdout).unwrap(), &row["expect"]);
    equal(&said.status.code(), &Some(i32::from(expect["ok"] != true)))?;
    for key in ["ok", "code", "bytes"] {
        equal(&found[key], &expect[key])?;
    }
    equal(&found["normalized"].to_string(), &expect["normalized"].to_string())?;
    if let Some(exact) = expect["message"].as_str() {
        equal(&found["message"], &exact.into())?;
    }
    let message = found["message"].as_str().unwrap_or_default();
    let mentions = expect["must_mention"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing: Vec<&str> = mentions.filter(|text| !message.contains(text)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("{message:?} does not mention {missing:?}")) }
}

fn equal<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) }
}

/// Field and code of each problem.
fn codes(problems: &Value) -> Vec<(Value, Value)> {
    let problems = problems.as_array().cloned().unwrap_or_default();
    problems.into_iter().map(|problem| (problem["field"].clone(), problem["code"].clone())).collect()
}

fn placed(env: &TestEnv, text: &str) -> String {
    text.replace("{PROJECT}", env.project().to_str().unwrap()).replace("{NAME}", "project")
}

fn grow(env: &TestEnv, root: &Path, tree: &Value) {
    for entry in tree.as_array().unwrap() {
        let path = root.join(entry["path"].as_str().unwrap());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        match entry["type"].as_str() {
            Some("dir") => std::fs::create_dir_all(path).unwrap(),
            Some("file") => drop(write(&path, entry["content"].as_str().unwrap().as_bytes())),
            Some("symlink") => symlink(placed(env, entry["target"].as_str().unwrap()), path).unwrap(),
            other => panic!("unknown type {other:?}"),
        }
    }
}

fn listing(folder: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |c: u8| u32::try_from(DIGITS.iter().position(|digit| *digit == c).unwrap()).unwrap();
    let digits: Vec<u32> = text.trim_end_matches('=').bytes().map(digit).collect();
    let mut bytes = Vec::new();
    for chunk in digits.chunks(4) {
        let bits = chunk.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - chunk.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    bytes
}
