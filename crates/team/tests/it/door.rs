//! The door: what one call writes, what a refusal leaves alone, and what no packet can choose.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use team::Door;

use crate::support::{PLANNER, World, arguments, call, filed, now, put, refused};

#[test]
fn the_packet_is_its_written_form_and_nothing_else_is_left() {
    let world = World::with_planner();
    let done = filed(world.door().handoff(&call("pk-1"), now()));
    let text = world.read(&done.path);
    assert_eq!(
        text,
        r#"{"packet_id":"pk-1","goal_id":"goal-7","round":2,"from_role":"planner","to_role":"executor","objective":"o","output_format":{"kind":"files"},"fidelity":"none","irreversible":false}"#
    );
    assert_eq!(done.answer(), json!({"ok": true, "path": done.path, "bytes": text.len()}));
    assert_eq!(
        world.tree(""),
        [
            "agents/",
            "agents/planner-1/",
            "agents/planner-1/agent.toml",
            "artifacts.jsonl",
            "security_audit.jsonl",
            "team_packets/",
            "team_packets/goal-7/",
            "team_packets/goal-7/r2/",
            "team_packets/goal-7/r2/planner-to-executor.json",
            "team_packets/goal-7/r2/planner-to-executor.json.lock",
        ]
    );
    for file in world.tree("").iter().filter(|name| !name.ends_with('/') && !name.starts_with("agents")) {
        assert_eq!(world.mode(file), 0o600, "{file}");
    }
    assert_eq!(world.mode("team_packets/goal-7/r2"), 0o700);
}

#[test]
fn the_rows_of_a_filed_packet() {
    let world = World::with_planner();
    let packet = json!({
        "packet_id": "pk-1", "objective": "o", "output_format": "files", "audience": ["verifier", " a\u{202e} "],
        "constraints": [{"id": "c", "text": "secret body"}],
    });
    let done = filed(world.door().handoff(&arguments(&packet), now()));
    let source = world.path(&done.path).to_str().unwrap().to_owned();
    let expected = json!({
        "produced_at": "2026-11-30T08:12:03.12Z", "agent_id": "planner-1", "archived_name": "planner-to-executor.json",
        "display_name": "handoff planner→executor r2", "size": done.bytes, "origin": "produced", "task_id": "goal-7",
        "round": 2, "source_path": source,
    });
    assert_eq!(world.rows("artifacts.jsonl"), [expected]);
    let expected = json!({
        "timestamp": "2026-11-30T08:12:03.12Z", "event_type": "team_handoff", "agent_id": "planner-1",
        "severity": "info", "details": {
            "task_id": "goal-7", "round": 2, "from_role": "planner", "to_role": "executor", "bytes": done.bytes,
            "constraints": 1, "audience": ["verifier", " a\u{202e} "], "path": done.path,
        },
    });
    assert_eq!(world.rows("security_audit.jsonl"), [expected]);
    let audit = world.read("security_audit.jsonl");
    assert!(audit.contains("\\u202e") && !audit.contains('\u{202e}') && !audit.contains("secret body"), "{audit}");
}

#[test]
fn a_refusal_teaches_and_its_row_is_short_and_masked() {
    let world = World::with_planner();
    // Built here, so that no text of this file looks like a credential to another tool.
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let packet = json!({"packet_id": "pk", key.as_str(): "約".repeat(400), "objective": "o", "output_format": "files"});
    let (code, message) = refused(world.door().handoff(&arguments(&packet), now()));
    assert_eq!(code, "invalid_packet");
    assert!(message.starts_with(&format!("unknown field `{key}`, expected one of")), "{message}");
    assert!(message.contains(packet::MINIMAL_PACKET_EXAMPLE) && message.contains("parent_packet, tool_scope"));
    let [row] = world.rows("tool_calls.jsonl").try_into().unwrap();
    let text = |key: &str| row[key].as_str().unwrap().to_owned();
    assert!(text("params").starts_with("denied (invalid_packet): unknown field `[masked GitHub token]`, expected"));
    assert_eq!(text("params").chars().count(), "denied (invalid_packet): ".len() + 200);
    assert_eq!((text("input").chars().count(), &row["input_truncated"]), (200, &json!(true)));
    assert!(!row.to_string().contains(&key));
    let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["timestamp", "agent_id", "tool_name", "params", "success", "error_class", "input", "input_truncated"]
    );
}

