//! `handoff mcp planner` as its clients use it, with a real daemon and without.

use serde_json::{Value, json};

use crate::daemon::{COMPLETE, attach, eventually, state, submit, world};
use crate::env::TestEnv;
use crate::mcp::{Client, Era, Reply};

fn task() -> Value {
    json!({"instruction": "Add a flag", "scope": ["src"], "acceptance_criteria": ["it works"]})
}

fn with(mut task: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        task[key] = value.clone();
    }
    task
}

#[test]
fn a_task_goes_from_submit_to_its_verdict_in_both_eras() {
    for era in [Era::Handshake, Era::Stateless] {
        let (world, _daemon) = world();
        let mut client = Client::start(&world, era);
        let submitted = client.call("handoff_submit", &with(task(), &json!({"task_id": "T-1"})));
        submitted.says(&["Submitted T-1 to", "it is PENDING", "No worker's session is attached", "handoff_wait"]);
        assert_eq!(submitted.content["session_attached"], false);
        let waiting = client.call("handoff_wait", &json!({"timeout_secs": 0}));
        waiting.says(&[
            "T-1 has not ended",
            "It goes on when a person opens a worker's session",
            "This is no failure: call handoff_wait again",
        ]);
        assert_eq!(waiting.text.matches("session is attached").count(), 1, "said once: {}", waiting.text);
        assert_eq!((&waiting.content["ended"], &waiting.content["status"]), (&json!(false), &json!("PENDING")));
        let go = world.root().join("go");
        let wait = format!("while [ ! -e '{}' ]; do sleep 0.05; done", go.display());
        let _session = attach(&world, &format!("cat > /dev/null; {wait}; echo '{COMPLETE}'"));
        let in_queue = || world.run(&["status", "--json"]).json()["projects"][0]["queue"]["status"].clone();
        eventually("it runs", || in_queue() == "RUNNING");
        let running = client.call("handoff_status", &json!({}));
        running.says(&["The queue holds T-1, RUNNING", "T-1 has been running for "]);
        assert!(!running.text.contains("cancel"), "a model does what it is told: {}", running.text);
        crate::env::write(&go, b"");
        let ended = client.call("handoff_wait", &json!({"task_id": "T-1"}));
        ended.says(&["T-1 ended COMPLETE", "result: Added", "- claimed: worker handoff-writer r-1", "src/a.rs"]);
        assert_eq!((&ended.content["ended"], &ended.content["status"]), (&json!(true), &json!("COMPLETE")));
        client.call("handoff_status", &json!({})).says(&["The last task, T-1, ended COMPLETE", "Worker's session: "]);
        let shown = client.call("handoff_show", &json!({"task_id": "T-1"}));
        shown.says(&["instruction: Add a flag", "created_by: claude-code"]);
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn a_queue_that_cannot_be_read_is_told_once_and_not_called_empty() {
    let (world, _daemon) = world();
    world.file("tasks.json", "{ not json");
    eventually("it is seen", || state(&world) == "unreadable");
    let told = Client::start(&world, Era::Stateless).call("handoff_status", &json!({}));
    told.says(&["is unreadable", "not valid JSON", "What helps: `handoff lint"]);
    assert_eq!(told.text.matches("not valid JSON").count(), 1, "{}", told.text);
    assert!(!told.text.contains("no task"), "{}", told.text);
}

#[test]
fn the_fields_of_tasks_json_are_the_parameters() {
    let (world, _daemon) = world();
    let mut client = Client::start(&world, Era::Stateless);
    let unknown = client.call("handoff_show", &json!({}));
    assert_eq!((unknown.refused, &unknown.content["code"]), (true, &json!("no_task")));
    let whole = json!({
        "schema_version": 3, "task_id": "T-1", "task_type": "REVIEW", "required_role": "read-only", "preferred_agent": null,
        "gate": "none", "gate_reason": null, "parent_task_id": "T-0", "plan_ref": "docs/plan.md", "working_dir": "src",
        "created_at": "2026-11-30T08:00:00Z", "created_by": "claude-code",
    });
    assert!(!client.call("handoff_submit", &with(task(), &whole)).refused);
    let written: Value = serde_json::from_str(&world.read("tasks.json")).unwrap();
    for (field, value) in whole.as_object().unwrap().iter().filter(|(_, value)| !value.is_null()) {
        assert_eq!(&written[field], value, "{field}");
    }
    let unknown = client.call("handoff_show", &json!({"task_id": "T-9"}));
    assert_eq!((unknown.refused, &unknown.content["code"]), (true, &json!("no_task")));
    let other = client.call("handoff_submit", &with(task(), &json!({"created_by": "me", "schema_version": 4})));
    other.says(&["`created_by` is", "`schema_version` is 4"]);
}

#[test]
fn every_fault_is_told_at_once_and_nothing_is_written() {
    let (world, _daemon) = world();
    let mut client = Client::start(&world, Era::Stateless);
    let before = world.read("tasks.json");
    let wrong = json!({
        "instruction": " ", "scope": ["/etc", "src/**"], "acceptance_criteria": [], "task_type": "FIX",
        "gate": "review-after", "working_dir": "nowhere",
    });
    let refused = client.call("handoff_submit", &wrong.clone());
    assert!(refused.refused);
    assert_eq!(refused.content["code"], "invalid_task");
    refused.says(&[
        "`instruction` is blank",
        "`scope[0]`",
        "`scope[1]`",
        "`acceptance_criteria` is empty",
        "`task_type` is",
        "`gate_reason` is missing",
        "`working_dir`",
        "nothing was written",
    ]);
    let slip = client.call("handoff_submit", &with(wrong.clone(), &json!({"gates": "none"})));
    slip.says(&["`gates` is no parameter", "`instruction` is blank", "`scope[1]`", "`working_dir`"]);
    let slip = client.call("handoff_submit", &with(wrong, &json!({"gates": "none", "project": 7})));
    slip.says(&["`gates` is no parameter", "`project` must be a string", "`instruction` is blank", "`gate_reason`"]);
    assert_eq!(slip.content["code"], "invalid_parameters");
    assert_eq!(world.read("tasks.json"), before);
}

#[test]
fn text_that_looks_like_a_credential_is_told_and_not_repeated() {
    let (world, _daemon) = world();
    let mut client = Client::start(&world, Era::Stateless);
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let submitted = client.call("handoff_submit", &with(task(), &json!({"instruction": format!("use {key}")})));
    submitted.says(&["Submitted ", "Warning: `instruction` seems to hold a credential"]);
    assert_eq!(submitted.content["warnings"].as_array().unwrap().len(), 1);
    assert!(!submitted.text.contains(&key));
}

#[test]
fn a_busy_queue_is_refused_with_what_to_do() {
    let (world, _daemon) = world();
    let mut client = Client::start(&world, Era::Handshake);
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    eventually("the task is seen", || state(&world) == "waiting");
    let refused = client.call("handoff_submit", &task());
    assert_eq!((refused.refused, &refused.content["code"]), (true, &json!("queue_busy")));
    refused.says(&["handoff_wait for it, or handoff_cancel it"]);
    let missing = client.call("handoff_cancel", &json!({}));
    missing.says(&["`task_id` is missing"]);
    let other = client.call("handoff_cancel", &json!({"task_id": "T-9"}));
    assert_eq!((other.refused, &other.content["code"]), (true, &json!("task_mismatch")), "{}", other.text);
    let cancelled = client.call("handoff_cancel", &json!({"task_id": "T-1", "reason": "not now"}));
    cancelled.says(&["Cancelled T-1: it had not begun."]);
    assert_eq!((&cancelled.content["was"], &cancelled.content["now"]), (&json!("PENDING"), &json!("ERROR")));
    client.call("handoff_wait", &json!({"task_id": "T-1"})).says(&["T-1 ended ERROR", "Cancelled: not now"]);
    let again = client.call("handoff_cancel", &json!({"task_id": "T-1"}));
    again.says(&["T-1 had ended before, it is ERROR: nothing was changed."]);
}

/// A daemon that was just given a task has not looked at the file yet; one that looks at nothing shows the same for longer.
#[test]
fn the_file_is_believed_before_a_daemon_that_has_not_looked() {
    let (world, _daemon) = world();
    assert_eq!(world.run(&["disable"]).code, 0);
    world.file("tasks.json", crate::env::VALID);
    let status = world.run(&["status", "--json"]).json();
    assert_eq!(status["projects"][0]["queue"]["task_id"], Value::Null, "the daemon has not looked");
    let mut client = Client::start(&world, Era::Stateless);
    client.call("handoff_status", &json!({})).says(&["is disabled", "tasks.json holds T-1, PENDING"]);
    client.call("handoff_show", &json!({})).says(&["T-1 is PENDING", "instruction: Add a flag."]);
}

#[test]
fn a_wait_tells_its_progress_and_can_be_taken_back() {
    let (world, _daemon) = world();
    let mut client = Client::start(&world, Era::Handshake);
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    client.begin("w", "handoff_wait", &json!({"task_id": "T-1"}), &json!({"progressToken": "p"}));
    let progress = client.next();
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    assert_eq!((&progress["params"]["progressToken"], &progress["params"]["total"]), (&json!("p"), &Value::Null));
    assert!(progress["params"]["message"].as_str().unwrap().contains("The project is "), "{progress}");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "w"}});
    client.write(&cancel);
    client.call("handoff_status", &json!({})).says(&[" holds T-1, PENDING"]);
    let _session = attach(&world, &format!("cat > /dev/null; echo '{COMPLETE}'"));
    client.begin("again", "handoff_wait", &json!({"task_id": "T-1"}), &json!({"progressToken": "q"}));
    let answer = loop {
        let message = client.next();
        assert_ne!(message["id"], "w", "a call that was taken back is not answered");
        if message["id"] == "again" {
            break Reply::of(&message["result"]);
        }
    };
    answer.says(&["T-1 ended COMPLETE"]);
}

