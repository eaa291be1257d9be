//! What the documents promise about commands and tests is so.

use std::collections::HashSet;

use crate::tree::{read, report, sources};

/// The one-line commands in the README's shell blocks that start with `cargo run` or `cargo test`.
fn commands_of_the_readme() -> Vec<String> {
    let readme = read("README.md");
    let blocks = readme.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines = blocks.flat_map(str::lines).map(str::trim);
    lines.filter(|line| line.starts_with("cargo run") || line.starts_with("cargo test")).map(str::to_owned).collect()
}

#[test]
fn ci_runs_the_commands_of_the_readme() {
    let commands = commands_of_the_readme();
    assert_eq!(commands.len(), 2, "the README has one command to see it and one to test it: {commands:?}");
    let script = read(".ci/run");
    let steps: Vec<&str> = script.lines().filter(|line| line.starts_with("step ")).collect();
    let faults: Vec<String> =
        commands.into_iter().filter(|command| !steps.iter().any(|step| step.ends_with(command.as_str()))).collect();
    report("each command of the README is a step of .ci/run, to the letter", &faults);
}

#[test]
fn the_test_command_covers_the_workspace() {
    let commands = commands_of_the_readme();
    assert!(commands.iter().any(|command| command.starts_with("cargo test --workspace")), "{commands:?}");
}

#[test]
fn the_changelog_has_a_place_for_the_next_change() {
    let changelog = read("CHANGELOG.md");
    let first = changelog.lines().find(|line| line.starts_with("## "));
    assert_eq!(first, Some("## Unreleased"));
}

/// Names of functions, tests among them.
fn functions() -> HashSet<String> {
    let mut names = HashSet::new();
    for file in sources() {
        for rest in file.text.split("fn ").skip(1) {
            let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            names.insert(name);
        }
    }
    names
}

/// Why an entry has no test.
const EXCUSES: &[&str] = &["Cannot happen", "could not be run", "Not in this version"];

/// The table's columns: entry, reported as, what went wrong, tests, note.
#[test]
fn the_field_log_names_tests_that_exist() {
    let log = read("docs/field-log.md");
    let functions = functions();
    let mut faults = Vec::new();
    for row in log.lines().filter(|line| line.starts_with("| F")) {
        let columns: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [entry, reported, went_wrong, tests, note] = columns.as_slice() else {
            faults.push(format!("{row}: has {} columns", columns.len()));
            continue;
        };
        let excused = EXCUSES.iter().any(|excuse| note.contains(excuse));
        if reported.is_empty() || went_wrong.is_empty() || (tests.is_empty() && !excused) {
            faults.push(format!("{entry}: needs a test, or one of {EXCUSES:?}"));
        }
        let named = tests.split('`').skip(1).step_by(2).filter(|name| !functions.contains(*name));
        faults.extend(named.map(|name| format!("{entry}: there is no test {name}")));
    }
    report("docs/field-log.md", &faults);
}
