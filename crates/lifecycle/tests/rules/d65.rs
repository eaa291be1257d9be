//! D65, D66: once, and not by accident; children of an ended task.

use lifecycle::{Awake, Command, Content, Effect, Fact, Moment, Pending, Reason, State, Wall};
use queue::RunState;

use crate::rig::{Rig, pending, run, task};

fn again(before: &[i64], tracked: bool) -> Content {
    let dispatched_before = before.iter().map(|at| Wall(*at)).collect();
    Content::Pending(Box::new(Pending { task: task("T-1"), rejection: None, full: false, tracked, dispatched_before }))
}

fn ready() -> Rig {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.forget();
    rig
}

#[test]
fn the_same_bytes_seen_again_are_not_a_second_task() {
    let mut rig = ready();
    rig.write(pending("T-1"));
    rig.accept(1);
    rig.report(1, 50);
    rig.forget();
    rig.event(lifecycle::Event::Touched);
    rig.wait(60_000);
    rig.says(&[]);
}

#[test]
fn a_task_that_ran_before_is_dispatched_again_when_written_again() {
    let mut rig = ready();
    rig.write(again(&[rig.wall - 1_000], false));
    rig.says(&["c1 dispatch"]);
}

#[test]
fn the_third_time_within_ten_minutes_is_held_until_they_are_over() {
    let mut rig = ready();
    rig.write(again(&[rig.wall - 1_000, rig.wall - 500_000], false));
    rig.shows(State::Held, Reason::Repeating.as_str());
    rig.says(&[]);
    rig.wait(100_000);
    rig.says(&["c1 dispatch"]);
}

#[test]
fn what_git_tracks_is_held_and_resume_lifts_it_once() {
    let mut rig = ready();
    rig.write(again(&[], true));
    rig.shows(State::Held, Reason::TrackedByGit.as_str());
    rig.control(9, Command::Resume);
    rig.says(&["r9 changed [\"held\"]", "c1 dispatch"]);
    rig.accept(1);
    rig.report(1, 50);
    rig.settled(1, false);
    rig.write(again(&[], true));
    rig.shows(State::Held, Reason::TrackedByGit.as_str());
}

#[test]
fn what_git_no_longer_tracks_goes_on_though_nobody_touched_the_file() {
    let mut rig = ready();
    rig.write(again(&[], true));
    rig.wait(60_000);
    rig.shows(State::Held, Reason::TrackedByGit.as_str());
    rig.file.content = again(&[], false);
    rig.wait(1_000);
    rig.says(&["c1 dispatch"]);
}

#[test]
fn a_held_task_can_be_cancelled() {
    let mut rig = ready();
    rig.write(again(&[], true));
    rig.cancel(9, "T-1");
    rig.says(&["r9 cancelled PENDING ERROR NotReached 0", "rejected Cancelled: not needed"]);
}

fn ended_with_a_live_run() -> Rig {
    let mut rig = Rig::at_work("T-1");
    rig.run(1, run("r", RunState::Running, true));
    rig.cancel(9, "T-1");
    let dispatch = rig.dispatch();
    rig.event(lifecycle::Event::CancelAnswered { conn: lifecycle::Conn(1), dispatch, aborted: true });
    rig.idle(1);
    rig.says(&["c1 cancel", "ERROR Cancelled: not needed", "r9 cancelled RUNNING ERROR Aborted 1"]);
    rig.write(pending("T-22"));
    rig.shows(State::Waiting, "runs_alive");
    rig.says(&[]);
    rig
}

#[test]
fn live_runs_of_an_ended_task_hold_dispatch_until_their_processes_are_gone() {
    let mut rig = ended_with_a_live_run();
    rig.event(lifecycle::Event::RunsGone(vec!["r".into()]));
    rig.says(&["c1 dispatch"]);
}

/// The next task will wait for them: a project that shows nothing but "idle" would not be the truth.
#[test]
fn live_runs_of_an_ended_task_are_told_while_no_task_waits() {
    let mut rig = Rig::at_work("T-1");
    rig.run(1, run("r-1", RunState::Running, true));
    rig.run(1, run("r-2", RunState::Running, true));
    rig.cancel(9, "T-1");
    let dispatch = rig.dispatch();
    rig.event(lifecycle::Event::CancelAnswered { conn: lifecycle::Conn(1), dispatch, aborted: true });
    let mut gone = |ids: &[&str]| {
        let moment = Moment { awake: Awake(rig.now), wall: Wall(rig.wall), entropy: 7 };
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let (effects, _) = rig.project.step(lifecycle::Event::RunsGone(ids), moment);
        let status = rig.project.status(Wall(rig.wall));
        assert_eq!(status.next, None);
        (status.shown.reason, status.why, effects.contains(&Effect::Record(Fact::State)))
    };
    let alive = Some(Reason::RunsAlive);
    assert_eq!(gone(&[]), (alive, Some("2 runs of T-1 are still at work".into()), false));
    assert_eq!(gone(&["r-1"]), (alive, Some("1 run of T-1 is still at work".into()), true));
    assert_eq!(gone(&["r-2"]), (None, None, true));
}

#[test]
fn live_runs_of_an_ended_task_hold_dispatch_until_resume() {
    let mut rig = ended_with_a_live_run();
    rig.control(8, Command::Resume);
    rig.says(&["r8 changed [\"runs_alive\"]", "c1 dispatch"]);
}

#[test]
fn a_run_that_ends_while_the_end_is_written_holds_nothing() {
    let mut rig = Rig::at_work("T-1");
    rig.run(1, run("r", RunState::Running, true));
    let dispatch = rig.dispatch();
    rig.cancel(9, "T-1");
    rig.hold = true;
    rig.event(lifecycle::Event::CancelAnswered { conn: lifecycle::Conn(1), dispatch, aborted: true });
    rig.run(1, run("r", RunState::Stopped, true));
    rig.hold = false;
    rig.answer();
    rig.says(&["c1 cancel", "ERROR Cancelled: not needed", "r9 cancelled RUNNING ERROR Aborted 0"]);
}

#[test]
fn runs_that_outlived_the_daemon_hold_dispatch_too() {
    let mut rig = ready();
    rig.event(lifecycle::Event::RunsAlive {
        task_id: "T-0".into(),
        dispatch: queue::DispatchId::from_random(5),
        runs: vec![run("r", RunState::Running, true)],
    });
    rig.write(pending("T-1"));
    rig.shows(State::Waiting, "runs_alive");
    rig.event(lifecycle::Event::RunsGone(vec!["r".into()]));
    rig.says(&["c1 dispatch"]);
}

#[test]
fn a_complete_task_holds_nothing() {
    let mut rig = Rig::at_work("T-1");
    rig.run(1, run("r", RunState::Running, true));
    rig.report(1, 50);
    rig.idle(1);
    rig.write(pending("T-22"));
    rig.says(&["COMPLETE", "r50 reported true Appended", "c1 dispatch"]);
}
