//! The daemon goes away, in order or not, and another one comes (D19, D22).

use std::fs;

use handoffd_tests::session::Dispatch;
use handoffd_tests::{Attach, Daemon, Known, Manner, Project, Session, Task, World, report, wait, world};
use serde_json::{Value, json};

use crate::support::{Stage, parse, stage};

fn running(stage: &Stage) -> Dispatch {
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.ping();
    wait::until_true("accepted", || stage.control.project(&stage.project)["task"]["delivery"] == "accepted");
    dispatch
}

/// What is left of a stage when its daemon is gone.
struct Left {
    session: Session,
    project: Project,
    world: World,
}

fn kill(stage: Stage) -> Left {
    stage.daemon.kill();
    stage.session.peer.wait_closed();
    Left { session: stage.session, project: stage.project, world: stage.world }
}

fn delivered(dispatch: &Dispatch) -> Attach {
    Attach::again("s-1", Known::Delivered(dispatch.id.clone()))
}

#[test]
fn f060_a_killed_daemon_leaves_its_task_to_the_next_one() {
    let stage = stage();
    let dispatch = running(&stage);
    let left = kill(stage);
    let daemon = left.world.start();
    let row = daemon.control().wait_state(&left.project, "running", "");
    assert_eq!(row["task"]["dispatch_id"], dispatch.id.as_str());
    let back = left.session.reattach(daemon.socket(), &delivered(&dispatch)).unwrap();
    assert_eq!(back.ownership(), "owner");
    assert_eq!(back.attached["task"]["dispatch_id"], dispatch.id.as_str());
    back.finish(&dispatch, report::complete());
    assert_eq!((left.project.status().as_str(), back.count("t-1")), ("COMPLETE", 1));
    assert_eq!(left.project.log_lines().len(), 1);
    left.project.plan(&Task::new("t-2"));
    let second = back.wait_dispatch("t-2");
    back.finish(&second, report::complete());
}

#[test]
fn a_restart_in_mid_task_is_no_warning_and_a_crash_is_one() {
    let stage = stage();
    let dispatch = running(&stage);
    let (session, project, world) = (stage.session, stage.project, stage.world);
    assert!(stage.daemon.terminate().success());
    let daemon = world.start();
    let back = session.reattach(daemon.socket(), &delivered(&dispatch)).unwrap();
    // The log is written behind everything else, in order.
    let attached = |log: &str| log.matches("a session has attached").count();
    let log_of = |daemon: &Daemon, times: usize| {
        wait::until("the session is in the log", || Some(daemon.log()).filter(|log| attached(log) == times))
    };
    let log = log_of(&daemon, 2);
    assert!(log.contains("the daemon before this one left it to us"), "{log}");
    assert!(!log.contains(" WARN ") && !log.contains("state=starting"), "{log}");
    wait::until_true("the log's last state is how it is", || {
        let log = daemon.log();
        let state = log.lines().rfind(|line| line.contains("the state has changed")).unwrap_or_default();
        state.contains("state=running") && state.contains("the session is at work")
    });
    daemon.kill();
    let daemon = world.start();
    let back = back.reattach(daemon.socket(), &delivered(&dispatch)).unwrap();
    let log = log_of(&daemon, 3);
    let warned: Vec<&str> = log.lines().filter(|line| line.contains(" WARN ")).collect();
    assert!(warned.len() == 1 && warned[0].contains("the lock of a dead owner was recovered"), "{warned:?}");
    back.finish(&dispatch, report::complete());
    assert_eq!(project.status(), "COMPLETE");
}

#[test]
fn the_first_status_of_a_daemon_tells_of_no_start() {
    let world = world!();
    let projects: Vec<_> = (0..30).map(|number| world.project(&format!("app-{number}"))).collect();
    let daemon = world.start();
    let status = daemon.control().status();
    let shown = status["projects"].as_array().unwrap();
    assert_eq!(shown.len(), projects.len());
    assert!(shown.iter().all(|project| project["state"] == "idle"), "{status}");
}

