//! The shared report vectors, as far as they tell something about the agents that a report names (D27, D55, D56).

use std::fs;

use queue::{AcceptanceRole, Agent, Thinking};
use serde_json::Value;

use crate::tree::Tree;

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/report.jsonl");

#[test]
fn every_report_vector_names_agents_as_expected() {
    let vectors = fs::read_to_string(VECTORS).unwrap();
    let mut checked = 0;
    for row in vectors.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        checked += usize::from(check(&row));
    }
    assert!(checked >= 60, "only {checked} rows told something about an agent");
}

/// Whether the row tells something about an agent.
fn check(row: &Value) -> bool {
    let report = &row["report"];
    let agents = grow(row).load().agents;
    if report["status"] != "COMPLETE" {
        return false;
    }
    let worker = &report["worker"];
    let role = match row["queue"]["task_type"].as_str() {
        Some("REVIEW" | "CONSULT") => AcceptanceRole::ReadOnly,
        _ => AcceptanceRole::Writer,
    };
    let gates = report["gate_evidence"].as_array().into_iter().flatten();
    let gate_checks = gates.enumerate().map(|(index, gate)| {
        check_agent(row, &agents, &gate["agent"], AcceptanceRole::ReadOnly, &format!("gate_evidence[{index}].agent"))
    });
    let gates_told = gate_checks.fold(false, |told, check| told | check);
    check_pins(row, &agents, worker) | check_agent(row, &agents, &worker["agent"], role, "worker.agent") | gates_told
}

fn check_agent(row: &Value, agents: &[Agent], text: &Value, role: AcceptanceRole, field: &str) -> bool {
    let Some(text) = text.as_str().filter(|text| !text.trim().is_empty()) else { return false };
    let named = named(agents, text);
    assert_eq!(named.is_none(), has(row, field, "unknown_agent"), "{}: {text}", row["name"]);
    let mismatch = named.is_some_and(|agent| agent.role != Some(role));
    assert_eq!(mismatch, has(row, field, "agent_role_mismatch"), "{}: {text}", row["name"]);
    true
}

fn check_pins(row: &Value, agents: &[Agent], worker: &Value) -> bool {
    let (Some(text), Some(model), Some(level)) =
        (worker["agent"].as_str(), worker["model"].as_str(), worker["thinking"].as_str().and_then(Thinking::from_word))
    else {
        return false;
    };
    let Some(agent) = named(agents, text) else { return false };
    let other_model = agent.model_pin.as_deref().is_some_and(|pin| pin != Thinking::split_model(model).0);
    assert_eq!(other_model, has(row, "worker.model", "model_mismatch"), "{}: {agent:?}", row["name"]);
    let other_level = agent.thinking_pin.is_some_and(|pin| pin != level);
    assert_eq!(other_level, has(row, "worker.thinking", "thinking_mismatch"), "{}: {agent:?}", row["name"]);
    true
}

fn has(row: &Value, field: &str, code: &str) -> bool {
    let problems = row["expect"]["problems"].as_array().into_iter().flatten();
    problems.into_iter().any(|problem| problem["field"] == field && problem["code"] == code)
}

/// The rule of the report check, in short: full and local names before aliases, and never two agents (D39, D56).
fn named<'a>(agents: &'a [Agent], text: &str) -> Option<&'a Agent> {
    let by_name: Vec<_> = agents.iter().filter(|agent| agent.name == text || agent.full_name() == text).collect();
    let by_alias = agents.iter().filter(|agent| agent.aliases.iter().any(|alias| alias == text)).collect();
    match (if by_name.is_empty() { by_alias } else { by_name })[..] {
        [agent] => Some(agent),
        _ => None,
    }
}

fn grow(row: &Value) -> Tree {
    let mut tree = Tree::new();
    for (base, key) in [("project", "tree"), ("home/.pi/agent", "user_tree")] {
        for item in row[key].as_array().into_iter().flatten() {
            let path = format!("{base}/{}", item["path"].as_str().unwrap());
            tree = match item["type"].as_str() {
                Some("file") => tree.file(&path, item["content"].as_str().unwrap()),
                Some("dir") => tree.dir(&path),
                Some("symlink") => tree.link(&path, item["target"].as_str().unwrap()),
                other => panic!("{}: {other:?}", row["name"]),
            };
        }
    }
    tree
}
