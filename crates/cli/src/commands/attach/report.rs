//! Reports as JSON texts: out of a program's output, its failure, or a person's answers.

use serde_json::{Value, json};
use wire::error::Problem;

/// Characters of standard error that are reported.
const TAIL_CHARS: usize = 2_000;

/// Standard output, if it is one JSON object.
pub(super) fn from_output(output: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(output).ok()?.trim();
    let is_object = text.starts_with('{') && serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok();
    is_object.then(|| text.to_owned())
}

/// An ERROR report: what happened, and the last 2,000 characters of standard error.
pub(super) fn of_failure(what: &str, errors: &[u8]) -> String {
    let errors = String::from_utf8_lossy(errors);
    let errors = errors.trim();
    let start = errors.char_indices().rev().nth(TAIL_CHARS - 1).map_or(0, |(at, _)| at);
    let error = if errors.is_empty() { what.to_owned() } else { format!("{what}: {}", &errors[start..]) };
    of_error(&error)
}

/// An ERROR report in place of one that was refused.
pub(super) fn of_refusal(message: &str, problems: &[Problem]) -> String {
    let problems: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    of_error(&format!("the command's report was refused: {message}: {}", problems.join("; ")))
}

/// An ERROR report.
pub(super) fn of_error(error: &str) -> String {
    json!({"status": "ERROR", "worker": null, "error": error}).to_string()
}

/// The run of an agent, as a person tells it.
#[derive(Debug, Default, Clone)]
pub(super) struct Told {
    pub(super) agent: String,
    pub(super) model: String,
    pub(super) thinking: String,
    pub(super) result: String,
}

/// A COMPLETE report of a person: nothing ran in the background.
pub(super) fn of_person(worker: &Told, gate: Option<(&str, &Told)>, files: &[String], tests: &[String]) -> String {
    let gates: Vec<Value> = gate
        .map(|(name, told)| {
            let mut entry = run(told);
            entry["gate"] = name.into();
            entry["independent"] = true.into();
            entry
        })
        .into_iter()
        .collect();
    json!({
        "status": "COMPLETE",
        "worker": run(worker),
        "gate_evidence": gates,
        "async_status": {"checked": true, "pending_run_ids": [], "failed_run_ids": []},
        "files_changed": files,
        "tests_run": tests,
        "result": worker.result,
        "error": null,
    })
    .to_string()
}

fn run(told: &Told) -> Value {
    let run_id = format!("attach-{:016x}", fastrand::u64(..));
    json!({
        "agent": told.agent, "run_id": run_id, "status": "COMPLETE", "result": told.result, "model": told.model,
        "thinking": told.thinking,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_is_a_report() {
        assert_eq!(from_output(b" {\"a\": 1e400}\n").as_deref(), Some("{\"a\": 1e400}"));
        for output in [&b""[..], b"[]", b"null", b"{} {}", b"{", b"done\n{}", b"{\"a\":\"\xff\"}"] {
            assert_eq!(from_output(output), None, "{output:?}");
        }
    }

    #[test]
    fn the_end_of_standard_error_is_told() {
        let errors = format!("{}é{}\n", "x".repeat(10), "y".repeat(1_999));
        let report: Value = serde_json::from_str(&of_failure("it failed", errors.as_bytes())).unwrap();
        assert_eq!(report["error"], format!("it failed: é{}", "y".repeat(1_999)));
        assert_eq!((&report["status"], &report["worker"]), (&"ERROR".into(), &Value::Null));
        let report: Value = serde_json::from_str(&of_failure("it failed", b" \n")).unwrap();
        assert_eq!(report["error"], "it failed");
    }
}