#[test]
fn sigterm_keeps_the_binding_of_a_running_task() {
    let stage = stage();
    let dispatch = running(&stage);
    let (session, project, world) = (stage.session, stage.project, stage.world);
    assert!(stage.daemon.terminate().success());
    assert_eq!(project.status(), "RUNNING");
    let lock = parse(&fs::read(project.lock()).unwrap());
    assert_eq!(lock["session"]["session_id"], "s-1");
    assert_eq!(lock["session"]["pid"], session.process.pid());
    let daemon = world.start();
    let back = session.reattach(daemon.socket(), &delivered(&dispatch)).unwrap();
    back.finish(&dispatch, report::complete());
    assert_eq!(back.count("t-1"), 1);
}

#[test]
fn sigterm_without_a_task_releases_the_lock() {
    let stage = stage();
    assert!(stage.project.lock().exists());
    assert!(stage.daemon.terminate().success());
    assert!(!stage.project.lock().exists());
    assert!(!stage.world.socket().exists());
}

#[test]
fn f250_a_session_that_dies_with_the_daemon_gives_error() {
    let stage = stage();
    running(&stage);
    let left = kill(stage);
    left.session.process.kill();
    let daemon = left.world.start();
    let document = left.project.wait_status("ERROR");
    let error = document["error"].as_str().unwrap();
    assert!(error.starts_with("Unowned RUNNING task: its effects are unknown, so it is never rerun."), "{error}");
    assert!(error.contains("s-1"), "it says whose it was: {error}");
    let session = daemon.idle_session(&left.world, &left.project, "s-2");
    session.ping();
    assert_eq!(session.count("t-1"), 0);
    assert_eq!(left.project.log_lines().len(), 1);
}

#[test]
fn what_was_never_confirmed_says_that_submitting_again_is_safe() {
    let stage = stage();
    stage.session.set_manner(Manner::Busy);
    stage.project.plan(&Task::new("t-1"));
    stage.session.wait_dispatch("t-1");
    // What proves it must be on record before the daemon dies.
    let rows = || stage.control.call("history.list", json!({"task_id": "t-1"})).unwrap();
    wait::until_true("the refusal is in the journal", || rows().to_string().contains("\"not_accepted\""));
    let left = kill(stage);
    left.session.process.kill();
    let daemon = left.world.start();
    let error = left.project.wait_status("ERROR")["error"].as_str().unwrap().to_owned();
    assert!(error.contains("It was not delivered; submitting it again is safe."), "{error}");
    drop(daemon);
}

#[test]
fn a_dispatch_that_did_not_arrive_before_the_crash_is_sent_again() {
    let stage = stage();
    stage.session.set_manner(Manner::Busy);
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    let left = kill(stage);
    let daemon = left.world.start();
    left.session.set_manner(Manner::Accept);
    let how = Attach { idle: true, ..Attach::again("s-1", Known::Nothing) };
    let back = left.session.reattach(daemon.socket(), &how).unwrap();
    let second = back.wait_nth_dispatch("t-1", 2);
    assert_eq!(second.id, dispatch.id);
    back.finish(&second, report::complete());
}

#[test]
fn an_acceptance_in_the_journal_is_never_sent_again() {
    let stage = stage();
    let dispatch = running(&stage);
    let left = kill(stage);
    let daemon = left.world.start();
    let how = Attach { idle: true, ..Attach::again("s-1", Known::Nothing) };
    let back = left.session.reattach(daemon.socket(), &how).unwrap();
    back.peer.wait_told("task.remind", |_| true);
    back.finish(&dispatch, report::complete());
    assert_eq!(back.count("t-1"), 1);
}

#[test]
fn f047_a_finished_task_is_not_run_again_after_a_restart() {
    let stage = stage();
    let dispatch = running(&stage);
    stage.session.finish(&dispatch, report::complete());
    let left = kill(stage);
    let bytes = left.project.bytes();
    let daemon = left.world.start();
    let control = daemon.control();
    let session = daemon.idle_session(&left.world, &left.project, "s-2");
    control.wait_state(&left.project, "idle", "");
    left.project.replace(&bytes);
    session.ping();
    assert_eq!(session.dispatches().len(), 0);
    assert_eq!(left.project.bytes(), bytes);
    let late = session.report(&dispatch, report::complete()).unwrap_err();
    assert_eq!((late.name(), &late.data["work_log"]), ("dispatch_ended", &json!("appended")));
}

