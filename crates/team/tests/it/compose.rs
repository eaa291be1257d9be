//! The composer's reading of a leg: in order of the slots, each file judged anew, the rest told.

use std::os::unix::fs::symlink;

use packet::Role;
use serde_json::{Value, json};
use team::compose::{Gap, Packets, read_leg, record_failed_stage, record_skipped};
use team::{Leg, listing};

use crate::support::{World, call, filed, now};

fn leg() -> Leg {
    Leg::new("goal-7", 2, Role::Planner, Role::Executor).unwrap()
}

fn read(world: &World) -> Packets {
    read_leg(&world.home(), &leg()).unwrap()
}

fn put(world: &World, slot: u8, text: &str) {
    world.write(&leg().path(slot), text);
}

fn with_packets(count: u8) -> World {
    let world = World::with_planner();
    for slot in 0..count {
        filed(world.door().handoff(&call(&format!("pk-{slot}")), now()));
    }
    world
}

fn text(change: impl Fn(&mut Value)) -> String {
    let mut packet = json!({
        "packet_id": "x", "goal_id": "goal-7", "round": 2, "from_role": "planner", "to_role": "executor",
        "objective": "o", "output_format": "files",
    });
    change(&mut packet);
    packet.to_string()
}

#[test]
fn packets_come_in_the_order_of_their_slots() {
    let world = with_packets(12);
    let read = read(&world);
    let slots: Vec<(u8, &str)> =
        read.packets.iter().map(|found| (found.slot, found.packet.packet_id.as_str())).collect();
    let expected: Vec<(u8, String)> = (0..12).map(|slot| (slot, format!("pk-{slot}"))).collect();
    assert!(slots.iter().map(|(slot, id)| (*slot, (*id).to_owned())).eq(expected));
    assert_eq!(read.packets[11].path, "team_packets/goal-7/r2/planner-to-executor.11.json");
    assert_eq!(read.for_stage().map(<[_]>::len), Ok(12));
}

#[track_caller]
fn check_skipped(content: &str, code: &str) {
    let world = with_packets(3);
    put(&world, 1, content);
    let read = read(&world);
    let kept: Vec<u8> = read.packets.iter().map(|found| found.slot).collect();
    assert_eq!(kept, [0, 2], "{content}");
    let [skipped] = read.skipped.as_slice() else { panic!("{:?}", read.skipped) };
    assert_eq!((skipped.slot, skipped.file.as_str(), skipped.code), (1, "planner-to-executor.01.json", code));
    assert!(!skipped.detail.is_empty());
}

#[test]
fn a_bad_sibling_is_passed_over_with_a_code() {
    check_skipped("", "unparseable");
    check_skipped("{", "unparseable");
    check_skipped("\u{feff}{}", "unparseable");
    check_skipped(&text(|packet| packet["transcript"] = json!([])), "unparseable");
    check_skipped(&text(|_| ()).replace("\"round\":2", "\"round\":2,\"round\":2"), "unparseable");
    check_skipped(&text(|packet| packet["from_role"] = "verifier".into()), "wrong_leg");
    check_skipped(&text(|packet| packet["to_role"] = "verifier".into()), "wrong_leg");
    check_skipped(&text(|packet| packet["goal_id"] = "goal-8".into()), "wrong_task_or_round");
    check_skipped(&text(|packet| packet["round"] = 3.into()), "wrong_task_or_round");
    check_skipped(&text(|packet| packet["objective"] = " ".into()), "blank_field");
    check_skipped(&text(|packet| packet["audience"] = vec!["a"; 17].into()), "too_many_items");
    check_skipped(&format!("{}{}", text(|_| ()), " ".repeat(16_384)), "oversize");
}

#[test]
fn what_is_no_plain_text_file_is_passed_over() {
    let world = with_packets(1);
    std::fs::create_dir(world.path(&leg().path(1))).unwrap();
    symlink(world.path(&leg().path(0)), world.path(&leg().path(2))).unwrap();
    std::fs::write(world.path(&leg().path(3)), [0xff, 0xfe]).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.path(&leg().path(4)),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let read = read(&world);
    let codes: Vec<&str> = read.skipped.iter().map(|skipped| skipped.code).collect();
    assert_eq!(codes, ["not_a_regular_file", "not_a_regular_file", "unreadable", "not_a_regular_file"]);
    assert_eq!(read.packets.len(), 1);
}

#[test]
fn a_missing_slot_ends_the_scan_and_what_lies_behind_is_told() {
    let world = with_packets(5);
    std::fs::remove_file(world.path(&leg().path(2))).unwrap();
    let found = read(&world);
    assert_eq!(found.packets.len(), 2);
    assert_eq!(found.gap, Some(Gap { missing: 2, behind: vec![3, 4] }));
    std::fs::remove_file(world.path(&leg().path(0))).unwrap();
    let found = read(&world);
    assert_eq!((found.packets.len(), found.gap), (0, Some(Gap { missing: 0, behind: vec![1, 3, 4] })));
    assert_eq!(found.skipped, []);
}

