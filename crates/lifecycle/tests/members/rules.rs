//! The rules one by one. Each test names the decision that it is about.

use lifecycle::members::{ClaimResult, Event, Leg, Look, Role, Seen};
use lifecycle::{Answer, Conn, Known, LeaveReason, Stopped};

use crate::rig::{D1, Rig, attach, claim, packet, packet_of, process, record};

#[test]
fn an_attached_member_gets_its_packets_in_order_one_at_a_time() {
    let mut rig = Rig::new();
    assert_eq!(rig.attach(attach(1, "m")), ["1 is member", "s1 attached", "look"]);
    let round_2 = packet_of(2, Leg::PlannerToExecutor, 0);
    let repair = packet_of(1, Leg::VerifierToExecutor, 0);
    let foreign = packet_of(1, Leg::ExecutorToVerifier, 0);
    let mut lines = rig.look(&[round_2, repair, foreign, packet(1), packet(0)]);
    let mut order = Vec::new();
    while let Some(dispatch) = rig.claiming("m") {
        order.push(lines.last().unwrap().clone());
        rig.claimed(dispatch, ClaimResult::Done);
        rig.answer(1, Answer::Accepted);
        lines = rig.activity(1, true);
    }
    assert_eq!(order, ["p1.0", "p1.1", "v1.0", "p2.0"].map(|id| format!("claim {id} for m")));
    assert_eq!(lines, ["m p2.0 settled"], "a packet for another role is never offered");
}

#[test]
fn nothing_is_claimed_for_a_busy_session_or_a_stopped_process() {
    let mut rig = Rig::new();
    rig.attach(lifecycle::members::Attach { idle: false, ..attach(1, "m") });
    assert!(rig.look(&[packet(0)]).is_empty());
    rig.step(Event::ProcessStopped { process: process(11), stopped: Stopped::Yes });
    assert!(rig.activity(1, true).is_empty(), "D24");
    let lines = rig.step(Event::ProcessStopped { process: process(11), stopped: Stopped::No });
    assert_eq!(lines, ["claim p1.0 for m"]);
}

#[test]
fn d69_busy_until_an_idle_moment_after_the_acceptance() {
    let mut rig = Rig::sent();
    assert!(rig.activity(1, true).is_empty(), "before the acceptance it says nothing");
    assert!(rig.settled(1, None).is_empty(), "the turn of before the message");
    assert_eq!(rig.answer(1, Answer::Accepted), ["m p1.0 accepted"]);
    assert!(rig.activity(1, false).is_empty());
    assert_eq!(rig.activity(1, true), ["m p1.0 settled", "claim p1.1 for m"]);
}

#[test]
fn d69_a_settled_turn_that_names_the_dispatch_is_its_acceptance_and_its_end() {
    let mut rig = Rig::sent();
    let dispatch = rig.dispatch("m");
    let lines = rig.settled(1, Some(dispatch));
    assert_eq!(lines, ["m p1.0 accepted", "m p1.0 settled", "claim p1.1 for m"]);
    // The answer was overtaken: it is no news, and nobody is told to stop.
    assert!(rig.step(Event::Answered { conn: Conn(1), dispatch, answer: Answer::Accepted }).is_empty());
}

#[test]
fn an_aborted_turn_ends_the_packet_too() {
    let mut rig = Rig::accepted();
    let lines = rig.step(Event::Settled { conn: Conn(1), dispatch: None, aborted: true });
    assert_eq!(lines, ["m p1.0 ended", "claim p1.1 for m"]);
}

#[test]
fn d69_refused_packets_are_sent_again_at_idle_and_never_skipped() {
    let mut rig = Rig::sent();
    for _ in 0..9 {
        assert_eq!(rig.answer(1, Answer::Busy), ["m p1.0 refused"]);
        assert_eq!(rig.activity(1, true), ["m p1.0 sent", "1 dispatch p1.0"]);
    }
    let lines = rig.answer(1, Answer::Busy);
    assert_eq!(lines, ["m p1.0 refused", "1 notice", "m p1.0 released", "look"]);
    assert!(rig.activity(1, true).is_empty(), "this session is asked no more");
    assert_eq!(rig.look(&[packet(0), packet(1)]), [""; 0]);
    let lines = rig.attach(attach(2, "other"));
    assert_eq!(lines.last().unwrap(), "claim p1.0 for other", "another member of the role gets it");
}

#[test]
fn d69_another_refusal_is_asked_again_after_a_while() {
    let mut rig = Rig::sent();
    assert_eq!(rig.answer(1, Answer::Refused), ["m p1.0 refused"]);
    assert!(rig.after(29_999).is_empty());
    assert_eq!(rig.after(1), ["m p1.0 sent", "1 dispatch p1.0"]);
}

