//! A task and its end in words: the verdict first, since it is what COMPLETE does not tell, and proven apart from claimed.

use serde_json::Value;

use super::answer::Told;
use crate::commands::show::evidence::{self, Proof};
use crate::commands::show::gather::Found;

/// How a task ended, in short.
pub(super) fn ended(found: &Found) -> Told {
    let mut told = told(found);
    head(&mut told, found);
    told.line("handoff_show has its instruction and all texts in full.");
    told
}

/// All that is known of a task.
pub(super) fn in_full(found: &Found) -> Told {
    let mut told = told(found);
    head(&mut told, found);
    told.line("").line("The task:");
    for (name, value) in found.planner() {
        field(&mut told, &name, &value);
    }
    for (name, value) in &found.facts {
        field(&mut told, name, value);
    }
    if found.packets.as_ref().is_ok_and(|packets| !packets.legs.is_empty()) {
        told.line(format!("It has packets between roles: `handoff packet list {}` lists them.", found.task_id));
    }
    told
}

fn told(found: &Found) -> Told {
    let mut told = Told::default();
    if let Value::Object(members) = found.json() {
        // The words have all of it; what is long stands there alone. A program that wants more has `handoff show --json`.
        for (name, value) in members.into_iter().filter(|(name, _)| !IN_WORDS_ONLY.contains(&name.as_str())) {
            told.member(&name, value);
        }
    }
    told
}

/// What can be long, and is for reading.
const IN_WORDS_ONLY: [&str; 3] = ["report", "planner", "packets"];

fn head(told: &mut Told, found: &Found) {
    let id = &found.task_id;
    match found.status.as_str() {
        "COMPLETE" => told.line(format!("{id} ended COMPLETE.")),
        "ERROR" => told.line(format!("{id} ended ERROR.")),
        other => told.line(format!("{id} is {other}; it has not ended.")),
    };
    gate(told, found);
    for (name, value) in found.outcome().filter(|(name, _)| name != "verdict") {
        field(told, &name, &value);
    }
    let items = evidence::of(&found.report);
    if !items.is_empty() {
        told.line("evidence (proven: observed in the worker's session; claimed: only the report says so):");
    }
    for item in items {
        let word = match item.proof {
            Proof::Observed => "proven",
            Proof::Contradicted => "differs from what was observed",
            Proof::Claimed => "claimed",
        };
        told.line(format!("- {word}: {}", item.text));
        for line in item.result.lines() {
            told.line(format!("    {line}"));
        }
    }
    if found.status == "ERROR" {
        told.line(format!(
            "To go on: mend what the error names, then handoff_submit a new task with parent_task_id {id}; `handoff retry` \
             repeats this one unchanged."
        ));
    }
}

/// What COMPLETE does not say.
fn gate(told: &mut Told, found: &Found) {
    let Some(entry) = found.report["gate_evidence"].get(0) else { return };
    let text = |key: &str| entry[key].as_str().unwrap_or("?").to_owned();
    let verdict = found.verdict().unwrap_or("(nothing)");
    told.line(format!("The gate {} took place, by {}. Its verdict: {verdict}", text("gate"), text("agent")));
    told.line("COMPLETE means that this review took place, not that it approved: the verdict says which.");
}

fn field(told: &mut Told, name: &str, value: &str) {
    if value.contains('\n') {
        told.line(format!("{name}:"));
        for line in value.lines() {
            told.line(format!("  {line}"));
        }
    } else {
        told.line(format!("{name}: {value}"));
    }
}
