//! Reports as a model would write them; valid for the default task unless a test makes them otherwise.

use serde_json::{Value, json};

/// A COMPLETE report by the agent `builder`.
#[must_use]
pub fn complete() -> Value {
    json!({
        "status": "COMPLETE",
        "worker": {"agent": "builder", "run_id": "r-1", "status": "COMPLETE", "result": "done", "model": "mock/mock-main", "thinking": "medium"},
        "gate_evidence": [],
        "async_status": {"checked": true, "pending_run_ids": [], "failed_run_ids": []},
        "files_changed": ["notes.txt"],
        "tests_run": ["cargo test"],
        "result": "Appended the line.",
        "error": null
    })
}

/// A COMPLETE report with a review by the agent `checker`.
#[must_use]
pub fn reviewed(verdict: &str) -> Value {
    let mut report = complete();
    report["gate_evidence"] = json!([{
        "gate": "review-after", "agent": "checker", "run_id": "r-2", "status": "COMPLETE", "result": verdict,
        "independent": true, "model": "mock/mock-main", "thinking": "high"
    }]);
    report
}

/// An ERROR report without a worker.
#[must_use]
pub fn error(reason: &str) -> Value {
    json!({
        "status": "ERROR", "worker": null, "gate_evidence": [],
        "async_status": {"checked": true, "pending_run_ids": [], "failed_run_ids": []},
        "files_changed": [], "tests_run": [], "result": null, "error": reason
    })
}

/// A background run as the client observed it (D49).
#[must_use]
pub fn run(id: &str, state: &str) -> Value {
    json!({"run_id": id, "agent": "builder", "background": true, "state": state})
}
