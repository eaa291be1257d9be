//! The rows of `report.jsonl` that need no real discovery of profiles: settings, users' profiles, builtins and other
//! folders are left to the end-to-end runner.

use queue::{AcceptanceRole, Agent, Document, Observed, ReportContext, Thinking, check_report};
use serde_json::Value;

use crate::fixture::{Tree, VALID, expected_problems, found_problems, placed, vectors};

#[test]
fn every_row_with_plain_profiles() {
    let rows = vectors("report.jsonl");
    let plain: Vec<_> = rows.iter().filter(|row| is_plain(row)).collect();
    assert!(plain.len() >= 95, "only {} of {} rows", plain.len(), rows.len());
    let failures: Vec<_> = plain.into_iter().filter_map(|row| check(row).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn is_plain(row: &Value) -> bool {
    let needs_discovery = |entry: &Value| {
        let path = entry["path"].as_str().unwrap();
        path == ".pi/settings.json"
            || path.starts_with(".agents/")
            || (path.starts_with(".pi/agents/") && entry["type"] == "symlink")
            || entry["content"].as_str().is_some_and(|content| content.contains("aliases:\r\n"))
    };
    let names_a_builtin = row["report"]["worker"]["agent"] == "delegate";
    row["user_tree"].as_array().unwrap().is_empty()
        && !row["tree"].as_array().unwrap().iter().any(needs_discovery)
        && !names_a_builtin
}

fn check(row: &Value) -> Result<(), String> {
    let tree = Tree::of(&row["tree"]);
    let queue = running(&row["queue"]);
    let observed = Observed::parse(&row["observed"].to_string()).unwrap();
    let agents = agents(&row["tree"]);
    let context = ReportContext {
        queue: &queue,
        expected: Some(queue.fingerprint()),
        paths: &tree,
        agents: &agents,
        observed: observed.as_ref(),
    };
    let found = match check_report(&placed(&row["report"].to_string()), &context) {
        Ok(accepted) => Ok(accepted.status.as_str().to_owned()),
        Err(problems) => Err(found_problems(&problems)),
    };
    let expect = &row["expect"];
    let expected = if expect["ok"] == true {
        Ok(expect["status"].as_str().unwrap().to_owned())
    } else {
        Err(expected_problems(expect))
    };
    if found == expected { Ok(()) } else { Err(format!("{}: {found:?}, expected {expected:?}", row["name"])) }
}

/// The valid task, RUNNING, with a row's changes.
fn running(changes: &Value) -> Document {
    let mut task: Value = serde_json::from_str(VALID).unwrap();
    task["status"] = "RUNNING".into();
    for (key, value) in changes.as_object().unwrap() {
        task[key] = value.clone();
    }
    Document::parse(placed(&task.to_string()).as_bytes()).unwrap()
}

/// The agents of the profiles directly in `.pi/agents`.
fn agents(tree: &Value) -> Vec<Agent> {
    let entries = tree.as_array().unwrap().iter();
    entries
        .filter_map(|entry| {
            let path = entry["path"].as_str()?;
            let file = path.strip_prefix(".pi/agents/")?;
            (!file.contains('/') && !file.ends_with(".chain.md")).then(|| agent(entry["content"].as_str()?)).flatten()
        })
        .collect()
}

fn agent(content: &str) -> Option<Agent> {
    let head = content.strip_prefix("---\n")?.split("\n---").next()?;
    let key = |key: &str| head.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    let role = match key("acceptanceRole") {
        None => None,
        Some("writer") => Some(AcceptanceRole::Writer),
        Some("read-only") => Some(AcceptanceRole::ReadOnly),
        Some(_) => return None,
    };
    let (model, level) = key("model").filter(|model| *model != "inherit").map(Thinking::split_model).unzip();
    Some(Agent {
        name: key("name")?.into(),
        package: key("package").map(Into::into),
        aliases: key("aliases").map(|all| all.split(", ").map(Into::into).collect()).unwrap_or_default(),
        role,
        model_pin: model.map(Into::into),
        thinking_pin: level.flatten().or_else(|| key("thinking").and_then(Thinking::from_word)),
    })
}