#[test]
fn d69_without_an_answer_the_session_is_told_to_stop_and_the_packet_is_never_sent_again() {
    let mut rig = Rig::sent();
    let dispatch = rig.dispatch("m");
    assert_eq!(rig.after(120_000), ["1 cancel", "m p1.0 ended, unknown"]);
    let late = rig.step(Event::Answered { conn: Conn(1), dispatch, answer: Answer::Accepted });
    assert_eq!(late, ["1 cancel", "1 notice"]);
    assert_eq!(rig.settled(1, Some(dispatch)), ["claim p1.1 for m"]);
}

#[test]
fn d24_limits_of_time_of_the_project_hold_for_packets() {
    let mut rig = Rig::new();
    let settings = lifecycle::Settings { max_runtime: Some(5_000), ..lifecycle::Settings::DEFAULT };
    rig.attach(lifecycle::members::Attach { settings, ..attach(1, "m") });
    rig.look(&[packet(0)]);
    rig.claim_answered("m", ClaimResult::Done);
    rig.answer(1, Answer::Accepted);
    assert!(rig.after(4_999).is_empty());
    assert_eq!(rig.after(1), ["1 cancel", "m p1.0 ended"]);
}

#[test]
fn d21_a_lost_connection_is_awaited_a_session_that_ends_is_not() {
    let closed = |rig: &mut Rig| rig.step(Event::Closed { conn: Conn(1), unsent: None });
    let mut rig = Rig::accepted();
    assert_eq!(closed(&mut rig), ["s1 lost"]);
    assert!(rig.after(29_999).is_empty());
    assert_eq!(rig.after(1), ["m p1.0 ended"]);

    let mut rig = Rig::sent();
    assert_eq!(closed(&mut rig), ["s1 lost"]);
    assert_eq!(rig.step(Event::ProcessGone(process(11))), ["m p1.0 ended, unknown"]);

    for (reason, lines) in [
        (LeaveReason::Quit, vec!["s1 left", "m p1.0 ended"]),
        (LeaveReason::Other, vec!["s1 left", "m p1.0 ended"]),
        (LeaveReason::Reload, vec!["s1 left"]),
    ] {
        assert_eq!(Rig::accepted().step(Event::Leaving { conn: Conn(1), reason }), lines, "{reason:?}");
    }
}

#[test]
fn d21_a_gap_in_awake_time_is_not_waiting() {
    let mut rig = Rig::accepted();
    rig.step(Event::Closed { conn: Conn(1), unsent: None });
    rig.now += 29_000;
    rig.step(Event::Woke);
    assert!(rig.after(29_000).is_empty());
    assert_eq!(rig.after(1_000), ["m p1.0 ended"]);
}

#[test]
fn d69_a_line_that_was_not_written_whole_is_proof() {
    let mut rig = Rig::sent();
    let unsent = Some(rig.dispatch("m"));
    let lines = rig.step(Event::Closed { conn: Conn(1), unsent });
    assert_eq!(lines, ["s1 lost", "m p1.0 released", "look"]);
}

#[test]
fn d23_what_the_session_knows_decides() {
    let check = |accepted: bool, idle: bool, known: Known, expected: &[&str]| {
        let mut rig = if accepted { Rig::accepted() } else { Rig::sent() };
        let dispatch = rig.dispatch("m");
        rig.step(Event::Closed { conn: Conn(1), unsent: None });
        let known = match known {
            Known::Some { delivered, .. } => Known::Some { dispatch, delivered },
            other => other,
        };
        let again = lifecycle::members::Attach { conn: Conn(2), idle, known, process: process(11), ..attach(2, "m") };
        let lines = rig.attach(lifecycle::members::Attach { session_id: "s1".into(), ..again });
        assert_eq!(lines[..2], ["2 is member at T-1", "s1 attached"], "{known:?}");
        let rest: Vec<_> = lines[2..].iter().filter(|line| *line != "look").collect();
        assert_eq!(rest, expected, "accepted: {accepted}, idle: {idle}, {known:?}");
    };
    let delivered = Known::Some { dispatch: D1, delivered: true };
    let undelivered = Known::Some { dispatch: D1, delivered: false };
    check(false, false, delivered, &["m p1.0 accepted"]);
    check(false, true, delivered, &["m p1.0 accepted", "m p1.0 settled", "claim p1.1 for m"]);
    check(false, true, undelivered, &["m p1.0 sent", "2 dispatch p1.0"]);
    check(false, true, Known::None, &["m p1.0 sent", "2 dispatch p1.0"]);
    check(false, false, Known::None, &[]);
    check(false, true, Known::NoRecords, &["m p1.0 ended, unknown", "claim p1.1 for m"]);
    check(true, false, Known::None, &[]);
    check(true, true, Known::NoRecords, &["m p1.0 settled", "claim p1.1 for m"]);
}

