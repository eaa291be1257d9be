//! D1, D2, D11: the file changes while a task runs.

use lifecycle::{Command, Content, State};

use crate::rig::{Rig, half, pending, running};

#[test]
fn a_harmless_edit_carries_on_with_the_new_bytes() {
    let mut rig = Rig::at_work("T-1");
    let dispatch = rig.dispatch();
    rig.write(running("T-1", Some(dispatch), None));
    rig.shows(State::Running, "");
    rig.report(1, 50);
    rig.says(&["COMPLETE", "r50 reported true Appended"]);
}

#[test]
fn another_task_in_the_file_halts_and_nothing_is_dispatched() {
    let mut rig = Rig::at_work("T-1");
    rig.write(pending("T-22"));
    rig.shows(State::Halted, "replaced");
    rig.idle(1);
    rig.wait(3_600_000);
    rig.says(&[]);
}

#[test]
fn a_missing_file_halts_too() {
    let mut rig = Rig::at_work("T-1");
    rig.write(Content::Missing);
    rig.shows(State::Halted, "replaced");
}

#[test]
fn while_halted_reports_get_queue_changed() {
    let mut rig = Rig::at_work("T-1");
    rig.write(pending("T-22"));
    rig.report(1, 50);
    rig.says(&["r50 refused QueueChanged"]);
}

#[test]
fn a_change_found_by_the_report_check_refuses_and_halts() {
    let mut rig = Rig::at_work("T-1");
    rig.file.content = pending("T-22");
    rig.file.hash = Some([9; 32]);
    rig.report(1, 50);
    rig.says(&["r50 refused QueueChanged"]);
    rig.shows(State::Halted, "replaced");
}

#[test]
fn the_halt_ends_by_itself_when_the_same_task_comes_back() {
    let mut rig = Rig::at_work("T-1");
    let dispatch = rig.dispatch();
    rig.write(pending("T-22"));
    rig.write(running("T-1", Some(dispatch), None));
    rig.shows(State::Running, "");
    rig.report(1, 50);
    rig.says(&["COMPLETE", "r50 reported true Appended"]);
}

#[test]
fn a_session_that_went_idle_during_the_halt_is_reminded_after_it() {
    let mut rig = Rig::at_work("T-1");
    let dispatch = rig.dispatch();
    rig.write(pending("T-22"));
    rig.settled(1, false);
    rig.says(&[]);
    rig.write(running("T-1", Some(dispatch), None));
    rig.says(&["c1 remind"]);
}

#[test]
fn an_owner_lost_during_the_halt_ends_the_task_when_it_comes_back() {
    let mut rig = Rig::at_work("T-1");
    let dispatch = rig.dispatch();
    rig.write(pending("T-22"));
    rig.close(1);
    rig.wait(60_000);
    rig.says(&[]);
    rig.write(running("T-1", Some(dispatch), None));
    rig.says(&["ERROR The session was lost and did not come back within 30 s."]);
}

#[test]
fn resume_gives_the_old_task_up_and_dispatches_what_stands_there() {
    let mut rig = Rig::at_work("T-1");
    let old = rig.dispatch();
    rig.write(pending("T-22"));
    rig.settled(1, false);
    rig.control(9, Command::Resume);
    rig.says(&["abandoned", "r9 changed [\"halted\"]", "c1 dispatch"]);
    rig.report_on(1, 50, old);
    rig.says(&["r50 refused NotRunning"]);
}

#[test]
fn resume_over_running_finds_an_orphan() {
    let mut rig = Rig::at_work("T-1");
    rig.write(running("T-333", None, None));
    rig.control(9, Command::Resume);
    rig.says(&[
        "abandoned",
        "r9 changed [\"halted\"]",
        "ERROR Unowned RUNNING task: its effects are unknown, so it is never rerun.",
    ]);
}

#[test]
fn an_unreadable_file_stops_nothing_and_a_report_gets_queue_unreadable() {
    let mut rig = Rig::at_work("T-1");
    let before = rig.file.clone();
    rig.write(half());
    rig.report(1, 50);
    rig.says(&["r50 refused QueueUnreadable"]);
    rig.file = before;
    rig.event(lifecycle::Event::Touched);
    rig.report(1, 51);
    rig.says(&["COMPLETE", "r51 reported true Appended"]);
}

#[test]
fn an_end_over_an_unreadable_file_waits_without_spinning() {
    let mut rig = Rig::at_work("T-1");
    let before = rig.file.clone();
    rig.write(half());
    rig.forget();
    rig.gone(1);
    rig.wait(600_000);
    assert!(rig.jobs.len() < 8, "{:?}", rig.jobs);
    rig.file = before;
    rig.event(lifecycle::Event::Touched);
    rig.says(&["ERROR The session's process ended without a report."]);
}

#[test]
fn half_a_document_is_shown_only_after_a_second() {
    let mut rig = Rig::new();
    rig.write(half());
    rig.shows(State::Idle, "");
    rig.wait(999);
    rig.shows(State::Idle, "");
    rig.wait(2);
    rig.shows(State::Unreadable, "");
}
