//! Descriptors, limits, odd names, a program that was replaced: the daemon as a long-running process.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use handoffd_tests::binaries::binaries;
use handoffd_tests::{Attach, Control, Daemon, Project, Task, report, wait, world};
use serde_json::json;

use crate::support::stage;

pub(crate) fn descriptors(daemon: &Daemon) -> usize {
    fs::read_dir(format!("/proc/{}/fd", daemon.pid())).unwrap().count()
}

/// Inotify watches of all its instances.
pub(crate) fn watches(daemon: &Daemon) -> usize {
    let folder = format!("/proc/{}/fdinfo", daemon.pid());
    let infos = fs::read_dir(folder).unwrap().filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok());
    infos.map(|info| info.lines().filter(|line| line.starts_with("inotify wd:")).count()).sum()
}

#[test]
fn f135_sixty_projects_and_twenty_clients_fit_under_a_low_limit() {
    let world = world!();
    let projects: Vec<_> = (0..60).map(|number| world.project(&format!("p{number}"))).collect();
    let daemon = world.spawn_in_shell("ulimit -S -n 256; exec \"$@\"");
    let clients: Vec<_> = (0..20).map(|_| daemon.control()).collect();
    let process = world.process();
    for (number, project) in projects.iter().enumerate() {
        let session = daemon.attach(&process, project, &Attach::idle("s-1"));
        project.plan(&Task::new(&format!("t-{number}")));
        let dispatch = session.wait_dispatch(&format!("t-{number}"));
        session.finish(&dispatch, report::complete());
    }
    assert!(clients.iter().all(|client| client.status()["projects"].as_array().unwrap().len() == 60));
}

#[test]
fn f270_projects_that_come_and_go_leave_nothing_behind() {
    let stage = stage();
    let round = |number: usize| {
        let project = Project::create(&stage.world.path(&format!("p{number}")));
        stage.control.call("project.add", json!({"path": project.root()})).unwrap();
        stage.control.wait_state(&project, "idle", "");
        stage.control.ask("project.remove", &project, json!({})).unwrap();
        wait::until_true("it is gone", || stage.control.project(&project).is_null());
        fs::remove_dir_all(project.root()).unwrap();
    };
    (0..5).for_each(round);
    let before = (descriptors(&stage.daemon), watches(&stage.daemon));
    (5..60).for_each(round);
    wait::until_true(&format!("as before: {before:?}"), || {
        descriptors(&stage.daemon) <= before.0 + 2 && watches(&stage.daemon) <= before.1
    });
}

#[test]
fn f022_a_big_tree_costs_two_watches() {
    let stage = stage();
    for number in 0..300 {
        fs::create_dir_all(stage.project.root().join(format!("deep/{number}/er"))).unwrap();
    }
    let watched = watches(&stage.daemon);
    assert!((1..10).contains(&watched), "{watched} watches for one project");
    assert!(descriptors(&stage.daemon) < 60);
}

#[test]
fn f142_a_replaced_program_is_told() {
    let world = world!();
    let program = world.path("handoffd");
    world.copy_program(&binaries().handoffd, &program);
    let mut command = world.command(&program);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let daemon = Daemon::start(command, &world.socket(), vec![world.state_dir()]);
    let control = daemon.control();
    assert_eq!(control.status()["daemon"]["outdated"], false);
    fs::remove_file(&program).unwrap();
    world.copy_program(&binaries().handoffd, &program);
    wait::until_true("it is noticed", || control.status()["daemon"]["outdated"] == true);
}

#[test]
fn f218_names_that_are_not_utf8_hurt_nobody() {
    let stage = stage();
    fs::write(stage.project.root().join(OsStr::from_bytes(b"odd-\xff")), "x").unwrap();
    let odd = stage.world.path("").join(OsStr::from_bytes(b"project-\xff"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("tasks.json"), Task::new("t-0").text()).unwrap();
    let output = {
        let mut command = stage.world.command(&binaries().handoff);
        command.args(["projects", "add"]).arg(&odd).output().unwrap()
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked"), "{said}");
    assert!(output.status.success() || !said.is_empty(), "refused in words");
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.finish(&dispatch, report::complete());
}

#[test]
fn f094_the_daemon_outlives_the_shell_that_started_it() {
    let world = world!();
    let project = world.project("app");
    let mut shell = world.command("/bin/sh".as_ref());
    shell.args(["-c", "\"$0\" >/dev/null 2>&1 & echo $!"]).arg(&binaries().handoffd);
    let output = shell.output().unwrap();
    let pid: i32 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
    let control = wait::until("it answers", || Control::try_open(&world.socket()));
    assert_eq!(control.hello["daemon"]["pid"], pid);
    control.wait_state(&project, "idle", "");
    control.call("daemon.shutdown", json!({})).unwrap();
    wait::until_true("it ends", || !std::path::Path::new(&format!("/proc/{pid}/exe")).exists());
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let stage = stage();
    stage.project.plan(&Task::new("t-1"));
    stage.session.wait_dispatch("t-1");
    let mut daemon = stage.daemon;
    daemon.signal(nix::sys::signal::Signal::SIGTERM);
    // It may have ended already: then there is nobody to signal.
    nix::sys::signal::kill(daemon.pid(), nix::sys::signal::Signal::SIGTERM).ok();
    daemon.wait();
    assert_eq!(stage.project.status(), "RUNNING");
}
