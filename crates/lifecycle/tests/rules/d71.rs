//! D71, D19: leaving, and stopping in order.

use lifecycle::{Command, Event, State};

use crate::rig::{Rig, pending};

#[test]
fn an_idle_project_leaves_at_once() {
    let mut rig = Rig::new();
    rig.control(9, Command::Remove { now: false });
    rig.says(&["r9 changed []", "gone"]);
    rig.shows(State::Disabled, "");
}

#[test]
fn a_running_task_is_brought_to_its_end_first() {
    let mut rig = Rig::at_work("T-1");
    rig.control(9, Command::Disable { now: false });
    rig.shows(State::Leaving, "");
    rig.report(1, 50);
    rig.says(&["r9 changed [] leaving", "COMPLETE", "r50 reported true Appended", "c1 standby", "gone"]);
}

#[test]
fn while_leaving_nothing_is_dispatched() {
    let mut rig = Rig::at_work("T-1");
    rig.control(9, Command::Disable { now: false });
    rig.report(1, 50);
    rig.idle(1);
    rig.forget();
    rig.write(pending("T-22"));
    rig.says(&[]);
}

#[test]
fn now_cancels_first() {
    let mut rig = Rig::at_work("T-1");
    rig.control(9, Command::Disable { now: true });
    rig.says(&["c1 cancel", "r9 changed [] leaving"]);
    rig.wait(10_000);
    rig.says(&["ERROR Cancelled: the project was taken out with --now", "c1 standby", "gone"]);
}

#[test]
fn now_during_a_claim_cancels_before_anything_is_sent() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.hold = true;
    rig.write(pending("T-1"));
    rig.answer();
    rig.control(9, Command::Disable { now: true });
    rig.hold = false;
    rig.answer();
    rig.says(&[
        "r1 owner",
        "r9 changed [] leaving",
        "ERROR Cancelled: the project was taken out with --now",
        "c1 standby",
        "gone",
    ]);
}

#[test]
fn a_replaced_task_does_not_keep_a_project_that_leaves() {
    let mut rig = Rig::at_work("T-1");
    rig.write(pending("T-22"));
    rig.control(9, Command::Disable { now: false });
    rig.says(&["abandoned", "r9 changed [] leaving", "c1 standby", "gone"]);
}

#[test]
fn enabled_again_it_takes_the_lock_and_its_sessions() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.control(9, Command::Disable { now: false });
    rig.forget();
    rig.control(8, Command::Enable);
    rig.says(&["r8 changed []", "c1 owner"]);
}

#[test]
fn stopping_keeps_the_lock_of_a_running_task() {
    let mut rig = Rig::at_work("T-1");
    rig.hold = true;
    rig.event(Event::Shutdown);
    assert_eq!(rig.out, Some(lifecycle::Job::Release(lifecycle::Keep::File)));
    rig.hold = false;
    rig.answer();
    rig.says(&["gone"]);
}

#[test]
fn stopping_without_a_task_removes_the_lock() {
    let mut rig = Rig::new();
    rig.hold = true;
    rig.event(Event::Shutdown);
    assert_eq!(rig.out, Some(lifecycle::Job::Release(lifecycle::Keep::Remove)));
}

#[test]
fn a_report_whose_write_has_begun_is_finished() {
    let mut rig = Rig::at_work("T-1");
    rig.hold = true;
    rig.report(1, 50);
    rig.answer(); // checked: the log is being opened
    rig.event(Event::Shutdown);
    rig.hold = false;
    rig.answer();
    rig.says(&["COMPLETE", "r50 reported true Appended", "gone"]);
}

#[test]
fn a_claim_under_way_leaves_the_message_to_the_next_daemon() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.hold = true;
    rig.write(pending("T-1"));
    rig.answer();
    rig.event(Event::Shutdown);
    rig.hold = false;
    rig.answer();
    rig.says(&["r1 owner", "gone"]);
}

#[test]
fn anything_new_is_refused_while_stopping() {
    let mut rig = Rig::new();
    rig.hold = true;
    rig.event(Event::Shutdown);
    rig.attach(1);
    rig.control(9, Command::Pause);
    rig.says(&["r1 refused ShuttingDown", "r9 refused ShuttingDown"]);
}
