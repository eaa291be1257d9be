//! From PENDING to the session: when a task leaves, and what stands on disk when it does.

use handoffd_tests::{Attach, Task, report, wait, world};
use serde_json::{Value, json};
use std::time::Duration;

use crate::support::{codes, parse, stage};

#[test]
fn a_task_travels_from_pending_to_complete() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    let answer = stage.session.report(&dispatch, report::complete()).unwrap();
    assert_eq!(answer, json!({"status": "COMPLETE", "work_log": "appended"}));
    let document = stage.project.document();
    assert_eq!(document["status"], "COMPLETE");
    assert_eq!(document["result"], "Appended the line.");
    assert_eq!(stage.project.log_lines().len(), 1);
    assert_eq!(stage.session.count("t-1"), 1);
}

#[test]
fn running_is_on_disk_before_the_message() {
    let stage = stage();
    let task = Task::new("t-1").reviewed();
    stage.project.plan(&task);
    let dispatch = stage.session.wait_dispatch("t-1");
    let seen = parse(&dispatch.queue);
    assert_eq!(seen["status"], "RUNNING");
    assert_eq!(seen["updated_by"], format!("handoffd/{}", dispatch.id));
    assert_eq!(dispatch.id.len(), 32);
    let started = seen["started_at"].as_str().unwrap();
    assert!(started.ends_with('Z') && started.contains('.'), "milliseconds in UTC: {started}");
    let planned = parse(task.text().as_bytes());
    for (key, value) in planned.as_object().unwrap().iter().filter(|(key, _)| *key != "status") {
        assert_eq!(&seen[key], value, "{key}");
    }
}

#[test]
fn the_message_carries_the_planners_fields() {
    let stage = stage();
    let task = Task::new("t-1").with("instruction", "Say \u{201c}hello\u{201d} in notes.txt.").reviewed();
    stage.project.plan(&task);
    let dispatch = stage.session.wait_dispatch("t-1");
    let message = dispatch.params["message"].as_str().unwrap();
    for text in
        ["Say \u{201c}hello\u{201d} in notes.txt.", "t-1", "the line is there", "notes.txt", "handoff_task_report"]
    {
        assert!(message.contains(text), "{text} is not in\n{message}");
    }
    for (key, value) in task.planner_fields().as_object().unwrap() {
        let given = &dispatch.params["planner"][key];
        assert!(given == value || (value.is_null() && given.is_null()), "{key}: {given} instead of {value}");
    }
    assert!(dispatch.params["expires_at"].is_string());
}

#[test]
fn a_task_waits_while_the_session_is_busy() {
    let world = world!();
    let project = world.project("app");
    let daemon = world.start();
    let control = daemon.control();
    let session = daemon.attach(&world.process(), &project, &Attach::busy("s-1"));
    project.plan(&Task::new("t-1"));
    let row = control.wait_state(&project, "waiting", "busy");
    assert_eq!(row["queue"]["task_id"], "t-1");
    assert!(row["why"].is_string() && row["next"].is_string(), "{row}");
    assert_eq!(project.status(), "PENDING");
    assert_eq!(session.count("t-1"), 0);
    session.state("idle");
    assert_eq!(parse(&session.wait_dispatch("t-1").queue)["status"], "RUNNING");
}

#[test]
fn a_task_waits_for_a_session() {
    let world = world!();
    let project = world.project("app");
    project.plan(&Task::new("t-1"));
    let daemon = world.start();
    daemon.control().wait_state(&project, "waiting", "no_session");
    assert_eq!(project.status(), "PENDING");
    let session = daemon.idle_session(&world, &project, "s-1");
    assert_eq!(session.wait_dispatch("t-1").task_id, "t-1");
}

