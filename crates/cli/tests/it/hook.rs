//! `handoff hook session-start`: quiet, quick, and never a failure.

use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::daemon::{COMPLETE, attach, eventually, submit, world};
use crate::env::{Said, TestEnv};

/// What the hook says in a folder, and that it is no failure and nothing for a person to worry about.
#[track_caller]
fn told(world: &TestEnv, input: &str) -> Option<Value> {
    let said = world.run_with_input(&["hook", "session-start"], input);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said}");
    (!said.stdout.is_empty()).then(|| said.json())
}

fn starting_in(folder: &std::path::Path) -> String {
    json!({"hook_event_name": "SessionStart", "source": "startup", "cwd": folder}).to_string()
}

#[track_caller]
fn context(told: Option<Value>) -> String {
    let told = told.unwrap();
    let context = &told["hookSpecificOutput"];
    assert_eq!(context["hookEventName"], "SessionStart");
    context["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn a_new_session_is_told_what_waits_and_what_has_ended() {
    let (world, daemon) = world();
    let here = starting_in(&world.project());
    assert_eq!(told(&world, &here), None, "nothing is open");
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    // The daemon has two seconds to answer; on a busy machine the file alone may tell it, in other words.
    eventually("the daemon tells it", || context(told(&world, &here)).contains("project is waiting"));
    let _session = attach(&world, &format!("cat > /dev/null; echo '{COMPLETE}'"));
    assert_eq!(world.run(&["wait", "--task", "T-1"]).code, 0);
    let ended = context(told(&world, &here));
    assert!(ended.contains("T-1, ended COMPLETE") && ended.contains("handoff_show T-1"), "{ended}");
    let mut compacted: Value = serde_json::from_str(&here).unwrap();
    assert!(told(&world, &compacted.to_string()).unwrap()["systemMessage"].is_string());
    compacted["source"] = "compact".into();
    assert!(told(&world, &compacted.to_string()).unwrap()["systemMessage"].is_null());
    drop(daemon);
    assert!(context(told(&world, &here)).contains("T-1, ended COMPLETE"), "the file tells it, too");
}

#[test]
fn without_a_daemon_only_a_task_that_hangs_is_told() {
    let world = TestEnv::new();
    assert_eq!(told(&world, &starting_in(&world.project())), None, "no project");
    assert_eq!(world.run(&["init"]).code, 0);
    assert_eq!(told(&world, ""), None, "no task");
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    assert!(context(told(&world, "")).contains("T-1 is PENDING, and the daemon is not running"));
    assert_eq!(told(&world, &starting_in(&world.home())), None, "another folder");
}

#[test]
fn whatever_comes_in_it_is_no_failure() {
    let world = TestEnv::new().with("HANDOFFD_SOCKET", "not/absolute");
    for input in ["{", "[]", "{\"cwd\": 7}", "{\"cwd\": \"nowhere\"}", "{\"cwd\": \"/nowhere\"}", "\u{0}"] {
        let Said { code, stdout, .. } = world.run_with_input(&["hook", "session-start"], input);
        assert_eq!((code, stdout.as_str()), (0, ""), "{input}");
    }
}

#[test]
fn a_daemon_that_hangs_holds_no_session_up() {
    let world = TestEnv::new();
    assert_eq!(world.run(&["init"]).code, 0);
    std::fs::create_dir(world.run_dir().join("handoffd")).unwrap();
    let _silent = UnixListener::bind(world.run_dir().join("handoffd/handoffd.sock")).unwrap();
    let limit = plugin("hooks/hooks.json")["hooks"]["SessionStart"][0]["hooks"][0]["timeout"].as_u64().unwrap();
    // A busy machine may take the time for itself now and then; a hook that hangs always does.
    eventually("it ends within its time", || {
        let begun = Instant::now();
        assert_eq!(told(&world, &starting_in(&world.project())), None);
        begun.elapsed() < Duration::from_secs(limit)
    });
}

#[test]
fn the_plugin_of_claude_code_fits_this_program() {
    assert_eq!(plugin(".claude-plugin/plugin.json")["version"], env!("CARGO_PKG_VERSION"));
    let server = plugin(".claude-plugin/plugin.json")["mcpServers"]["planner"].clone();
    assert_eq!((&server["command"], &server["args"]), (&json!("handoff"), &json!(["mcp", "planner"])));
    let hook = plugin("hooks/hooks.json")["hooks"]["SessionStart"][0]["hooks"][0]["command"].clone();
    assert!(hook.as_str().unwrap().ends_with("; handoff hook session-start"), "{hook}");
}

fn plugin(file: &str) -> Value {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/claude-code");
    serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap()
}
