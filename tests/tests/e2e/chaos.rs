//! Everything at once, at random: daemons and sessions that are killed or told to stop, planners that write, people that
//! cancel and resume. Whatever happens, nothing is given to a session twice and everything comes to an end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use handoffd_tests::{Control, Daemon, Project, Robot, SessionProcess, Task, World, wait, world};
use serde_json::json;

use crate::support::{parse, slow};

struct Scene {
    world: World,
    project: Project,
    daemon: Option<Daemon>,
    robot: Option<(Robot, Arc<SessionProcess>)>,
    given: HashMap<String, usize>,
    planned: u32,
    sessions: u32,
}

impl Scene {
    fn new() -> Self {
        let world = world!();
        world.settings("[task]\nreconnect_grace = \"1s\"\n");
        let project = world.project("app");
        let (daemon, robot, given) = (None, None, HashMap::new());
        Self { world, project, daemon, robot, given, planned: 0, sessions: 0 }
    }

    fn plan(&mut self) {
        self.planned += 1;
        self.project.plan(&Task::new(&format!("t-{}", self.planned)));
    }

    fn start_daemon(&mut self) {
        if self.daemon.is_none() {
            self.daemon = Some(self.world.spawn(&[]));
        }
    }

    fn end_daemon(&mut self, kill: bool) {
        match self.daemon.take() {
            Some(daemon) if kill => daemon.kill(),
            Some(daemon) => drop(daemon.terminate()),
            None => {}
        }
    }

    fn start_session(&mut self) {
        if self.robot.is_none() {
            self.sessions += 1;
            let process = self.world.process();
            let robot = Robot::start(&process, self.world.socket(), &self.project, &format!("s-{}", self.sessions));
            self.robot = Some((robot, process));
        }
    }

    /// The session dies; what it had been given counts.
    fn end_session(&mut self) {
        if let Some((robot, process)) = self.robot.take() {
            process.kill();
            self.count(&robot);
        }
    }

    fn count(&mut self, robot: &Robot) {
        for dispatch in robot.dispatches() {
            let seen = parse(&dispatch.queue);
            // Another write of the planner may have come in between; the task's own PENDING may not stand there.
            let early = seen["task_id"] == dispatch.task_id.as_str() && seen["status"] == "PENDING";
            assert!(!early, "given before RUNNING: {seen}");
            *self.given.entry(dispatch.task_id).or_default() += 1;
        }
    }

    fn ask(&self, method: &str, mut more: serde_json::Value) {
        if let Some(control) = Control::try_open(&self.world.socket()) {
            more["project"] = json!(self.project.root());
            drop(control.call(method, more));
        }
    }

    fn something(&mut self) {
        match fastrand::u8(0..12) {
            0..=3 => self.plan(),
            4 => self.end_daemon(true),
            5 => self.end_daemon(false),
            6 | 7 => self.start_daemon(),
            8 => self.end_session(),
            9 => self.start_session(),
            10 => self.ask("task.cancel", json!({"task_id": format!("t-{}", self.planned)})),
            _ => self.ask("project.resume", json!({})),
        }
    }

    /// With daemon and session there, the last task comes to its end.
    fn settle(&mut self) {
        self.start_daemon();
        self.start_session();
        let last = format!("t-{}", self.planned);
        wait::until_within(Duration::from_secs(90), &format!("{last} ends: {}", self.project.document()), || {
            let document = self.project.document();
            let ended = ["COMPLETE", "ERROR"].iter().any(|end| document["status"] == *end);
            if !ended {
                self.resume_if_halted();
            }
            (ended && document["task_id"] == last.as_str()).then_some(())
        });
    }

    fn resume_if_halted(&self) {
        let Some(control) = Control::try_open(&self.world.socket()) else { return };
        if control.project(&self.project)["state"] == "halted" {
            drop(control.ask("project.resume", &self.project, json!({})));
        }
    }
}

fn check(rounds: usize) {
    let mut scene = Scene::new();
    scene.plan();
    for _ in 0..rounds {
        for _ in 0..8 {
            scene.something();
            let end = Instant::now() + Duration::from_millis(fastrand::u64(0..40));
            while Instant::now() < end {
                std::thread::yield_now();
            }
        }
        scene.settle();
    }
    scene.end_session();
    let twice: Vec<_> = scene.given.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "given twice: {twice:?}");
    let mut ids: Vec<_> =
        scene.project.log_lines().iter().map(|line| line.split(' ').nth(3).unwrap_or_default().to_owned()).collect();
    let lines = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), lines, "a task has two lines");
}

#[test]
fn f251_random_ends_of_everything_break_no_promise() {
    check(6);
}

#[test]
fn f251_many_random_ends_of_everything_break_no_promise() {
    if slow() {
        check(60);
    }
}
