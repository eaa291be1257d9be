//! `handoff attach` at a terminal: the report is asked for, or read from a file.

use crate::daemon::{COMPLETE, eventually, submit, world};
use crate::env::{Running, TestEnv, write};

fn session(world: &TestEnv) -> Running {
    let session = world.start(&["attach"]);
    eventually("the session is attached", || session.stderr().contains("attached"));
    assert_eq!(submit(world, "T-1", &["--gate", "review-after", "--gate-reason", "to see"]).code, 0);
    eventually("the task is shown", || session.stderr().contains("when it is done"));
    assert!(session.stderr().contains("Add a flag"));
    session
}

fn ended(world: &TestEnv) -> serde_json::Value {
    let said = world.run(&["wait", "--task", "T-1", "--timeout", "60s", "--json"]);
    assert!(said.code < 2, "{said}");
    said.json()
}

#[test]
fn a_complete_report_is_asked_for_question_by_question() {
    let (world, _daemon) = world();
    let mut session = session(&world);
    for line in ["complete", "", "", "", "It is there", "src/a.rs, src/b.rs", "", "", "", "", "APPROVED: fine"] {
        session.type_line(line);
    }
    let ended = ended(&world);
    assert_eq!((&ended["status"], &ended["verdict"]), (&"COMPLETE".into(), &"APPROVED: fine".into()), "{ended}");
    assert_eq!(ended["task"]["report"]["worker"]["agent"], "handoff-writer");
}

#[test]
fn a_refused_report_can_be_given_again() {
    let (world, _daemon) = world();
    let mut session = session(&world);
    // No evidence for the gate.
    let file = write(&world.root().join("report.json"), COMPLETE.as_bytes());
    session.type_line(file.to_str().unwrap());
    eventually("it is refused", || session.stderr().contains("refused: "));
    session.type_line("nowhere.json");
    eventually("it is told", || session.stderr().contains("cannot read"));
    session.type_line("error");
    session.type_line("it does not work");
    let ended = ended(&world);
    assert_eq!((&ended["status"], &ended["task"]["error"]), (&"ERROR".into(), &"it does not work".into()));
}
