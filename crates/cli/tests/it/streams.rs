//! `handoff events` and `handoff watch` on a pipe.

use serde_json::Value;

use crate::daemon::{TestDaemon, eventually, submit, world};

#[test]
fn events_are_one_object_a_line() {
    let (world, _daemon) = world();
    let events = world.start(&["events", "--json"]);
    // The subscription is there when a change of state shows up.
    eventually("it listens", || {
        drop((world.run(&["pause"]), world.run(&["resume"])));
        events.stdout().contains("project_state")
    });
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    eventually("the task is told", || events.stdout().contains("task_pending"));
    let lines: Vec<Value> = events.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<u64> = lines.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
}

#[test]
fn watch_shows_the_table_then_what_happens_and_waits_for_a_restarted_daemon() {
    let (world, daemon) = world();
    let watch = world.start(&["watch"]);
    eventually("the table is shown", || watch.stdout().contains("PROJECT"));
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    eventually("the task is told", || watch.stdout().contains("T-1 waits"));
    drop(daemon);
    eventually("the loss is told", || watch.stderr().contains("not reachable"));
    let _daemon = TestDaemon::start(&world);
    eventually("it goes on", || {
        drop((world.run(&["pause"]), world.run(&["resume"])));
        watch.stdout().contains("is paused")
    });
    assert!(!watch.stdout().contains('\u{1b}'), "no control sequences on a pipe");
    assert_eq!(watch.terminate(), Some(0));
}

#[test]
fn watch_as_json_is_one_status_document_a_line() {
    let (world, _daemon) = world();
    let watch = world.start(&["watch", "--json"]);
    eventually("it begins with the status", || watch.stdout().contains('\n'));
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    eventually("a change brings another", || watch.stdout().contains("\"PENDING\""));
    assert!(watch.stdout().lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}
