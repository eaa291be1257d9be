//! Hardships that an attack on the daemon found: each was a fault once (D12, D18, D68, D76).

use std::fs;

use handoffd_tests::{Task, report};
use serde_json::json;

use crate::support::stage;

#[test]
fn a_folder_that_is_moved_away_and_back_keeps_its_task() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.ping();
    let away = stage.project.root().with_extension("away");
    fs::rename(stage.project.root(), &away).unwrap();
    stage.control.wait_state(&stage.project, "missing", "");
    fs::rename(&away, stage.project.root()).unwrap();
    stage.control.wait_state(&stage.project, "running", "");
    stage.session.finish(&dispatch, report::complete());
    assert_eq!(stage.project.status(), "COMPLETE");
}

#[test]
fn a_reason_that_would_not_fit_is_refused_and_a_short_one_still_cancels() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    stage.session.wait_dispatch("t-1");
    let cancel =
        |reason: &str| stage.control.ask("task.cancel", &stage.project, json!({"task_id": "t-1", "reason": reason}));
    let refused = cancel(&"x".repeat(300_000)).unwrap_err();
    assert_eq!(refused.code, -32602, "{}", refused.message);
    assert_eq!(cancel("enough").unwrap()["now"], "ERROR");
}

#[test]
fn a_project_file_that_is_refused_blocks_until_it_is_repaired() {
    let stage = stage();
    let file = stage.project.root().join(".pi/handoff.toml");
    fs::write(&file, "[context]\nfiles = [\"../../etc/passwd\"]\n").unwrap();
    stage.project.plan(&Task::new("t-1"));
    let row = stage.control.wait_state(&stage.project, "blocked", "context_file");
    assert!(row["why"].as_str().unwrap().contains("handoff.toml"), "{row}");
    assert_eq!(stage.session.count("t-1"), 0);
    fs::remove_file(file).unwrap();
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.finish(&dispatch, report::complete());
}