#[test]
fn a_refusal_writes_its_row_and_nothing_else_even_without_a_home() {
    let world = World::new();
    let (code, message) = refused(world.door().handoff(&call("pk"), now()));
    assert_eq!(code, "not_a_team_member");
    assert!(message.contains("handoff team add"), "{message}");
    assert_eq!(world.tree(""), ["tool_calls.jsonl"]);
    assert_eq!(world.mode(""), 0o700);
}

#[test]
fn no_text_of_a_packet_reaches_a_path_or_another_identity() {
    let world = World::new();
    world.write("agents/planner-1/agent.toml", "[team_member]\nrole = \"planner\"");
    for goal in ["..", "../../etc", "a/b", ".", "/", "g\u{0}", "g\n", "Ｇ", &"g".repeat(65)] {
        let packet =
            json!({"packet_id": "pk", "goal_id": goal, "round": 1, "objective": "o", "output_format": "files"});
        let (code, message) = refused(world.door().handoff(&arguments(&packet), now()));
        assert_eq!(code, "invalid_path_component", "{goal:?}");
        assert!(message.contains("`goal_id`"), "{message}");
    }
    let mut call = call("../../x");
    call.insert("agent_id".to_owned(), "somebody".into());
    call.insert("role".to_owned(), "verifier".into());
    call["packet"]["goal_id"] = "g".into();
    call["packet"]["round"] = 1.into();
    let done = filed(world.door().handoff(&call, now()));
    assert_eq!(done.path, "team_packets/g/r1/planner-to-executor.json");
    assert_eq!(world.rows("security_audit.jsonl")[0]["agent_id"], "planner-1");
}

#[test]
fn links_and_odd_things_on_the_way_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("target");
    put(&target, "{\"packet_id\":\"pk\"}");
    for spot in ["team_packets", "team_packets/goal-7", "team_packets/goal-7/r2"] {
        let world = World::with_planner();
        std::fs::create_dir_all(world.path(spot).parent().unwrap()).unwrap();
        symlink(outside.path(), world.path(spot)).unwrap();
        let (code, message) = refused(world.door().handoff(&call("pk"), now()));
        assert_eq!(code, "write_failed", "{spot}");
        assert!(message.starts_with("could not file the packet: "), "{message}");
    }
    let leg = "team_packets/goal-7/r2/planner-to-executor.json";
    // A link in a slot is somebody's: neither read, nor written through, nor replaced.
    let world = World::with_planner();
    std::fs::create_dir_all(world.path(leg).parent().unwrap()).unwrap();
    symlink(&target, world.path(leg)).unwrap();
    symlink("/nonexistent", world.path("artifacts.jsonl")).unwrap();
    let done = filed(world.door().handoff(&call("pk"), now()));
    assert!(done.path.ends_with(".01.json"), "{}", done.path);
    // A link in place of the lock, or of a record, is refused.
    let world = World::with_planner();
    std::fs::create_dir_all(world.path(leg).parent().unwrap()).unwrap();
    symlink(&target, world.path(&format!("{leg}.lock"))).unwrap();
    assert_eq!(refused(world.door().handoff(&call("pk"), now())).0, "write_failed");
    let world = World::new();
    let record = outside.path().join("agent.toml");
    put(&record, PLANNER);
    std::fs::create_dir_all(world.path("agents")).unwrap();
    symlink(outside.path(), world.path("agents/planner-1")).unwrap();
    assert_eq!(refused(world.door().handoff(&call("pk"), now())).0, "not_a_team_member");
    std::fs::remove_file(world.path("agents/planner-1")).unwrap();
    std::fs::create_dir_all(world.path("agents/planner-1")).unwrap();
    symlink(&record, world.path("agents/planner-1/agent.toml")).unwrap();
    assert_eq!(refused(world.door().handoff(&call("pk"), now())).0, "not_a_team_member");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "{\"packet_id\":\"pk\"}");
    assert_eq!(outside.path().read_dir().unwrap().count(), 2);
}