#[test]
fn without_a_daemon_a_task_is_written_and_that_nobody_takes_it_is_said() {
    let world = TestEnv::new();
    std::fs::create_dir(world.project().join("src")).unwrap();
    assert_eq!(world.run(&["init"]).code, 0);
    let mut client = Client::start(&world, Era::Stateless);
    client.call("handoff_status", &json!({})).says(&["no daemon answers", "holds no task", "run `handoffd`"]);
    let submitted = client.call("handoff_submit", &with(task(), &json!({"task_id": "T-1"})));
    submitted.says(&["Submitted T-1", "Nothing is taken up", "run `handoffd`"]);
    assert_eq!(submitted.content["daemon_running"], false);
    assert!(world.read("tasks.json").contains("\"PENDING\""));
    client.call("handoff_status", &json!({})).says(&["holds T-1, PENDING"]);
    client.call("handoff_show", &json!({})).says(&["T-1 is PENDING", "instruction: Add a flag"]);
    let waited = client.call("handoff_wait", &json!({}));
    assert_eq!((waited.refused, &waited.content["code"]), (true, &json!("daemon_not_running")));
    waited.says(&["holds T-1, PENDING", "then call this again"]);
    let again = client.call("handoff_submit", &task());
    assert_eq!((again.refused, &again.content["code"]), (true, &json!("queue_busy")), "{}", again.text);
    let cancelled = client.call("handoff_cancel", &json!({"task_id": "T-1"}));
    assert_eq!((cancelled.refused, &cancelled.content["code"]), (true, &json!("daemon_not_running")));
}

