//! D22, D23: a daemon finds RUNNING, and what the session knows decides.

use lifecycle::{Binding, Content, Facts, Known, Recovered, Settings, State, Wall};
use queue::{DispatchId, Run, RunState};

use crate::rig::{Rig, half, process, run, running};

const ORPHAN: &str = "ERROR Unowned RUNNING task: its effects are unknown, so it is never rerun.";
const NOW: i64 = 1_800_000_000_000;

fn id() -> DispatchId {
    DispatchId::from_random(77)
}

fn binding(since: Option<i64>, background: bool) -> Binding {
    Binding { session_id: "s1".into(), process: process(1), since: since.map(Wall), background }
}

fn facts(sent: bool, accepted: bool, runs: Vec<Run>) -> Facts {
    Facts { sent, accepted, runs, last_seen: None, started: Some(Wall(NOW)), ended: false }
}

fn found(binding: Option<Binding>, alive: bool, facts: Option<Facts>) -> Rig {
    Rig::with(Settings::DEFAULT, running("T-1", Some(id()), facts), Some(Recovered { binding, alive }))
}

#[test]
fn a_live_session_is_awaited() {
    let mut rig = found(Some(binding(None, false)), true, Some(facts(true, true, vec![])));
    rig.shows(State::Running, "");
    rig.wait(29_999);
    rig.says(&[]);
    rig.wait(1);
    rig.says(&["ERROR The session was lost and did not come back within 30 s."]);
}

#[test]
fn the_wait_counts_from_since_but_is_never_under_thirty_seconds() {
    let hour = 3_600_000;
    let mut rig = found(Some(binding(Some(NOW - 2 * hour), true)), true, None);
    rig.wait(22 * 3_600_000 - 1);
    rig.says(&[]);
    rig.wait(1);
    rig.says(&[
        "ERROR The session was lost and did not come back within 24 h. Delivery was not confirmed; its effects are unknown.",
    ]);
    let mut rig = found(Some(binding(Some(NOW - 30 * hour), true)), true, None);
    rig.wait(29_999);
    rig.says(&[]);
}

#[test]
fn a_dead_session_with_background_runs_is_awaited() {
    let rig = found(Some(binding(None, true)), false, None);
    rig.shows(State::Running, "no_session");
    let seen = facts(true, true, vec![run("r", RunState::Running, true)]);
    let rig = found(Some(binding(None, false)), false, Some(seen));
    rig.shows(State::Running, "no_session");
}

#[test]
fn a_dead_session_without_background_runs_leaves_an_orphan() {
    let mut rig = found(Some(binding(None, false)), false, Some(facts(true, true, vec![])));
    rig.says(&[&format!("{ORPHAN} Its session was s1.")]);
}

#[test]
fn another_boot_leaves_an_orphan_that_promises_nothing() {
    let mut rig = found(None, false, Some(facts(false, false, vec![])));
    rig.says(&[&format!("{ORPHAN} Delivery was never confirmed.")]);
}

#[test]
fn what_provably_never_left_is_safe_to_submit_again() {
    let mut rig = found(Some(binding(None, false)), false, Some(facts(false, false, vec![])));
    rig.says(&[&format!("{ORPHAN} Its session was s1. It was not delivered; submitting it again is safe.")]);
}

#[test]
fn without_a_recovered_lock_it_is_an_orphan() {
    let mut rig = Rig::with(Settings::DEFAULT, running("T-1", Some(id()), None), None);
    rig.says(&[&format!("{ORPHAN} Delivery was never confirmed.")]);
}

#[test]
fn a_dispatch_that_has_ended_is_an_orphan_whatever_the_file_says() {
    let ended = Facts { ended: true, ..facts(true, true, vec![]) };
    let mut rig = found(Some(binding(None, false)), true, Some(ended));
    rig.says(&[&format!("{ORPHAN} Its session was s1.")]);
}

#[test]
fn a_half_written_file_does_not_forget_the_owner() {
    let old = Recovered { binding: Some(binding(None, false)), alive: true };
    let mut rig = Rig::with(Settings::DEFAULT, half(), Some(old));
    rig.wait(500);
    assert_eq!(rig.jobs, ["Acquire", "Read"], "the binding must not be given away");
    rig.write(running("T-1", Some(id()), Some(facts(true, true, vec![]))));
    rig.shows(State::Running, "");
}

#[test]
fn a_session_placed_while_the_file_was_unreadable_takes_its_task_up() {
    let old = Recovered { binding: Some(binding(None, false)), alive: true };
    let mut rig = Rig::with(Settings::DEFAULT, half(), Some(old));
    rig.attach_as(1, "s1", 1, Known::Some { dispatch: id(), delivered: true }, false);
    rig.says(&[]);
    rig.wait(1_000);
    rig.forget();
    rig.write(running("T-1", Some(id()), Some(facts(true, false, vec![]))));
    rig.report_on(1, 50, id());
    rig.says(&["COMPLETE", "r50 reported true Appended"]);
}

fn knows(known: Known, idle: bool, facts: Option<Facts>, expected: &[&str]) {
    let mut rig = found(Some(binding(None, false)), true, facts);
    rig.attach_as(1, "s1", 1, known, idle);
    rig.says(expected);
}

#[test]
fn delivered_goes_on() {
    let known = Known::Some { dispatch: id(), delivered: true };
    knows(known, false, Some(facts(true, false, vec![])), &["r1 owner task"]);
    knows(known, true, Some(facts(true, false, vec![])), &["c1 remind", "r1 owner task"]);
}

#[test]
fn not_delivered_is_sent_again() {
    let other = Known::Some { dispatch: DispatchId::from_random(5), delivered: true };
    for known in [Known::Some { dispatch: id(), delivered: false }, other, Known::None] {
        knows(known, true, Some(facts(true, false, vec![])), &["r1 owner task", "c1 dispatch"]);
    }
}

#[test]
fn what_the_journal_says_was_accepted_is_never_sent_again() {
    knows(Known::None, false, Some(facts(true, true, vec![])), &["r1 owner task"]);
    let observed = facts(true, false, vec![run("r", RunState::Complete, false)]);
    knows(Known::None, false, Some(observed), &["r1 owner task"]);
}

#[test]
fn a_client_without_records_needs_the_journal() {
    knows(Known::NoRecords, false, Some(facts(true, true, vec![])), &["r1 owner task"]);
    let error = "ERROR The session cannot say whether it got the task.";
    knows(Known::NoRecords, false, Some(facts(true, false, vec![])), &[error, "r1 owner"]);
}

#[test]
fn a_dispatch_that_the_journal_does_not_know_never_starts_work() {
    knows(Known::None, true, None, &[ORPHAN, "r1 owner"]);
}

#[test]
fn a_fork_never_gets_it() {
    let mut rig = found(Some(binding(None, false)), true, Some(facts(true, true, vec![])));
    rig.attach_as(1, "fork", 1, Known::Some { dispatch: id(), delivered: true }, true);
    rig.says(&["r1 standby"]);
}

#[test]
fn a_settled_file_is_nothing_to_wait_for() {
    let settled = Content::Settled { by: Some(id()), complete: true, task_id: Some("T-1".into()) };
    let old = Recovered { binding: Some(binding(None, false)), alive: true };
    let rig = Rig::with(Settings::DEFAULT, settled, Some(old));
    rig.shows(State::Idle, "");
}
