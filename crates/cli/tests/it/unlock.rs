//! `handoff unlock` without a daemon: the same rules (D16).

use insta::assert_snapshot;

use crate::env::TestEnv;

const LOCK: &str = ".pi/pi-claude-handoff.lock";

#[test]
fn a_dead_lock_is_explained_then_moved() {
    let world = TestEnv::new();
    assert_eq!(world.run(&["init"]).code, 0);
    assert_eq!(world.run(&["unlock"]).stdout, "there is no lock\n");
    world.file(LOCK, "{\"pid\":2147483647}");
    assert_snapshot!(world.run(&["unlock"]).stdout, @"rule 8 fits: there is no process 2147483647 (dead: the next daemon recovers it by itself); it names pid 2147483647");
    assert!(world.project().join(LOCK).exists(), "explaining moves nothing");
    let said = world.run(&["unlock", "--yes"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(!world.project().join(LOCK).exists());
}

#[test]
fn a_live_lock_is_never_moved() {
    let world = TestEnv::new();
    let lock = format!("{{\"pid\":{}}}", std::process::id());
    world.file(LOCK, &lock);
    let said = world.run(&["unlock", "--yes"]);
    assert!(said.code == 4 && said.stderr.contains(&format!("pid {}", std::process::id())), "{said}");
    assert_eq!(world.read(LOCK), lock);
    world.file(LOCK, "not a lock");
    assert_eq!(world.run(&["unlock", "--yes", "--json"]).json()["rule"], 1);
}
