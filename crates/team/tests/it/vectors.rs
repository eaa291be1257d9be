//! Every row of `tests/vectors/team_handoff.jsonl`: the answer, the file, its mode, and the rows in the ledgers.

use serde_json::{Map, Value};
use team::{Door, Filed, Refusal};

use crate::support::{World, now};

const ROWS: &str = include_str!("../../../../tests/vectors/team_handoff.jsonl");

#[test]
fn every_row_of_the_vectors() {
    let mut faults = Vec::new();
    let mut count = 0;
    for line in ROWS.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        if let Err(fault) = check(&row) {
            faults.push(format!("{}: {fault}", row["name"]));
        }
        count += 1;
    }
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n"));
    assert!(count >= 176, "{count} rows");
}

fn check(row: &Value) -> Result<(), String> {
    let world = lay_out(row);
    let before = world.tree("");
    let id = row["agent"]["id"].as_str().unwrap();
    let arguments = row["arguments"].as_object().cloned().unwrap_or_default();
    let outcome = Door::new(world.home(), id).handoff(&arguments, now());
    match (row["expect"]["ok"].as_bool().unwrap(), outcome) {
        (true, Ok(filed)) => success(&world, row, &filed),
        (false, Err(refusal)) => refusal_fits(&world, row, &refusal, &before),
        (_, outcome) => Err(format!("{outcome:?}")),
    }
}

fn lay_out(row: &Value) -> World {
    let world = World::new();
    let agent = &row["agent"];
    let folder = if agent["layout"] == "ephemeral" { "agents/.ephemeral" } else { "agents" };
    if let Some(record) = agent["agent_toml"].as_str() {
        world.write(&format!("{folder}/{}/agent.toml", agent["id"].as_str().unwrap()), record);
    }
    for existing in row["existing"].as_array().unwrap() {
        let path = existing["path"].as_str().unwrap();
        match existing["content"].as_str() {
            Some(content) => world.write(path, content),
            None => std::fs::create_dir_all(world.path(path)).unwrap(),
        }
    }
    world
}

fn same(what: &str, is: &Value, expected: &Value) -> Result<(), String> {
    if is == expected { Ok(()) } else { Err(format!("{what} is {is}, not {expected}")) }
}

fn success(world: &World, row: &Value, filed: &Filed) -> Result<(), String> {
    let expect = &row["expect"];
    let answer = filed.answer();
    same("ok", &answer["ok"], &true.into())?;
    same("path", &answer["path"], &expect["path"])?;
    let text = world.read(&filed.path);
    same("bytes", &answer["bytes"], &text.len().into())?;
    if !expect["bytes"].is_null() {
        same("bytes", &answer["bytes"], &expect["bytes"])?;
    }
    same("mode", &format!("{:04o}", world.mode(&filed.path)).into(), &expect["mode"])?;
    if !expect["filed"].is_null() {
        same("the packet", &serde_json::from_str(&text).unwrap(), &expect["filed"])?;
    }
    newest_row(world, "artifacts.jsonl", &expect["artifact_row"])?;
    newest_row(world, "security_audit.jsonl", &expect["audit_event"])?;
    let temporary = world.tree("team_packets").into_iter().find(|name| name.ends_with(".new"));
    temporary.map_or(Ok(()), |name| Err(format!("{name} was left")))
}

/// The last row has at least these members; further ones are times and absolute paths.
fn newest_row(world: &World, ledger: &str, expected: &Value) -> Result<(), String> {
    let Some(expected) = expected.as_object() else { return Ok(()) };
    if world.path(ledger).is_dir() {
        return Ok(());
    }
    let row = world.rows(ledger).pop().ok_or(format!("{ledger} is empty"))?;
    let shown: Map<String, Value> = expected.keys().map(|key| (key.clone(), row[key].clone())).collect();
    same(ledger, &Value::Object(shown), &Value::Object(expected.clone()))
}

fn refusal_fits(world: &World, row: &Value, refusal: &Refusal, before: &[String]) -> Result<(), String> {
    let expect = &row["expect"];
    same("code", &refusal.code.as_str().into(), &expect["code"])?;
    if !expect["message"].is_null() {
        same("message", &refusal.message.as_str().into(), &expect["message"])?;
    }
    let mentions = |word: &Value| refusal.message.contains(word.as_str().unwrap());
    if let Some(word) = expect["must_mention"].as_array().into_iter().flatten().find(|word| !mentions(word)) {
        return Err(format!("{word} is not in {}", refusal.message));
    }
    if expect["must_mention_any"].as_array().is_some_and(|words| !words.iter().any(mentions)) {
        return Err(format!("none of {} is in {}", expect["must_mention_any"], refusal.message));
    }
    let write_failed = expect["code"] == "write_failed";
    let may_be_new =
        |name: &String| name == "tool_calls.jsonl" || write_failed && (name.ends_with('/') || name.ends_with(".lock"));
    if let Some(name) = world.tree("").iter().find(|name| !before.contains(name) && !may_be_new(name)) {
        return Err(format!("{name} was written"));
    }
    let [called] = world.rows("tool_calls.jsonl").try_into().map_err(|rows| format!("rows: {rows:?}"))?;
    let params = format!("denied ({}): {}", refusal.code, refusal.message.chars().take(200).collect::<String>());
    same("params", &called["params"], &params.into())?;
    same("error_class", &called["error_class"], &expect["code"])?;
    same("tool_name", &called["tool_name"], &"team_handoff".into())?;
    same("success", &called["success"], &false.into())?;
    same("agent_id", &called["agent_id"], &row["agent"]["id"])
}
