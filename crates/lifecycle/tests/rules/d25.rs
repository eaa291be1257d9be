//! D25: a turn that settles without a report; and "Idle" of the wire protocol.

use lifecycle::{Conn, Event, Known, State};
use queue::{DispatchId, RunState};

use crate::rig::{Rig, pending, run};

const NO_REPORT: &str = "ERROR The turn ended without a valid report.";

#[test]
fn settled_is_reminded_once_and_the_next_moment_after_busy_ends_it() {
    let mut rig = Rig::at_work("T-1");
    rig.settled(1, false);
    rig.says(&["c1 remind"]);
    rig.busy(1);
    rig.settled(1, false);
    rig.says(&[NO_REPORT]);
}

#[test]
fn idle_alone_is_enough_for_both_moments() {
    let mut rig = Rig::at_work("T-1");
    rig.idle(1);
    rig.busy(1);
    rig.idle(1);
    rig.says(&["c1 remind", NO_REPORT]);
}

#[test]
fn attaching_idle_is_such_a_moment() {
    let mut rig = Rig::at_work("T-1");
    let dispatch = rig.dispatch();
    rig.close(1);
    rig.attach_as(2, "s1", 1, Known::Some { dispatch, delivered: true }, true);
    rig.says(&["c2 remind", "r2 owner task"]);
}

#[test]
fn the_answer_to_the_reminder_arms_the_next_moment() {
    let mut rig = Rig::at_work("T-1");
    rig.settled(1, false);
    rig.remind_answered(1);
    rig.settled(1, false);
    rig.says(&["c1 remind", NO_REPORT]);
}

#[test]
fn a_moment_already_on_its_way_does_not_count() {
    let mut rig = Rig::at_work("T-1");
    rig.settled(1, false);
    rig.idle(1);
    rig.settled(1, false);
    rig.says(&["c1 remind"]);
    rig.shows(State::Running, "");
}

#[test]
fn neither_busy_nor_answer_within_accept_timeout_ends_it() {
    let mut rig = Rig::at_work("T-1");
    rig.settled(1, false);
    rig.wait(119_999);
    rig.says(&["c1 remind"]);
    rig.wait(1);
    rig.says(&[NO_REPORT]);
}

#[test]
fn busy_after_the_reminder_has_no_limit() {
    let mut rig = Rig::at_work("T-1");
    rig.settled(1, false);
    rig.busy(1);
    rig.wait(24 * 3_600_000);
    rig.says(&["c1 remind"]);
}

#[test]
fn settled_may_overtake_the_answer() {
    let mut rig = Rig::at_work("T-1");
    rig.settled(1, false);
    rig.settled(1, false); // of the reminded turn, but nobody can know
    rig.remind_answered(1);
    rig.says(&["c1 remind"]);
    rig.wait(120_000);
    rig.says(&[NO_REPORT]);
}

#[test]
fn a_foreground_run_after_the_reminder_counts_as_busy_and_is_not_reminded_twice() {
    let mut rig = Rig::at_work("T-1");
    rig.settled(1, false);
    rig.run(1, run("tool:1", RunState::Running, false));
    rig.settled(1, false);
    rig.says(&["c1 remind", NO_REPORT]);
}

#[test]
fn an_aborted_turn_is_error_at_once() {
    let mut rig = Rig::at_work("T-1");
    rig.settled(1, true);
    rig.says(&["ERROR The turn was aborted without a report."]);
}

#[test]
fn an_aborted_turn_with_a_background_run_stays_running() {
    let mut rig = Rig::at_work("T-1");
    rig.run(1, run("r", RunState::Running, true));
    rig.settled(1, true);
    rig.says(&[]);
    rig.shows(State::Running, "");
}

#[test]
fn with_a_background_run_a_settled_turn_stays_running() {
    let mut rig = Rig::at_work("T-1");
    rig.run(1, run("r", RunState::Running, true));
    rig.settled(1, false);
    rig.wait(48 * 3_600_000);
    rig.says(&[]);
}

