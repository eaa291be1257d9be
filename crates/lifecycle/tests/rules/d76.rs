//! D76: cancel; D59, D64: reports and submits that come at the wrong time.

use lifecycle::{Body, Command, Conn, Content, Event, State, View};

use crate::rig::{Rig, half, pending};

#[test]
fn pending_becomes_error() {
    let mut rig = Rig::new();
    rig.write(pending("T-1"));
    rig.cancel(9, "T-1");
    rig.says(&["r9 cancelled PENDING ERROR NotReached 0", "rejected Cancelled: not needed"]);
    assert!(matches!(rig.file.content, Content::Settled { complete: false, .. }));
}

#[test]
fn running_tells_the_session_and_refuses_reports() {
    let mut rig = Rig::at_work("T-1");
    rig.cancel(9, "T-1");
    rig.shows(State::Cancelling, "");
    rig.report(1, 50);
    rig.says(&["c1 cancel", "r50 refused Cancelled"]);
}

#[test]
fn the_session_has_ten_seconds_to_answer() {
    let mut rig = Rig::at_work("T-1");
    rig.cancel(9, "T-1");
    rig.wait(9_999);
    rig.says(&["c1 cancel"]);
    rig.wait(1);
    rig.says(&["ERROR Cancelled: not needed", "r9 cancelled RUNNING ERROR NotReached 0"]);
}

#[test]
fn its_answer_ends_it_at_once() {
    let mut rig = Rig::at_work("T-1");
    let dispatch = rig.dispatch();
    rig.cancel(9, "T-1");
    rig.event(Event::CancelAnswered { conn: Conn(1), dispatch, aborted: true });
    rig.says(&["c1 cancel", "ERROR Cancelled: not needed", "r9 cancelled RUNNING ERROR Aborted 0"]);
}

#[test]
fn a_session_with_nothing_to_stop_was_reached_all_the_same() {
    let mut rig = Rig::at_work("T-1");
    let dispatch = rig.dispatch();
    rig.cancel(9, "T-1");
    rig.event(Event::CancelAnswered { conn: Conn(1), dispatch, aborted: false });
    rig.says(&["c1 cancel", "ERROR Cancelled: not needed", "r9 cancelled RUNNING ERROR Told 0"]);
}

#[test]
fn the_reason_is_the_cancels_also_when_the_session_dies_meanwhile() {
    let mut rig = Rig::at_work("T-1");
    rig.cancel(9, "T-1");
    rig.gone(1);
    rig.says(&["c1 cancel", "ERROR Cancelled: not needed", "r9 cancelled RUNNING ERROR NotReached 0"]);
}

#[test]
fn a_session_that_is_away_is_not_waited_for() {
    let mut rig = Rig::at_work("T-1");
    rig.close(1);
    rig.cancel(9, "T-1");
    rig.says(&["ERROR Cancelled: not needed", "r9 cancelled RUNNING ERROR NotReached 0"]);
}

#[test]
fn two_cancels_are_both_answered() {
    let mut rig = Rig::at_work("T-1");
    rig.cancel(8, "T-1");
    rig.cancel(9, "T-1");
    rig.wait(10_000);
    let answer = "cancelled RUNNING ERROR NotReached 0";
    rig.says(&["c1 cancel", "ERROR Cancelled: not needed", &format!("r8 {answer}"), &format!("r9 {answer}")]);
    let mut rig = Rig::new();
    rig.hold = true;
    rig.write(pending("T-1"));
    rig.cancel(8, "T-1");
    rig.cancel(9, "T-1");
    rig.hold = false;
    rig.answer();
    rig.says(&[
        "r8 cancelled PENDING ERROR NotReached 0",
        "rejected Cancelled: not needed",
        "r9 cancelled ERROR ERROR FinishedFirst 0",
    ]);
}

