//! Fine points of the report check that no row of the vectors shows (D26–D29, D49–D59).

use queue::{AcceptanceRole, Agent, Fingerprint, Observed, Problem, ReportContext, check_report};
use serde_json::{Value, json};

use crate::fixture::{Tree, document, found_problems, task};

/// A writer `builder`, the readers `checker` and `acme.second`, and `norole`.
pub(crate) fn agents() -> Vec<Agent> {
    let agent = |name: &str, package: Option<&str>, role| Agent {
        name: name.into(),
        package: package.map(Into::into),
        aliases: vec![format!("{name}-alias")],
        role,
        model_pin: None,
        thinking_pin: None,
    };
    vec![
        agent("builder", None, Some(AcceptanceRole::Writer)),
        agent("checker", None, Some(AcceptanceRole::ReadOnly)),
        agent("second", Some("acme"), Some(AcceptanceRole::ReadOnly)),
        agent("norole", None, None),
    ]
}

pub(crate) fn complete_report() -> Value {
    json!({
        "status": "COMPLETE",
        "worker": {
            "agent": "builder", "run_id": "r-1", "status": "COMPLETE", "result": "done", "model": "mock/mock-main",
            "thinking": "medium",
        },
        "gate_evidence": [],
        "async_status": {"checked": true, "pending_run_ids": [], "failed_run_ids": []},
        "files_changed": ["src/main.rs"],
        "tests_run": ["cargo test"],
        "result": "Added the flag.",
        "error": null,
    })
}

fn gate() -> Value {
    json!({
        "gate": "review-after", "agent": "checker", "run_id": "r-2", "status": "COMPLETE", "result": "fine",
        "independent": true, "model": "m", "thinking": "off",
    })
}

struct Case {
    queue: Value,
    tree: Tree,
    report: Value,
    observed: Value,
    expected: Option<Fingerprint>,
}

impl Case {
    fn new(change: impl FnOnce(&mut Value)) -> Self {
        let mut report = complete_report();
        change(&mut report);
        Self { queue: json!({}), tree: Tree::with_src(), report, observed: Value::Null, expected: None }
    }

    fn gated(change: impl FnOnce(&mut Value)) -> Self {
        let queue = json!({"gate": "review-after", "gate_reason": "auth"});
        let with_gate = |report: &mut Value| {
            report["gate_evidence"] = json!([gate()]);
            change(report);
        };
        Self { queue, ..Self::new(with_gate) }
    }

    fn observed(self, observed: Value) -> Self {
        Self { observed, ..self }
    }

    fn queue(self, queue: Value) -> Self {
        Self { queue, ..self }
    }

    /// Empty: accepted. Else `field code` of each problem, in order.
    #[track_caller]
    fn check(self, expected: &[&str]) {
        let problems = self.problems();
        let found: Vec<_> = found_problems(&problems)
            .into_iter()
            .map(|(field, code)| format!("{} {code}", field.as_deref().unwrap_or("-")))
            .collect();
        assert_eq!(found, expected, "{problems:#?}");
    }

    fn problems(self) -> Vec<Problem> {
        let mut queue = task(&self.queue);
        if self.queue["status"].is_null() {
            queue["status"] = "RUNNING".into();
        }
        let queue = document(&queue);
        let observed = Observed::parse(&self.observed.to_string()).unwrap();
        let agents = agents();
        let context = ReportContext {
            queue: &queue,
            expected: self.expected,
            paths: &self.tree,
            agents: &agents,
            observed: observed.as_ref(),
        };
        check_report(&self.report.to_string(), &context).err().unwrap_or_default()
    }
}

fn remove(value: &mut Value, key: &str) {
    value.as_object_mut().unwrap().remove(key).unwrap();
}

#[test]
fn the_text_must_be_an_object() {
    for (text, code) in [("", "invalid_json"), ("[]", "not_an_object"), ("{\"status\":\"\\ud800\"}", "invalid_json")] {
        let queue = document(&task(&json!({"status": "RUNNING"})));
        let context =
            ReportContext { queue: &queue, expected: None, paths: &Tree::with_src(), agents: &[], observed: None };
        let problems = check_report(text, &context).unwrap_err();
        assert_eq!(found_problems(&problems), [(None, code.to_owned())], "{text}");
    }
}

#[test]
fn a_queue_without_the_task_is_told_alone() {
    for status in ["IDLE", "PENDING", "COMPLETE", "ERROR"] {
        Case::new(|report| report["worker"] = Value::Null)
            .queue(json!({"status": status}))
            .check(&["status queue_changed"]);
    }
    let other = document(&task(&json!({"task_id": "T-2"}))).fingerprint();
    Case { expected: Some(other), ..Case::new(|_| {}) }.check(&["status queue_changed"]);
    let same = document(&task(&json!({"x_note": 1}))).fingerprint();
    Case { expected: Some(same), ..Case::new(|_| {}) }.check(&[]);
    Case::new(|_| {}).queue(json!({"scope": []})).check(&["status queue_changed"]);
}