#[test]
fn d22_a_claim_of_the_daemon_before_is_awaited_and_then_given_up() {
    let with = |conn, known, open| lifecycle::members::Attach { known, open: Some(open), ..attach(conn, "m") };
    let delivered = Known::Some { dispatch: D1, delivered: true };
    let mut rig = Rig::new();
    let lines = rig.attach(with(1, delivered, claim(false)));
    assert_eq!(lines, ["1 is member at T-1", "s1 attached", "m p1.0 accepted", "m p1.0 settled", "look"]);

    let mut rig = Rig::new();
    let lines = rig.attach(with(1, Known::None, claim(false)));
    assert_eq!(lines, ["1 is member at T-1", "s1 attached", "look", "m p1.0 sent", "1 dispatch p1.0"]);

    // Another session waits until the one before it is given up.
    let mut rig = Rig::new();
    let lines = rig.attach(with(2, Known::None, claim(true)));
    assert_eq!(lines, ["2 is standby", "s2 attached", "2 notice", "look"]);
    assert!(rig.look(&[packet(1)]).is_empty());
    assert!(rig.after(29_999).is_empty());
    let lines = rig.after(1);
    assert_eq!(lines, ["m p1.0 ended", "2 place member", "s2 place", "claim p1.1 for m"]);

    // It is gone already.
    let gone = lifecycle::members::Open { alive: false, ..claim(false) };
    let lines = Rig::new().attach(with(2, Known::None, gone));
    assert_eq!(
        lines,
        ["2 is standby", "s2 attached", "2 notice", "look", "m p1.0 ended, unknown", "2 place member", "s2 place"]
    );
}

#[test]
fn an_end_that_the_disk_did_not_take_is_known_all_the_same() {
    let mut rig = Rig::accepted();
    let dispatch = rig.dispatch("m");
    rig.activity(1, true);
    rig.claim_answered("m", ClaimResult::Taken);
    let open = lifecycle::members::Open { dispatch, ..claim(true) };
    let known = Known::Some { dispatch, delivered: true };
    let lines = rig.attach(lifecycle::members::Attach { open: Some(open), known, ..attach(1, "m") });
    assert_eq!(lines, ["1 closed", "1 is member ended: None", "s1 attached", "look"]);
}

#[test]
fn d20_one_session_gets_the_packets_and_the_next_in_line_follows() {
    let mut rig = Rig::accepted();
    assert_eq!(rig.attach(attach(2, "m")), ["2 is standby", "s2 attached", "2 notice", "look"]);
    let lines = rig.step(Event::Leaving { conn: Conn(1), reason: LeaveReason::Quit });
    assert_eq!(lines, ["s1 left", "m p1.0 ended", "2 place member", "s2 place", "claim p1.1 for m"]);
}

#[test]
fn d20_the_same_session_replaces_its_old_connection() {
    let mut rig = Rig::accepted();
    let again = lifecycle::members::Attach { conn: Conn(2), process: process(11), ..attach(2, "m") };
    let known = Known::Some { dispatch: rig.dispatch("m"), delivered: true };
    let again = lifecycle::members::Attach { session_id: "s1".into(), known, idle: false, ..again };
    assert_eq!(rig.attach(again), ["1 closed", "2 is member at T-1", "s1 attached", "look"]);
    assert!(rig.step(Event::Closed { conn: Conn(1), unsent: None }).is_empty());
    assert_eq!(rig.activity(2, true), ["m p1.0 settled", "claim p1.1 for m"]);
}

#[test]
fn two_members_of_a_role_share_the_packets() {
    let mut rig = Rig::new();
    rig.attach(attach(1, "a"));
    rig.attach(attach(2, "b"));
    let packets = [packet(0), packet(1), packet(2)];
    assert_eq!(rig.look(&packets), ["claim p1.0 for a", "claim p1.1 for b"]);
    assert!(rig.look(&packets).is_empty(), "what is being claimed is offered to nobody else");
}

#[test]
fn a_packet_that_somebody_else_claimed_is_not_sent() {
    let mut rig = Rig::new();
    rig.attach(attach(1, "m"));
    rig.look(&[packet(0), packet(1)]);
    let lines = rig.claim_answered("m", ClaimResult::Taken);
    assert_eq!(lines, ["look", "claim p1.1 for m"]);
}

