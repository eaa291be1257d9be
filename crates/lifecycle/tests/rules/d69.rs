//! D69: acceptance, and proof of non-delivery.

use lifecycle::{Answer, Conn, Event, Known, State};
use queue::DispatchId;

use crate::rig::{Rig, pending};

fn sent() -> Rig {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.write(pending("T-1"));
    rig.says(&["r1 owner", "c1 dispatch"]);
    rig
}

#[test]
fn busy_is_sent_again_at_the_next_idle_with_the_same_id() {
    let mut rig = sent();
    let first = rig.dispatch();
    rig.reply(1, Answer::Busy);
    rig.says(&[]);
    rig.idle(1);
    rig.says(&["c1 dispatch"]);
    assert_eq!(rig.dispatch(), first);
}

#[test]
fn settled_is_an_idle_moment_too() {
    let mut rig = sent();
    rig.reply(1, Answer::Busy);
    rig.event(Event::TurnSettled { conn: Conn(1), dispatch: None, aborted: None });
    rig.says(&["c1 dispatch"]);
}

#[test]
fn another_refusal_of_an_idle_session_is_asked_again_after_a_while() {
    let mut rig = sent();
    rig.reply(1, Answer::Refused);
    rig.wait(29_999);
    rig.says(&[]);
    rig.wait(1);
    rig.says(&["c1 dispatch"]);
}

#[test]
fn but_never_while_it_says_that_it_is_busy() {
    let mut rig = sent();
    rig.reply(1, Answer::Refused);
    rig.busy(1);
    rig.wait(60_000);
    rig.says(&[]);
    rig.idle(1);
    rig.says(&["c1 dispatch"]);
}

#[test]
fn at_most_ten_times() {
    let mut rig = sent();
    for _ in 0..9 {
        rig.reply(1, Answer::Busy);
        rig.idle(1);
    }
    rig.forget();
    rig.reply(1, Answer::Busy);
    rig.says(&["ERROR The session never accepted it."]);
}

#[test]
fn within_ten_minutes() {
    let mut rig = sent();
    rig.reply(1, Answer::Busy);
    rig.wait(600_000);
    rig.says(&["ERROR The session never accepted it."]);
}

#[test]
fn any_message_that_names_the_dispatch_is_acceptance() {
    let mut rig = sent();
    rig.settled(1, false);
    rig.says(&["c1 remind"]);
}

#[test]
fn a_line_that_was_not_written_whole_is_sent_again() {
    let mut rig = sent();
    let dispatch = rig.dispatch();
    rig.event(Event::Closed { conn: Conn(1), unsent: Some(dispatch) });
    rig.attach_as(2, "s1", 1, Known::NoRecords, true);
    rig.says(&["r2 owner task", "c2 dispatch"]);
}

#[test]
fn proof_about_an_old_connection_proves_nothing_about_the_new_one() {
    let mut rig = sent();
    let dispatch = rig.dispatch();
    rig.attach_as(2, "s1", 1, Known::None, true);
    rig.says(&["c1 closed", "r2 owner task", "c2 dispatch"]);
    rig.event(Event::Closed { conn: Conn(1), unsent: Some(dispatch) });
    rig.idle(2);
    rig.says(&[]);
}

#[test]
fn no_answer_is_cancelled_first_and_then_error() {
    let mut rig = sent();
    rig.wait(120_000);
    rig.says(&["c1 cancel", "ERROR Delivery was not confirmed; its effects are unknown."]);
}

#[test]
fn an_acceptance_that_comes_later_is_answered_by_a_cancel() {
    let mut rig = sent();
    let dispatch = rig.dispatch();
    rig.wait(120_000);
    rig.forget();
    rig.event(Event::Answered { conn: Conn(1), dispatch, answer: Answer::Accepted });
    rig.says(&["c1 cancel"]);
}

#[test]
fn a_refusal_after_the_acceptance_changes_nothing() {
    let mut rig = sent();
    rig.accept(1);
    rig.reply(1, Answer::Busy);
    rig.idle(1);
    rig.says(&["c1 remind"]);
}

#[test]
fn an_answer_about_another_dispatch_is_not_ours() {
    let mut rig = sent();
    let dispatch = DispatchId::from_random(999);
    rig.event(Event::Answered { conn: Conn(1), dispatch, answer: Answer::Busy });
    rig.idle(1);
    rig.says(&[]);
    rig.shows(State::Running, "");
}