#[test]
fn unknown_members_and_numbers_of_any_size_are_ignored() {
    Case::new(|report| report["x"] = json!({"y": [1]})).check(&[]);
    let queue = document(&task(&json!({"status": "RUNNING"})));
    let agents = agents();
    let context =
        ReportContext { queue: &queue, expected: None, paths: &Tree::with_src(), agents: &agents, observed: None };
    let report = complete_report().to_string().replacen('{', "{\"x\":1e400,", 1);
    assert!(check_report(&report, &context).is_ok());
}

#[test]
fn the_worker_is_absent_null_or_whole() {
    Case::new(|report| remove(report, "worker")).check(&["worker missing_field"]);
    Case::new(|report| report["worker"] = Value::Null).check(&["worker worker_required"]);
    Case::new(|report| report["worker"] = json!({})).check(&[
        "worker.agent missing_field",
        "worker.run_id missing_field",
        "worker.status missing_field",
        "worker.result missing_field",
        "worker.model missing_field",
        "worker.thinking missing_field",
    ]);
    Case::new(|report| report["worker"]["status"] = "complete".into()).check(&["worker.status unknown_value"]);
    Case::new(|report| report["worker"]["model"] = "m".repeat(200).into()).check(&[]);
    Case::new(|report| report["worker"]["model"] = "a\u{2028}b".into()).check(&["worker.model invalid_model"]);
    Case::new(|report| report["worker"]["agent"] = "builder-alias".into()).check(&[]);
    Case::new(|report| report["worker"]["agent"] = "checker".into()).check(&["worker.agent agent_role_mismatch"]);
}

#[test]
fn a_gate_entry_needs_every_member() {
    Case::gated(|_| {}).check(&[]);
    Case::gated(|report| report["gate_evidence"] = json!([{}])).check(&[
        "gate_evidence[0].gate missing_field",
        "gate_evidence[0].agent missing_field",
        "gate_evidence[0].run_id missing_field",
        "gate_evidence[0].status missing_field",
        "gate_evidence[0].result missing_field",
        "gate_evidence[0].independent gate_not_independent",
        "gate_evidence[0].model missing_field",
        "gate_evidence[0].thinking missing_field",
    ]);
    Case::gated(|report| report["gate_evidence"] = Value::Null).check(&["gate_evidence gate_missing"]);
    Case::gated(|report| report["gate_evidence"] = json!([])).check(&["gate_evidence gate_missing"]);
    Case::gated(|report| report["gate_evidence"] = json!([3])).check(&["gate_evidence[0] wrong_type"]);
    Case::gated(|report| report["gate_evidence"][0]["gate"] = Value::Null).check(&["gate_evidence[0].gate wrong_type"]);
    Case::gated(|report| report["gate_evidence"][0]["independent"] = Value::Null)
        .check(&["gate_evidence[0].independent gate_not_independent"]);
    Case::new(|report| report["gate_evidence"] = json!([gate()])).check(&["gate_evidence gate_unexpected"]);
}

#[test]
fn worker_and_gate_are_told_apart_by_profile() {
    Case::gated(|report| report["gate_evidence"][0]["agent"] = "builder-alias".into())
        .check(&["gate_evidence[0].agent gate_agent_is_worker", "gate_evidence[0].agent agent_role_mismatch"]);
    Case::gated(|report| report["gate_evidence"][0]["agent"] = "acme.second".into()).check(&[]);
    Case::gated(|report| report["gate_evidence"][0]["agent"] = "norole".into())
        .check(&["gate_evidence[0].agent agent_role_mismatch"]);
    Case::gated(|report| {
        report["gate_evidence"] = json!([gate(), gate()]);
        report["gate_evidence"][1]["run_id"] = "r-1".into();
    })
    .check(&["gate_evidence too_many_items", "gate_evidence[1].run_id gate_run_id_reused"]);
}

#[test]
fn async_status_and_observed_runs_count_alike() {
    let live = json!([{"run_id": "r-8", "agent": "x", "state": "queued"}, {"run_id": "r-9", "agent": "x", "state": "partial"}]);
    let both = ["async_status.pending_run_ids runs_pending", "async_status.failed_run_ids runs_failed"];
    Case::new(|_| {}).observed(live.clone()).check(&both);
    Case::new(|report| report["async_status"]["failed_run_ids"] = json!(["r-9"])).observed(live.clone()).check(&both);
    Case::new(|report| remove(report, "async_status")).observed(live).check(&[
        "async_status missing_field",
        both[0],
        both[1],
    ]);
    Case::new(|report| report["async_status"] = Value::Null).check(&["async_status wrong_type"]);
    Case::new(|report| report["async_status"] = json!({})).check(&[
        "async_status.checked async_not_checked",
        "async_status.pending_run_ids missing_field",
        "async_status.failed_run_ids missing_field",
    ]);
    Case::new(|report| report["async_status"]["pending_run_ids"] = json!([7]))
        .check(&["async_status.pending_run_ids[0] wrong_type"]);
}

