//! What people and scripts ask for: cancel, retry, wait, history, pause, disable (D71, D76).

#![expect(clippy::disallowed_methods, reason = "tests play people, who know no `store`")]

use handoffd_tests::{Manner, Task, report, wait};
use serde_json::{Value, json};

use crate::support::{Stage, stage};

fn cancel(stage: &Stage, id: &str) -> Result<Value, handoffd_tests::RpcError> {
    stage.control.ask("task.cancel", &stage.project, json!({"task_id": id, "reason": "enough"}))
}

#[test]
fn a_pause_in_mid_task_is_a_line_of_the_log_and_one_without_is_its_state() {
    let stage = stage();
    let control = |what: &str| stage.control.ask(what, &stage.project, json!({})).unwrap();
    let lines = || {
        let log = stage.daemon.log();
        log.lines()
            .filter(|line| line.contains(" INFO ") && line.contains("pause"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    control("project.pause");
    wait::until_true("it is told", || lines().iter().any(|line| line.contains("a person paused the project")));
    control("project.resume");
    wait::until_true("so is its end", || lines().iter().any(|line| line.contains("a person lifted the pause")));
    stage.session.finish(&dispatch, report::complete());
    stage.control.wait_state(&stage.project, "idle", "");
    control("project.pause");
    wait::until_true("the state is told", || lines().iter().any(|line| line.contains("state=paused")));
    assert_eq!(lines().len(), 3, "{:?}", lines());
}

#[test]
fn f257_cancel_of_a_waiting_task() {
    let stage = stage();
    stage.session.state("busy");
    stage.control.wait_busy(&stage.project);
    stage.project.plan(&Task::new("t-1"));
    stage.control.wait_state(&stage.project, "waiting", "busy");
    let done = cancel(&stage, "t-1").unwrap();
    assert_eq!((&done["was"], &done["now"], &done["session"]), (&json!("PENDING"), &json!("ERROR"), &Value::Null));
    assert_eq!(stage.project.member("error"), "Cancelled: enough");
    assert_eq!(stage.session.count("t-1"), 0);
}

#[test]
fn f257_cancel_of_an_accepted_task_asks_the_session() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    let done = cancel(&stage, "t-1").unwrap();
    assert_eq!((&done["was"], &done["session"]), (&json!("RUNNING"), &json!("aborted")));
    assert_eq!(stage.project.member("error"), "Cancelled: enough");
    assert_eq!(stage.session.peer.told("task.cancel").len(), 1);
    let late = stage.session.report(&dispatch, report::complete()).unwrap_err();
    assert_eq!((late.name(), &late.data["status"]), ("dispatch_ended", &json!("ERROR")));
    assert_eq!(stage.project.log_lines().len(), 1);
}

#[test]
fn f257_cancel_of_a_task_that_was_only_sent() {
    let stage = stage();
    stage.session.set_manner(Manner::Silent);
    stage.project.plan(&Task::new("t-1"));
    stage.session.wait_dispatch("t-1");
    assert_eq!(cancel(&stage, "t-1").unwrap()["now"], "ERROR");
    assert_eq!(stage.project.status(), "ERROR");
}

#[test]
fn f257_cancel_with_a_lost_session() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    stage.session.wait_dispatch("t-1");
    stage.session.hang_up();
    let done = cancel(&stage, "t-1").unwrap();
    assert_eq!((&done["now"], &done["session"]), (&json!("ERROR"), &json!("not_reached")));
    assert_eq!(stage.project.member("error"), "Cancelled: enough");
}

#[test]
fn f257_cancel_of_what_is_not_there() {
    let stage = stage();
    assert_eq!(cancel(&stage, "t-9").unwrap_err().name(), "no_task");
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    assert_eq!(cancel(&stage, "t-9").unwrap_err().name(), "task_mismatch");
    stage.session.finish(&dispatch, report::complete());
    let finished = cancel(&stage, "t-1").unwrap();
    assert_eq!((&finished["now"], &finished["session"]), (&json!("COMPLETE"), &json!("finished_first")));
    assert_eq!(stage.project.status(), "COMPLETE");
}

#[test]
fn runs_of_a_cancelled_task_hold_the_next_one() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.run_started(&dispatch, report::run("r-1", "running"));
    stage.session.ping();
    let done = cancel(&stage, "t-1").unwrap();
    assert_eq!(done["live_runs"][0]["run_id"], "r-1");
    stage.project.plan(&Task::new("t-2"));
    stage.session.state("idle");
    let row = stage.control.wait_state(&stage.project, "waiting", "runs_alive");
    assert!(row["why"].as_str().unwrap().contains("t-1"), "{row}");
    stage.session.run_finished(&dispatch, report::run("r-1", "stopped"));
    let second = stage.session.wait_dispatch("t-2");
    stage.session.finish(&second, report::complete());
}

