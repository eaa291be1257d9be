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
    not run: handoff resume (nobody could be asked; `--yes` runs it)
    --- exit 1
    ");
    let said = world.said(world.command().current_dir(world.home()).args(["next", "project", "--yes"]));
    assert_eq!((said.code, state(&world).as_str()), (0, "idle"), "{said}");
    assert_eq!(world.run(&["next"]).code, 0, "nothing to do");
}

fn moved(from: &std::path::Path, to: &std::path::Path) {
    #[expect(clippy::disallowed_methods, reason = "the test plays the person")]
    std::fs::rename(from, to).unwrap();
}

#[test]
fn next_prints_what_is_to_be_done_by_hand_and_says_that_it_was_not_done() {
    let (world, _daemon) = world();
    let pi = world.project().join(".pi");
    moved(&pi, &world.root().join("elsewhere"));
    std::os::unix::fs::symlink(world.root().join("elsewhere"), &pi).unwrap();
    let reason = || world.run(&["status", "--json"]).json()["projects"][0]["reason"].clone();
    eventually("the link is seen", || reason() == "cannot_write");
    for arguments in [&["next"][..], &["next", "--yes"]] {
        let said = world.run(arguments);
        let expected = "mv {PROJECT}/.pi {PROJECT}/.pi.old && handoff init {PROJECT}\n";
        assert_eq!((said.code, said.stdout.as_str()), (1, expected), "{said}");
        assert!(
            said.stderr.contains("must be a real folder") && said.stderr.ends_with("to be done by hand:\n"),
            "{said}"
        );
    }
    // What it says helps.
    moved(&pi, &world.project().join(".pi.old"));
    assert_eq!(world.run(&["init"]).code, 0);
    eventually("the project is well", || state(&world) == "idle");
}

#[test]
fn next_ends_no_task_that_does_well() {
    let (world, _daemon) = world();
    let _session = attach(&world, "sleep 60");
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    eventually("it runs", || state(&world) == "running");
    let said = world.run(&["next", "--yes"]);
    assert!(said.code == 0 && said.stderr.ends_with("there is nothing to do\n"), "{said}");
    assert_eq!(state(&world), "running");
}

#[test]
fn next_ends_no_task_that_waits_for_a_file_to_be_corrected() {
    let (world, _daemon) = world();
    world.file(".pi/handoff.toml", "context.files = [\"big.txt\"]");
    world.file("big.txt", "x".repeat(200 << 10));
    let _session = attach(&world, "exit 1");
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    eventually("it cannot be handed over", || state(&world) == "blocked");
    let said = world.run(&["next", "--yes"]);
    assert!(said.code == 1 && said.stdout.starts_with("correct the file, or take it out"), "{said}");
    assert_eq!(state(&world), "blocked", "the task is still there");
}

#[test]
fn what_keeps_a_daemon_from_starting_comes_before_that_there_is_none() {
    let world = crate::doctor::world();
    let file = world.home().join(".config/handoffd/config.toml");
    crate::env::write(&file, b"[log]\nlevel = 7\n");
    let said = world.run(&["next"]);
    assert!(said.code == 3 && said.stderr.contains("Hint: correct the file; `handoffd --check`"), "{said}");
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
    assert_eq!(world.run(&["disable", "project"]).code, 0);
    eventually("its lock is free", || state(&world) == "disabled");
    let said = world.run(&["projects", "remove", "project"]);
    assert!(said.code == 0 && said.stderr.is_empty(), "{said}");
    eventually("it is gone", || state(&world) == "none");
    assert_eq!(world.run(&["projects", "list", "--json"]).json()["projects"], serde_json::json!([]));
}
