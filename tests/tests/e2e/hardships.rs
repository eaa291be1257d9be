//! Hardships that an attack on the daemon found: each was a fault once (D12, D18, D68, D76).

use std::fs;

use handoffd_tests::{Daemon, Task, report, wait};
use serde_json::{Value, json};

use crate::support::{Stage, stage};

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

/// A warning of the log when it stops a task, with the line that is wrong; again at the next start, and not at a reload, which
/// changes nothing about it.
#[test]
fn a_project_file_that_is_refused_is_a_warning_of_the_log_at_each_start() {
    let Stage { world, project, daemon, control, session } = stage();
    fs::write(project.root().join(".pi/handoff.toml"), "[context]\nfiles = [\"../../etc/passwd\"]\n").unwrap();
    project.plan(&Task::new("t-1"));
    control.wait_state(&project, "blocked", "context_file");
    let warned = |daemon: &Daemon| {
        let log = daemon.log();
        log.lines().filter(|line| line.contains(" WARN ") && line.contains("handoff.toml:2")).count()
    };
    wait::until_true("it is a warning", || warned(&daemon) == 1);
    control.call("daemon.reload", json!({})).unwrap();
    session.ping();
    assert_eq!(warned(&daemon), 1);
    assert!(daemon.terminate().success());
    let next = world.start();
    let _session = next.idle_session(&world, &project, "s-2");
    next.control().wait_state(&project, "blocked", "context_file");
    // It may have come before anybody looked; the daemon before it has written one.
    wait::until_true("it is a warning again", || warned(&next) > 1);
}

#[test]
fn a_warning_is_shown_once_and_as_long_as_it_is_so() {
    let stage = stage();
    let warnings = || match &stage.control.project(&stage.project)["warnings"] {
        Value::Array(all) => all.iter().map(|text| text.as_str().unwrap().to_owned()).collect(),
        _ => Vec::new(),
    };
    let shows = |parts: &[&str]| {
        wait::until_true(&format!("{parts:?} is shown"), || {
            let all: Vec<String> = warnings();
            all.len() == parts.len() && all.iter().zip(parts).all(|(text, part)| text.contains(part))
        });
    };
    let begin = |id: &str, length: usize| {
        stage.project.plan(&Task::new(id).with("note", "x".repeat(length)));
        stage.session.wait_dispatch(id)
    };
    fs::write(stage.project.work_log(), format!("## Work log\n{}", "- x\n".repeat(800_000))).unwrap();
    for length in [230_000, 231_000] {
        let dispatch = begin(&format!("t-{length}"), length);
        shows(&["left in tasks.json", "handoff log rotate"]);
        stage.session.finish(&dispatch, report::complete());
        shows(&["handoff log rotate"]);
    }
    assert!(stage.world.handoff_in(stage.project.root(), &["log", "rotate"]).status.success());
    let dispatch = begin("t-small", 1);
    shows(&[]);
    stage.session.finish(&dispatch, report::complete());
}