#[test]
fn wait_answers_when_the_task_ends_and_later_from_the_journal() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1").reviewed());
    let dispatch = stage.session.wait_dispatch("t-1");
    let params = json!({"project": stage.project.root(), "timeout_ms": 50});
    let over = stage.control.call("task.wait", params).unwrap();
    assert_eq!(
        (&over["status"], &over["timed_out"], &over["state"]),
        (&json!("RUNNING"), &json!(true), &json!("running"))
    );
    let waiting = stage.daemon.control();
    let asked = waiting.peer.ask("task.wait", json!({"project": stage.project.root(), "task_id": "t-1"}));
    stage.session.finish(&dispatch, report::reviewed("APPROVED\nmore"));
    let ended = waiting.peer.answer_to(asked, "task.wait").unwrap();
    assert_eq!((&ended["status"], &ended["verdict"]), (&json!("COMPLETE"), &json!("APPROVED")));
    assert_eq!(ended["task"]["dispatch_id"], dispatch.id.as_str());
    stage.project.plan(&Task::new("t-2"));
    let second = stage.session.wait_dispatch("t-2");
    let earlier = stage.control.ask("task.wait", &stage.project, json!({"task_id": "t-1"})).unwrap();
    assert_eq!(earlier["task"]["result"], "Appended the line.");
    let unknown = stage.control.ask("task.wait", &stage.project, json!({"task_id": "t-7"})).unwrap_err();
    assert_eq!(unknown.name(), "no_task");
    stage.session.finish(&second, report::complete());
}

#[test]
fn retry_wait_and_history_survive_a_restart() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.finish(&dispatch, report::error("no compiler"));
    assert!(stage.daemon.terminate().success());
    let daemon = stage.world.start();
    let control = daemon.control();
    let ended = control.ask("task.wait", &stage.project, json!({"task_id": "t-1"})).unwrap();
    assert_eq!((&ended["status"], &ended["task"]["error"]), (&json!("ERROR"), &json!("no compiler")));
    let rows = control.call("history.list", json!({"task_id": "t-1"})).unwrap();
    let text = rows.to_string();
    assert!(text.contains("no compiler") && text.contains(&dispatch.id), "{text}");
    let retried = control.ask("task.retry", &stage.project, json!({"task_id": "t-1"})).unwrap();
    assert_ne!(retried["task_id"], "t-1");
    assert_eq!(stage.project.member("parent_task_id"), "t-1");
    let session = daemon.idle_session(&stage.world, &stage.project, "s-2");
    let second = session.wait_dispatch(retried["task_id"].as_str().unwrap());
    session.finish(&second, report::complete());
    let unknown = control.ask("task.retry", &stage.project, json!({"task_id": "t-7"})).unwrap_err();
    assert_eq!(unknown.name(), "no_task");
}

#[test]
fn pause_stops_new_tasks_and_survives_a_restart() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.control.ask("project.pause", &stage.project, json!({})).unwrap();
    stage.session.finish(&dispatch, report::complete());
    stage.project.plan(&Task::new("t-2"));
    stage.control.wait_state(&stage.project, "paused", "");
    assert!(stage.daemon.terminate().success());
    let daemon = stage.world.start();
    let control = daemon.control();
    control.wait_state(&stage.project, "paused", "");
    let session = daemon.idle_session(&stage.world, &stage.project, "s-2");
    let lifted = control.ask("project.resume", &stage.project, json!({})).unwrap();
    assert_eq!(lifted["lifted"], json!(["paused"]));
    assert_eq!(session.wait_dispatch("t-2").task_id, "t-2");
}

#[test]
fn disable_waits_for_the_running_task_and_releases_the_lock() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    let answer = stage.control.ask("project.disable", &stage.project, json!({})).unwrap();
    assert_eq!(answer["state"], "leaving", "{answer}");
    assert!(stage.project.lock().exists());
    stage.session.finish(&dispatch, report::complete());
    stage.control.wait_state(&stage.project, "disabled", "");
    wait::until_true("the lock is released", || !stage.project.lock().exists());
    let refused = stage.daemon.try_attach(&stage.world.process(), &stage.project, &handoffd_tests::Attach::idle("s-2"));
    assert_eq!(refused.err().unwrap().name(), "project_disabled");
    stage.control.ask("project.enable", &stage.project, json!({})).unwrap();
    stage.control.wait_state(&stage.project, "idle", "");
    assert!(stage.project.lock().exists());
}

