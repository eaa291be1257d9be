//! D70, D12, D18: a write that fails, and a lock that is lost.

use lifecycle::{ClaimResult, Done, Failure, Seen, State};

use crate::rig::{Rig, pending};

fn full() -> Failure {
    Failure::CannotWrite("no space left".into())
}

#[test]
fn a_claim_that_fails_is_tried_again_after_1_2_4_to_60_seconds() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.script.extend((0..9).map(|_| Done::Claimed(ClaimResult::Failed(full()))));
    rig.write(pending("T-1"));
    rig.forget();
    let mut tries = Vec::new();
    for second in 1..=243_u64 {
        rig.wait(1_000);
        if rig.jobs.iter().any(|job| job == "Claim") {
            tries.push(second);
        }
        rig.jobs.clear();
    }
    assert_eq!(tries, [1, 3, 7, 15, 31, 63, 123, 183, 243]);
    rig.says(&["c1 dispatch"]);
}

#[test]
fn a_touched_folder_is_tried_at_once_but_not_twice_a_second() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.script.extend((0..50).map(|_| Done::Claimed(ClaimResult::Failed(full()))));
    rig.write(pending("T-1"));
    rig.wait(6_500);
    rig.forget();
    for _ in 0..20 {
        rig.event(lifecycle::Event::Touched);
    }
    assert_eq!(rig.jobs.iter().filter(|job| *job == "Claim").count(), 1);
}

#[test]
fn a_report_that_cannot_be_written_goes_back_to_its_session() {
    let mut rig = Rig::at_work("T-1");
    rig.script.push_back(Done::EndWritten(Err(full())));
    rig.report(1, 50);
    rig.shows(State::Blocked, "cannot_write");
    rig.report(1, 51);
    rig.says(&["r50 refused CannotWrite", "COMPLETE", "r51 reported true Appended"]);
}

#[test]
fn an_error_of_ours_is_owed_before_anything_else_happens() {
    let mut rig = Rig::at_work("T-1");
    rig.attach(2);
    rig.script.extend((0..3).map(|_| Done::EndWritten(Err(full()))));
    rig.gone(1);
    rig.says(&["r2 standby"]);
    rig.shows(State::Blocked, "cannot_write");
    rig.wait(8_000);
    rig.says(&["ERROR The session's process ended without a report.", "c2 owner"]);
}

#[test]
fn whoever_cancelled_is_told_that_it_is_owed() {
    let mut rig = Rig::at_work("T-1");
    rig.close(1);
    rig.script.push_back(Done::EndWritten(Err(full())));
    rig.cancel(9, "T-1");
    rig.says(&["r9 refused CannotWrite"]);
    rig.wait(1_000);
    rig.says(&["ERROR Cancelled: not needed"]);
}

#[test]
fn a_report_that_does_not_fit_may_be_sent_shorter() {
    let mut rig = Rig::at_work("T-1");
    rig.script.push_back(Done::EndWritten(Err(Failure::TooLarge { limit: 1, size: 2 })));
    rig.report(1, 50);
    rig.report(1, 51);
    rig.says(&["r50 refused ReportTooLarge", "COMPLETE", "r51 reported true Appended"]);
}

#[test]
fn what_could_not_be_written_and_is_not_wanted_any_more_blocks_nothing() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.script.push_back(Done::Claimed(ClaimResult::Failed(full())));
    rig.write(pending("T-1"));
    rig.shows(State::Blocked, "cannot_write");
    rig.write(lifecycle::Content::Missing);
    rig.wait(1_000);
    rig.shows(State::Idle, "");
}

#[test]
fn a_file_that_cannot_be_read_is_read_again() {
    let mut rig = Rig::new();
    rig.script.push_back(Done::Read(Seen::Failed(full())));
    rig.write(pending("T-1"));
    rig.wait(1_000);
    rig.shows(State::Waiting, "no_session");
}

#[test]
fn a_lost_lock_is_taken_again_and_the_task_goes_on() {
    let mut rig = Rig::at_work("T-1");
    rig.script.push_back(Done::Read(Seen::Failed(Failure::LockLost)));
    rig.event(lifecycle::Event::Touched);
    rig.shows(State::Blocked, "lock_lost");
    rig.report(1, 50);
    rig.says(&["c1 standby", "r50 refused CannotWrite"]);
    rig.wait(1_000);
    rig.report(1, 51);
    rig.says(&["c1 owner", "COMPLETE", "r51 reported true Appended"]);
}

#[test]
fn a_lock_recovered_from_another_owner_voids_what_we_knew() {
    let mut rig = Rig::at_work("T-1");
    rig.script.push_back(Done::Read(Seen::Failed(Failure::LockLost)));
    rig.event(lifecycle::Event::Touched);
    rig.recovered = Some(lifecycle::Recovered { binding: None, alive: false });
    rig.forget();
    rig.wait(1_000);
    let orphan =
        "ERROR Unowned RUNNING task: its effects are unknown, so it is never rerun. Delivery was never confirmed.";
    rig.says(&[orphan, "c1 owner"]); // void, but given up by nobody (D18)
}
