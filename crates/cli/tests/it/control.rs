//! The verbs that change something, each saying what it did.

use insta::assert_snapshot;

use crate::daemon::{attach, eventually, slow_world, state, submit, world};
use crate::env::VALID;

#[test]
fn a_project_is_paused_resumed_disabled_and_enabled() {
    let (world, _daemon) = world();
    assert_snapshot!(world.run(&["pause"]), @r"
    paused project
    it is paused now: a person paused it
    --- exit 0
    ");
    assert_snapshot!(world.run(&["resume", "project"]), @r"
    resumed project, lifted: paused
    it is idle now
    --- exit 0
    ");
    assert_eq!(world.run(&["disable", "--json"]).json()["path"], "{PROJECT}");
    eventually("it is disabled", || state(&world) == "disabled");
    assert_eq!(world.run(&["pause", "nowhere"]).code, 4);
    assert_eq!(world.run(&["enable"]).code, 0);
    eventually("it is enabled", || state(&world) == "idle");
}

#[test]
fn the_task_that_was_shown_is_the_one_that_is_cancelled_and_can_be_retried() {
    let (world, _daemon) = world();
    assert_eq!(world.run(&["cancel"]).code, 4, "there is nothing to cancel");
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    eventually("the task waits", || state(&world) == "waiting");
    assert_eq!(world.run(&["cancel", "T-2"]).code, 4, "another task is there");
    assert_snapshot!(world.run(&["cancel", "--reason", "not now"]), @r"
    T-1 cancelled (PENDING before, ERROR now)
    --- stderr
    cancelling T-1 in {PROJECT}
    --- exit 0
    ");
    assert!(world.read("tasks.json").contains("Cancelled: not now"));
    let again = world.run(&["cancel", "T-1"]);
    assert_eq!((again.code, again.stdout.contains("T-1 had ended before: nothing was changed")), (0, true), "{again}");
    assert_eq!(world.run(&["wait", "--task", "T-1"]).code, 1);
    let retried = world.run(&["retry", "--json"]).json();
    assert_eq!((&retried["parent_task_id"], &retried["status"]), (&"T-1".into(), &"PENDING".into()));
}

/// The file is believed before a daemon that has not looked at it yet.
#[test]
fn a_cancel_right_after_the_write_finds_the_task() {
    let (world, _daemon) = slow_world();
    for n in 0..2 {
        let (id, named) = (format!("T-{n}"), n % 2 == 0);
        world.file("tasks.json", VALID.replace("T-1", &id));
        let said = if named { world.run(&["cancel", &id]) } else { world.run(&["cancel"]) };
        assert_eq!(said.stdout, format!("{id} cancelled (PENDING before, ERROR now)\n"), "{said}");
    }
}

#[test]
fn next_runs_what_status_suggests_only_when_allowed() {
    let (world, _daemon) = world();
    assert_eq!(world.run(&["next"]).stderr.lines().last(), Some("there is nothing to do"));
    assert_eq!(world.run(&["pause"]).code, 0);
    assert_snapshot!(world.run(&["next"]), @r"
    --- stderr
    project is paused: a person paused it
    not run: handoff resume
    --- exit 2
    ");
    let said = world.said(world.command().current_dir(world.home()).args(["next", "project", "--yes"]));
    assert_eq!((said.code, state(&world).as_str()), (0, "idle"), "{said}");
}

#[test]
fn the_place_goes_to_the_next_in_line() {
    let (world, _daemon) = world();
    assert_eq!(world.run(&["take"]).code, 4, "nobody stands by");
    let first = attach(&world, "exit 1");
    let _second = attach(&world, "exit 1");
    eventually("one stands by", || world.run(&["status", "--json"]).json()["projects"][0]["standby"] == 1);
    let taken = world.run(&["take", "--json"]);
    assert_eq!(taken.code, 0, "{taken}");
    assert_ne!(taken.json()["session_id"], taken.json()["from"]);
    eventually("the first one is told", || first.stderr().contains("this session is standby now"));
}

#[test]
fn a_project_is_removed_through_the_daemon() {
    let (world, _daemon) = world();
    assert_eq!(world.run(&["projects", "remove", "project"]).code, 0);
    eventually("it is gone", || state(&world) == "none");
    assert_eq!(world.run(&["projects", "list", "--json"]).json()["projects"], serde_json::json!([]));
}
