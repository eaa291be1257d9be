//! `handoff logs` and `handoff log rotate`: both work on files alone.

use insta::assert_snapshot;

use crate::daemon::eventually;
use crate::env::{TestEnv, write};

fn log_dir(world: &TestEnv) -> std::path::PathBuf {
    world.home().join(".local/state/handoffd").join(format!("log-{}", handoffd::places::host::host_part()))
}

const LINES: &str = "2026-11-30T08:00:00.000Z INFO  project=/w/shop one\n2026-11-30T08:00:01.000Z INFO  two\n\
                     2026-11-30T08:00:02.000Z WARN  project=/w/api three \u{1b}[31m\n";

#[test]
fn the_last_lines_are_printed_clean_and_of_one_project_if_wanted() {
    let world = TestEnv::new();
    let said = world.run(&["logs"]);
    assert!(said.code == 0 && said.stderr.contains("there is no log in"), "{said}");
    let name = "handoffd.2026-11-30.log";
    write(&log_dir(&world).join(name), LINES.as_bytes());
    assert_eq!(world.run(&["logs"]).stdout.lines().count(), 3);
    assert_snapshot!(world.run(&["logs", "-n", "1"]).stdout, @"2026-11-30T08:00:02.000Z WARN  project=/w/api three [31m");
    assert_snapshot!(world.run(&["logs", "--project", "/w/shop"]).stdout, @"2026-11-30T08:00:00.000Z INFO  project=/w/shop one");
}

#[test]
fn a_followed_log_goes_on_into_the_next_file() {
    let world = TestEnv::new();
    let first = write(&log_dir(&world).join("handoffd.2026-11-30.log"), b"one\n");
    let logs = world.start(&["logs", "--follow"]);
    eventually("what is there is printed", || logs.stdout() == "one\n");
    let mut appended = std::fs::OpenOptions::new().append(true).open(&first).unwrap();
    std::io::Write::write_all(&mut appended, b"two\nhal").unwrap();
    write(&log_dir(&world).join("handoffd.2026-12-01.log"), b"three\n");
    eventually("whole lines follow", || logs.stdout() == "one\ntwo\nthree\n");
}

#[test]
fn a_work_log_is_rotated_without_a_daemon() {
    let world = TestEnv::new();
    assert_eq!(world.run(&["init"]).code, 0);
    assert_eq!(world.run(&["log", "rotate"]).stdout, "there is no line to move\n");
    world.file(".pi/handoff-log.md", "# Ours\n\n## Work log\n- a line\n");
    let said = world.run(&["log", "rotate", "project"]);
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(world.read(".pi/handoff-log.md"), "# Ours\n\n## Work log\n");
    let archive = said.stdout.trim().rsplit('/').next().unwrap().to_owned();
    assert_eq!(world.read(&format!(".pi/{archive}")), "## Work log\n- a line\n");
    world.file(".pi/handoff-log.md", "no heading");
    assert_eq!(world.run(&["log", "rotate"]).code, 1);
}