#[test]
fn claims_are_compared_with_the_run_of_that_id() {
    let seen = |extra: Value| {
        let mut run = json!({"run_id": "r-1", "agent": "builder", "state": "complete"});
        run.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!([run])
    };
    Case::new(|_| {}).observed(seen(json!({"agent": "builder-alias", "model": "mock/mock-main:high"}))).check(&[]);
    Case::new(|_| {}).observed(seen(json!({"agent": "checker", "model": "other", "thinking": "high"}))).check(&[
        "worker.agent contradicts_observed",
        "worker.model contradicts_observed",
        "worker.thinking contradicts_observed",
    ]);
    Case::new(|report| report["worker"]["model"] = "mock/mock-main:low".into())
        .observed(seen(json!({"model": "mock/mock-main:free"})))
        .check(&["worker.model contradicts_observed"]);
    Case::gated(|_| {})
        .observed(json!([{"run_id": "r-2", "agent": "acme.second", "state": "complete"}]))
        .check(&["gate_evidence[0].agent contradicts_observed"]);
    Case::gated(|report| report["gate_evidence"][0]["agent"] = "second".into())
        .observed(json!([{"run_id": "r-2", "agent": "acme.second", "state": "stopped"}]))
        .check(&[]);
}

#[test]
fn foreground_runs_are_compared_by_agent() {
    let foreground = |agent: &str, model: &str| json!({"run_id": format!("tool:{agent}"), "agent": agent, "background": false, "state": "complete", "model": model});
    let all = |runs: Vec<Value>| json!({"all": true, "runs": runs});
    Case::new(|_| {}).observed(all(vec![foreground("builder", "mock/mock-main")])).check(&[]);
    Case::new(|_| {}).observed(json!([foreground("builder", "other")])).check(&["worker.model contradicts_observed"]);
    Case::new(|_| {})
        .observed(json!([foreground("builder", "other"), foreground("builder", "mock/mock-main")]))
        .check(&[]);
    Case::new(|_| {}).observed(json!([foreground("checker", "other")])).check(&[]);
    Case::new(|_| {}).observed(all(vec![foreground("checker", "other")])).check(&["worker.agent contradicts_observed"]);
    Case::new(|_| {}).observed(all(vec![])).check(&["worker.run_id contradicts_observed"]);
}

#[test]
fn changed_files_are_covered_as_written_and_as_resolved() {
    #[track_caller]
    fn check(scope: &[&str], file: &str, expected: &[&str]) {
        let tree = Tree::of(&json!([
            {"path": "src/main.rs", "type": "file"},
            {"path": "crates/a", "type": "dir"},
            {"path": "docs", "type": "dir"},
            {"path": "in", "type": "symlink", "target": "crates/a"},
            {"path": "src/docs", "type": "symlink", "target": "../docs"},
            {"path": "loop", "type": "symlink", "target": "loop"},
        ]));
        let case = Case::new(|report| report["files_changed"] = json!([file])).queue(json!({"scope": scope}));
        Case { tree, ..case }.check(expected);
    }
    let outside_scope = ["files_changed[0] file_outside_scope"];
    check(&["in"], "in/x.rs", &[]);
    check(&["in"], "crates/a/x.rs", &outside_scope);
    check(&["src"], "src/docs/a.md", &outside_scope);
    check(&["src", "docs"], "src/docs/a.md", &[]);
    check(&["src/"], "./src//new/../main.rs", &[]);
    check(&["src/main.rs"], "src/main.rs", &[]);
    check(&["src/main.rs"], "src/main.rs2", &outside_scope);
    check(&["."], "src/*.rs", &[]);
    check(&["."], "loop/x", &["files_changed[0] path_outside_project"]);
    check(&["."], "../project/src/main.rs", &["files_changed[0] path_outside_project"]);
    check(&["src"], "src/docs/../x", &outside_scope);
}