#[test]
fn d70_a_claim_that_cannot_be_written_is_tried_again() {
    let mut rig = Rig::new();
    rig.attach(attach(1, "m"));
    rig.look(&[packet(0)]);
    let failed = || ClaimResult::Failed("no space left on device".into());
    assert_eq!(rig.claim_answered("m", failed()), ["1 notice"]);
    assert!(rig.look(&[packet(0)]).is_empty());
    for pause in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] {
        assert!(rig.after(pause - 1).is_empty(), "{pause}");
        assert_eq!(rig.after(1), ["claim p1.0 for m"]);
        assert!(rig.claim_answered("m", failed()).is_empty());
    }
    assert!(rig.members.view()[0].why.as_deref().unwrap().contains("no space left"));
}

#[test]
fn nothing_is_sent_while_the_project_is_held() {
    let mut rig = Rig::new();
    rig.attach(attach(1, "m"));
    rig.look(&[packet(0)]);
    let dispatch = rig.claiming("m").unwrap();
    assert!(rig.claimed(dispatch, ClaimResult::Held("its project is paused".into())).is_empty());
    assert_eq!(rig.members.view()[0].why.as_deref(), Some("its project is paused"));
    assert_eq!(rig.look(&[packet(0)]), ["claim p1.0 for m"]);
}

#[test]
fn a_member_whose_record_is_gone_gets_nothing_until_it_is_back() {
    let mut rig = Rig::accepted();
    let look = |record: Result<lifecycle::members::Record, String>| {
        let members = vec![Seen { agent: "m".into(), record, held: None }];
        Event::Looked(Look { packets: vec![packet(1)], members })
    };
    assert_eq!(rig.step(look(Err("its record is gone".into()))), ["1 place standby"]);
    assert_eq!(rig.activity(1, true), ["m p1.0 settled"], "what it works on goes on");
    assert_eq!(rig.step(look(Ok(record(Role::Executor)))), ["1 place member", "claim p1.1 for m"]);
}

#[test]
fn a_daemon_that_stops_claims_nothing_and_takes_back_what_was_not_sent() {
    let mut rig = Rig::new();
    rig.attach(attach(1, "m"));
    rig.look(&[packet(0)]);
    rig.step(Event::Shutdown);
    let lines = rig.claim_answered("m", ClaimResult::Done);
    assert_eq!(lines, ["m p1.0 released", "look"]);
    assert!(rig.look(&[packet(0)]).is_empty());
}

#[test]
fn members_without_session_and_packet_are_forgotten() {
    let mut rig = Rig::accepted();
    rig.step(Event::Leaving { conn: Conn(1), reason: LeaveReason::Quit });
    assert!(rig.members.is_empty());
    assert_eq!(rig.deadline, None);
}

#[test]
fn a_packet_whose_file_is_gone_when_it_is_sent_again_is_open_again() {
    let mut rig = Rig::sent();
    let dispatch = rig.dispatch("m");
    let lines = rig.step(Event::Unreadable { dispatch });
    assert_eq!(lines, ["m p1.0 released", "look", "claim p1.0 for m"]);
    assert_eq!(rig.claim_answered("m", ClaimResult::Taken), ["look", "claim p1.1 for m"]);
}

#[test]
fn d20_the_newest_session_of_a_process_has_its_place() {
    let mut rig = Rig::new();
    rig.attach(attach(1, "m"));
    let newer = lifecycle::members::Attach { process: process(11), ..attach(2, "m") };
    assert_eq!(rig.attach(newer), ["1 place standby", "2 is member", "s2 attached", "look"]);
    let lines = rig.step(Event::Leaving { conn: Conn(2), reason: LeaveReason::Other });
    assert_eq!(lines, ["s2 left", "1 place member", "s1 place"]);
}

#[test]
fn d69_who_stands_by_takes_over_from_a_session_that_takes_nothing() {
    let mut rig = Rig::sent();
    rig.attach(attach(2, "m"));
    rig.answer(1, Answer::Busy);
    let lines = rig.after(600_000);
    let rest = ["look", "1 place standby", "2 place member", "s2 place", "claim p1.0 for m"];
    assert_eq!(lines[..2], ["1 notice", "m p1.0 released"]);
    assert_eq!(lines[2..], rest);
}

#[test]
fn nothing_is_addressed_to_a_planner_and_that_is_shown() {
    let mut rig = Rig::new();
    let planner = lifecycle::members::Attach { record: record(Role::Planner), ..attach(1, "m") };
    assert_eq!(rig.attach(planner), ["1 is member", "s1 attached", "look"]);
    assert!(rig.look(&[packet(0)]).is_empty());
    assert_eq!(rig.members.view()[0].why.as_deref(), Some("no packet is ever addressed to its role"));
}
