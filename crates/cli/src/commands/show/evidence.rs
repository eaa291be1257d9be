//! Which parts of a report were observed and which are only claimed (D28, D49, D50).

use serde_json::{Value, json};

/// How much a claim is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The session's client saw that run, and it fits the claim.
    Observed,
    /// It saw that run otherwise.
    Contradicted,
    /// Only the report says so.
    Claimed,
}

/// One run that the report names, or that was observed.
pub(crate) struct Item {
    pub(crate) proof: Proof,
    pub(crate) text: String,
    /// What the run said; a gate's verdict is in here.
    pub(crate) result: String,
}

/// The runs of a stored report: worker, gates, then what else was observed.
pub(crate) fn of(report: &Value) -> Vec<Item> {
    let observed = report["observed"]["runs"].as_array().cloned().unwrap_or_default();
    let mut used = Vec::new();
    let mut items = Vec::new();
    let worker = Some(("worker", &report["worker"])).filter(|(_, worker)| worker.is_object());
    let gates = report["gate_evidence"].as_array().into_iter().flatten();
    let gates = gates.map(|gate| (gate["gate"].as_str().unwrap_or("gate"), gate));
    for (what, claim) in worker.into_iter().chain(gates) {
        let seen = observed.iter().position(|run| is_same(run, claim));
        used.extend(seen);
        let proof = match seen.map(|at| &observed[at]) {
            None => Proof::Claimed,
            Some(run) if fits(run, claim) => Proof::Observed,
            Some(_) => Proof::Contradicted,
        };
        let text = format!("{what} {}, {}", described(claim), claim["status"].as_str().unwrap_or("?"));
        items.push(Item { proof, text, result: claim["result"].as_str().unwrap_or_default().to_owned() });
    }
    let others = observed.iter().enumerate().filter(|(at, _)| !used.contains(at));
    items.extend(others.map(|(_, run)| Item {
        proof: Proof::Observed,
        text: format!("another run {}, {}", described(run), run["state"].as_str().unwrap_or("?")),
        result: String::new(),
    }));
    items
}

/// The same for programs.
pub(crate) fn json(report: &Value) -> Value {
    let one = |item: Item| {
        let proof = match item.proof {
            Proof::Observed => "observed",
            Proof::Contradicted => "contradicted",
            Proof::Claimed => "claimed",
        };
        json!({"proof": proof, "what": item.text})
    };
    of(report).into_iter().map(one).collect()
}

/// A foreground run has no id of its own: it is told by its agent (D50).
fn is_same(run: &Value, claim: &Value) -> bool {
    let foreground = run["background"] == Value::Bool(false);
    run["run_id"] == claim["run_id"] || (foreground && run["agent"] == claim["agent"])
}

fn fits(run: &Value, claim: &Value) -> bool {
    let finished_well = run["state"] == "complete" || claim["status"] != "COMPLETE";
    let level = |model: &Value| model.as_str().map(|model| queue::Thinking::split_model(model).0.to_owned());
    let same_model = run["model"].is_null() || level(&run["model"]) == level(&claim["model"]);
    finished_well && same_model && run["agent"] == claim["agent"]
}

fn described(run: &Value) -> String {
    let text = |key: &str| run[key].as_str().unwrap_or("?").to_owned();
    format!("{} {} ({}, thinking {})", text("agent"), text("run_id"), text("model"), text("thinking"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(observed: &Value, expected: &[Proof]) {
        let report = json!({
            "worker": {"agent": "w", "run_id": "r-1", "status": "COMPLETE", "model": "p/m:high", "thinking": "high"},
            "gate_evidence": [{"gate": "review-after", "agent": "c", "run_id": "r-2", "status": "COMPLETE", "model": "p/m"}],
            "observed": observed,
        });
        let found: Vec<_> = of(&report).into_iter().map(|item| item.proof).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn proven_and_claimed_are_told_apart() {
        let run = |id: &str, agent: &str, state: &str, model: &str| json!({"run_id": id, "agent": agent, "background": true, "state": state, "model": model});
        check(&Value::Null, &[Proof::Claimed, Proof::Claimed]);
        check(&json!({"runs": [run("r-1", "w", "complete", "p/m")]}), &[Proof::Observed, Proof::Claimed]);
        check(&json!({"runs": [run("r-1", "w", "failed", "p/m")]}), &[Proof::Contradicted, Proof::Claimed]);
        check(&json!({"runs": [run("r-2", "c", "complete", "p/x")]}), &[Proof::Claimed, Proof::Contradicted]);
        check(
            &json!({"runs": [run("r-9", "x", "stopped", "p/m")]}),
            &[Proof::Claimed, Proof::Claimed, Proof::Observed],
        );
        let foreground = json!({"run_id": "tool:1", "agent": "c", "background": false, "state": "complete"});
        check(&json!({"runs": [foreground]}), &[Proof::Claimed, Proof::Observed]);
    }
}
