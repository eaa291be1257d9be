//! Limits of time (D21, D24).

use std::time::Duration;

use handoffd_tests::{Attach, Known, Task, report, wait};
use nix::sys::signal::Signal;

use crate::support::{slow, stage, stage_with};

#[test]
fn a_silent_session_ends_its_task_when_a_limit_is_set() {
    let stage = stage_with("[task]\nsilence_timeout = \"1s\"\n");
    stage.project.plan(&Task::new("t-1"));
    stage.session.wait_dispatch("t-1");
    let error = stage.project.wait_status("ERROR")["error"].clone();
    assert!(error.is_string(), "{error}");
}

#[test]
fn a_session_that_pings_is_not_silent() {
    // Long enough for a ping to come in time on a busy machine, too.
    let stage = stage_with("[task]\nsilence_timeout = \"5s\"\n");
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    wait::stays(Duration::from_secs(8), "RUNNING while it pings", || {
        stage.session.ping();
        stage.project.status() == "RUNNING"
    });
    stage.session.finish(&dispatch, report::complete());
}

#[test]
fn a_task_that_takes_too_long_ends_when_a_limit_is_set() {
    let stage = stage_with("[task]\nmax_runtime = \"1s\"\n");
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    let document = wait::until("ERROR", || {
        stage.session.ping();
        Some(stage.project.document()).filter(|document| document["status"] == "ERROR")
    });
    assert!(document["error"].is_string());
    assert_eq!(stage.session.report(&dispatch, report::complete()).unwrap_err().name(), "dispatch_ended");
}

#[test]
fn f196_a_session_that_is_stopped_for_a_while_keeps_its_task() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.process.stop();
    wait::stays(Duration::from_secs(3), "RUNNING", || stage.project.status() == "RUNNING");
    stage.session.process.go_on();
    stage.session.finish(&dispatch, report::complete());
    assert_eq!(stage.project.status(), "COMPLETE");
}

#[test]
fn f194_time_that_the_daemon_slept_does_not_count() {
    if !slow() {
        return;
    }
    let stage = stage_with("[task]\nreconnect_grace = \"20s\"\n");
    // Past the grace that every start gives.
    wait::stays(Duration::from_secs(31), "nothing happens", || stage.project.status() == "IDLE");
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.hang_up();
    stage.daemon.signal(Signal::SIGSTOP);
    wait::stays(Duration::from_secs(65), "nobody writes", || stage.project.status() == "RUNNING");
    stage.daemon.signal(Signal::SIGCONT);
    wait::stays(Duration::from_secs(5), "a fresh grace", || stage.project.status() == "RUNNING");
    let again = Attach::again("s-1", Known::Delivered(dispatch.id.clone()));
    let back = stage.session.reattach(stage.daemon.socket(), &again).unwrap();
    back.finish(&dispatch, report::complete());
    assert_eq!(stage.project.status(), "COMPLETE");
}
