//! `handoff submit` without a daemon: the same durable write, and a warning.

use insta::assert_snapshot;
use serde_json::Value;

use crate::env::{Said, TestEnv, VALID};

const FIELDS: [&str; 6] = ["--instruction", "Add a flag", "--scope", "src", "--accept", "it works"];

fn world() -> TestEnv {
    let env = TestEnv::new();
    std::fs::create_dir(env.project().join("src")).unwrap();
    env
}

fn submit(env: &TestEnv, more: &[&str]) -> Said {
    env.run(&[&["submit"], &FIELDS[..], more].concat())
}

#[test]
fn a_task_of_options_is_complete_and_pending() {
    let env = world();
    let said = submit(&env, &["--json"]);
    assert_eq!(said.code, 0, "{said}");
    let queue: Value = serde_json::from_str(&env.read("tasks.json")).unwrap();
    assert_eq!(said.json()["task_id"], queue["task_id"]);
    assert_eq!(queue["status"], "PENDING");
    assert_eq!((&queue["task_type"], &queue["required_role"]), (&"IMPLEMENT".into(), &"writer".into()));
    assert_eq!(env.run(&["lint", "--json"]).json()["action"], "dispatch");
    assert!(
        !std::fs::read_dir(env.project())
            .unwrap()
            .any(|entry| { entry.unwrap().file_name().to_string_lossy().starts_with(".tasks.json") })
    );
}

#[test]
fn nobody_picks_it_up_and_that_is_said() {
    let env = world();
    let said = submit(&env, &["--id", "T-9", "--type", "review", "--wait"]);
    assert_snapshot!(said, @r"
    submitted T-9 to {PROJECT}
    --- stderr
    Warning: no daemon answers at {ROOT}/run/handoffd/handoffd.sock (from XDG_RUNTIME_DIR) or at {HOME}/.local/state/handoffd/run-{HOST}/handoffd.sock (in the state folder): nothing picks the task up until a daemon runs
    Hint: `handoff service install` makes it a service, once; or run `handoffd` in another terminal
    --- exit 3
    ");
    let queue: Value = serde_json::from_str(&env.read("tasks.json")).unwrap();
    assert_eq!((&queue["task_type"], &queue["required_role"]), (&"REVIEW".into(), &"read-only".into()));
}

#[test]
fn a_task_that_waits_or_runs_is_never_overwritten() {
    for (status, code) in [("PENDING", 4), ("RUNNING", 4), ("COMPLETE", 0), ("ERROR", 0), ("IDLE", 0)] {
        let env = world();
        let before = VALID.replace("PENDING", status);
        env.file("tasks.json", &before);
        let said = submit(&env, &[]);
        assert_eq!(said.code, code, "{said}");
        assert_eq!(env.read("tasks.json") == before, code != 0, "{status}");
    }
    let env = world();
    env.file("tasks.json", "{");
    assert_eq!((submit(&env, &[]).code, env.read("tasks.json")), (4, "{".to_owned()));
}

#[test]
fn what_is_not_the_tasks_stays_in_the_file() {
    let env = world();
    env.file("tasks.json", r#"{"mine": 1.0, "status": "IDLE", "result": "old"}"#);
    assert_eq!(submit(&env, &[]).code, 0);
    let text = env.read("tasks.json");
    assert!(text.starts_with(r#"{"mine": 1.0, "status": "PENDING", "result": null"#), "{text}");
}

#[test]
fn a_file_or_standard_input_is_filled_in_and_never_changed_otherwise() {
    let env = world();
    let draft = VALID
        .replace("  \"task_id\": \"T-1\",\n", "")
        .replace("  \"created_by\": \"claude-code\"\n", "  \"n\": 1e400\n");
    let said = env.run_with_input(&["submit", "-"], &draft);
    assert_eq!(said.code, 0, "{said}");
    let text = env.read("tasks.json");
    assert!(text.contains("\"n\": 1e400") && text.contains("\"created_at\": \"2026-11-30T08:00:00Z\""), "{text}");
    assert!(text.contains("\"task_id\": \"T-") && text.contains("\"created_by\": \"claude-code\""), "{text}");
}

/// A mistyped gate would be no gate.
#[test]
fn a_key_that_nobody_reads_is_named() {
    let env = world();
    let said = env
        .run_with_input(&["submit", "-"], &VALID.replace("\"created_by\"", "\"gates\": \"none\",\n  \"created_by\""));
    assert_eq!(said.code, 0, "{said}");
    let named = "`gates` is no field of a task: it stays in the file, and nobody reads it; did you mean `gate`?";
    assert!(said.stderr.contains(named), "{said}");
    assert!(env.run(&["lint"]).stderr.contains(named));
    let refused = world().run_with_input(&["submit", "-"], r#"{"gates": "none"}"#);
    assert!(refused.code == 1 && refused.stderr.contains(named), "with what it is refused for: {refused}");
}

#[test]
fn an_invalid_task_is_not_written_and_every_problem_is_told() {
    let env = world();
    let said = env.run(&["submit", "--instruction", " ", "--scope", "/abs", "--accept", "x", "--gate", "review-after"]);
    assert_snapshot!(said, @r#"
    --- stderr
    Error: the task is not valid
      `gate_reason` is missing or blank; say why the gate `review-after` is needed
      `instruction` is blank; it needs a text that says what to do
      `scope[0]` is "/abs"; write it relative to the project's root
    --- exit 1
    "#);
    assert!(!env.project().join("tasks.json").exists());
    assert_eq!(env.run_with_input(&["submit", "-"], "[]").code, 1);
    assert_eq!(env.run_with_input(&["submit", "-"], r#"{"task_id":"a","task_id":"b"}"#).code, 1);
}

#[test]
fn without_a_task_it_is_a_usage_error() {
    assert_eq!(world().run(&["submit"]).code, 2);
    assert_eq!(world().run(&["submit", "--instruction", "x"]).code, 2);
    assert_eq!(world().run(&["submit", "nowhere.json"]).code, 2);
}