#[test]
fn the_project_is_named_or_that_of_the_session() {
    let (world, _daemon) = world();
    let elsewhere = world.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut client = Client::start_with(&world, Era::Stateless, |command| {
        command.current_dir(&elsewhere);
    });
    let here = client.call("handoff_status", &json!({}));
    let remedy = format!("`handoff init {}` makes it one", elsewhere.display());
    here.says(&["is no registered project", &remedy, "Other projects: project (idle)"]);
    let refused = client.call("handoff_submit", &with(task(), &json!({"gate": "review-after"})));
    assert_eq!((refused.refused, &refused.content["code"]), (true, &json!("unknown_project")));
    refused.says(&["`gate_reason` is missing", &remedy]);
    client.call("handoff_status", &json!({"project": "project"})).says(&["is idle"]);
    client.call("handoff_status", &json!({"project": "../project"})).says(&["is idle"]);
    assert!(client.call("handoff_status", &json!({"project": "projekt"})).refused);
    let project = world.project();
    let mut client = Client::start_with(&world, Era::Stateless, |command| {
        command.current_dir(&elsewhere).env("CLAUDE_PROJECT_DIR", &project);
    });
    client.call("handoff_status", &json!({})).says(&["is idle"]);
}

/// An ended task whose reviewer did not approve, and whose runs were seen only in part.
fn reviewed() -> String {
    let run = |agent: &str, id: &str, result: &str| json!({"agent": agent, "run_id": id, "status": "COMPLETE", "result": result, "model": "p/m", "thinking": "off"});
    let mut gate = run("handoff-reviewer", "r-2", "\n  NOT APPROVED: no test\u{202e}\n- src/a.rs:3 has none");
    gate["gate"] = "review-after".into();
    let seen = |agent: &str, id: &str, state: &str| json!({"run_id": id, "agent": agent, "background": true, "state": state, "model": "p/m"});
    json!({
        "schema_version": 3, "status": "COMPLETE", "task_id": "T-1", "task_type": "IMPLEMENT", "required_role": "writer",
        "gate": "review-after", "gate_reason": "it is risky", "instruction": "Add a flag.", "working_dir": ".", "scope": ["src"],
        "acceptance_criteria": ["it works"], "created_at": "2026-11-30T08:00:00Z", "created_by": "claude-code",
        "files_changed": ["src/a.rs", "src/b.rs"], "tests_run": [], "result": "done", "error": null,
        "report": {
            "version": 1, "worker": run("handoff-writer", "r-1", "did it"), "gate_evidence": [gate],
            "observed": {"all": true, "runs": [seen("handoff-writer", "r-1", "complete"), seen("handoff-reviewer", "r-2", "failed")]},
        },
    })
    .to_string()
}

