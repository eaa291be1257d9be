//! `handoff report check` beyond the vectors.

use insta::assert_snapshot;

use crate::env::{TestEnv, VALID};

#[test]
fn without_a_running_task_no_report_fits() {
    let env = TestEnv::new();
    let report = r#"{"status":"ERROR","error":"x"}"#;
    for queue in [None, Some(VALID)] {
        if let Some(queue) = queue {
            env.file("tasks.json", queue);
        }
        let said = env.run_with_input(&["report", "check", "-", "--json"], report);
        assert_eq!((said.code, &said.json()["problems"][0]["code"]), (1, &"queue_changed".into()), "{said}");
    }
    env.file("tasks.json", "{");
    let said = env.run_with_input(&["report", "check", "-", "--json"], report);
    assert_eq!((said.code, &said.json()["problems"][0]["code"]), (1, &"invalid_json".into()), "{said}");
}

#[test]
fn people_read_every_problem() {
    let env = TestEnv::new();
    std::fs::create_dir(env.project().join("src")).unwrap();
    env.file("tasks.json", VALID.replace("PENDING", "RUNNING"));
    let said = env.run_with_input(&["report", "check", "-"], r#"{"status":"ERROR"}"#);
    assert_snapshot!(said, @r"
    refused:
      `error` is missing or blank; say what went wrong
    --- exit 1
    ");
    let said = env.run_with_input(&["report", "check", "-"], r#"{"status":"ERROR","error":"no"}"#);
    assert_snapshot!(said, @r"
    accepted: the task would end ERROR
    --- exit 0
    ");
}
