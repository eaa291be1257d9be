//! Sessions that go away and come back while a task is RUNNING (D20, D21, D23).

use handoffd_tests::session::Dispatch;
use handoffd_tests::{Attach, Known, Manner, Session, Task, report, wait};
use serde_json::{Value, json};

use crate::support::{Stage, stage, stage_with};

fn running(stage: &Stage) -> Dispatch {
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.ping();
    dispatch
}

fn back(stage: &Stage, how: &Attach) -> Session {
    stage.session.reattach(stage.daemon.socket(), how).unwrap()
}

#[test]
fn a_busy_session_that_reconnects_goes_on() {
    let stage = stage();
    let dispatch = running(&stage);
    stage.session.hang_up();
    let session = back(&stage, &Attach::again("s-1", Known::Delivered(dispatch.id.clone())));
    assert_eq!(session.ownership(), "owner");
    assert_eq!(session.attached["task"]["dispatch_id"], dispatch.id.as_str());
    assert_eq!(session.attached["task"]["task_id"], "t-1");
    session.finish(&dispatch, report::complete());
    assert_eq!(session.count("t-1"), 1);
}

#[test]
fn an_idle_session_that_reconnects_is_asked_for_its_report() {
    let stage = stage();
    let dispatch = running(&stage);
    stage.session.hang_up();
    let how = Attach { idle: true, ..Attach::again("s-1", Known::Delivered(dispatch.id.clone())) };
    let session = back(&stage, &how);
    session.peer.wait_told("task.remind", |params| params["dispatch_id"] == dispatch.id.as_str());
    session.finish(&dispatch, report::complete());
    assert_eq!((stage.project.status().as_str(), session.count("t-1")), ("COMPLETE", 1));
}

#[test]
fn a_session_whose_acceptance_is_known_is_never_sent_it_again() {
    let stage = stage();
    let dispatch = running(&stage);
    stage.session.hang_up();
    let session = back(&stage, &Attach::again("s-1", Known::Nothing));
    session.state("idle");
    session.peer.wait_told("task.remind", |_| true);
    session.finish(&dispatch, report::complete());
    assert_eq!(session.count("t-1"), 1);
}

#[test]
fn a_client_without_records_goes_on_if_its_acceptance_is_known() {
    let stage = stage();
    let dispatch = running(&stage);
    stage.session.hang_up();
    let session = back(&stage, &Attach::again("s-1", Known::LeftOut));
    assert_eq!(session.attached["task"]["dispatch_id"], dispatch.id.as_str());
    session.finish(&dispatch, report::complete());
}

#[test]
fn a_client_without_records_that_never_accepted_ends_in_error() {
    let stage = stage();
    stage.session.set_manner(Manner::Silent);
    stage.project.plan(&Task::new("t-1"));
    stage.session.wait_dispatch("t-1");
    stage.session.hang_up();
    let session = back(&stage, &Attach::again("s-1", Known::LeftOut));
    let document = stage.project.wait_status("ERROR");
    assert_eq!(document["error"], "The session cannot say whether it got the task.");
    assert_eq!(session.count("t-1"), 1);
}

#[test]
fn a_session_that_was_not_given_it_gets_it_at_idle() {
    let stage = stage();
    stage.session.set_manner(Manner::Silent);
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.hang_up();
    stage.session.set_manner(Manner::Accept);
    let session = back(&stage, &Attach::again("s-1", Known::Nothing));
    session.ping();
    assert_eq!(session.count("t-1"), 1);
    session.state("idle");
    let second = session.wait_nth_dispatch("t-1", 2);
    assert_eq!(second.id, dispatch.id);
    session.finish(&second, report::complete());
}

#[test]
fn a_fork_does_not_get_the_dispatch() {
    let stage = stage();
    let dispatch = running(&stage);
    stage.session.leave("fork");
    let document = stage.project.wait_status("ERROR");
    assert!(document["error"].is_string());
    let how = Attach { reason: "fork", ..Attach::idle("s-fork") };
    let fork = back(&stage, &how);
    assert_eq!(fork.attached["task"], Value::Null);
    let refused = fork.report(&dispatch, report::complete()).unwrap_err();
    assert!(["dispatch_ended", "not_owner"].contains(&refused.name()), "{refused:?}");
}

#[test]
fn another_session_of_the_same_process_stands_by_while_it_runs() {
    let stage = stage();
    let dispatch = running(&stage);
    stage.session.hang_up();
    let other = back(&stage, &Attach { reason: "new", ..Attach::idle("s-other") });
    assert_eq!(other.ownership(), "standby");
    let session = back(&stage, &Attach::again("s-1", Known::Delivered(dispatch.id.clone())));
    assert_eq!(session.ownership(), "owner");
    session.finish(&dispatch, report::complete());
    assert_eq!(stage.project.status(), "COMPLETE");
}

