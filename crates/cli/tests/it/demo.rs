//! `handoff demo`: the main job before anything is installed.

use crate::env::TestEnv;

#[test]
fn the_whole_way_of_a_task_is_shown_and_nothing_is_left() {
    let temporary = tempfile::tempdir().unwrap();
    let world = TestEnv::new().with("TMPDIR", temporary.path());
    let said = world.run(&["demo"]);
    assert_eq!(said.code, 0, "{said}");
    for expected in ["1. a project", "\"task_id\":\"DEMO-1\"", "# Handoff", "APPROVED", "## Work log", "COMPLETE: "] {
        assert!(said.stdout.contains(expected), "{expected}: {said}");
    }
    assert_eq!(temporary.path().read_dir().unwrap().count(), 0, "the throw-away project is removed");
    assert_eq!(world.home().read_dir().unwrap().count(), 0, "nothing of the user is touched");
}
