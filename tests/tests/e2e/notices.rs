//! The person's own command that is run for notices.

use std::fs;
use std::path::PathBuf;

use handoffd_tests::{Daemon, Project, Task, World, report, wait, world};
use serde_json::{Value, json};

/// A project whose notices go to a shell script, which has all the time that it needs.
fn with_hook(script: &str) -> (World, Project, PathBuf) {
    with_hook_for(script, "60s")
}

/// One whose script may take so long.
fn with_hook_for(script: &str, timeout: &str) -> (World, Project, PathBuf) {
    let world = world!();
    let project = Project::create(&world.path("app"));
    let told = world.path("told");
    let places = [("TOLD", &told), ("NEXT", &world.path("next.json")), ("APP", &world.path("app"))];
    let script =
        places.iter().fold(script.to_owned(), |text, (name, path)| text.replace(name, &path.to_string_lossy()));
    let hook = world.script("hook", &script);
    world.configure(&project, &format!("notify.command = [\"{}\"]\nnotify.timeout = \"{timeout}\"", hook.display()));
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
    let first: Value = serde_json::Deserializer::from_str(&text).into_iter().next().unwrap().unwrap();
    assert!(first.is_object(), "{text}");
}

#[test]
fn f262_hooks_that_hang_or_fail_leave_no_children() {
    for script in ["exit 3", "sleep 600", "exec /no/such/program"] {
        let (world, project, _) = with_hook_for(script, "500ms");
        let daemon = world.start();
        for number in 0..4 {
            run_one(&world, &daemon, &project, &format!("t-{number}"));
        }
        wait::until_true(&format!("{script}: all are gone"), || children(&daemon) == 0);
    }
}

#[test]
fn f262_a_daemon_that_stops_leaves_nothing_of_a_hook_that_hangs() {
    let (world, project, told) = with_hook_for("sleep 600 & echo $! > TOLD.new; mv TOLD.new TOLD; sleep 600", "10min");
    let daemon = world.start();
    run_one(&world, &daemon, &project, "t-1");
    wait::until_true("the hook runs", || told.exists());
    let pid = fs::read_to_string(&told).unwrap();
    let status = PathBuf::from(format!("/proc/{}/status", pid.trim()));
    let runs = || fs::read_to_string(&status).is_ok_and(|text| !text.contains("State:\tZ"));
    assert!(runs());
    assert!(daemon.terminate().success());
    wait::until_true("it is gone", || !runs());
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

/// What a hook was told so far, in order.
fn documents(told: &PathBuf) -> Vec<Value> {
    let text = fs::read_to_string(told).unwrap_or_default();
    serde_json::Deserializer::from_str(&text).into_iter().map_while(Result::ok).collect()
}

fn wait_kind(told: &PathBuf, kind: &str) -> Value {
    wait::until(&format!("a notice {kind}"), || documents(told).into_iter().rev().find(|notice| notice["kind"] == kind))
}

#[test]
fn r12_each_kind_of_notice_has_its_document() {
    let (world, project, told) = with_hook("cat >> TOLD");
    let daemon = world.start();
    let control = daemon.control();
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("t-1").reviewed());
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::reviewed("VERDICT: approve"));
    let mut done = wait_kind(&told, "done");
    assert!(done["at"].take().as_str().is_some_and(|at| at.ends_with('Z')), "{done}");
    let show = format!("handoff show t-1 --project {}", project.root().display());
    let expected = json!({
        "version": 1, "at": null, "kind": "done", "project": project.root(), "task_id": "t-1", "dispatch_id": dispatch.id,
        "state": "idle", "reason": null, "why": null, "next": show, "verdict": done["verdict"],
    });
    assert_eq!(done, expected);
    assert!(done["verdict"].as_str().is_some_and(|verdict| verdict.contains("approve")), "{done}");

    project.plan(&Task::new("t-2"));
    let dispatch = session.wait_dispatch("t-2");
    session.finish(&dispatch, report::error("the build is broken"));
    let failed = wait_kind(&told, "failed");
    assert_eq!((&failed["task_id"], &failed["dispatch_id"]), (&json!("t-2"), &json!(dispatch.id)), "{failed}");
    assert!(failed["why"].as_str().unwrap().contains("the build is broken"), "{failed}");

    project.plan(&Task::new("t-3"));
    session.wait_dispatch("t-3");
    project.plan(&Task::new("t-other"));
    let halted = wait_kind(&told, "halted");
    assert_eq!((&halted["state"], &halted["reason"]), (&json!("halted"), &json!("replaced")), "{halted}");
    assert!(halted["next"].as_str().unwrap().contains("handoff resume"), "{halted}");
    control.ask("project.resume", &project, json!({})).unwrap();
    wait::until_true("what was given up has failed", || {
        documents(&told).iter().any(|notice| notice["kind"] == "failed" && notice["task_id"] == "t-3")
    });

    project.replace(b"{");
    assert_eq!(wait_kind(&told, "needs_you")["state"], "unreadable");
    let kinds: Vec<Value> = documents(&told).iter().map(|notice| notice["kind"].clone()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "halted").count(), 1, "told once: {kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == "failed").count(), 2, "told once each: {kinds:?}");
}

#[test]
fn r12_what_is_blocked_and_what_is_held_have_theirs() {
    let (world, project, told) = with_hook("cat >> TOLD");
    let daemon = world.start();
    let session = daemon.idle_session(&world, &project, "s-1");
    fs::remove_file(project.work_log()).unwrap();
    project.plan(&Task::new("t-5"));
    let blocked = wait_kind(&told, "blocked");
    let init = format!("handoff init {}", project.root().display());
    assert_eq!((&blocked["state"], &blocked["reason"]), (&json!("blocked"), &json!("work_log")), "{blocked}");
    assert_eq!((&blocked["task_id"], &blocked["next"]), (&json!("t-5"), &json!(init)), "{blocked}");
    fs::write(project.work_log(), "## Work log\n").unwrap();
    for time in 1..=2 {
        let dispatch = session.wait_nth_dispatch("t-5", time);
        session.finish(&dispatch, report::complete());
        project.plan(&Task::new("t-5"));
    }
    let held = wait_kind(&told, "held");
    assert_eq!((&held["task_id"], &held["reason"]), (&json!("t-5"), &json!("repeating")), "{held}");
    assert!(held["next"].as_str().unwrap().contains("handoff resume"), "{held}");
}

#[test]
fn a_folder_that_goes_and_comes_back_names_no_ended_task_and_no_dead_owner() {
    let (world, project, told) = with_hook("cat >> TOLD");
    let daemon = world.start();
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("t-1"));
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
    let away = world.path("away");
    fs::rename(project.root(), &away).unwrap();
    let missing = wait::until("it is told that the folder is gone", || {
        documents(&told).into_iter().find(|notice| notice["state"] == "missing")
    });
    assert_eq!((&missing["kind"], missing.get("task_id")), (&json!("needs_you"), None), "{missing}");
    fs::rename(&away, project.root()).unwrap();
    daemon.control().wait_state(&project, "idle", "");
    wait::until_true("it is in the log", || daemon.log().contains("the lock is ours again"));
    assert!(!daemon.log().contains("dead owner"), "{}", daemon.log());
}
