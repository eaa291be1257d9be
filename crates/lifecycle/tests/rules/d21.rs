//! D21: the session is lost while a task is RUNNING.

use lifecycle::{
    Attach, Awake, Conn, Done, Effect, Event, Job, Known, LeaveReason, Moment, Outgoing, Process, Req, Settings, State,
    Wall,
};
use queue::RunState;

use crate::rig::{Rig, run};

const LOST: &str = "ERROR The session was lost and did not come back within 30 s.";

fn with_background() -> Rig {
    let mut rig = Rig::at_work("T-1");
    rig.run(1, run("r-1", RunState::Running, true));
    rig
}

#[test]
fn no_background_process_gone_is_error_at_once() {
    let mut rig = Rig::at_work("T-1");
    rig.gone(1);
    rig.says(&["ERROR The session's process ended without a report."]);
}

#[test]
fn no_background_quit_is_error_at_once() {
    let mut rig = Rig::at_work("T-1");
    rig.leave(1, LeaveReason::Quit);
    rig.says(&["ERROR The session ended without a report."]);
}

#[test]
fn no_background_new_resume_fork_is_error_at_once() {
    let mut rig = Rig::at_work("T-1");
    rig.leave(1, LeaveReason::Other);
    rig.says(&["ERROR The session left the task's conversation without a report."]);
}

#[test]
fn no_background_reload_and_disconnect_wait_for_the_same_session() {
    for reload in [true, false] {
        let mut rig = Rig::at_work("T-1");
        if reload {
            rig.leave(1, LeaveReason::Reload);
        } else {
            rig.close(1);
        }
        rig.wait(29_999);
        rig.says(&[]);
        rig.wait(1);
        rig.says(&[LOST]);
    }
}

#[test]
fn no_background_waiting_ends_as_soon_as_the_process_does() {
    let mut rig = Rig::at_work("T-1");
    rig.close(1);
    rig.wait(5_000);
    rig.gone(1);
    rig.says(&["ERROR The session's process ended without a report."]);
}

#[test]
fn background_keeps_it_running_for_a_day_however_the_session_goes() {
    for how in 0..5 {
        let mut rig = with_background();
        match how {
            0 => rig.gone(1),
            1 => rig.leave(1, LeaveReason::Quit),
            2 => rig.leave(1, LeaveReason::Other),
            3 => rig.leave(1, LeaveReason::Reload),
            _ => rig.close(1),
        }
        rig.wait(24 * 3_600_000 - 1);
        rig.says(&[]);
        rig.wait(1);
        rig.says(&["ERROR The session was lost and did not come back within 24 h."]);
    }
}

fn next(rig: &Rig) -> Option<String> {
    rig.project.status(Wall(rig.wall)).next
}

/// Each way of going has its own words, and the command that brings the session back where one is needed.
#[test]
fn a_task_without_its_session_says_how_to_get_it_back() {
    let check = |go: &dyn Fn(&mut Rig), expected: &str| {
        let mut rig = with_background();
        assert_eq!(next(&rig).as_deref(), Some("handoff wait"), "a cancel is no remedy for a task that does well");
        go(&mut rig);
        assert!(rig.why().starts_with(expected), "{}", rig.why());
        rig
    };
    check(&|rig| rig.leave(1, LeaveReason::Reload), "its session's connection was lost; it is awaited");
    check(&|rig| rig.close(1), "its session's connection was lost; it is awaited");
    let rig = check(&|rig| rig.gone(1), "its session has ended; open it again to report: pi --session ");
    rig.shows(State::Running, "no_session");
    assert_eq!(next(&rig).as_deref(), Some("handoff cancel T-1"));
    let mut rig = check(
        &|rig| rig.leave(1, LeaveReason::Other),
        "its conversation was left; go back to it to report: /resume there, or pi --session ",
    );
    rig.shows(State::Running, "no_session");
    let dispatch = rig.dispatch();
    rig.attach_as(2, "s1", 1, Known::Some { dispatch, delivered: true }, true);
    rig.close(2);
    rig.shows(State::Running, "");
    assert_eq!(rig.why(), "its session's connection was lost; it is awaited");
}

/// Whoever would have told of its end is gone, but its process is not hidden.
#[test]
fn a_run_whose_session_was_left_is_at_work_only_as_long_as_its_process() {
    let at_work = |rig: &Rig| rig.project.status(Wall(rig.wall)).task.unwrap().runs.0;
    let mut rig = with_background();
    assert!(rig.project.lingering().is_empty(), "its session tells");
    rig.leave(1, LeaveReason::Other);
    assert_eq!((rig.project.lingering().len(), at_work(&rig)), (1, 1));
    rig.event(Event::RunsGone(vec!["r-1".into()]));
    assert_eq!((rig.project.lingering().len(), at_work(&rig)), (0, 0));
    let dispatch = rig.dispatch();
    rig.attach_as(2, "s1", 1, Known::Some { dispatch, delivered: true }, true);
    rig.run(2, run("r-1", RunState::Complete, true));
    assert_eq!(rig.project.status(Wall(rig.wall)).task.unwrap().runs, (0, 1, 0));
}

