//! The report: what is believed, what is refused, what is written.

use handoffd_tests::{Task, report, wait};
use serde_json::{Value, json};

use crate::support::{codes, stage};

#[test]
fn complete_carries_the_evidence_and_exactly_one_log_line() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1").reviewed());
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.finish(&dispatch, report::reviewed("APPROVED\nwith remarks"));
    let document = stage.project.document();
    assert_eq!(document["assigned_agent"], "builder");
    assert_eq!(document["assigned_model"], "mock/mock-main");
    assert_eq!(document["thinking"], "medium");
    assert_eq!(document["files_changed"], json!(["notes.txt"]));
    assert_eq!(document["updated_by"], format!("handoffd/{}", dispatch.id));
    let evidence = &document["report"];
    assert_eq!(evidence["version"], 1);
    assert_eq!(evidence["worker"]["run_id"], "r-1");
    assert_eq!(evidence["gate_evidence"][0]["agent"], "checker");
    assert_eq!(evidence["gate_evidence"][0]["result"], "APPROVED\nwith remarks");
    assert_eq!(evidence["async_status"]["checked"], true);
    let lines = stage.project.log_lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let line = &lines[0];
    assert!(line.contains("COMPLETE t-1 (IMPLEMENT) by builder r-1; review-after by checker"), "{line}");
    assert!(line.ends_with(&format!("[{}]", dispatch.id)), "{line}");
}

#[test]
fn a_refused_report_tells_everything_and_can_be_sent_again() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1").reviewed());
    let dispatch = stage.session.wait_dispatch("t-1");
    let before = stage.project.bytes();
    let mut wrong = report::complete();
    wrong["worker"]["agent"] = json!("nobody");
    wrong["async_status"]["pending_run_ids"] = json!(["r-9"]);
    wrong["files_changed"] = json!(["elsewhere.txt"]);
    let refused = stage.session.report(&dispatch, wrong).unwrap_err();
    assert_eq!(refused.name(), "report_refused");
    let told = codes(&refused.data["problems"]);
    for code in ["unknown_agent", "gate_missing", "runs_pending", "file_outside_scope"] {
        assert!(told.contains(&code), "{code} is not in {told:?}");
    }
    assert_eq!(stage.project.bytes(), before);
    assert_eq!(stage.control.wait_state(&stage.project, "running", "")["task"]["report"], "refused");
    stage.session.finish(&dispatch, report::reviewed("APPROVED"));
    assert_eq!(stage.project.status(), "COMPLETE");
}

#[test]
fn an_error_report_is_believed() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.finish(&dispatch, report::error("the compiler is missing"));
    let document = stage.project.document();
    assert_eq!((&document["status"], &document["error"]), (&json!("ERROR"), &json!("the compiler is missing")));
    assert!(stage.project.log_lines()[0].contains("ERROR t-1 (IMPLEMENT)"));
}

#[test]
fn f167_a_late_report_is_answered_and_changes_nothing() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let first = stage.session.wait_dispatch("t-1");
    stage.session.finish(&first, report::complete());
    stage.project.plan(&Task::new("t-2"));
    let second = stage.session.wait_dispatch("t-2");
    let before = stage.project.bytes();
    let late = stage.session.report(&first, report::complete()).unwrap_err();
    assert_eq!((late.name(), &late.data["status"]), ("dispatch_ended", &json!("COMPLETE")));
    assert_eq!(late.data["work_log"], "appended");
    assert_eq!(stage.project.bytes(), before);
    assert_eq!(stage.project.log_lines().len(), 1);
    stage.session.finish(&second, report::complete());
    assert_eq!(stage.session.count("t-2"), 1);
}

#[test]
fn a_report_about_nothing_known_is_refused() {
    let stage = stage();
    let refused =
        stage.session.peer.call("task.report", json!({"dispatch_id": "0".repeat(32), "report": report::complete()}));
    assert_eq!(refused.unwrap_err().name(), "no_such_dispatch");
}

#[test]
fn observed_runs_beat_what_is_claimed() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.run_started(&dispatch, report::run("r-1", "running"));
    let refused = stage.session.report(&dispatch, report::complete()).unwrap_err();
    assert_eq!(codes(&refused.data["problems"]), ["runs_pending"]);
    stage.session.run_finished(&dispatch, report::run("r-1", "complete"));
    stage.session.finish(&dispatch, report::complete());
    assert_eq!(stage.project.document()["report"]["observed"]["runs"][0]["run_id"], "r-1");
}

