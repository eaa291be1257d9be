//! D20, D23: who has the place.

use lifecycle::{Acquired, Command, Done, Event, Failure, Known, LeaveReason, State, Verdict, Wall};
use queue::RunState;

use crate::rig::{Rig, pending, run};

#[test]
fn the_first_has_the_place_and_others_stand_by() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.attach(2);
    rig.says(&["r1 owner", "r2 standby"]);
}

#[test]
fn the_place_is_used_by_the_newest_session_of_its_process() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.attach_as(2, "fork", 1, Known::None, true);
    rig.says(&["r1 owner", "c1 standby", "r2 owner"]);
}

#[test]
fn after_a_bare_disconnect_the_place_is_kept_for_ten_seconds() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.attach(2);
    rig.close(1);
    rig.forget();
    rig.wait(9_999);
    rig.says(&[]);
    rig.wait(1);
    rig.says(&["c2 owner"]);
}

#[test]
fn a_kept_place_is_for_its_process() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.attach(2);
    rig.leave(1, LeaveReason::Reload);
    rig.attach_as(3, "s1", 1, Known::None, true);
    rig.says(&["r1 owner", "r2 standby", "r3 owner"]);
}

#[test]
fn quit_and_the_end_of_the_process_free_the_place_at_once() {
    for quits in [true, false] {
        let mut rig = Rig::new();
        rig.attach(1);
        rig.attach(2);
        rig.forget();
        if quits {
            rig.leave(1, LeaveReason::Quit);
        } else {
            rig.gone(1);
        }
        rig.says(&["c2 owner"]);
    }
}

#[test]
fn nobody_takes_over_while_a_task_is_running_and_the_next_does_when_it_ends() {
    let mut rig = Rig::at_work("T-1");
    rig.attach(2);
    rig.close(1);
    rig.wait(29_000);
    rig.says(&["r2 standby"]);
    rig.wait(1_000);
    rig.says(&["ERROR The session was lost and did not come back within 30 s.", "c2 owner"]);
}

#[test]
fn the_same_session_of_the_same_process_replaces_its_connection() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.attach_as(2, "s1", 1, Known::None, true);
    rig.says(&["r1 owner", "c1 closed", "r2 owner"]);
}

#[test]
fn also_one_that_stands_by_replaces_its_connection() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.attach(2);
    rig.attach_as(3, "s2", 2, Known::None, true);
    rig.says(&["r1 owner", "r2 standby", "c2 closed", "r3 standby"]);
}

#[test]
fn the_same_id_from_another_live_process_stands_by() {
    let mut rig = Rig::at_work("T-1");
    rig.attach_as(2, "s1", 2, Known::None, true);
    rig.says(&["r2 standby"]);
}

#[test]
fn the_same_id_takes_the_task_up_when_the_old_process_has_ended() {
    let mut rig = Rig::at_work("T-1");
    rig.run(1, run("r", RunState::Running, true));
    rig.attach_as(2, "s1", 2, Known::None, true);
    rig.gone(1);
    rig.says(&["r2 standby", "c2 owner"]);
}

#[test]
fn a_session_of_the_same_process_does_not_get_a_running_task() {
    let mut rig = Rig::at_work("T-1");
    rig.attach_as(2, "fork", 1, Known::None, true);
    rig.says(&["r2 standby"]);
}

/// /new while a child works, and the task is cancelled from there: the place waits for nobody else.
#[test]
fn a_kept_place_goes_at_once_to_the_session_of_its_process_that_stood_by() {
    let mut rig = Rig::at_work("T-1");
    rig.run(1, run("a", RunState::Running, true));
    rig.attach_as(2, "elder", 2, Known::None, true);
    rig.leave(1, LeaveReason::Other);
    rig.attach_as(3, "new", 1, Known::None, true);
    rig.forget();
    rig.cancel(4, "T-1");
    rig.says(&["ERROR Cancelled: not needed", "r4 cancelled RUNNING ERROR NotReached 1", "c3 owner"]);
}

#[test]
fn take_moves_the_place_when_nothing_is_running() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.attach(2);
    rig.forget();
    rig.control(9, Command::Take { session_id: Some("s2".into()) });
    rig.says(&["c1 standby", "r9 changed []", "c2 owner"]);
}

