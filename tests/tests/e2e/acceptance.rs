//! Delivery: accepted, refused, late, lost, twice (D69).

use handoffd_tests::{Attach, Known, Manner, Task, report};
use serde_json::json;

use crate::support::{parse, stage, stage_with};

#[test]
fn f232_a_busy_answer_sends_the_same_dispatch_again_at_idle() {
    let stage = stage();
    stage.session.set_manner(Manner::Busy);
    stage.project.plan(&Task::new("t-1"));
    let first = stage.session.wait_dispatch("t-1");
    let row = stage.control.wait_state(&stage.project, "running", "");
    assert_eq!(row["task"]["dispatch_id"], first.id.as_str());
    stage.session.set_manner(Manner::Accept);
    stage.session.state("busy");
    stage.session.state("idle");
    let second = stage.session.wait_nth_dispatch("t-1", 2);
    assert_eq!(second.id, first.id, "the same dispatch");
    assert_eq!(parse(&second.queue)["status"], "RUNNING");
    stage.session.finish(&second, report::complete());
    assert_eq!(stage.project.log_lines().len(), 1);
}

#[test]
fn an_expired_or_failing_answer_is_proof_of_non_delivery() {
    for manner in [Manner::Expired, Manner::Fail] {
        let stage = stage();
        stage.session.set_manner(manner);
        stage.project.plan(&Task::new("t-1"));
        let first = stage.session.wait_dispatch("t-1");
        stage.session.set_manner(Manner::Accept);
        stage.session.state("busy");
        stage.session.state("idle");
        assert_eq!(stage.session.wait_nth_dispatch("t-1", 2).id, first.id, "{manner:?}");
    }
}

#[test]
fn f238_a_session_that_always_declines_ends_in_error() {
    let stage = stage();
    stage.session.set_manner(Manner::Busy);
    stage.project.plan(&Task::new("t-1"));
    for attempt in 1..=10 {
        let dispatch = stage.session.wait_nth_dispatch("t-1", attempt);
        assert_eq!(dispatch.id, stage.session.dispatches()[0].id);
        stage.session.state("busy");
        stage.session.state("idle");
    }
    let document = stage.project.wait_status("ERROR");
    assert_eq!(document["error"], "The session never accepted it.");
    assert_eq!(stage.session.count("t-1"), 10);
}

#[test]
fn f230_an_acceptance_that_never_comes_ends_in_error() {
    let stage = stage_with("[task]\naccept_timeout = \"1s\"\n");
    stage.session.set_manner(Manner::Silent);
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    let document = stage.project.wait_status("ERROR");
    assert_eq!(document["error"], "Delivery was not confirmed; its effects are unknown.");
    stage.session.peer.wait_told("task.cancel", |params| params["dispatch_id"] == dispatch.id.as_str());
    assert_eq!(stage.session.count("t-1"), 1);
}

#[test]
fn a_late_acceptance_is_answered_by_a_cancel_and_a_notice() {
    let stage = stage_with("[task]\naccept_timeout = \"1s\"\n");
    stage.session.set_manner(Manner::Silent);
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.project.wait_status("ERROR");
    let before = stage.session.peer.told("task.cancel").len();
    stage.session.peer.answer(&dispatch.request, &json!({"accepted": true}));
    stage.session.peer.wait_told("session.notice", |_| true);
    handoffd_tests::wait::until_true("a cancel follows", || stage.session.peer.told("task.cancel").len() > before);
    assert_eq!(stage.project.status(), "ERROR");
}

#[test]
fn f235_the_next_task_is_a_message_of_its_own() {
    let stage = stage_with("[task]\naccept_timeout = \"1s\"\n");
    stage.session.set_manner(Manner::Silent);
    stage.project.plan(&Task::new("t-1"));
    stage.session.wait_dispatch("t-1");
    stage.project.wait_task("t-1", "ERROR");
    stage.session.set_manner(Manner::Accept);
    stage.project.plan(&Task::new("t-2"));
    stage.session.state("idle");
    let second = stage.session.wait_dispatch("t-2");
    assert!(!second.params["message"].as_str().unwrap().contains("t-1"));
    assert_eq!(stage.session.count("t-2"), 1);
}

#[test]
fn f236_a_slow_acceptance_is_still_one_message() {
    let stage = stage();
    stage.session.set_manner(Manner::Silent);
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    let row = stage.control.wait_state(&stage.project, "running", "");
    assert_eq!(row["task"]["delivery"], "sent");
    stage.session.peer.answer(&dispatch.request, &json!({"accepted": true}));
    handoffd_tests::wait::until_true("accepted", || {
        stage.control.project(&stage.project)["task"]["delivery"] == "accepted"
    });
    stage.session.finish(&dispatch, report::complete());
    assert_eq!(stage.session.count("t-1"), 1);
}

#[test]
fn a_report_is_acceptance_too() {
    let stage = stage();
    stage.session.set_manner(Manner::Silent);
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.finish(&dispatch, report::complete());
    assert_eq!(stage.project.status(), "COMPLETE");
}

#[test]
fn f237_a_lost_acknowledgement_is_never_a_second_run() {
    let stage = stage();
    stage.session.set_manner(Manner::HangUp);
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.peer.wait_closed();
    stage.session.set_manner(Manner::Accept);
    let again = Attach::again("s-1", Known::Delivered(dispatch.id.clone()));
    let back = stage.session.reattach(stage.daemon.socket(), &again).unwrap();
    assert_eq!(back.attached["task"]["dispatch_id"], dispatch.id.as_str());
    back.ping();
    back.finish(&dispatch, report::complete());
    assert_eq!(back.count("t-1"), 1);
    assert_eq!(stage.project.status(), "COMPLETE");
}

#[test]
fn what_was_not_delivered_is_sent_again_with_the_same_id() {
    let stage = stage();
    stage.session.set_manner(Manner::HangUp);
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.peer.wait_closed();
    stage.session.set_manner(Manner::Accept);
    let again = Attach { idle: true, ..Attach::again("s-1", Known::Undelivered(dispatch.id.clone())) };
    let back = stage.session.reattach(stage.daemon.socket(), &again).unwrap();
    let second = back.wait_nth_dispatch("t-1", 2);
    assert_eq!(second.id, dispatch.id);
    back.finish(&second, report::complete());
}

#[test]
fn a_duplicate_answer_is_acceptance() {
    let stage = stage();
    stage.session.set_manner(Manner::Silent);
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.peer.answer(&dispatch.request, &json!({"accepted": true, "duplicate": true}));
    handoffd_tests::wait::until_true("accepted", || {
        stage.control.project(&stage.project)["task"]["delivery"] == "accepted"
    });
    stage.session.finish(&dispatch, report::complete());
}
