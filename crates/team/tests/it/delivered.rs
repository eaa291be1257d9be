//! The record of what was delivered: claims that exclude each other and outlive everything.

use std::sync::Arc;

use packet::Role;
use rustix::io::Errno;
use store::sys::{Call, FaultPlan, Pass, Sys};
use team::delivered::{self, Claimant, Claimed, Delivered, RECORD, State, Step};
use team::{Home, Leg};

use crate::support::{World, call, filed, now};

const ROUND: &str = "team_packets/goal-7/r2/";

fn leg() -> Leg {
    Leg::new("goal-7", 2, Role::Planner, Role::Executor).unwrap()
}

fn by(dispatch: &str) -> Claimant {
    let (agent_id, session_id) = ("eph-1".to_owned(), "s-1".to_owned());
    Claimant { dispatch_id: dispatch.to_owned(), agent_id, session_id, pid: 12, started: 34 }
}

/// A home with packet `pk-1` in slot 0 of [`leg`].
fn world() -> World {
    let world = World::with_planner();
    filed(world.door().handoff(&call("pk-1"), now()));
    world
}

fn claim(home: &Home, dispatch: &str) -> Claimed {
    delivered::claim(home, &leg(), 0, "pk-1", &by(dispatch), now()).unwrap()
}

fn step(home: &Home, dispatch: &str, step: Step<'_>) {
    delivered::record(home, "goal-7", 2, dispatch, step, now()).unwrap();
}

fn read(home: &Home) -> Delivered {
    delivered::read(home, "goal-7", 2).unwrap()
}

#[test]
fn a_packet_is_claimed_once_until_its_claim_is_taken_back() {
    let world = world();
    let home = world.home();
    assert!(matches!(claim(&home, "a"), Claimed::Done(packet) if packet.packet_id == "pk-1"));
    assert_eq!(claim(&home, "b"), Claimed::Taken);
    step(&home, "a", Step::Released("busy"));
    assert!(!read(&home).has(&leg(), "pk-1"));
    assert!(matches!(claim(&home, "b"), Claimed::Done(_)));
    step(&home, "b", Step::Accepted);
    step(&home, "b", Step::Ended(None));
    assert_eq!(claim(&home, "c"), Claimed::Taken);
    let record = read(&home);
    let states: Vec<_> = record.claims.iter().map(|claim| (claim.accepted, &claim.state)).collect();
    assert_eq!(states, [(false, &State::Released), (true, &State::Ended(None))]);
    assert_eq!((record.claims[1].by.clone(), record.claims[1].slot, record.odd_lines), (by("b"), 0, 0));
    assert_eq!(world.mode(&format!("{ROUND}{RECORD}")), 0o600);
}

#[test]
fn only_the_packet_that_lies_there_is_claimed() {
    let world = world();
    let claim = |slot, id| delivered::claim(&world.home(), &leg(), slot, id, &by("a"), now()).unwrap();
    assert_eq!(claim(0, "pk-2"), Claimed::Taken);
    assert_eq!(claim(1, "pk-1"), Claimed::Taken);
    world.write(&format!("{ROUND}planner-to-executor.json"), "{");
    assert_eq!(claim(0, "pk-1"), Claimed::Taken);
    assert!(read(&world.home()).claims.is_empty());
}

#[test]
fn many_claimants_at_once_and_one_of_them_gets_it() {
    let world = world();
    let home = world.home();
    let won = std::thread::scope(|scope| {
        let all: Vec<_> = (0..8)
            .map(|n| {
                scope.spawn({
                    let home = home.clone();
                    move || claim(&home, &n.to_string())
                })
            })
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).filter(|one| *one != Claimed::Taken).count()
    });
    assert_eq!((won, read(&home).claims.len()), (1, 1));
}

#[test]
fn torn_and_foreign_lines_are_passed_over_and_foreign_ones_kept() {
    let world = world();
    let home = world.home();
    let foreign = "{\"state\":\"wished\",\"x\":1}\nnot json\n";
    world.write(&format!("{ROUND}{RECORD}"), &format!("{foreign}{{\"state\":\"claimed\",\"disp"));
    assert_eq!((read(&home).claims.len(), read(&home).odd_lines), (0, 3));
    assert!(matches!(claim(&home, "a"), Claimed::Done(_)));
    let record = read(&home);
    assert_eq!((record.claims.len(), record.odd_lines), (1, 2));
    assert!(world.read(&format!("{ROUND}{RECORD}")).starts_with(foreign));
}

#[test]
fn a_record_that_cannot_be_read_stops_deliveries() {
    for make in [
        |path: &std::path::Path| std::fs::create_dir(path),
        |path: &std::path::Path| std::os::unix::fs::symlink("/etc/hostname", path),
        |path: &std::path::Path| std::fs::File::create(path).and_then(|file| file.set_len(9 << 20)),
    ] {
        let world = world();
        make(&world.path(&format!("{ROUND}{RECORD}"))).unwrap();
        assert!(delivered::read(&world.home(), "goal-7", 2).is_err());
        assert!(delivered::claim(&world.home(), &leg(), 0, "pk-1", &by("a"), now()).is_err());
    }
}

#[test]
fn a_full_disk_claims_nothing() {
    for call in [Call::Write, Call::Sync] {
        let world = world();
        let plan = Arc::new(FaultPlan::every(call, Pass::Fail(Errno::NOSPC.raw_os_error())));
        let home = Home::gated(world.path(""), Sys::gated(plan));
        let error = delivered::claim(&home, &leg(), 0, "pk-1", &by("a"), now()).unwrap_err();
        assert!(error.to_string().contains(RECORD) || call == Call::Sync, "{error}");
        assert!(read(&world.home()).claims.is_empty(), "{call:?}");
        assert!(matches!(claim(&world.home(), "b"), Claimed::Done(_)));
    }
}

#[test]
fn each_step_has_the_members_that_the_document_names() {
    let world = world();
    claim(&world.home(), "a");
    step(&world.home(), "a", Step::Accepted);
    step(&world.home(), "a", Step::Ended(None));
    let text = world.read(&format!("{ROUND}{RECORD}"));
    let keys = |line: &str| -> Vec<String> {
        let row: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        row.keys().cloned().collect()
    };
    let rows: Vec<Vec<String>> = text.lines().map(keys).collect();
    assert_eq!(rows[1], ["at", "state", "dispatch_id"]);
    assert_eq!(rows[2], ["at", "state", "dispatch_id", "reason"]);
}

#[test]
fn a_file_that_was_passed_over_is_known() {
    let world = world();
    world.write(&format!("{ROUND}planner-to-executor.01.json"), "{");
    let skipped = team::compose::read_leg(&world.home(), &leg()).unwrap().skipped;
    assert!(!read(&world.home()).knows(&skipped[0]));
    delivered::record_skipped(&world.home(), &leg(), &skipped[0], now()).unwrap();
    assert!(read(&world.home()).knows(&skipped[0]));
}
