//! What another writer does to `tasks.json` while a task is RUNNING (D11), and the last window before a write (D64).

use std::process::Command;

use handoffd_tests::{Attach, Known, Robot, Task, report, wait, world};
use serde_json::json;

use crate::support::{Stage, stage};

/// A task that is RUNNING, and its dispatch.
fn running(stage: &Stage) -> handoffd_tests::session::Dispatch {
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.ping();
    dispatch
}

#[test]
fn a_replacement_during_a_task_is_kept_and_dispatch_stops_until_resume() {
    let stage = stage();
    let dispatch = running(&stage);
    let other = Task::new("t-2");
    stage.project.plan(&other);
    let row = stage.control.wait_state(&stage.project, "halted", "replaced");
    assert!(row["next"].as_str().unwrap().contains("handoff resume"), "{row}");
    stage.session.peer.wait_told("session.notice", |_| true);
    let refused = stage.session.report(&dispatch, report::complete()).unwrap_err();
    assert_eq!(refused.name(), "queue_changed");
    stage.session.settled(&dispatch);
    stage.session.state("idle");
    stage.session.ping();
    assert_eq!(stage.control.project(&stage.project)["state"], "halted");
    assert_eq!(stage.project.bytes(), other.text().as_bytes());
    let lifted = stage.control.ask("project.resume", &stage.project, json!({})).unwrap();
    assert_eq!(lifted["lifted"], json!(["halted"]));
    let second = stage.session.wait_dispatch("t-2");
    assert_eq!(stage.session.report(&dispatch, report::complete()).unwrap_err().name(), "no_such_dispatch");
    stage.session.finish(&second, report::complete());
}

#[test]
fn a_task_that_comes_back_ends_the_halt_by_itself() {
    let stage = stage();
    let dispatch = running(&stage);
    let bytes = stage.project.bytes();
    stage.project.plan(&Task::new("t-2"));
    stage.control.wait_state(&stage.project, "halted", "replaced");
    stage.project.replace(&bytes);
    stage.control.wait_state(&stage.project, "running", "");
    stage.session.finish(&dispatch, report::complete());
    assert_eq!(stage.project.status(), "COMPLETE");
}

#[test]
fn f008_a_halt_outlives_the_daemon() {
    for kill in [true, false] {
        let stage = stage();
        let dispatch = running(&stage);
        let bytes = stage.project.bytes();
        stage.project.plan(&Task::new("t-2"));
        stage.control.wait_state(&stage.project, "halted", "replaced");
        let Stage { session, project, world, daemon, .. } = stage;
        if kill {
            daemon.kill();
        } else {
            assert!(daemon.terminate().success());
        }
        session.peer.wait_closed();
        let daemon = world.start();
        let control = daemon.control();
        control.wait_state(&project, "halted", "replaced");
        // Its task counts as running until a person gives it up: it goes on when it comes back.
        let back =
            session.reattach(daemon.socket(), &Attach::again("s-1", Known::Delivered(dispatch.id.clone()))).unwrap();
        let accepted = || control.call("history.list", json!({"task_id": "t-2"})).unwrap().to_string();
        assert!(!accepted().contains("accepted"), "the file's task was never accepted: {}", accepted());
        project.replace(&bytes);
        control.wait_state(&project, "running", "");
        project.plan(&Task::new("t-3"));
        control.wait_state(&project, "halted", "replaced");
        back.settled(&dispatch);
        back.state("idle");
        let lifted = control.ask("project.resume", &project, json!({})).unwrap();
        assert_eq!(lifted["lifted"], json!(["halted"]));
        let third = back.wait_dispatch("t-3");
        back.finish(&third, report::complete());
        assert_eq!((back.count("t-2"), back.count("t-3")), (0, 1));
    }
}