#[test]
fn after_the_last_background_run_it_is_reminded_once_when_idle_for_fifteen_seconds() {
    let mut rig = Rig::at_work("T-1");
    rig.run(1, run("a", RunState::Running, true));
    rig.run(1, run("b", RunState::Running, true));
    rig.settled(1, false);
    rig.run(1, run("a", RunState::Complete, true));
    rig.wait(60_000);
    rig.says(&[]);
    rig.run(1, run("b", RunState::Complete, true));
    rig.wait(14_999);
    rig.says(&[]);
    rig.wait(1);
    rig.says(&["c1 remind"]);
    let owed = rig.project.status(lifecycle::Wall(rig.wall)).task.map(|task| task.report);
    assert_eq!(owed, Some(lifecycle::ReportState::Owed));
    rig.wait(24 * 3_600_000);
    rig.says(&["ERROR The background runs ended, but no valid report came in time."]);
}

#[test]
fn busy_within_the_fifteen_seconds_starts_them_anew() {
    let mut rig = Rig::at_work("T-1");
    rig.run(1, run("a", RunState::Running, true));
    rig.run(1, run("a", RunState::Complete, true));
    rig.settled(1, false);
    rig.wait(10_000);
    rig.busy(1);
    rig.wait(10_000);
    rig.settled(1, false);
    rig.wait(14_999);
    rig.says(&[]);
    rig.wait(1);
    rig.says(&["c1 remind"]);
}

#[test]
fn a_run_that_starts_while_a_report_is_owed_is_no_second_reminder() {
    let mut rig = Rig::at_work("T-1");
    rig.run(1, run("a", RunState::Running, true));
    rig.run(1, run("a", RunState::Complete, true));
    rig.settled(1, false);
    rig.wait(15_000);
    rig.says(&["c1 remind"]);
    rig.run(1, run("b", RunState::Running, true));
    rig.wait(30 * 3_600_000);
    rig.says(&[]);
    rig.run(1, run("b", RunState::Complete, true));
    rig.wait(15_000);
    rig.says(&[]);
    rig.wait(24 * 3_600_000);
    rig.says(&["ERROR The background runs ended, but no valid report came in time."]);
}

#[test]
fn a_rejected_launch_is_no_background_run() {
    let mut rig = Rig::at_work("T-1");
    rig.run(1, run("a", RunState::Running, true));
    rig.settled(1, false);
    rig.says(&[]);
    rig.run(1, run("a", RunState::Rejected, true));
    rig.says(&["c1 remind"]);
}

#[test]
fn a_turn_of_another_dispatch_is_no_moment() {
    let mut rig = Rig::at_work("T-1");
    let dispatch = Some(DispatchId::from_random(99));
    rig.event(Event::TurnSettled { conn: Conn(1), dispatch, aborted: None });
    rig.says(&[]);
}

#[test]
fn after_a_dispatch_the_session_is_busy_until_settled_or_idle_after_acceptance() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.write(pending("T-1"));
    rig.forget();
    rig.idle(1); // of before the message
    let session = |rig: &Rig| rig.project.status(lifecycle::Wall(rig.wall)).session.map(|session| session.idle);
    assert_eq!(session(&rig), Some(false));
    rig.accept(1);
    rig.says(&[]);
    rig.idle(1);
    rig.says(&["c1 remind"]);
}

#[test]
fn a_turn_that_settles_while_its_report_cannot_be_written_is_made_up_for() {
    use lifecycle::{Done, Failure};
    let mut rig = Rig::at_work("T-1");
    rig.script.push_back(Done::EndWritten(Err(Failure::CannotWrite("disk full".into()))));
    rig.hold = true;
    rig.report(1, 50);
    rig.answer(); // checked
    rig.answer(); // log opened
    rig.settled(1, false);
    rig.hold = false;
    rig.answer();
    rig.says(&["r50 refused CannotWrite", "c1 remind"]);
}

#[test]
fn what_broke_the_turn_is_a_part_of_the_error() {
    let mut rig = Rig::at_work("T-1");
    let dispatch = Some(rig.dispatch());
    rig.event(Event::TurnSettled { conn: Conn(1), dispatch, aborted: Some("400 out of credit".into()) });
    rig.says(&["ERROR The turn was aborted without a report. The session says: 400 out of credit"]);
}