#[test]
fn f253_a_turn_without_a_report_is_reminded_once_and_then_ends() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.settled(&dispatch);
    stage.session.peer.wait_told("task.remind", |params| params["dispatch_id"] == dispatch.id.as_str());
    stage.session.state("busy");
    stage.session.ping();
    assert_eq!(stage.project.status(), "RUNNING");
    stage.session.settled(&dispatch);
    let document = stage.project.wait_status("ERROR");
    assert_eq!(document["error"], "The turn ended without a valid report.");
    assert_eq!(stage.session.peer.told("task.remind").len(), 1);
    let rows = || stage.control.call("history.list", json!({"task_id": "t-1"})).unwrap().to_string();
    wait::until_true("the journal tells of it, once", || rows().matches("\"kind\":\"reminded\"").count() == 1);
}

#[test]
fn f254_a_task_with_a_background_run_waits_for_its_report() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.run_started(&dispatch, report::run("r-1", "running"));
    stage.session.settled(&dispatch);
    stage.session.ping();
    let row = stage.control.wait_state(&stage.project, "running", "");
    assert_eq!(row["task"]["runs"]["running"], 1);
    assert_eq!(stage.project.status(), "RUNNING");
    stage.session.run_finished(&dispatch, report::run("r-1", "complete"));
    stage.session.finish(&dispatch, report::complete());
    assert_eq!(stage.project.status(), "COMPLETE");
}

#[test]
fn an_aborted_turn_ends_the_task_at_once() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.peer.notify("session.settled", &json!({"dispatch_id": dispatch.id, "aborted": true}));
    assert_eq!(stage.project.wait_status("ERROR")["error"], "The turn was aborted without a report.");
    assert!(stage.session.peer.told("task.remind").is_empty());
}

#[test]
fn a_report_that_does_not_fit_can_be_sent_shorter() {
    let stage = stage();
    let task = Task::new("t-1").with("notes", "n".repeat(200 * 1024));
    stage.project.plan(&task);
    let dispatch = stage.session.wait_dispatch("t-1");
    let mut long = report::complete();
    long["tests_run"] = json!(["x".repeat(100 * 1024)]);
    let refused = stage.session.report(&dispatch, long).unwrap_err();
    assert_eq!(refused.name(), "report_too_large", "{refused:?}");
    assert_eq!(refused.data["limit"], 256 * 1024);
    assert_eq!(stage.project.status(), "RUNNING");
    stage.session.finish(&dispatch, report::complete());
    assert_eq!(stage.project.document()["notes"].as_str().unwrap().len(), 200 * 1024);
}

#[test]
fn a_work_log_that_broke_meanwhile_turns_complete_into_error() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    std::fs::write(stage.project.work_log(), "# Notes\n\nthe heading is gone\n").unwrap();
    let answer = stage.session.report(&dispatch, report::complete()).unwrap();
    assert_eq!(answer, json!({"status": "ERROR", "work_log": "failed"}));
    let document = stage.project.document();
    assert_eq!(document["status"], "ERROR");
    assert!(document["error"].as_str().unwrap().contains("## Work log"), "{}", document["error"]);
    let again = stage.session.report(&dispatch, report::complete()).unwrap_err();
    assert_eq!((again.name(), &again.data["work_log"]), ("dispatch_ended", &json!("failed")));
}

#[test]
fn a_task_that_could_not_be_logged_is_not_started() {
    let stage = stage();
    std::fs::write(stage.project.work_log(), "# Notes\n").unwrap();
    stage.project.plan(&Task::new("t-1"));
    let row = stage.control.wait_state(&stage.project, "blocked", "work_log");
    assert!(row["why"].as_str().unwrap().contains("## Work log"), "{row}");
    assert_eq!(stage.project.status(), "PENDING");
    std::fs::write(stage.project.work_log(), "# Notes\n\n## Work log\n").unwrap();
    assert_eq!(stage.session.wait_dispatch("t-1").task_id, "t-1");
}

#[test]
fn an_unreadable_file_stops_nothing_and_a_report_waits() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    let running = stage.project.bytes();
    stage.project.replace(b"{ half a docu");
    wait::until("the report is told to wait", || {
        let refused = stage.session.report(&dispatch, report::complete()).unwrap_err();
        (refused.name() == "queue_unreadable").then_some(())
    });
    assert_eq!(stage.project.bytes(), b"{ half a docu");
    stage.project.replace(&running);
    wait::until("the report is taken", || stage.session.report(&dispatch, report::complete()).ok());
    assert_eq!(stage.project.status(), "COMPLETE");
}

#[test]
fn a_missing_report_of_one_dispatch_is_not_another_ones() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    let params = json!({"dispatch_id": dispatch.id.to_uppercase(), "report": report::complete()});
    assert_eq!(stage.session.peer.call("task.report", params).unwrap_err().name(), "no_such_dispatch");
    assert_eq!(stage.project.member("result"), Value::Null);
    stage.session.finish(&dispatch, report::complete());
}