#[test]
fn a_file_that_vanished_during_a_task_halts() {
    let stage = stage();
    let dispatch = running(&stage);
    std::fs::remove_file(stage.project.queue()).unwrap();
    stage.control.wait_state(&stage.project, "halted", "replaced");
    assert_eq!(stage.session.report(&dispatch, report::complete()).unwrap_err().name(), "queue_changed");
    stage.control.ask("project.resume", &stage.project, json!({})).unwrap();
    assert!(!stage.project.queue().exists(), "nothing is made up");
}

#[test]
fn an_edit_that_changes_nothing_of_the_task_is_carried_on() {
    let stage = stage();
    let dispatch = running(&stage);
    let text = String::from_utf8(stage.project.bytes()).unwrap();
    let edited = text.replacen('{', "{\n  \"remark\": \"mine\",", 1);
    stage.project.replace(edited.as_bytes());
    stage.session.finish(&dispatch, report::complete());
    let document = stage.project.document();
    assert_eq!((&document["status"], &document["remark"]), (&json!("COMPLETE"), &json!("mine")));
}

#[test]
fn a_running_that_a_person_wrote_is_an_orphan() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1").with("status", "RUNNING"));
    let document = stage.project.wait_status("ERROR");
    let error = document["error"].as_str().unwrap();
    assert!(error.starts_with("Unowned RUNNING task: its effects are unknown, so it is never rerun."), "{error}");
    assert_eq!(stage.session.count("t-1"), 0);
}

#[test]
fn f008_a_branch_switch_during_a_task_is_kept_and_not_run() {
    let stage = stage();
    if !stage.world.has_tool("git") {
        return;
    }
    let git = |arguments: &[&str]| {
        let mut command: Command = stage.world.command("git".as_ref());
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=x"];
        let done = command.current_dir(stage.project.root()).args(identity).args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let old = Task::new("old");
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    git(&["checkout", "-q", "-b", "y"]);
    stage.project.plan(&old.clone().with("status", "IDLE"));
    git(&["add", "tasks.json"]);
    git(&["commit", "-q", "-m", "y"]);
    git(&["checkout", "-q", "x"]);
    let dispatch = running(&stage);
    git(&["checkout", "-q", "-f", "y"]);
    stage.control.wait_state(&stage.project, "halted", "replaced");
    assert_eq!(stage.project.bytes(), old.with("status", "IDLE").text().as_bytes());
    assert_eq!(stage.session.report(&dispatch, report::complete()).unwrap_err().name(), "queue_changed");
    git(&["checkout", "-q", "x"]);
    assert_eq!(stage.session.count("old"), 0);
}

#[test]
fn a_tasks_json_that_git_tracks_is_held() {
    let world = world!();
    if !world.has_tool("git") {
        return;
    }
    let project = world.project("app");
    let git = |arguments: &[&str]| {
        let mut command = world.command("git".as_ref());
        let done = command.current_dir(project.root()).args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q"]);
    git(&["add", "tasks.json"]);
    let daemon = world.start();
    let control = daemon.control();
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("t-1"));
    let row = control.wait_state(&project, "held", "tracked_by_git");
    assert!(row["next"].as_str().unwrap().contains("handoff resume"), "{row}");
    assert_eq!(project.status(), "PENDING");
    wait::until_true("RUNNING, begun and not wanted, is gone", || project.remains().is_empty());
    let lifted = control.ask("project.resume", &project, json!({})).unwrap();
    assert_eq!(lifted["lifted"], json!(["held"]));
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
    project.plan(&Task::new("t-2"));
    control.wait_state(&project, "held", "tracked_by_git");
    git(&["rm", "-q", "-f", "--cached", "tasks.json"]);
    let dispatch = session.wait_dispatch("t-2");
    session.finish(&dispatch, report::complete());
}

#[test]
fn the_third_time_within_ten_minutes_is_held() {
    let stage = stage();
    for time in 1..=2 {
        stage.project.plan(&Task::new("t-1"));
        let dispatch = stage.session.wait_nth_dispatch("t-1", time);
        stage.session.finish(&dispatch, report::error("not yet"));
    }
    let again = stage.session.dispatches()[1].params["message"].as_str().unwrap().to_owned();
    assert!(again.contains("not yet") || again.contains("ERROR"), "the message says how it ended before:\n{again}");
    stage.project.plan(&Task::new("t-1"));
    stage.control.wait_state(&stage.project, "held", "repeating");
    assert_eq!(stage.session.count("t-1"), 2);
    stage.control.ask("project.resume", &stage.project, json!({})).unwrap();
    let third = stage.session.wait_nth_dispatch("t-1", 3);
    stage.session.finish(&third, report::complete());
}

#[test]
fn f165_a_planner_that_rewrites_in_a_tight_loop_loses_no_write() {
    let world = world!();
    let project = world.project("app");
    let daemon = world.start();
    let control = daemon.control();
    let robot = Robot::start(&world.process(), world.socket(), &project, "robot");
    control.wait_state(&project, "idle", "");
    for serial in 0..400 {
        let id = format!("t-{serial}");
        project.plan(&Task::new(&id));
        if serial % 8 == 0 {
            wait::until("the write stands", || {
                if control.project(&project)["state"] == "halted" {
                    drop(control.ask("project.resume", &project, json!({})));
                }
                (project.member("task_id") == id.as_str()).then_some(())
            });
        }
    }
    wait::until("the last task is done", || {
        if control.project(&project)["state"] == "halted" {
            drop(control.ask("project.resume", &project, json!({})));
        }
        assert_eq!(project.member("task_id"), "t-399");
        (project.status() == "COMPLETE").then_some(())
    });
    let mut ids: Vec<_> = robot.dispatches().into_iter().map(|dispatch| dispatch.task_id).collect();
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "nothing twice");
    let lost: Vec<_> = project.remains().into_iter().filter(|name| name.contains(".lost-")).collect();
    assert!(lost.is_empty(), "a rename never lands in a displaced file: {lost:?}");
}

