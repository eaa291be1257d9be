//! The person's own command that is run for notices.

use std::fs;
use std::path::PathBuf;

use handoffd_tests::{Daemon, Project, Task, World, report, wait, world};

/// A project whose notices go to a shell script.
fn with_hook(script: &str) -> (World, Project, PathBuf) {
    let world = world!();
    let project = Project::create(&world.path("app"));
    let told = world.path("told");
    let places = [("TOLD", &told), ("NEXT", &world.path("next.json")), ("APP", &world.path("app"))];
    let script =
        places.iter().fold(script.to_owned(), |text, (name, path)| text.replace(name, &path.to_string_lossy()));
    let hook = world.script("hook", &script);
    world.configure(&project, &format!("notify.command = [\"{}\"]\nnotify.timeout = \"500ms\"", hook.display()));
    (world, project, told)
}

fn children(daemon: &Daemon) -> usize {
    let path = format!("/proc/{0}/task/{0}/children", daemon.pid());
    fs::read_to_string(path).unwrap_or_default().split_whitespace().count()
}

fn run_one(world: &World, daemon: &Daemon, project: &Project, id: &str) {
    let session = daemon.idle_session(world, project, &format!("s-{id}"));
    project.plan(&Task::new(id));
    let dispatch = session.wait_dispatch(id);
    session.finish(&dispatch, report::complete());
    session.leave("quit");
    session.process.kill();
}

#[test]
fn f260_the_end_of_a_task_is_told_with_nobody_attached() {
    let (world, project, told) = with_hook("cat >> TOLD");
    let daemon = world.start();
    run_one(&world, &daemon, &project, "t-1");
    wait::until_true("the hook was told", || fs::read_to_string(&told).is_ok_and(|text| text.contains("t-1")));
    let text = fs::read_to_string(&told).unwrap();
    let first: serde_json::Value = serde_json::Deserializer::from_str(&text).into_iter().next().unwrap().unwrap();
    assert!(first.is_object(), "{text}");
}

#[test]
fn f262_hooks_that_hang_or_fail_leave_no_children() {
    for script in ["exit 3", "sleep 60", "exec /no/such/program"] {
        let (world, project, _) = with_hook(script);
        let daemon = world.start();
        for number in 0..4 {
            run_one(&world, &daemon, &project, &format!("t-{number}"));
        }
        wait::until_true(&format!("{script}: all are gone"), || children(&daemon) == 0);
    }
}

#[test]
fn f262_a_missing_hook_stops_nothing() {
    let world = world!();
    let project = Project::create(&world.path("app"));
    world.configure(&project, "notify.command = [\"no-such-hook\"]");
    let daemon = world.start();
    for number in 0..3 {
        run_one(&world, &daemon, &project, &format!("t-{number}"));
    }
    wait::until_true("the log names it", || daemon.log().contains("no-such-hook"));
}

#[test]
fn f168_a_hook_that_writes_the_next_task_is_no_deadlock() {
    let script = "cat > /dev/null; if [ ! -e TOLD ]; then : > TOLD; cp NEXT APP/.n && mv APP/.n APP/tasks.json; fi";
    let (world, project, _) = with_hook(script);
    fs::write(world.path("next.json"), Task::new("t-next").text()).unwrap();
    let daemon = world.start();
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("t-1"));
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
    let next = session.wait_dispatch("t-next");
    session.finish(&next, report::complete());
    assert_eq!(session.count("t-next"), 1);
}
