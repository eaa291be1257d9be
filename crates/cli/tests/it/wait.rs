//! `handoff wait`, `submit --wait` and `show`: how a task ended, and how sure that is.

use insta::assert_snapshot;

use crate::daemon::{COMPLETE, TestDaemon, attach, eventually, state, submit, world};
use crate::env::write;

#[test]
fn a_task_is_waited_for_and_shown_with_its_evidence() {
    let (world, _daemon) = world();
    let _session = attach(&world, &format!("cat > /dev/null; echo '{COMPLETE}'"));
    let said = submit(&world, "T-1", &["--wait"]);
    assert_snapshot!(said, @r"
    submitted T-1 to {PROJECT}
    COMPLETE T-1
    result: Added
    --- exit 0
    ");
    let shown = world.run(&["show", "T-1"]);
    assert!(shown.stdout.contains("evidence:\n  claimed: worker handoff-writer r-1 (p/m, thinking off)"), "{shown}");
    let shown = world.run(&["show", "--json"]).json();
    assert_eq!((&shown["status"], &shown["planner"]["instruction"]), (&"COMPLETE".into(), &"Add a flag".into()));
    assert_eq!(shown["evidence"][0]["proof"], "claimed");
    let history = world.run(&["history", "--task", "T-1", "--json"]).stdout;
    assert!(history.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{history}");
    assert!(history.lines().next().unwrap().contains("\"kind\":\"ended\""), "newest first: {history}");
    assert_eq!(world.run(&["wait", "--task", "T-1"]).code, 0, "one that ended earlier is answered, too");
    assert_eq!(world.run(&["show", "T-9"]).code, 4);
}

/// Every body that can be shown can be shown without credentials in it.
#[test]
fn f277_what_is_shown_can_be_redacted() {
    const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let (world, _daemon) = world();
    let report = COMPLETE.replace("\"Added\"", &format!("\"with {SECRET}\""));
    let _session = attach(&world, &format!("cat > /dev/null; echo '{report}'"));
    assert_eq!(submit(&world, "T-1", &["--wait", "--accept", &format!("use {SECRET}")]).code, 0);
    for verb in [&["show", "T-1"][..], &["history"], &["wait", "--task", "T-1"]] {
        for form in [&[][..], &["--json"]] {
            let plain = world.run(&[verb, form].concat());
            assert!(plain.stdout.contains(SECRET), "it is the text as it is: {verb:?} {plain}");
            let redacted = world.run(&[verb, form, &["--redact"]].concat());
            let masks = redacted.stdout.contains("[masked GitHub token]") && !redacted.stdout.contains("ghp_");
            assert!(masks && redacted.code == plain.code, "{verb:?} {redacted}");
            let is_json = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
            assert!(form.is_empty() || redacted.stdout.lines().all(is_json), "{redacted}");
        }
    }
}

#[test]
fn a_task_is_shown_with_its_packets_by_round_and_leg() {
    let (world, _daemon) = world();
    let _session = attach(&world, &format!("cat > /dev/null; echo '{COMPLETE}'"));
    assert_eq!(submit(&world, "T-1", &["--wait"]).code, 0);
    assert!(!world.run(&["show", "T-1"]).stdout.contains("packets"), "nothing when there are none");
    assert_eq!(world.run(&["show", "T-1", "--json"]).json()["packets"], serde_json::json!([]));
    let packet = serde_json::json!({
        "packet_id": "pk-1", "goal_id": "T-1", "round": 2, "from_role": "executor", "to_role": "verifier",
        "objective": "look at it", "output_format": "diff",
    });
    let round = world.home().join(".local/share/handoffd/team_packets/T-1/r2");
    write(&round.join("executor-to-verifier.json"), packet.to_string().as_bytes());
    write(&round.join("executor-to-verifier.01.json"), b"{");
    let shown = world.run(&["show", "T-1"]).stdout;
    let path = "team_packets/T-1/r2/executor-to-verifier";
    let expected = format!(
        "packets: round 2, executor → verifier\n  00  pk-1  look at it\n      {path}.json\n  01  skipped, unparseable: "
    );
    assert!(shown.contains(&expected) && shown.contains(&format!("\n      {path}.01.json\n")), "{shown}");
    let unknown = world.run(&["show", "T-2"]);
    assert!(unknown.code == 4 && !unknown.stderr.contains("packet list"), "{unknown}");
    write(&world.home().join(".local/share/handoffd/team_packets/T-2/r1/executor-to-verifier.json"), b"{");
    let unknown = world.run(&["show", "T-2"]);
    assert!(unknown.code == 4 && unknown.stderr.contains("Hint: `handoff packet list T-2` lists"), "{unknown}");
    let packets = world.run(&["show", "T-1", "--json"]).json()["packets"].clone();
    assert_eq!((&packets[0]["round"], &packets[0]["packets"][0]["packet_id"]), (&2.into(), &"pk-1".into()));
}

#[test]
fn the_exit_code_tells_error_no_task_and_time_over_apart() {
    let (world, _daemon) = world();
    let said = world.run(&["wait"]);
    assert!(said.code == 4 && said.stderr.contains("no task waits or runs in {PROJECT}\n"), "{said}");
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    let said = world.run(&["wait", "--timeout", "50ms", "--json"]);
    assert_eq!((said.code, &said.json()["timed_out"]), (5, &true.into()), "{said}");
    let _session = attach(&world, "echo no >&2; exit 1");
    let said = world.run(&["wait", "--task", "T-1"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(said.stdout.starts_with("ERROR T-1\n"), "{said}");
    assert_eq!(world.run(&["wait", "--timeout", "soon"]).code, 2);
}

#[test]
fn a_wait_goes_on_over_a_restart_of_the_daemon() {
    let (world, daemon) = world();
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    eventually("the task waits", || state(&world) == "waiting");
    let mut waiting = world.start(&["wait"]);
    eventually("it waits", || waiting.stderr().contains("waiting for T-1"));
    drop(daemon);
    eventually("it saw the daemon go", || waiting.stderr().contains("the daemon went away"));
    let _daemon = TestDaemon::start(&world);
    let _session = attach(&world, "exit 1");
    eventually("it is told the end", || waiting.ended().is_some());
    assert!(waiting.stdout().starts_with("ERROR T-1\n"), "{}", waiting.stdout());
}

#[test]
fn a_wait_tells_what_a_person_must_do_before_the_task_goes_on() {
    let (world, _daemon) = world();
    assert_eq!(world.run(&["pause"]).code, 0);
    let waiting = world.start(&["submit", "--wait", "--instruction", "x", "--scope", "src", "--accept", "y"]);
    let told = "the task does not go on, the project is paused: a person paused it; next: handoff resume\n";
    eventually("it is told", || waiting.stderr().contains(told));
}