#[test]
fn a_session_is_busy_until_its_turn_has_ended() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let first = stage.session.wait_dispatch("t-1");
    stage.session.report(&first, report::complete()).unwrap();
    stage.project.plan(&Task::new("t-2"));
    stage.control.wait_state(&stage.project, "waiting", "busy");
    assert_eq!(stage.session.count("t-2"), 0);
    stage.session.settled(&first);
    assert_eq!(stage.session.wait_dispatch("t-2").task_id, "t-2");
}

#[test]
fn an_invalid_task_is_refused_with_all_its_problems() {
    let stage = stage();
    let task = Task::new("t-1")
        .with("task_type", "PAINT")
        .with("instruction", "  ")
        .with("scope", json!(["src", "../elsewhere", "/etc/passwd"]))
        .with("created_at", "yesterday")
        .without("acceptance_criteria");
    stage.project.plan(&task);
    let document = stage.project.wait_status("ERROR");
    let error = document["error"].as_str().unwrap();
    assert!(error.starts_with("Rejected PENDING task: "), "{error}");
    for field in ["`task_type`", "`instruction`", "`scope[1]`", "`scope[2]`", "`created_at`", "`acceptance_criteria`"] {
        assert!(error.contains(field), "{field} is not in {error}");
    }
    assert_eq!(document["updated_by"], "handoffd");
    assert_eq!(document["started_at"], Value::Null);
    assert_eq!(stage.session.count("t-1"), 0);
    assert!(stage.project.log_lines().is_empty(), "a rejection is in the journal only");
}

#[test]
fn submit_tells_all_problems_and_writes_nothing() {
    let stage = stage();
    let before = stage.project.bytes();
    let task = Task::new("t-1").with("task_type", "PAINT").with("created_by", "me").planner_fields();
    let refused = stage.control.ask("task.submit", &stage.project, json!({"task": task})).unwrap_err();
    assert_eq!(refused.name(), "invalid_task");
    assert_eq!(codes(&refused.data["problems"]), ["unknown_value", "wrong_creator"]);
    assert_eq!(stage.project.bytes(), before);
}

#[test]
fn submit_writes_a_pending_task_that_is_dispatched() {
    let stage = stage();
    let task = Task::new("t-1").planner_fields();
    let done = stage.control.ask("task.submit", &stage.project, json!({"task": task})).unwrap();
    assert_eq!((&done["task_id"], &done["status"]), (&json!("t-1"), &json!("PENDING")));
    let dispatch = stage.session.wait_dispatch("t-1");
    let busy = stage.control.ask("task.submit", &stage.project, json!({"task": Task::new("t-2").planner_fields()}));
    assert_eq!(busy.unwrap_err().name(), "queue_busy");
    stage.session.finish(&dispatch, report::complete());
}

#[test]
fn f025_thirty_projects_at_once_are_all_seen() {
    let world = world!();
    let projects: Vec<_> = (0..30).map(|number| world.project(&format!("p{number}"))).collect();
    let daemon = world.start();
    let process = world.process();
    let sessions: Vec<_> =
        projects.iter().map(|project| daemon.attach(&process, project, &Attach::idle("s-1"))).collect();
    for (number, project) in projects.iter().enumerate() {
        project.plan(&Task::new(&format!("t-{number}")));
    }
    for (number, session) in sessions.iter().enumerate() {
        let dispatch = session.wait_dispatch(&format!("t-{number}"));
        assert_eq!(parse(&dispatch.queue)["status"], "RUNNING");
    }
    for (number, session) in sessions.iter().enumerate() {
        let dispatch = session.wait_dispatch(&format!("t-{number}"));
        session.finish(&dispatch, report::complete());
        assert_eq!(session.dispatches().len(), 1);
    }
}