#[test]
fn f158_leftovers_named_like_our_temporaries_block_nothing() {
    let world = world!();
    let project = world.project("app");
    let outside = world.path("outside");
    std::fs::write(&outside, "precious").unwrap();
    let name = |digit: &str, end: &str| project.root().join(format!(".tasks.json.{}.{end}", digit.repeat(32)));
    std::fs::write(name("a", "new"), "half").unwrap();
    std::fs::create_dir(name("b", "new")).unwrap();
    std::os::unix::fs::symlink(&outside, name("c", "new")).unwrap();
    let daemon = world.start();
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("t-1"));
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "precious");
    assert!(!name("a", "new").exists(), "a leftover of ours is removed");
}

#[test]
fn f158_a_link_named_like_a_displaced_file_is_kept_and_not_followed() {
    let world = world!();
    let project = world.project("app");
    let outside = world.path("outside");
    std::fs::write(&outside, "precious").unwrap();
    let swap = project.root().join(format!(".tasks.json.{}.swap", "d".repeat(32)));
    std::os::unix::fs::symlink(&outside, &swap).unwrap();
    let daemon = world.start();
    let control = daemon.control();
    control.wait_state(&project, "halted", "lost_write");
    assert!(!swap.is_symlink() && project.remains().len() == 1, "{:?}", project.remains());
    control.ask("project.resume", &project, json!({})).unwrap();
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("t-1"));
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "precious");
}

#[test]
fn a_planners_write_that_nobody_saw_is_kept_and_told() {
    let world = world!();
    let project = world.project("app");
    let swap = project.root().join(format!(".tasks.json.{}.swap", "e".repeat(32)));
    std::fs::write(&swap, Task::new("unseen").text()).unwrap();
    let daemon = world.start();
    let row = daemon.control().wait_state(&project, "halted", "lost_write");
    assert!(row["why"].is_string(), "{row}");
    let kept: Vec<_> = project.remains().into_iter().filter(|name| name.starts_with("tasks.json.lost-")).collect();
    assert_eq!(kept.len(), 1, "{:?}", project.remains());
    assert_eq!(std::fs::read_to_string(project.root().join(&kept[0])).unwrap(), Task::new("unseen").text());
    assert!(!swap.exists());
}
