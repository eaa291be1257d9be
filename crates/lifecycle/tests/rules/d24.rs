//! D24: limits of time, and a stopped owner.

use lifecycle::{BusyWith, ClaimResult, Command, Conn, Done, Event, Settings, State, Stopped};

use crate::rig::{Rig, pending, process};

fn with(settings: Settings) -> Rig {
    let mut rig = Rig::with(settings, pending("T-1"), None);
    rig.attach(1);
    rig.accept(1);
    rig.busy(1);
    rig.forget();
    rig
}

#[test]
fn silence_ends_it_and_a_sign_of_life_puts_that_off() {
    let mut rig = with(Settings { silence_timeout: Some(60_000), ..Settings::DEFAULT });
    rig.wait(59_000);
    rig.event(Event::Ping { conn: Conn(1) });
    rig.wait(59_999);
    rig.says(&[]);
    rig.wait(1);
    rig.says(&["c1 cancel", "ERROR The session gave no sign of life for task.silence_timeout."]);
}

#[test]
fn max_runtime_ends_it_whatever_the_session_says() {
    let mut rig = with(Settings { max_runtime: Some(60_000), ..Settings::DEFAULT });
    rig.wait(50_000);
    rig.event(Event::Ping { conn: Conn(1) });
    rig.wait(10_000);
    rig.says(&["c1 cancel", "ERROR The task ran longer than task.max_runtime allows."]);
}

#[test]
fn both_are_off_by_default() {
    let mut rig = with(Settings::DEFAULT);
    assert_eq!(rig.deadline, None);
    rig.wait(100 * 3_600_000);
    rig.says(&[]);
}

#[test]
fn a_stopped_owner_is_not_idle() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.stopped(1, Stopped::Yes);
    rig.forget();
    rig.write(pending("T-1"));
    rig.says(&[]);
    rig.shows(State::Waiting, "stopped");
    rig.stopped(1, Stopped::No);
    rig.says(&["c1 dispatch"]);
}

/// What the session says of itself is told on, until it says something else.
#[test]
fn a_busy_owner_says_with_what() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.busy(1);
    rig.write(pending("T-1"));
    let mut check = |hint, expected: &str| {
        rig.event(Event::Activity { conn: Conn(1), idle: false, hint });
        assert_eq!(rig.why(), expected);
    };
    check(None, "the session is busy");
    check(Some(BusyWith::Dialog), "a dialog is open in the session");
    check(Some(BusyWith::Shell), "a command of the person runs in the session");
    check(Some(BusyWith::Compaction), "the session is compacting its conversation");
    check(Some(BusyWith::Model), "the session has no model to work with");
    check(None, "the session is busy");
}

#[test]
fn an_owner_found_stopped_by_the_claim_is_looked_at_again() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.forget();
    rig.script.push_back(Done::Claimed(ClaimResult::Stopped));
    rig.write(pending("T-1"));
    rig.shows(State::Waiting, "stopped");
    rig.wait(1_000);
    rig.says(&["c1 dispatch"]);
}

#[test]
fn a_claim_is_likely_only_while_an_owner_is_idle_and_nothing_is_in_the_way() {
    let mut rig = Rig::new();
    assert_eq!(rig.project.likely_to_claim(), None, "nobody is there");
    rig.attach(1);
    assert_eq!(rig.project.likely_to_claim(), Some(process(1)));
    rig.busy(1);
    assert_eq!(rig.project.likely_to_claim(), None, "busy");
    rig.idle(1);
    rig.stopped(1, Stopped::Yes);
    assert_eq!(rig.project.likely_to_claim(), None, "stopped");
    rig.stopped(1, Stopped::No);
    rig.control(1, Command::Pause);
    assert_eq!(rig.project.likely_to_claim(), None, "paused");
    rig.control(2, Command::Resume);
    assert_eq!(rig.project.likely_to_claim(), Some(process(1)));
    rig.write(pending("T-1"));
    assert_eq!(rig.project.likely_to_claim(), None, "at work");
}