#[test]
fn f241_two_sessions_have_one_owner_and_the_next_follows() {
    let stage = stage();
    let second = stage.daemon.idle_session(&stage.world, &stage.project, "s-2");
    assert_eq!(second.ownership(), "standby");
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    let refused = second.report(&dispatch, report::complete()).unwrap_err();
    assert_eq!(refused.name(), "not_owner");
    stage.session.finish(&dispatch, report::complete());
    stage.session.leave("quit");
    second.peer.wait_told("session.ownership", |params| params["ownership"] == "owner");
    stage.project.plan(&Task::new("t-2"));
    assert_eq!(second.wait_dispatch("t-2").task_id, "t-2");
    assert_eq!((second.count("t-1"), stage.session.count("t-2")), (0, 0));
}

#[test]
fn f241_a_nested_worktree_is_another_project() {
    let stage = stage();
    let nested = stage.project.root().join("wt/feature");
    std::fs::create_dir_all(&nested).unwrap();
    let inner = handoffd_tests::Project::create(&nested);
    let process = stage.world.process();
    let refused = stage.daemon.try_attach(&process, &inner, &Attach::idle("s-2")).err().expect("nobody knows it");
    assert_eq!(refused.name(), "unknown_project");
    assert_eq!(refused.data["nearest"], json!(stage.project.root()));
    stage.control.call("project.add", json!({"path": inner.root()})).unwrap();
    let second = stage.daemon.attach(&process, &inner, &Attach::idle("s-2"));
    inner.plan(&Task::new("t-in"));
    stage.project.plan(&Task::new("t-out"));
    assert_eq!(second.wait_dispatch("t-in").task_id, "t-in");
    assert_eq!(stage.session.wait_dispatch("t-out").task_id, "t-out");
    assert_eq!((second.dispatches().len(), stage.session.dispatches().len()), (1, 1));
}

#[test]
fn f242_a_task_written_right_after_complete_is_seen() {
    let stage = stage();
    for number in 0..20 {
        let id = format!("t-{number}");
        stage.project.plan(&Task::new(&id));
        let dispatch = stage.session.wait_dispatch(&id);
        stage.session.finish(&dispatch, report::complete());
    }
    assert_eq!(stage.session.dispatches().len(), 20);
    assert_eq!(stage.project.log_lines().len(), 20);
}

#[test]
fn f261_idle_and_busy_a_hundred_times_is_no_news() {
    let stage = stage();
    for _ in 0..100 {
        stage.session.state("busy");
        stage.session.state("idle");
    }
    stage.session.ping();
    assert!(stage.session.peer.told("session.notice").is_empty());
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.finish(&dispatch, report::complete());
}

#[test]
fn a_stopped_session_gets_nothing_until_it_goes_on() {
    let stage = stage();
    stage.session.process.stop();
    stage.project.plan(&Task::new("t-1"));
    let row = stage.control.wait_state(&stage.project, "waiting", "stopped");
    assert!(row["why"].as_str().unwrap().contains("stopped"), "{row}");
    assert_eq!(stage.project.status(), "PENDING");
    stage.session.process.go_on();
    assert_eq!(stage.session.wait_dispatch("t-1").task_id, "t-1");
}

#[test]
fn f165_a_planner_that_rewrites_during_the_dispatch_wins() {
    let stage = stage();
    for round in 0..10 {
        let id = format!("t-{round}");
        for value in 0..20 {
            stage.project.plan(&Task::new(&id).with("preferred_agent", format!("agent-{value}")));
        }
        let last = wait::until("the last write stands, whatever the daemon did", || {
            Some(stage.project.document()).filter(|document| document["preferred_agent"] == "agent-19")
        });
        assert_eq!(last["task_id"], id.as_str());
        wait::stays(Duration::from_millis(50), "the planner's fields stay", || {
            stage.project.member("preferred_agent") == "agent-19"
        });
        stage.project.replace(b"{\"schema_version\": 3, \"status\": \"IDLE\"}\n");
        wait::until("the project is free again", || {
            let row = stage.control.project(&stage.project);
            if row["state"] == "halted" {
                drop(stage.control.ask("project.resume", &stage.project, json!({})));
            }
            stage.session.state("idle");
            (row["state"] == "idle").then_some(())
        });
    }
}