#[test]
fn a_session_that_stays_away_longer_than_the_grace_ends_in_error() {
    let stage = stage_with("[task]\nreconnect_grace = \"1s\"\n");
    let dispatch = running(&stage);
    stage.session.hang_up();
    let document = wait::until_within(std::time::Duration::from_secs(90), "ERROR after the grace", || {
        Some(stage.project.document()).filter(|document| document["status"] == "ERROR")
    });
    assert!(document["error"].is_string());
    let how = Attach { idle: true, ..Attach::again("s-1", Known::Delivered(dispatch.id.clone())) };
    let session = back(&stage, &how);
    assert_eq!(session.attached["task"], Value::Null);
    assert_eq!(session.attached["ended"]["dispatch_id"], dispatch.id.as_str());
    assert_eq!(session.attached["ended"]["status"], "ERROR");
    assert_eq!(session.report(&dispatch, report::complete()).unwrap_err().name(), "dispatch_ended");
    assert_eq!(stage.project.status(), "ERROR");
}

#[test]
fn f250_a_session_process_that_ends_ends_its_task_at_once() {
    let stage = stage();
    running(&stage);
    stage.session.process.kill();
    let document = stage.project.wait_status("ERROR");
    assert!(document["error"].is_string());
    wait::until_true("one line in the work log", || stage.project.log_lines().len() == 1);
}

#[test]
fn a_session_that_quits_ends_its_task_at_once() {
    let stage = stage();
    running(&stage);
    stage.session.leave("quit");
    stage.project.wait_status("ERROR");
}

#[test]
fn with_a_background_run_the_session_may_be_opened_again() {
    let stage = stage();
    let dispatch = running(&stage);
    stage.session.run_started(&dispatch, report::run("r-1", "running"));
    stage.session.ping();
    stage.session.process.kill();
    let row = wait::until("the loss is shown", || {
        let row = stage.control.project(&stage.project);
        (row["state"] == "running" && !row["task"]["until"].is_null()).then_some(row)
    });
    assert!(row["why"].is_string(), "{row}");
    assert_eq!(stage.project.status(), "RUNNING");
    let process = stage.world.process();
    let how = Attach { reason: "resume", ..Attach::again("s-1", Known::Delivered(dispatch.id.clone())) };
    let session = stage.daemon.attach(&process, &stage.project, &how);
    assert_eq!(session.attached["task"]["dispatch_id"], dispatch.id.as_str());
    session.run_finished(&dispatch, report::run("r-1", "complete"));
    session.finish(&dispatch, report::complete());
    assert_eq!(stage.project.status(), "COMPLETE");
}

#[test]
fn reload_keeps_the_task_for_the_same_session() {
    let stage = stage();
    let dispatch = running(&stage);
    stage.session.leave("reload");
    stage.session.hang_up();
    let how = Attach { reason: "reload", ..Attach::again("s-1", Known::Delivered(dispatch.id.clone())) };
    let session = back(&stage, &how);
    session.finish(&dispatch, report::complete());
    assert_eq!(stage.project.status(), "COMPLETE");
}

#[test]
fn attaching_wrongly_is_told_by_name() {
    let stage = stage();
    let process = stage.world.process();
    let peer = process.connect(stage.daemon.socket(), &stage.project.queue(), Box::new(|_, _| ())).unwrap();
    let attach = |mode: &str| {
        json!({"session_id": "s-9", "project": stage.project.root(), "mode": mode, "reason": "startup", "idle": true,
               "host": {"name": "pi", "version": "1"}, "known_dispatch": null})
    };
    assert_eq!(peer.call("session.attach", attach("tui")).unwrap_err().name(), "hello_required");
    peer.call("hello", json!({"protocol": 1, "client": {"name": "t", "version": "1"}})).unwrap();
    assert_eq!(peer.call("session.attach", attach("print")).unwrap_err().name(), "not_a_main_session");
    peer.call("session.attach", attach("rpc")).unwrap();
    assert_eq!(peer.call("session.attach", attach("rpc")).unwrap_err().name(), "already_attached");
}

#[test]
fn take_moves_the_place_when_nothing_runs() {
    let stage = stage();
    let second = stage.daemon.idle_session(&stage.world, &stage.project, "s-2");
    let taken = stage.control.ask("session.take", &stage.project, json!({"session_id": "s-2"})).unwrap();
    assert_eq!(taken, json!({"session_id": "s-2", "from": "s-1"}));
    second.peer.wait_told("session.ownership", |params| params["ownership"] == "owner");
    stage.session.peer.wait_told("session.ownership", |params| params["ownership"] == "standby");
    stage.project.plan(&Task::new("t-1"));
    let dispatch = second.wait_dispatch("t-1");
    let refused = stage.control.ask("session.take", &stage.project, json!({"session_id": "s-1"})).unwrap_err();
    assert_eq!(refused.name(), "task_running");
    second.finish(&dispatch, report::complete());
    let nobody = stage.control.ask("session.take", &stage.project, json!({"session_id": "s-7"})).unwrap_err();
    assert_eq!(nobody.name(), "no_such_session");
}
