//! `handoff status` and the default command.

use insta::assert_snapshot;
use regex_lite::Regex;

use crate::daemon::{TestDaemon, eventually, state, submit, world};
use crate::env::TestEnv;

/// Ages and paddings differ from run to run.
fn steady(text: &str) -> String {
    let ages = Regex::new(r"\d+ (s|min)\b").unwrap();
    let gaps = Regex::new(r" {2,}").unwrap();
    gaps.replace_all(&ages.replace_all(text, "0 s"), "  ").into_owned()
}

#[test]
fn without_projects_it_says_how_to_get_one() {
    let world = TestEnv::new();
    let _daemon = TestDaemon::start(&world);
    assert_snapshot!(world.run(&["status"]), @r"
    --- stderr
    no project is registered: `handoff init` in its folder
    --- exit 0
    ");
}

#[test]
fn a_waiting_task_is_told_with_the_command_that_helps() {
    let (world, _daemon) = world();
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    eventually("the task waits", || state(&world) == "waiting");
    let said = world.run(&["status"]);
    assert_snapshot!(steady(&said.to_string()), @r"
    PROJECT  STATE  SINCE  TASK  SESSION  WHY
    project  waiting  0 s  T-1  -  no worker's session is attached
      next: handoff attach
    --- exit 0
    ");
    assert_eq!(steady(&world.run(&[]).stdout), steady(&said.stdout), "no command is `status`");
    let elsewhere = world.said(world.command().current_dir(world.home()));
    assert!(elsewhere.stdout.contains("next: cd {PROJECT} && handoff attach"), "{elsewhere}");
}

#[test]
fn what_helps_with_a_missing_folder_does_not_lead_into_it() {
    let (world, _daemon) = world();
    std::fs::remove_dir_all(world.project()).unwrap();
    let told = || world.said(world.command().current_dir(world.home())).stdout;
    eventually("the folder is missed", || told().contains("missing"));
    assert!(told().contains("next: handoff projects list"), "{}", told());
}

#[test]
fn what_is_wrong_with_an_unreadable_queue_is_told_once() {
    let (world, _daemon) = world();
    world.file("tasks.json", "{");
    eventually("it is seen", || state(&world) == "unreadable");
    let said = world.run(&["status"]);
    assert_eq!(said.stdout.matches("the text ends inside an object").count(), 1, "{said}");
}

#[test]
fn json_is_one_document_and_can_be_of_one_project() {
    let (world, _daemon) = world();
    let whole = world.run(&["status", "--json"]);
    assert_eq!(whole.stdout.lines().count(), 1);
    assert_eq!(whole.json()["projects"].as_array().unwrap().len(), 1);
    assert_eq!(world.run(&["status", "project", "--json"]).json()["projects"][0]["path"], "{PROJECT}");
    let said = world.run(&["status", "projct"]);
    assert_snapshot!(said, @r"
    --- stderr
    Error: projct is no registered project; did you mean project?
    --- exit 4
    ");
}