/// The notices of one event, and of the binding that it leads to.
fn notices(rig: &mut Rig, event: Event) -> Vec<String> {
    let moment = Moment { awake: Awake(rig.now), wall: Wall(rig.wall), entropy: 3 };
    let (mut effects, _) = rig.project.step(event, moment);
    if effects.iter().any(|effect| matches!(effect, Effect::Job(Job::Bind(_)))) {
        effects.extend(rig.project.step(Event::Done(Box::new(Done::Bound(Ok([0; 32])))), moment).0);
    }
    let notice = |effect| match effect {
        Effect::Send { message: Outgoing::Notice(_, text), .. } => Some(text),
        _ => None,
    };
    effects.into_iter().filter_map(notice).collect()
}

#[test]
fn an_end_that_no_session_was_told_is_told_to_the_next_one_once() {
    let attach = |n: u64, known| {
        let (session_id, process) = (format!("s{n}"), Process { pid: 1, started: 1 });
        let (host, session_file) = ("pi".to_owned(), None);
        let bound_alive = true;
        let (conn, req) = (Conn(n), Req(n));
        Event::Attach(Box::new(Attach {
            conn,
            req,
            session_id,
            process,
            idle: true,
            known,
            host,
            session_file,
            bound_alive,
        }))
    };
    let ended = "T-1 ended in ERROR: The session left the task's conversation without a report.";
    let left = || {
        let mut rig = Rig::at_work("T-1");
        let dispatch = rig.dispatch();
        rig.leave(1, LeaveReason::Other);
        (rig, dispatch)
    };
    let (mut rig, _) = left();
    assert_eq!(notices(&mut rig, attach(2, Known::None)), [ended]);
    assert_eq!(notices(&mut rig, attach(3, Known::None)), [""; 0], "once");
    let (mut rig, dispatch) = left();
    let known = Known::Some { dispatch, delivered: true };
    assert_eq!(notices(&mut rig, attach(2, known)), [""; 0], "its attach was answered with the end");
}

#[test]
fn the_day_counts_from_the_loss_not_from_the_end_of_the_process() {
    let mut rig = with_background();
    rig.close(1);
    rig.wait(3_600_000);
    rig.gone(1);
    rig.wait(23 * 3_600_000);
    rig.says(&["ERROR The session was lost and did not come back within 24 h."]);
}

#[test]
fn a_session_reopened_in_another_process_reports() {
    let mut rig = with_background();
    let dispatch = rig.dispatch();
    rig.gone(1);
    rig.attach_as(2, "s1", 2, Known::Some { dispatch, delivered: true }, true);
    rig.run(2, run("r-1", RunState::Complete, true));
    rig.report(2, 50);
    rig.says(&["r2 owner task", "COMPLETE", "r50 reported true Appended"]);
}

#[test]
fn a_rejected_run_is_no_background_run() {
    let mut rig = with_background();
    rig.run(1, run("r-1", RunState::Rejected, true));
    rig.gone(1);
    rig.says(&["ERROR The session's process ended without a report."]);
}

#[test]
fn a_gap_gives_one_fresh_grace() {
    let mut rig = Rig::at_work("T-1");
    rig.close(1);
    rig.wait(25_000);
    rig.event(Event::Woke);
    rig.wait(29_999);
    rig.says(&[]);
    rig.wait(1);
    rig.says(&[LOST]);
}

#[test]
fn what_was_never_delivered_says_so() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.hold = true;
    rig.write(crate::rig::pending("T-1"));
    rig.answer();
    rig.gone(1);
    rig.hold = false;
    rig.answer();
    rig.says(&[
        "r1 owner",
        "ERROR The session's process ended without a report. It was not delivered; submitting it again is safe.",
    ]);
}

#[test]
fn a_session_that_forks_during_the_claim_is_lost_at_once() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.forget();
    rig.hold = true;
    rig.write(crate::rig::pending("T-1"));
    rig.answer();
    rig.leave(1, LeaveReason::Other);
    rig.hold = false;
    rig.answer();
    let left = "The session left the task's conversation without a report.";
    rig.says(&[&format!("ERROR {left} It was not delivered; submitting it again is safe.")]);
}

#[test]
fn the_graces_are_those_of_the_moment_of_dispatch() {
    let mut rig = Rig::at_work("T-1");
    rig.event(Event::Configure(Settings { reconnect_grace: 1, ..Settings::DEFAULT }));
    rig.close(1);
    rig.wait(29_999);
    rig.says(&[]);
    rig.wait(1);
    rig.says(&[LOST]);
}