#[test]
fn a_report_accepted_before_wins() {
    let mut rig = Rig::at_work("T-1");
    rig.hold = true;
    rig.report(1, 50);
    rig.answer(); // it passed its check
    rig.cancel(9, "T-1");
    rig.hold = false;
    rig.answer();
    rig.says(&["COMPLETE", "r50 reported true Appended", "r9 cancelled RUNNING COMPLETE FinishedFirst 0"]);
}

#[test]
fn a_cancel_during_the_claim_is_carried_out_before_the_message_leaves() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.hold = true;
    rig.write(pending("T-1"));
    rig.answer();
    rig.cancel(9, "T-1");
    rig.hold = false;
    rig.answer();
    rig.says(&["r1 owner", "ERROR Cancelled: not needed", "r9 cancelled RUNNING ERROR NotReached 0"]);
}

#[test]
fn a_cancel_names_the_task() {
    let mut rig = Rig::at_work("T-1");
    rig.cancel(9, "T-22");
    rig.says(&["r9 refused TaskMismatch"]);
    let mut rig = Rig::new();
    rig.cancel(9, "T-1");
    rig.says(&["r9 refused NoTask"]);
}

#[test]
fn a_task_that_was_written_a_moment_ago_can_be_cancelled() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.forget();
    rig.file = View { hash: Some([9; 32]), content: pending("T-1") };
    rig.cancel(9, "T-1");
    rig.says(&["r9 cancelled PENDING ERROR NotReached 0", "rejected Cancelled: not needed"]);
}

#[test]
fn a_cancel_while_halted_stops_the_session_and_says_that_the_file_changed() {
    let mut rig = Rig::at_work("T-1");
    rig.write(pending("T-22"));
    rig.cancel(9, "T-1");
    rig.wait(10_000);
    rig.says(&["c1 cancel", "r9 refused QueueChanged"]);
}

#[test]
fn a_report_of_another_session_or_dispatch_is_refused() {
    let mut rig = Rig::at_work("T-1");
    rig.attach(2);
    rig.forget();
    rig.report(2, 50);
    rig.report_on(1, 51, queue::DispatchId::from_random(4_444));
    rig.says(&["r50 refused NotOwner", "r51 refused NotRunning"]);
}

#[test]
fn a_report_sent_twice_is_answered_twice() {
    let mut rig = Rig::at_work("T-1");
    rig.hold = true;
    rig.report(1, 50);
    rig.report(1, 51);
    rig.hold = false;
    rig.answer();
    rig.says(&["COMPLETE", "r50 reported true Appended", "r51 refused NotRunning"]);
}

fn submit(file: Content, expected: &str) {
    let mut rig = Rig::with(lifecycle::Settings::DEFAULT, file, None);
    rig.control(9, Command::Submit { body: Body(1), retry: false });
    rig.says(&[expected]);
}

#[test]
fn submit_is_for_a_file_that_holds_no_open_task() {
    submit(Content::Missing, "r9 submitted");
    submit(Content::Settled { by: None, complete: true, task_id: None }, "r9 submitted");
    submit(pending("T-1"), "r9 refused QueueBusy");
    submit(half(), "r9 refused QueueUnreadable");
}

#[test]
fn a_retry_while_running_says_so() {
    let mut rig = Rig::at_work("T-1");
    rig.control(8, Command::Submit { body: Body(1), retry: true });
    rig.control(9, Command::Submit { body: Body(2), retry: false });
    rig.says(&["r8 refused TaskRunning", "r9 refused QueueBusy"]);
}

#[test]
fn paused_dispatches_nothing_and_a_running_task_goes_on() {
    let mut rig = Rig::at_work("T-1");
    rig.control(9, Command::Pause);
    rig.report(1, 50);
    rig.idle(1);
    rig.write(pending("T-22"));
    rig.says(&["r9 changed []", "COMPLETE", "r50 reported true Appended"]);
    rig.shows(State::Paused, "");
    rig.control(8, Command::Resume);
    rig.says(&["r8 changed [\"paused\"]", "c1 dispatch"]);
}
