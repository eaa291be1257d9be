//! The configuration and the list of projects of a running daemon.

use handoffd_tests::{Attach, Project, Task, report, wait, world};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::stage;

#[test]
fn f280_a_broken_configuration_is_refused_whole_and_the_old_one_stays() {
    let stage = stage();
    let good = std::fs::read(stage.world.config_file()).unwrap();
    std::fs::write(stage.world.config_file(), "[task]\naccept_timeout = 7\n[[project]]\n").unwrap();
    let refused = stage.control.call("daemon.reload", json!({})).unwrap_err();
    assert_eq!(refused.name(), "invalid_config");
    assert!(refused.data["problems"].as_array().unwrap().len() >= 2, "{:?}", refused.data);
    let status = stage.control.status();
    assert!(status["daemon"]["config"]["error"].is_string(), "{}", status["daemon"]);
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.finish(&dispatch, report::complete());
    std::fs::write(stage.world.config_file(), good).unwrap();
    stage.daemon.signal(Signal::SIGHUP);
    wait::until_true("the error is gone", || stage.control.status()["daemon"]["config"]["error"].is_null());
}

#[test]
fn f280_a_broken_configuration_at_start_is_a_clear_error() {
    let world = world!();
    std::fs::write(world.config_file(), "[task]\naccept_timeout = 7\n").unwrap();
    let mut daemon = world.spawn(&[]);
    assert_eq!(daemon.wait().code(), Some(2));
    let said = std::fs::read_to_string(world.path("daemon-1.err")).unwrap();
    assert!(said.contains("config.toml") && said.contains("accept_timeout") && said.contains('2'), "{said}");
}

#[test]
fn f282_check_names_each_problem_and_starts_nothing() {
    let world = world!();
    let check = |text: &str, code: i32, words: &[&str]| {
        std::fs::write(world.config_file(), text).unwrap();
        let mut daemon = world.spawn(&["--check"]);
        assert_eq!(daemon.wait().code(), Some(code), "{text}");
        let said = daemon.log();
        for word in words {
            assert!(said.contains(word), "{word} is not in {said}");
        }
    };
    check("", 0, &[]);
    check("[task]\naccept_timeout = \"3m\"\n", 0, &[]);
    check("[task]\naccept_timeout = 3\n[watch]\nmode = \"sometimes\"\n", 2, &["accept_timeout", "mode"]);
    check(&format!("# {}\n", "x".repeat(17 * 1024)), 2, &["16"]);
    assert!(!world.socket().exists());
}

#[test]
fn a_reload_adds_and_removes_projects() {
    let stage = stage();
    let second = Project::create(&stage.world.path("second"));
    stage.world.configure(&second, "name = \"two\"");
    stage.control.call("daemon.reload", json!({})).unwrap();
    let row = stage.control.wait_state(&second, "idle", "");
    assert_eq!(row["name"], "two");
    let session = stage.daemon.idle_session(&stage.world, &second, "s-2");
    second.plan(&Task::new("t-2"));
    let dispatch = session.wait_dispatch("t-2");
    session.finish(&dispatch, report::complete());
    stage.world.forget(&second);
    stage.daemon.signal(Signal::SIGHUP);
    wait::until_true("it is gone", || stage.control.project(&second).is_null());
    assert!(!second.lock().exists());
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.finish(&dispatch, report::complete());
}

#[test]
fn a_project_option_needs_no_configuration() {
    let world = world!();
    let project = Project::create(&world.path("app"));
    let daemon = world.spawn(&["--project", &project.root().to_string_lossy()]);
    let control = daemon.control();
    control.wait_state(&project, "idle", "");
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("t-1"));
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
}

#[test]
fn a_session_that_came_too_early_is_told_when_its_project_appears() {
    let stage = stage();
    let late = Project::create(&stage.world.path("late"));
    let process = stage.world.process();
    let peer = process.connect(stage.daemon.socket(), &late.queue(), Box::new(|_, _| ())).unwrap();
    peer.call("hello", json!({"protocol": 1, "client": {"name": "t", "version": "1"}})).unwrap();
    let attach = json!({"session_id": "s-9", "project": late.root(), "mode": "tui", "reason": "startup", "idle": true,
        "host": {"name": "pi", "version": "1"}, "known_dispatch": null});
    let refused = peer.call("session.attach", attach.clone()).unwrap_err();
    assert_eq!((refused.name(), &refused.data["nearest"]), ("unknown_project", &Value::Null));
    stage.control.call("project.add", json!({"path": late.root()})).unwrap();
    let told = peer.wait_told("session.attach_again", |_| true);
    assert_eq!(told.params["project"], json!(late.root()));
    assert_eq!(peer.call("session.attach", attach).unwrap()["ownership"], "owner");
}

