//! The rows of `report.jsonl` that need no real discovery of profiles: settings, users' profiles, builtins and other
//! folders are left to the end-to-end runner.

use std::collections::HashSet;

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

/// The agents of pi-subagents itself, by name and alias; here none is known.
const BUILTINS: [&str; 18] = [
    "worker",
    "developer",
    "coder",
    "implementer",
    "develop",
    "delegate",
    "scout",
    "reviewer",
    "oracle",
    "advisor",
    "researcher",
    "evidence-auditor",
    "claude-code",
    "claude-code-writer",
    "codex-exec",
    "codex-exec-writer",
    "cursor-agent",
    "cursor-agent-writer",
];

/// Whether the row has no agent but those of profiles in `.pi/agents` that [`agent`] reads as pi-subagents does.
fn is_plain(row: &Value) -> bool {
    let entries = row["tree"].as_array().unwrap();
    let gates = row["report"]["gate_evidence"].as_array().into_iter().flatten();
    let mut named = gates.chain([&row["report"]["worker"]]).filter_map(|entry| entry["agent"].as_str());
    row["user_tree"].as_array().unwrap().is_empty()
        && !named.any(|name| BUILTINS.contains(&name))
        && entries.iter().all(|entry| {
            let path = entry["path"].as_str().unwrap();
            !(path.starts_with(".pi/") || path.starts_with(".agents/")) || is_plain_profile(path, &entry["content"])
        })
        && names(entries).collect::<HashSet<_>>().len() == names(entries).count()
}

fn names(entries: &[Value]) -> impl Iterator<Item = &str> {
    entries.iter().filter_map(|entry| entry["content"].as_str()?.lines().find(|line| line.starts_with("name: ")))
}

/// A short file right in the folder; name and description, `key: value` lines, nothing quoted.
fn is_plain_profile(path: &str, content: &Value) -> bool {
    let content = content.as_str().unwrap_or_default();
    let Some((head, _)) = content.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) else {
        return false;
    };
    let is_plain_line = |line: &str| {
        let key = line.split_once(": ").map_or("", |(key, _)| key);
        ["name", "description", "acceptanceRole", "package", "aliases", "model", "thinking"].contains(&key)
            && line.chars().all(|c| c.is_ascii_alphanumeric() || " ,./:-".contains(c))
            // What pi-subagents would tidy up.
            && line.trim() == line
            && (key != "package" || line["package: ".len()..].bytes().all(|c| c.is_ascii_lowercase()))
    };
    path.strip_prefix(".pi/agents/").is_some_and(|file| !file.contains('/') && file.ends_with(".md"))
        && !path.ends_with(".chain.md")
        && content.len() < 64 * 1024
        && head.lines().all(is_plain_line)
        && ["name: ", "description: "].iter().all(|key| head.lines().any(|line| line.starts_with(key)))
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

/// The agents of the profiles in `.pi/agents`.
fn agents(tree: &Value) -> Vec<Agent> {
    let entries = tree.as_array().unwrap().iter();
    let profiles = entries.filter(|entry| entry["path"].as_str().is_some_and(|path| path.starts_with(".pi/agents/")));
    profiles.filter_map(|entry| agent(entry["content"].as_str()?)).collect()
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