#[test]
fn take_is_refused_while_running_and_for_strangers() {
    let mut rig = Rig::at_work("T-1");
    rig.attach(2);
    rig.forget();
    rig.control(9, Command::Take { session_id: Some("s2".into()) });
    rig.says(&["r9 refused TaskRunning"]);
    let mut rig = Rig::new();
    rig.control(9, Command::Take { session_id: Some("nobody".into()) });
    rig.says(&["r9 refused NoSuchSession"]);
}

#[test]
fn owner_is_answered_only_after_the_binding_is_written() {
    let mut rig = Rig::new();
    rig.hold = true;
    rig.attach(1);
    rig.says(&[]);
    rig.hold = false;
    rig.answer();
    rig.says(&["r1 owner"]);
}

#[test]
fn a_binding_that_cannot_be_written_is_standby_first_and_owner_later() {
    let mut rig = Rig::new();
    rig.script.push_back(Done::Bound(Err(Failure::CannotWrite("disk full".into()))));
    rig.attach(1);
    rig.says(&["r1 standby"]);
    rig.shows(State::Blocked, "cannot_write");
    rig.wait(1_000);
    rig.says(&["c1 owner"]);
}

#[test]
fn attach_is_answered_where_the_lock_is_not_ours() {
    let verdict = Verdict {
        rule: 8,
        reason: lifecycle::Reason::LockLive,
        text: "somebody owns it".into(),
        holder: lifecycle::Holder::default(),
    };
    for acquired in [Acquired::Blocked(verdict), Acquired::Missing, Acquired::Failed(Failure::CannotWrite("no".into()))]
    {
        let mut rig = Rig::new();
        rig.script.push_back(Done::Read(lifecycle::Seen::Failed(Failure::LockLost)));
        rig.event(Event::Touched);
        rig.script.push_back(Done::Acquired(acquired));
        rig.wait(1_000);
        rig.attach(1);
        rig.says(&["r1 standby"]);
        rig.wait(60_000);
        rig.says(&["c1 owner"]);
    }
}

#[test]
fn what_is_said_of_a_lock_names_the_lock() {
    for (reason, expected) in [
        (lifecycle::Reason::LockLive, "another owner has the lock: it"),
        (lifecycle::Reason::LockUnknown, "nobody can tell whether the lock's owner lives: it"),
        (lifecycle::Reason::LockMalformed, "the lock cannot be read: it"),
    ] {
        let mut rig = Rig::new();
        let verdict = Verdict { rule: 1, reason, text: "it".into(), holder: lifecycle::Holder::default() };
        rig.script.push_back(Done::Read(lifecycle::Seen::Failed(Failure::LockLost)));
        rig.event(Event::Touched);
        rig.script.push_back(Done::Acquired(Acquired::Blocked(verdict)));
        rig.wait(1_000);
        assert_eq!(rig.project.status(Wall(rig.wall)).why.as_deref(), Some(expected));
    }
}

#[test]
fn attach_to_a_disabled_project_is_refused() {
    let mut rig = Rig::new();
    rig.control(9, Command::Disable { now: false });
    rig.attach(1);
    rig.says(&["r9 changed []", "gone", "r1 refused Disabled"]);
}

#[test]
fn a_reattached_session_gets_its_task_back() {
    let mut rig = Rig::at_work("T-1");
    let dispatch = rig.dispatch();
    rig.close(1);
    rig.attach_as(2, "s1", 1, Known::Some { dispatch, delivered: true }, false);
    rig.says(&["r2 owner task"]);
}

#[test]
fn the_answer_to_the_attach_comes_before_the_message() {
    let mut rig = Rig::new();
    rig.attach(1);
    rig.hold = true;
    rig.write(pending("T-1")); // the reading is out
    rig.answer(); // the claim is out
    rig.event(Event::Closed { conn: lifecycle::Conn(1), unsent: None });
    rig.attach_as(2, "s1", 1, Known::None, true);
    rig.hold = false;
    rig.answer();
    rig.says(&["r1 owner", "r2 owner task", "c2 dispatch"]);
}
