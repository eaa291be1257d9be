//! `kill -9` at random moments, again and again (promises 1 to 5).

use std::collections::HashMap;
use std::time::{Duration, Instant};

use handoffd_tests::{Project, Robot, Task, World, wait, world};

use crate::support::{parse, slow};

/// Spends a random time without deciding anything.
fn idle_for(limit: u64) {
    let end = Instant::now() + Duration::from_millis(fastrand::u64(0..limit));
    while Instant::now() < end {
        std::thread::yield_now();
    }
}

fn check_promises(project: &Project, robot: &Robot, planned: usize) {
    let mut given: HashMap<String, usize> = HashMap::new();
    for dispatch in robot.dispatches() {
        *given.entry(dispatch.task_id.clone()).or_default() += 1;
        let seen = parse(&dispatch.queue);
        assert_eq!(seen["status"], "RUNNING", "{} came before RUNNING", dispatch.task_id);
        assert_eq!(seen["updated_by"], format!("handoffd/{}", dispatch.id));
        assert_eq!(seen["task_id"], dispatch.task_id.as_str());
        assert!(String::from_utf8_lossy(&dispatch.queue).contains("\"foreign\": 1.10,"), "foreign bytes");
    }
    let twice: Vec<_> = given.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "more than one message: {twice:?}");
    let mut logged: HashMap<String, usize> = HashMap::new();
    for line in project.log_lines() {
        let id = line.split(' ').nth(3).unwrap_or_default().to_owned();
        *logged.entry(id).or_default() += 1;
    }
    for number in 0..planned {
        let id = format!("t-{number}");
        assert!(logged.get(&id).copied().unwrap_or_default() <= 1, "{id} has more than one line");
        if given.contains_key(&id) {
            assert_eq!(logged.get(&id), Some(&1), "{id} was given to the session and has no line");
        }
    }
}

/// One life of a daemon: a task is planned, and somewhere in its way the daemon is killed.
fn one_round(world: &World, project: &Project, robot: &Robot, number: usize) {
    let daemon = world.spawn(&[]);
    let task = Task::new(&format!("t-{number}"));
    let text = task.text().replacen('{', "{\n  \"foreign\": 1.10,", 1);
    match fastrand::u8(0..4) {
        0 => idle_for(60),
        1 => drop(daemon.control()),
        _ => {
            let control = daemon.control();
            wait::until_true("the robot is attached", || control.project(project)["session"]["idle"] == true);
        }
    }
    project.replace(text.as_bytes());
    idle_for(25);
    daemon.kill();
    let daemon = world.spawn(&[]);
    let id = task.id();
    let document = wait::until_within(Duration::from_secs(60), &format!("{id} comes to its end"), || {
        let document = project.document();
        (document["task_id"] == id.as_str() && ["COMPLETE", "ERROR"].iter().any(|end| document["status"] == *end))
            .then_some(document)
    });
    if document["status"] == "COMPLETE" {
        assert_eq!(document["report"]["worker"]["run_id"], "r-1", "COMPLETE only with evidence");
    } else {
        // RUNNING was durable and nobody had been told: its session lives, and says that it has nothing.
        assert!(document["error"].as_str().unwrap().starts_with("Unowned RUNNING task"), "{document}");
        let given = robot.dispatches().iter().any(|dispatch| dispatch.task_id == id);
        assert!(!given, "the session had it: {document}");
    }
    assert_eq!(document["instruction"], "append one line to notes.txt");
    if fastrand::bool() {
        idle_for(30);
        daemon.kill();
    } else {
        // A signal that comes before the daemon listens for signals ends it too.
        daemon.terminate();
    }
}

fn check_rounds(rounds: usize) {
    let world = world!();
    let project = world.project("app");
    let robot = Robot::start(&world.process(), world.socket(), &project, "robot");
    for number in 0..rounds {
        one_round(&world, &project, &robot, number);
    }
    let daemon = world.start();
    daemon.control().wait_state(&project, "idle", "");
    check_promises(&project, &robot, rounds);
    assert!(project.remains().is_empty(), "{:?}", project.remains());
}

#[test]
fn f251_twenty_crashes_break_no_promise() {
    check_rounds(20);
}

#[test]
fn f251_a_hundred_crashes_break_no_promise() {
    if slow() {
        check_rounds(100);
    }
}