#[test]
fn f212_f214_a_file_that_only_looks_covered_is_told_why_it_is_not() {
    #[track_caller]
    fn check(scope: &str, file: &str, end: &str) {
        let case = Case::new(|report| report["files_changed"] = json!([file])).queue(json!({"scope": [scope]}));
        let message: String = case.problems().into_iter().map(|problem| problem.message).collect();
        assert!(message.starts_with("`files_changed[0]` is ") && message.ends_with(end), "{message}");
    }
    check("src/mod.py", "SRC/mod.py", "covers; `scope[0]` differs from it in letter case only");
    check("caf\u{c9}", "caf\u{e9}/x.rs", "covers; `scope[0]` differs from it in letter case only");
    let spelled = r"covers; `scope[0]` looks like it, but is spelled `caf\u{e9}`, and this `cafe\u{301}/x.rs`";
    check("caf\u{e9}", "cafe\u{301}/x.rs", spelled);
    check("cafe\u{301}", "caf\u{e9}", r"spelled `cafe\u{301}`, and this `caf\u{e9}`");
    check("caf\u{e9}", "caf\u{e8}", "which no entry of `scope` covers");
    check("\u{444}\u{430}", "\u{439}\u{43b}", "which no entry of `scope` covers");
    check("src", "lib/x.rs", "which no entry of `scope` covers");
}

#[test]
fn lists_and_texts_of_a_complete_report() {
    Case::new(|report| report["files_changed"] = Value::Null).check(&["files_changed wrong_type"]);
    Case::new(|report| report["tests_run"] = Value::Null).check(&["tests_run wrong_type"]);
    Case::new(|report| report["result"] = Value::Null).check(&["result wrong_type"]);
    Case::new(|report| report["error"] = "".into()).check(&[]);
    Case::new(|report| report["status"] = Value::Null).check(&["status wrong_type"]);
    Case::new(|report| report["status"] = "complete".into()).check(&["status unknown_value"]);
}

#[test]
fn an_error_report_is_checked_for_its_form_only() {
    let error = |change: fn(&mut Value)| {
        Case::new(|report| {
            *report = json!({"status": "ERROR", "error": "stuck"});
            change(report);
        })
    };
    error(|_| {}).check(&[]);
    error(|report| report["worker"] = json!({"agent": "ghost", "status": "odd", "result": null, "model": null}))
        .check(&[]);
    error(|report| report["files_changed"] = json!(["/etc/hosts", "../x"])).check(&[]);
    error(|report| report["gate_evidence"] = json!([gate(), gate()])).check(&[]);
    error(|report| report["error"] = " ".into()).check(&["error error_required"]);
    error(|report| report["error"] = 7.into()).check(&["error wrong_type"]);
    error(|report| {
        *report = json!({
            "status": "ERROR", "worker": {"agent": 1}, "gate_evidence": [{"model": 1, "independent": "yes", "gate": 1}, 2],
            "async_status": {"checked": 1, "pending_run_ids": "r"}, "files_changed": [null], "tests_run": {}, "result": [],
        });
    })
    .check(&[
        "worker.agent wrong_type",
        "gate_evidence[0].gate wrong_type",
        "gate_evidence[0].independent wrong_type",
        "gate_evidence[0].model wrong_type",
        "gate_evidence[1] wrong_type",
        "async_status.checked wrong_type",
        "async_status.pending_run_ids wrong_type",
        "files_changed[0] wrong_type",
        "tests_run wrong_type",
        "result wrong_type",
        "error error_required",
    ]);
}

#[test]
fn pins_bind_the_worker_only() {
    let mut agents = agents();
    agents[0].model_pin = Some("gw/m".into());
    agents[0].thinking_pin = queue::Thinking::from_word("high");
    agents[1].model_pin = Some("gw/m".into());
    let queue = document(&task(&json!({"status": "RUNNING", "gate": "review-after", "gate_reason": "auth"})));
    let mut report = complete_report();
    report["gate_evidence"] = json!([gate()]);
    let context =
        ReportContext { queue: &queue, expected: None, paths: &Tree::with_src(), agents: &agents, observed: None };
    let problems = check_report(&report.to_string(), &context).unwrap_err();
    let found: Vec<_> = problems.iter().map(|problem| problem.code.as_str()).collect();
    assert_eq!(found, ["model_mismatch", "thinking_mismatch"]);
    report["worker"]["model"] = "gw/m:max".into();
    report["worker"]["thinking"] = "high".into();
    let accepted = check_report(&report.to_string(), &context).unwrap();
    assert_eq!(accepted.verdict(), Some("fine"));
}

#[test]
fn a_hostile_report_makes_no_endless_answer() {
    let queue = document(&task(&json!({"status": "RUNNING", "gate": "review-after", "gate_reason": "auth"})));
    let context =
        ReportContext { queue: &queue, expected: None, paths: &Tree::with_src(), agents: &[], observed: None };
    for key in ["files_changed", "tests_run", "gate_evidence"] {
        let mut report = complete_report();
        report[key] = vec![0; 60_000].into();
        let problems = check_report(&report.to_string(), &context).unwrap_err();
        assert!(problems.len() < 300, "{key}: {}", problems.len());
    }
    assert!(Observed::parse(&json!(vec![0; 60_000]).to_string()).unwrap_err().len() < 300);
}