#[test]
fn complete_is_never_told_without_the_verdict_and_what_is_proven() {
    let world = TestEnv::new();
    world.file("tasks.json", reviewed());
    let mut client = Client::start(&world, Era::Stateless);
    for tool in ["handoff_wait", "handoff_show"] {
        let told = client.call(tool, &json!({}));
        told.says(&[
            "T-1 ended COMPLETE.\nThe gate review-after took place, by handoff-reviewer. Its verdict: NOT APPROVED: no test\n",
            "not that it approved",
            "- proven: worker handoff-writer r-1",
            "- differs from what was observed: review-after handoff-reviewer r-2",
            "    - src/a.rs:3 has none",
            "files_changed:\n  - src/a.rs",
        ]);
        assert_eq!(told.content["verdict"], "NOT APPROVED: no test", "nothing in it can reorder what a person sees");
        let proofs: Vec<_> = told.content["evidence"].as_array().unwrap().iter().map(|item| &item["proof"]).collect();
        assert_eq!(proofs, ["observed", "contradicted"]);
    }
}

#[test]
fn what_is_answered_fits_what_was_promised() {
    let (world, _daemon) = world();
    let mut client = Client::start(&world, Era::Handshake);
    let listed = client.ask("tools/list", json!({}))["tools"].take();
    let tools = listed.as_array().unwrap();
    assert_eq!(tools.len(), 5);
    let calls = [
        ("handoff_submit", json!({})),
        ("handoff_submit", task()),
        ("handoff_status", json!({})),
        ("handoff_wait", json!({"timeout_secs": 0})),
        ("handoff_show", json!({})),
        ("handoff_cancel", json!({"task_id": "none"})),
    ];
    for (name, arguments) in calls {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let schema = &tool["outputSchema"]["properties"];
        let reply = client.call(name, &arguments);
        for (member, value) in reply.content.as_object().unwrap() {
            let promised = &schema[member]["type"];
            let kind = match value {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            let fits = promised.as_array().map_or_else(|| promised == kind, |kinds| kinds.contains(&kind.into()));
            assert!(schema[member] == json!({}) || fits, "{name}: {member} is {kind}, promised is {promised}");
        }
    }
}

#[test]
fn a_wait_outlives_the_daemon_and_says_so_when_it_stays_away() {
    let (world, daemon) = world();
    let mut client = Client::start(&world, Era::Handshake);
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    client.begin("w", "handoff_wait", &json!({"timeout_secs": 2}), &json!({"progressToken": "p"}));
    assert_eq!(client.next()["method"], "notifications/progress");
    drop(daemon);
    let answer = loop {
        let message = client.next();
        if message["id"] == "w" {
            break Reply::of(&message["result"]);
        }
    };
    assert_eq!((answer.refused, &answer.content["code"]), (true, &json!("daemon_not_running")));
    answer.says(&["holds T-1, PENDING", "then call this again"]);
}