#[test]
fn disable_now_cancels_first() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    stage.session.wait_dispatch("t-1");
    stage.control.ask("project.disable", &stage.project, json!({"now": true})).unwrap();
    let error = stage.project.wait_status("ERROR")["error"].clone();
    assert!(error.as_str().unwrap().starts_with("Cancelled: "), "{error}");
    stage.control.wait_state(&stage.project, "disabled", "");
}

#[test]
fn a_project_taken_out_in_mid_task_comes_to_an_end() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.world.forget(&stage.project);
    stage.control.call("daemon.reload", json!({})).unwrap();
    let row = stage.control.wait_state(&stage.project, "leaving", "");
    assert!(row["why"].is_string(), "{row}");
    stage.session.finish(&dispatch, report::complete());
    assert_eq!(stage.project.status(), "COMPLETE");
    wait::until_true("it is gone", || stage.control.project(&stage.project).is_null());
    assert!(!stage.project.lock().exists());
}

#[test]
fn a_project_taken_out_before_a_restart_is_still_brought_to_its_end() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.daemon.kill();
    stage.world.forget(&stage.project);
    let daemon = stage.world.start();
    let control = daemon.control();
    control.wait_state(&stage.project, "leaving", "");
    let known = handoffd_tests::Known::Delivered(dispatch.id.clone());
    let back = stage.session.reattach(daemon.socket(), &handoffd_tests::Attach::again("s-1", known)).unwrap();
    back.finish(&dispatch, report::complete());
    assert_eq!(stage.project.status(), "COMPLETE");
    wait::until_true("it is gone", || control.project(&stage.project).is_null());
    assert!(!stage.project.lock().exists());
}

#[test]
fn events_tell_the_story_in_order() {
    let stage = stage();
    let watcher = stage.daemon.control();
    watcher.ask("events.subscribe", &stage.project, json!({})).unwrap();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.finish(&dispatch, report::complete());
    watcher.peer.wait_told("event", |params| params["kind"] == "task_ended");
    let events = watcher.peer.told("event");
    let place =
        |kind: &str| events.iter().position(|event| event.params["kind"] == kind).unwrap_or_else(|| panic!("{kind}"));
    assert!(place("task_pending") < place("dispatch_sent"));
    assert!(place("dispatch_sent") < place("dispatch_accepted"));
    assert!(place("dispatch_accepted") < place("task_ended"));
    let numbers: Vec<_> = events.iter().map(|event| event.params["seq"].as_u64().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
}

#[test]
fn a_state_is_told_once_also_when_it_had_to_wait_for_a_claim() {
    let stage = stage();
    let watcher = stage.daemon.control();
    watcher.ask("events.subscribe", &stage.project, json!({})).unwrap();
    let aside = stage.project.root().join("aside.md");
    std::fs::rename(stage.project.work_log(), &aside).unwrap();
    stage.project.plan(&Task::new("t-1"));
    stage.control.wait_state(&stage.project, "blocked", "work_log");
    std::fs::rename(&aside, stage.project.work_log()).unwrap();
    stage.project.plan(&Task::new("t-2"));
    let dispatch = stage.session.wait_dispatch("t-2");
    stage.session.finish(&dispatch, report::complete());
    watcher.peer.wait_told("event", |params| params["kind"] == "task_ended");
    let events = watcher.peer.told("event");
    let of = |key: &'static str, params: &Value| params[key].to_string();
    let states = events.iter().map(|event| &event.params).filter(|params| params["kind"] == "project_state");
    let states: Vec<_> = states.map(|params| ["state", "reason", "why", "next"].map(|key| of(key, params))).collect();
    assert!(states.iter().any(|state| state[0].contains("blocked")), "{states:?}");
    assert!(states.windows(2).all(|pair| pair[0] != pair[1]), "{states:?}");
}

#[test]
fn a_wait_right_after_the_planners_write_is_not_told_that_there_is_no_task() {
    let stage = stage();
    let waiting = stage.daemon.control();
    for number in 0..20 {
        let id = format!("t-{number}");
        stage.project.plan(&Task::new(&id));
        let asked = waiting.peer.ask("task.wait", json!({"project": stage.project.root(), "task_id": id}));
        let dispatch = stage.session.wait_dispatch(&id);
        stage.session.finish(&dispatch, report::complete());
        assert_eq!(waiting.peer.answer_to(asked, "task.wait").unwrap()["status"], "COMPLETE");
    }
}