#[test]
fn a_linked_ephemeral_folder_is_not_the_members() {
    let outside = tempfile::tempdir().unwrap();
    put(&outside.path().join("agent.toml"), PLANNER);
    let world = World::new();
    std::fs::create_dir_all(world.path("agents/.ephemeral")).unwrap();
    symlink(outside.path(), world.path("agents/.ephemeral/eph-x")).unwrap();
    let door = Door::new(world.home(), "eph-x");
    assert_eq!(refused(door.handoff(&call("pk"), now())).0, "not_a_team_member");
}

#[test]
fn a_retry_finds_its_own_file_behind_a_gap_and_says_so() {
    let world = World::with_planner();
    for id in ["a", "b", "c"] {
        filed(world.door().handoff(&call(id), now()));
    }
    std::fs::remove_file(world.path("team_packets/goal-7/r2/planner-to-executor.01.json")).unwrap();
    let again = filed(world.door().handoff(&call("c"), now()));
    assert!(again.path.ends_with(".02.json") && again.behind_gap);
    assert_eq!(again.answer()["behind_gap"], Value::Bool(true));
    let new = filed(world.door().handoff(&call("d"), now()));
    assert!(new.path.ends_with(".01.json") && !new.behind_gap);
    assert!(!filed(world.door().handoff(&call("c"), now())).behind_gap);
    assert_eq!(world.rows("artifacts.jsonl").len(), 6, "each filing has its row");
}

#[test]
fn a_retry_replaces_the_content_and_the_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::with_planner();
    let first = filed(world.door().handoff(&call("pk"), now()));
    std::fs::set_permissions(world.path(&first.path), std::fs::Permissions::from_mode(0o666)).unwrap();
    let mut other = call("pk");
    other["packet"]["objective"] = "another".into();
    let second = filed(world.door().handoff(&other, now()));
    assert_eq!(first.path, second.path);
    assert!(world.read(&second.path).contains("another"));
    assert_eq!(world.mode(&second.path), 0o600);
}

#[test]
fn leftovers_of_this_leg_are_cleared_and_nothing_else() {
    let world = World::with_planner();
    let digits = "0123456789abcdef0123456789abcdef";
    let folder = "team_packets/goal-7/r2";
    let gone = format!("{folder}/.planner-to-executor.json.{digits}.new");
    let kept = [
        format!("{folder}/.executor-to-verifier.json.{digits}.new"),
        format!("{folder}/planner-to-executor.json.tmp"),
        format!("{folder}/notes.txt"),
    ];
    world.write(&gone, "{");
    kept.iter().for_each(|path| world.write(path, "x"));
    filed(world.door().handoff(&call("pk"), now()));
    assert!(!world.path(&gone).exists());
    assert!(kept.iter().all(|path| world.path(path).exists()));
}

#[test]
fn a_full_leg_says_how_many_slots_there_are() {
    let world = World::with_planner();
    for slot in 0..100 {
        filed(world.door().handoff(&call(&format!("pk-{slot}")), now()));
    }
    let (code, message) = refused(world.door().handoff(&call("one-more"), now()));
    assert_eq!(code, "write_failed");
    assert!(message.contains("100 slots"), "{message}");
    assert!(filed(world.door().handoff(&call("pk-99"), now())).path.ends_with(".99.json"));
}
