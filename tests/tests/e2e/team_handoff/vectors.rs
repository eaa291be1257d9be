//! Every row of `tests/vectors/team_handoff.jsonl` over the wire; some in both eras.

use handoffd_tests::mcp::{Era, Mcp};
use serde_json::{Map, Value, json};

use super::world::Home;

const ROWS: &str = include_str!("../../../vectors/team_handoff.jsonl");

#[test]
fn every_row_with_a_handshake() {
    rows(Era::Handshake, 1);
}

/// The rules are the same: a part of the rows shows that the answers are.
#[test]
fn every_fourth_row_without_one() {
    rows(Era::Stateless, 4);
}

#[track_caller]
fn rows(era: Era, step: usize) {
    let mut faults = Vec::new();
    let mut count = 0;
    for line in ROWS.lines().step_by(step) {
        let row: Value = serde_json::from_str(line).unwrap();
        faults.extend(check(era, &row).err().map(|fault| format!("{}: {fault}", row["name"])));
        count += 1;
    }
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
    assert!(count * step >= 176, "{count} rows");
}

fn check(era: Era, row: &Value) -> Result<(), String> {
    let home = lay_out(row);
    let before = home.files();
    let id = row["agent"]["id"].as_str().unwrap();
    let mut server = Mcp::start(era, home.root(), &["team", "--agent-id", id], &[]);
    let mut answer = server.handoff("call", &row["arguments"]);
    let result = answer["result"].take();
    let expect = &row["expect"];
    if era == Era::Stateless {
        same("resultType", &result["resultType"], &json!("complete"))?;
    }
    same("isError", &result["isError"], &json!(!expect["ok"].as_bool().unwrap()))?;
    if expect["ok"] == true {
        success(&home, expect, &result)?;
    } else {
        refusal(&home, row, &result)?;
        let write_failed = expect["code"] == "write_failed";
        let may_be_new = |name: &str| name == "tool_calls.jsonl" || write_failed && name.ends_with(".lock");
        if let Some(name) = home.files().difference(&before).find(|name| !may_be_new(name)) {
            return Err(format!("{name} was written"));
        }
    }
    server.end_input();
    let (status, errors, rest) = server.ended();
    same("the end", &json!([status.code(), rest.len()]), &json!([0, 0]))?;
    // What could not be written to a ledger is told; nothing else is.
    let ledger_is_broken = row["existing"]
        .as_array()
        .unwrap()
        .iter()
        .any(|entry| entry["path"].as_str().is_some_and(|path| path.ends_with(".jsonl")));
    same("words on standard error", &json!(!errors.is_empty()), &json!(ledger_is_broken))
}

fn lay_out(row: &Value) -> Home {
    let home = Home::new();
    let agent = &row["agent"];
    let folder = if agent["layout"] == "ephemeral" { "agents/.ephemeral" } else { "agents" };
    if let Some(record) = agent["agent_toml"].as_str() {
        home.write(&format!("{folder}/{}/agent.toml", agent["id"].as_str().unwrap()), record);
    }
    for existing in row["existing"].as_array().unwrap() {
        let path = existing["path"].as_str().unwrap();
        match existing["content"].as_str() {
            Some(content) => home.write(path, content),
            None => std::fs::create_dir_all(home.path(path)).unwrap(),
        }
    }
    home
}

fn same(what: &str, is: &Value, expected: &Value) -> Result<(), String> {
    if is == expected { Ok(()) } else { Err(format!("{what}: {is}, not {expected}")) }
}

fn success(home: &Home, expect: &Value, result: &Value) -> Result<(), String> {
    let answer = &result["structuredContent"];
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    same("the text", &text, answer)?;
    let path = answer["path"].as_str().ok_or("no path")?;
    same("path", &answer["path"], &expect["path"])?;
    let written = home.read(path);
    same("bytes", &answer["bytes"], &json!(written.len()))?;
    same("mode", &json!(home.mode(path)), &expect["mode"])?;
    if !expect["bytes"].is_null() {
        same("bytes", &answer["bytes"], &expect["bytes"])?;
    }
    if !expect["filed"].is_null() {
        same("the packet", &serde_json::from_str(&written).unwrap(), &expect["filed"])?;
    }
    newest_row(home, "artifacts.jsonl", &expect["artifact_row"])?;
    newest_row(home, "security_audit.jsonl", &expect["audit_event"])
}

/// The last row has at least these members; further ones are times and absolute paths.
fn newest_row(home: &Home, ledger: &str, expected: &Value) -> Result<(), String> {
    let Some(expected) = expected.as_object() else { return Ok(()) };
    // A row that cannot be written undoes nothing (D38).
    if home.path(ledger).is_dir() {
        return Ok(());
    }
    let row = home.rows(ledger).pop().ok_or(format!("{ledger} is empty"))?;
    let shown: Map<String, Value> = expected.keys().map(|key| (key.clone(), row[key].clone())).collect();
    same(ledger, &Value::Object(shown), &Value::Object(expected.clone()))
}

fn refusal(home: &Home, row: &Value, result: &Value) -> Result<(), String> {
    let expect = &row["expect"];
    let text = result["content"][0]["text"].as_str().ok_or("no text")?;
    let (code, message) = text.split_once(": ").ok_or("no code")?;
    same("code", &json!(code), &expect["code"])?;
    same("structured", &result["structuredContent"], &json!({"ok": false, "code": code, "message": message}))?;
    if !expect["message"].is_null() {
        same("message", &json!(message), &expect["message"])?;
    }
    let mentions = |word: &Value| message.contains(word.as_str().unwrap());
    if let Some(word) = expect["must_mention"].as_array().into_iter().flatten().find(|word| !mentions(word)) {
        return Err(format!("{word} is not in {message}"));
    }
    if expect["must_mention_any"].as_array().is_some_and(|words| !words.iter().any(mentions)) {
        return Err(format!("none of {} is in {message}", expect["must_mention_any"]));
    }
    let rows = home.rows("tool_calls.jsonl");
    let called = rows.last().ok_or("no row")?;
    let params = format!("denied ({code}): {}", message.chars().take(200).collect::<String>());
    let expected = json!({
        "agent_id": row["agent"]["id"], "tool_name": "team_handoff", "params": params, "success": false,
        "error_class": code,
    });
    newest_row(home, "tool_calls.jsonl", &expected)?;
    same("keys", &json!([called["timestamp"].is_string(), called["input"].is_string()]), &json!([true, true]))
}