#[test]
fn f242_a_task_written_while_no_daemon_ran_is_seen() {
    let stage = stage();
    let left = kill(stage);
    left.project.plan(&Task::new("t-1"));
    let daemon = left.world.start();
    let session = daemon.idle_session(&left.world, &left.project, "s-1");
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
}

#[test]
fn a_log_line_that_a_crash_swallowed_is_written_once() {
    let stage = stage();
    let dispatch = running(&stage);
    stage.session.finish(&dispatch, report::complete());
    let whole = fs::read(stage.project.work_log()).unwrap();
    let left = kill(stage);
    // As if the daemon had died between COMPLETE and the line.
    let lines = left.project.log_lines();
    let text = String::from_utf8(whole.clone()).unwrap().replace(&format!("{}\n", lines[0]), "");
    fs::write(left.project.work_log(), text).unwrap();
    for _ in 0..2 {
        let daemon = left.world.start();
        wait::until_true("the line is back", || left.project.log_lines() == lines);
        daemon.control().wait_state(&left.project, "idle", "");
        daemon.kill();
    }
    assert_eq!(left.project.log_lines(), lines);
    assert_eq!(left.project.status(), "COMPLETE");
}

#[test]
fn runs_of_a_lost_session_survive_the_daemon_too() {
    let stage = stage();
    let dispatch = running(&stage);
    stage.session.run_started(&dispatch, report::run("r-1", "running"));
    stage.session.ping();
    wait::until_true("the binding says so", || {
        parse(&fs::read(stage.project.lock()).unwrap())["session"]["background"] == true
    });
    let left = kill(stage);
    left.session.process.kill();
    let daemon = left.world.start();
    let control = daemon.control();
    control.wait_state(&left.project, "running", "");
    assert_eq!(left.project.status(), "RUNNING");
    let how = Attach { reason: "resume", ..delivered(&dispatch) };
    let back = daemon.attach(&left.world.process(), &left.project, &how);
    back.run_finished(&dispatch, report::run("r-1", "complete"));
    back.finish(&dispatch, report::complete());
    assert_eq!(left.project.status(), "COMPLETE");
}

#[test]
fn f091_a_second_daemon_names_the_first_and_changes_nothing() {
    use std::os::unix::fs::MetadataExt;
    let stage = stage();
    let before = fs::metadata(stage.world.socket()).unwrap().ino();
    let mut second = stage.world.spawn(&[]);
    assert_eq!(second.wait().code(), Some(3));
    let said = fs::read_to_string(stage.world.path("daemon-2.err")).unwrap();
    assert!(said.contains(&stage.daemon.pid().to_string()), "{said}");
    assert_eq!(fs::metadata(stage.world.socket()).unwrap().ino(), before);
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.finish(&dispatch, report::complete());
}

#[test]
fn f090_of_many_daemons_started_at_once_one_stays() {
    let world = handoffd_tests::world!();
    let mut daemons: Vec<_> = (0..10).map(|_| world.spawn(&[])).collect();
    let mut codes = Vec::new();
    wait::until("all but one have ended", || {
        codes.clear();
        for daemon in &mut daemons {
            if !daemon.runs() {
                codes.push(daemon.wait().code());
            }
        }
        (codes.len() == 9).then_some(())
    });
    assert!(codes.iter().all(|code| *code == Some(3)), "{codes:?}");
    let living = daemons.iter_mut().find_map(|daemon| daemon.runs().then_some(daemon)).unwrap();
    assert_eq!(living.control().hello["daemon"]["pid"], living.pid().as_raw());
}

#[test]
fn f095_forty_unowned_running_tasks_are_all_told() {
    let world = handoffd_tests::world!();
    let projects: Vec<_> = (0..40).map(|number| world.project(&format!("p{number}"))).collect();
    for (number, project) in projects.iter().enumerate() {
        project.plan(&Task::new(&format!("t-{number}")).with("status", "RUNNING"));
    }
    let daemon = world.start();
    for project in &projects {
        let document = project.wait_status("ERROR");
        assert!(document["error"].as_str().unwrap().starts_with("Unowned RUNNING task"));
        assert_eq!(document["completed_at"].as_str().map(str::is_empty), Some(false));
    }
    assert_eq!(daemon.control().status()["projects"].as_array().map(Vec::len), Some(40));
    assert!(projects.iter().all(|project| project.member("result") == Value::Null));
}