#[test]
fn added_projects_survive_a_restart_and_removed_ones_do_not() {
    let stage = stage();
    let added = Project::create(&stage.world.path("added"));
    stage.control.call("project.add", json!({"path": added.root()})).unwrap();
    stage.control.wait_state(&added, "idle", "");
    assert!(stage.daemon.terminate().success());
    let daemon = stage.world.start();
    let control = daemon.control();
    control.wait_state(&added, "idle", "");
    control.ask("project.remove", &added, json!({})).unwrap();
    wait::until_true("it is gone", || control.project(&added).is_null());
    assert!(!added.lock().exists());
    let refused = daemon.try_attach(&stage.world.process(), &added, &Attach::idle("s-1"));
    assert_eq!(refused.err().unwrap().name(), "unknown_project");
    let file = control.call("project.add", json!({"path": stage.project.queue()})).unwrap_err();
    assert_eq!(file.name(), "not_a_folder");
}

#[test]
fn a_project_is_one_whatever_name_leads_to_it() {
    let stage = stage();
    let link = stage.world.path("link");
    std::os::unix::fs::symlink(stage.project.root(), &link).unwrap();
    stage.control.call("project.add", json!({"path": link})).unwrap();
    assert_eq!(stage.control.status()["projects"].as_array().map(Vec::len), Some(1));
    let second = stage.daemon.attach(&stage.world.process(), &Project::bare(&link), &Attach::idle("s-2"));
    assert_eq!(second.ownership(), "standby");
}

#[test]
fn context_files_go_with_the_message_and_a_missing_one_is_named() {
    let world = world!();
    let project = Project::create(&world.path("app"));
    world.configure(&project, "context.files = [\"docs/rules.md\", \"docs/none.md\"]");
    std::fs::create_dir(project.root().join("docs")).unwrap();
    std::fs::write(project.root().join("docs/rules.md"), "````\n## Not our heading\n").unwrap();
    let daemon = world.start();
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("t-1"));
    let dispatch = session.wait_dispatch("t-1");
    let message = dispatch.params["message"].as_str().unwrap();
    assert!(message.contains("## Not our heading") && message.contains("`````"), "{message}");
    assert!(message.contains("docs/none.md"), "{message}");
    let given = &dispatch.params["context"][0];
    assert_eq!((&given["path"], &given["bytes"]), (&json!("docs/rules.md"), &json!(24)));
    assert_eq!(given["sha256"].as_str().map(str::len), Some(64));
    session.finish(&dispatch, report::complete());
}

#[test]
fn a_context_file_that_must_not_be_read_blocks() {
    let world = world!();
    let project = Project::create(&world.path("app"));
    world.configure(&project, "");
    std::fs::write(project.root().join(".pi/handoff.toml"), "[context]\nfiles = [\".env\"]\n").unwrap();
    std::fs::write(project.root().join(".env"), "TOKEN=1\n").unwrap();
    let daemon = world.start();
    let control = daemon.control();
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("t-1"));
    let row = control.wait_state(&project, "blocked", "context_file");
    assert!(row["why"].as_str().unwrap().contains(".env"), "{row}");
    assert_eq!((project.status().as_str(), session.count("t-1")), ("PENDING", 0));
    std::fs::remove_file(project.root().join(".pi/handoff.toml")).unwrap();
    assert_eq!(session.wait_dispatch("t-1").task_id, "t-1");
}

#[test]
fn f277_the_log_carries_no_bodies() {
    let stage = stage();
    let secret = "sk-ant-REDACTED";
    stage.project.plan(&Task::new("t-1").with("instruction", format!("use {secret} to log in")));
    let dispatch = stage.session.wait_dispatch("t-1");
    let mut report = report::complete();
    report["result"] = json!(format!("used {secret}"));
    stage.session.finish(&dispatch, report);
    assert!(stage.daemon.terminate().success());
    let mut logs = String::new();
    for entry in std::fs::read_dir(stage.world.state_dir()).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.file_name().unwrap().to_string_lossy().starts_with("log-") {
            for file in std::fs::read_dir(entry).unwrap() {
                logs.push_str(&std::fs::read_to_string(file.unwrap().path()).unwrap());
            }
        }
    }
    assert!(logs.contains("t-1") && !logs.contains("abcdefghijklmnopqrstuvwxyz"), "{logs}");
}

#[test]
fn f275_start_and_stop_are_always_in_the_log() {
    let stage = stage();
    let state = stage.world.state_dir();
    assert!(stage.daemon.terminate().success());
    let folder = std::fs::read_dir(state).unwrap().map(|entry| entry.unwrap().path());
    let log = folder.filter(|path| path.is_dir() && path.file_name().unwrap().to_string_lossy().starts_with("log-"));
    let text: String = log
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    let version = &stage.control.hello["daemon"]["version"];
    assert!(text.contains(version.as_str().unwrap()), "{text}");
    let lower = text.to_lowercase();
    assert!(lower.contains("start") && lower.contains("stop"), "{text}");
}
