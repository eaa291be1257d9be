//! `handoff lint` beyond the vectors: what is not a row, and what people read.

use std::os::unix::fs::symlink;

use insta::assert_snapshot;

use crate::env::{TestEnv, VALID};

#[test]
fn a_missing_file_is_an_empty_queue() {
    let env = TestEnv::new();
    let said = env.run(&["lint", "--json"]);
    assert_eq!(said.code, 0);
    assert_eq!(said.json(), serde_json::json!({"action": "none", "status": null, "problems": []}));
    assert!(!env.project().join(".pi").exists());
}

#[test]
fn people_read_what_would_be_done_and_every_problem() {
    let env = TestEnv::new();
    std::fs::create_dir(env.project().join("src")).unwrap();
    env.file("tasks.json", VALID);
    assert_snapshot!(env.run(&["lint"]), @r"
    dispatch: PENDING, valid: it would be handed to the session
    --- exit 0
    ");
    env.file("draft.json", VALID.replace("IMPLEMENT", "BUILD").replace("\"src\"", "\"../x\""));
    let path = env.project().join("draft.json");
    let said = env.run(&["lint", path.to_str().unwrap()]);
    assert_eq!((said.code, said.stdout.lines().count()), (1, 3), "{said}");
    assert!(said.stdout.contains("\n  `task_type` ") && said.stdout.contains("\n  `scope[0]` "), "{said}");
}

#[test]
fn what_is_not_a_regular_file_is_left() {
    let env = TestEnv::new();
    let target = env.file("real.json", VALID);
    symlink(target, env.project().join("tasks.json")).unwrap();
    let said = env.run(&["lint", "--json"]);
    assert_eq!(said.code, 1);
    assert_eq!(said.json()["action"], "leave");
    assert_eq!(said.json()["problems"][0]["code"], "not_regular_file");
}

#[test]
fn a_running_task_is_an_orphan_only_if_no_live_lock_owns_it() {
    let running = VALID.replace("PENDING", "RUNNING");
    let check = |lock: Option<String>, action: &str, code: i32| {
        let env = TestEnv::new();
        std::fs::create_dir(env.project().join("src")).unwrap();
        env.file("tasks.json", &running);
        if let Some(lock) = &lock {
            env.file(".pi/pi-claude-handoff.lock", lock);
        }
        let said = env.run(&["lint", "--json"]);
        assert_eq!((said.json()["action"].as_str(), said.code), (Some(action), code), "{lock:?}");
        assert!(!env.project().join(".pi/pi-claude-handoff.lock.guard").exists(), "looking makes no file");
    };
    check(None, "orphan", 1);
    // This very process is alive; no process has the largest number that a lock may name.
    check(Some(format!("{{\"pid\":{}}}", std::process::id())), "none", 0);
    check(Some("{\"pid\":2147483647}".to_owned()), "orphan", 1);
}

#[test]
fn ids_that_no_packet_can_use_and_credentials_are_remarked_on_stderr() {
    let env = TestEnv::new();
    std::fs::create_dir(env.project().join("src")).unwrap();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    env.file("tasks.json", VALID.replace("T-1", "T 1").replace("Add a flag.", &format!("Use {key}")));
    let said = env.run(&["lint", "--json"]);
    assert_eq!((said.code, &said.json()["action"]), (0, &"dispatch".into()));
    assert_snapshot!(said.stderr, @r"
    Warning: `task_id` is not 1 to 64 of `A-Z a-z 0-9 _ -`: the task is valid, but no packet can belong to it
    Warning: `instruction` seems to hold a credential (GitHub token, line 1): agents and logs will see it
    ");
    crate::env::write(&env.home().join(".config/handoffd/config.toml"), b"[secrets]\ncheck = false\n");
    assert_eq!(env.run(&["lint", "--json"]).stderr.lines().count(), 1);
}

#[test]
fn a_folder_that_is_not_there_is_a_usage_error() {
    let said = TestEnv::new().run(&["lint", "nowhere/tasks.json"]);
    assert_snapshot!(said, @r"
    --- stderr
    Error: there is no folder `{PROJECT}/nowhere`
    --- exit 2
    ");
}
