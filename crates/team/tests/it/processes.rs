//! Several processes at once, and processes that die in the middle: this test program starts itself again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use store::sys::{Call, Gate, Pass, Sys};
use team::{Door, Home};

use crate::support::{World, call, filed, now};

const HOME: &str = "TEAM_TEST_HOME";
const WORK: &str = "TEAM_TEST_WORK";
/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// What another process does: `many FIRST COUNT`, `crash AT ID`, `again ID`.
fn start(home: &Path, work: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["processes::the_other_process", "--exact", "--nocapture"])
        .env(HOME, home)
        .env(WORK, work)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Dies at its n-th system call, as by `kill -9`.
struct Death(usize, AtomicUsize);

impl Gate for Death {
    fn pass(&self, _call: Call, _name: &Path) -> Pass {
        if self.1.fetch_add(1, Ordering::SeqCst) == self.0 {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        }
        Pass::Go
    }
}

/// Not a test by itself: the part of the other process, which the tests below start with its work in the environment.
#[test]
fn the_other_process() {
    let (Some(home), Some(work)) = (std::env::var_os(HOME), std::env::var_os(WORK)) else { return };
    let home = PathBuf::from(home);
    let work = work.into_string().unwrap();
    let words: Vec<&str> = work.split(' ').collect();
    let door = |sys: Sys| Door::new(Home::gated(&home, sys), "planner-1");
    match words.as_slice() {
        ["many", first, count] => {
            let (first, count): (usize, usize) = (first.parse().unwrap(), count.parse().unwrap());
            // Each is sent twice, as after a timeout.
            for number in (first..first + count).chain(first..first + count) {
                filed(door(Sys::real()).handoff(&call(&format!("pk-{number}")), now()));
            }
        }
        ["crash", at, id] => {
            let death = Arc::new(Death(at.parse().unwrap(), AtomicUsize::new(0)));
            filed(door(Sys::gated(death)).handoff(&call(id), now()));
        }
        ["again", id] => loop {
            let mut call = call(id);
            call["packet"]["boundaries"] = vec!["x".repeat(fastrand::usize(..8_000))].into();
            filed(door(Sys::real()).handoff(&call, now()));
        },
        _ => panic!("{work}"),
    }
}

fn leg_files(world: &World) -> Vec<String> {
    world.tree("team_packets/goal-7/r2").into_iter().filter(|name| name.ends_with(".json")).collect()
}

fn packet(world: &World, file: &str) -> Value {
    serde_json::from_str(&world.read(&format!("team_packets/goal-7/r2/{file}"))).unwrap()
}

#[test]
fn sixteen_processes_file_on_one_leg_at_once() {
    let world = World::with_planner();
    let home = world.path("");
    let children: Vec<Child> = (0..16).map(|process| start(&home, &format!("many {} 6", process * 6))).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let files = leg_files(&world);
    let ids: BTreeSet<String> = files.iter().map(|file| packet(&world, file)["packet_id"].to_string()).collect();
    assert_eq!((files.len(), ids.len()), (96, 96), "each packet once");
    let read = team::compose::read_leg(&world.home(), &leg()).unwrap();
    assert_eq!((read.packets.len(), read.skipped.len(), read.gap), (96, 0, None), "no gap between the slots");
    for ledger in ["artifacts.jsonl", "security_audit.jsonl"] {
        assert_eq!(world.rows(ledger).len(), 192, "{ledger}: a row for each filing");
    }
    let temporaries: Vec<String> = world.tree("").into_iter().filter(|name| name.ends_with(".new")).collect();
    assert!(temporaries.is_empty(), "{temporaries:?}");
}

#[test]
fn processes_that_file_the_same_packets_at_once_file_each_once() {
    let world = World::with_planner();
    let home = world.path("");
    let children: Vec<Child> = (0..8).map(|_| start(&home, "many 0 5")).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let files = leg_files(&world);
    let ids: BTreeSet<String> = files.iter().map(|file| packet(&world, file)["packet_id"].to_string()).collect();
    assert_eq!((files.len(), ids.len()), (5, 5), "{files:?}");
}

fn leg() -> team::Leg {
    team::Leg::new("goal-7", 2, packet::Role::Planner, packet::Role::Executor).unwrap()
}

#[test]
fn a_process_that_dies_at_any_call_leaves_the_old_or_the_new_and_blocks_nobody() {
    for id in ["old", "new"] {
        for at in 0.. {
            let world = World::with_planner();
            filed(world.door().handoff(&call("old"), now()));
            let status = start(&world.path(""), &format!("crash {at} {id}")).wait().unwrap();
            // How many calls there are is up to chance: a lock may have to be waited for.
            if status.success() {
                assert!(at > 20, "filing makes system calls, and it died at each: {at}");
                break;
            }
            for file in leg_files(&world) {
                assert!(packet(&world, &file)["objective"].is_string(), "{id} {at}: {file}");
            }
            // The lock has died with its holder, or this would be refused.
            filed(world.door().handoff(&call(id), now()));
            let slots = if id == "old" { 1 } else { 2 };
            assert_eq!(leg_files(&world).len(), slots, "{id} {at}");
            let left = world.tree("team_packets/goal-7/r2");
            assert_eq!(left.len(), slots + 1, "{id} {at}: the packets and the lock: {left:?}");
            world.rows("artifacts.jsonl");
            world.rows("security_audit.jsonl");
        }
    }
}

#[test]
fn killed_writers_of_one_packet_leave_it_whole() {
    let slow = std::env::var_os("HANDOFF_SLOW").is_some_and(|value| value == "1");
    let world = World::with_planner();
    filed(world.door().handoff(&call("pk"), now()));
    for round in 0..if slow { 400 } else { 25 } {
        let mut children = [start(&world.path(""), "again pk"), start(&world.path(""), "again pk")];
        // The last line may be half written at the moment: only ends of lines count.
        let ends = || world.read("artifacts.jsonl").matches('\n').count();
        let rows = ends();
        let begin = Instant::now();
        while ends() < rows + 2 + round % 5 {
            assert!(begin.elapsed() < PATIENCE, "the writers write");
            std::thread::yield_now();
        }
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(leg_files(&world), ["planner-to-executor.json"]);
        assert_eq!(packet(&world, "planner-to-executor.json")["packet_id"], "pk");
        filed(world.door().handoff(&call("pk"), now()));
        assert!(world.rows("artifacts.jsonl").len() > rows && !world.rows("security_audit.jsonl").is_empty());
    }
    assert_eq!(world.tree("team_packets/goal-7/r2"), ["planner-to-executor.json", "planner-to-executor.json.lock"]);
}
