//! Every system call of a filing failing once: the packet is there whole, or nothing is; then a retry succeeds.

use std::sync::Arc;

use store::sys::{Call, FaultPlan, Pass, Sys};
use team::{Door, Home};

use crate::support::{World, call, filed, now};

const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EOPNOTSUPP: i32 = 95;

const LEG: &str = "team_packets/goal-7/r2/planner-to-executor";

fn gated(world: &World, plan: FaultPlan) -> (Door, Arc<FaultPlan>) {
    let plan = Arc::new(plan);
    let sys = Sys::gated(plan.clone());
    (Door::new(Home::gated(world.path(""), sys), "planner-1"), plan)
}

/// A leg with a packet, so that a retry and a new packet both have something to meet.
fn world() -> World {
    let world = World::with_planner();
    filed(world.door().handoff(&call("old"), now()));
    world
}

#[track_caller]
fn each_fault(id: &str, slot: &str) {
    let first = world();
    let (door, plan) = gated(&first, FaultPlan::recorder());
    filed(door.handoff(&call(id), now()));
    let calls = plan.made();
    assert!(calls.len() > 20, "a filing makes system calls: {}", calls.len());
    for (number, made) in calls.iter().enumerate() {
        for errno in [EINTR, EIO, ENOSPC] {
            let label = format!("{id}: call {number} ({:?} {}) failing with {errno}", made.call, made.name.display());
            let world = world();
            let (door, _) = gated(&world, FaultPlan::nth(number, Pass::Fail(errno)));
            match door.handoff(&call(id), now()) {
                Ok(done) => assert!(done.path.ends_with(slot), "{label}: {}", done.path),
                Err(refusal) => assert_ne!(errno, EINTR, "an interrupted call is repeated: {label}: {refusal}"),
            }
            let left = world.tree("team_packets");
            assert!(!left.iter().any(|name| name.ends_with(".new")) || made.call == Call::Unlink, "{label}: {left:?}");
            let done = filed(world.door().handoff(&call(id), now()));
            assert!(done.path.ends_with(slot) && !done.behind_gap, "{label}: {}", done.path);
            let packets = world.tree("team_packets").iter().filter(|name| name.ends_with(".json")).count();
            assert_eq!(packets, if id == "old" { 1 } else { 2 }, "{label}");
            for ledger in ["artifacts.jsonl", "security_audit.jsonl", "tool_calls.jsonl"] {
                world.rows(ledger);
            }
        }
    }
}

#[test]
fn a_new_packet() {
    each_fault("new", "planner-to-executor.01.json");
}

#[test]
fn a_retry() {
    each_fault("old", "planner-to-executor.json");
}

#[test]
fn a_full_disk_under_the_ledgers_does_not_undo_the_packet() {
    for ledger in ["artifacts.jsonl", "security_audit.jsonl"] {
        let world = World::with_planner();
        std::fs::create_dir_all(world.path(ledger)).unwrap();
        let done = filed(world.door().handoff(&call("pk"), now()));
        assert!(world.path(&done.path).is_file());
        let faults = team::ledger::check(&world.home());
        assert_eq!(faults.len(), 1, "doctor is told");
        assert!(faults[0].1.contains(ledger), "{faults:?}");
    }
}

#[test]
fn a_full_disk_under_the_packet_is_told_with_advice_and_leaves_nothing() {
    let world = world();
    let (door, _) = gated(&world, FaultPlan::every(Call::Write, Pass::Fail(ENOSPC)));
    let refusal = door.handoff(&call("new"), now()).unwrap_err();
    assert_eq!(refusal.code.as_str(), "write_failed");
    assert!(refusal.message.contains("free some space"), "{}", refusal.message);
    assert!(!world.path(&format!("{LEG}.01.json")).exists());
    let left: Vec<String> = world.tree("team_packets/goal-7/r2");
    assert_eq!(left, ["planner-to-executor.json", "planner-to-executor.json.lock"]);
}

#[test]
fn where_there_are_no_locks_a_new_packet_never_takes_a_taken_name() {
    // Another writer takes the slot that was free a moment ago.
    struct Rival(std::path::PathBuf);
    impl store::sys::Gate for Rival {
        fn pass(&self, call: Call, _name: &std::path::Path) -> Pass {
            match call {
                Call::Flock => return Pass::Fail(EOPNOTSUPP),
                Call::RenameNew if !self.0.exists() => crate::support::put(&self.0, "{\"packet_id\":\"rival\"}"),
                _ => {}
            }
            Pass::Go
        }
    }
    let world = world();
    let rival = Arc::new(Rival(world.path(&format!("{LEG}.01.json"))));
    let door = Door::new(Home::gated(world.path(""), Sys::gated(rival)), "planner-1");
    let done = filed(door.handoff(&call("new"), now()));
    assert!(done.path.ends_with(".02.json"), "{}", done.path);
    assert!(world.read(&format!("{LEG}.01.json")).contains("rival"));
}