#[test]
fn strays_are_never_read() {
    let world = with_packets(1);
    for stray in ["planner-to-executor.1.json", "planner-to-executor.001.json", "executor-to-verifier.json", "x.json"] {
        world.write(&format!("team_packets/goal-7/r2/{stray}"), "{");
    }
    let read = read(&world);
    assert_eq!((read.packets.len(), read.skipped.len(), read.gap), (1, 0, None));
}

#[test]
fn looking_writes_nothing_and_recording_writes_a_row_for_each() {
    let world = World::with_planner();
    put(&world, 0, "{");
    put(&world, 1, &text(|packet| packet["objective"] = "x".repeat(1_001).into()));
    let before = world.tree("");
    let read = read(&world);
    assert_eq!(world.tree(""), before);
    let failed = read.for_stage().unwrap_err();
    assert_eq!((failed.code, failed.skipped), ("planner_no_packets", 2));
    record_skipped(&world.home(), &read, &read.skipped, now());
    record_failed_stage(&world.home(), &read.leg, failed, now());
    let rows = world.rows("security_audit.jsonl");
    let shown: Vec<(&Value, &Value, &Value)> =
        rows.iter().map(|row| (&row["event_type"], &row["details"]["error_type"], &row["details"]["path"])).collect();
    assert_eq!(
        shown,
        [
            (&json!("team_packet_skipped"), &json!("unparseable"), &json!("planner-to-executor.json")),
            (&json!("team_packet_skipped"), &json!("field_too_long"), &json!("planner-to-executor.01.json")),
            (&json!("team_packet_skipped"), &json!("all_packets_invalid"), &Value::Null),
            (&json!("team_stage_failed"), &json!("planner_no_packets"), &Value::Null),
        ]
    );
    assert!(rows.iter().all(|row| row["agent_id"] == "team-composer" && row["severity"] == "info"));
    assert_eq!(rows[2]["details"]["skipped"], 2);
    assert_eq!(rows[1]["details"]["detail"], "`objective` is 1001 chars (max 1000)");
}

#[test]
fn a_credential_in_a_bad_file_stays_out_of_the_audit() {
    let world = World::new();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    put(&world, 0, &text(|packet| packet[key.as_str()] = 1.into()));
    let read = read(&world);
    assert!(read.skipped[0].detail.contains(&key), "who looks at the file sees what it is");
    record_skipped(&world.home(), &read, &read.skipped, now());
    let audit = world.read("security_audit.jsonl");
    assert!(audit.contains("unknown field `[masked GitHub token]`") && !audit.contains(&key), "{audit}");
}

#[test]
fn an_empty_leg_fails_the_stage_of_its_sender() {
    let world = World::new();
    for (from, to, code) in [
        (Role::Planner, Role::Executor, "planner_no_packets"),
        (Role::Executor, Role::Verifier, "no_executor_packets"),
        (Role::Verifier, Role::Executor, "no_verifier_packets"),
    ] {
        let read = read_leg(&world.home(), &Leg::new("g", 1, from, to).unwrap()).unwrap();
        assert_eq!(read.for_stage().unwrap_err().code, code);
    }
}

#[test]
fn a_linked_folder_on_the_way_is_an_error_and_not_an_empty_leg() {
    let world = with_packets(1);
    std::fs::rename(world.path("team_packets/goal-7/r2"), world.path("elsewhere")).unwrap();
    symlink(world.path("elsewhere"), world.path("team_packets/goal-7/r2")).unwrap();
    let fault = read_leg(&world.home(), &leg()).unwrap_err();
    assert!(fault.to_string().contains("/r2"), "{fault}");
}

#[test]
fn goals_rounds_and_legs_are_listed_by_their_names() {
    let world = with_packets(1);
    world.write("team_packets/goal-7/r10/verifier-to-executor.03.json", "{");
    world.write("team_packets/goal-7/r1/notes.txt", "x");
    world.write("team_packets/goal-7/r02/planner-to-executor.json", "{");
    world.write("team_packets/a goal/r1/planner-to-executor.json", "{");
    let home = world.home();
    assert_eq!(listing::goals(&home).unwrap(), ["goal-7"]);
    assert_eq!(listing::rounds(&home, "goal-7").unwrap(), [1, 2, 10]);
    assert_eq!(listing::rounds(&home, "../x").unwrap(), [0; 0]);
    let legs = [1, 2, 3, 10].into_iter().flat_map(|round| listing::legs(&home, "goal-7", round).unwrap());
    let legs: Vec<String> = legs.map(|leg| leg.path(0)).collect();
    let expected =
        ["team_packets/goal-7/r2/planner-to-executor.json", "team_packets/goal-7/r10/verifier-to-executor.json"];
    assert_eq!(legs, expected);
    assert_eq!(listing::goals(&World::new().home()).unwrap(), [""; 0]);
}
