//! What the journal keeps when its process is killed or its disk is full in the middle of a row.
//!
//! Each test starts itself again as a child, which is the process that comes to harm.
#![expect(clippy::disallowed_methods, reason = "the child is the program under test")]
#![expect(clippy::unwrap_used, reason = "a test may panic anywhere")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::time::Duration;

use handoffd::journal::{Journal, JournalError, JournalLimits, newest_first};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tempfile::TempDir;

/// Set for the child: the folder of its journal.
const CHILD: &str = "HANDOFFD_TEST_JOURNAL_DIR";
const LONG: Duration = Duration::from_secs(60);

fn child_dir() -> Option<OsString> {
    std::env::var_os(CHILD)
}

fn path(dir: &Path) -> PathBuf {
    dir.join("journal-here.jsonl")
}

fn spawn(test: &str, dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn row(number: u64) -> String {
    format!(r#"{{"number":{number},"filler":"{}"}}"#, "x".repeat(usize::try_from(number % 3000).unwrap()))
}

fn number(row: &str) -> u64 {
    serde_json::from_str::<serde_json::Value>(row).unwrap()["number"].as_u64().unwrap()
}

/// Lines in all files of the journal that are no rows.
fn torn(dir: &Path) -> u64 {
    let mut rows = newest_first(&path(dir)).unwrap();
    rows.by_ref().for_each(|row| drop(row.unwrap()));
    rows.skipped()
}

#[test]
fn a_kill_in_the_middle_leaves_whole_lines_and_all_confirmed_rows() {
    let limits = JournalLimits { max_size: 100_000, keep: 500, ..JournalLimits::default() };
    if let Some(dir) = child_dir() {
        let journal = Journal::open(&path(Path::new(&dir)), limits).unwrap();
        for number in 0.. {
            journal.append_and_confirm(row(number), LONG).unwrap();
            println!("confirmed {number}");
        }
    }
    for round in 1..=5 {
        let dir = TempDir::new().unwrap();
        let mut child = spawn("a_kill_in_the_middle_leaves_whole_lines_and_all_confirmed_rows", dir.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let enough = format!("confirmed {}", round * 400);
        assert!(lines.by_ref().any(|line| line == enough));
        child.kill().unwrap();
        child.wait().unwrap();
        let confirmed =
            lines.filter_map(|line| line.strip_prefix("confirmed ")?.parse().ok()).last().unwrap_or(round * 400);

        let journal = Journal::open(&path(dir.path()), limits).unwrap();
        journal.append_and_confirm(row(1_000_000), LONG).unwrap();
        let numbers: BTreeSet<_> = newest_first(&path(dir.path())).unwrap().map(|row| number(&row.unwrap())).collect();
        assert!((0..=confirmed).all(|number| numbers.contains(&number)), "round {round}");
        assert!(numbers.contains(&1_000_000));
        assert!(torn(dir.path()) <= 1, "round {round}: one line at most was being written");
    }
}

#[test]
fn a_disk_that_is_full_in_the_middle_of_a_row_leaves_no_part_of_it() {
    if let Some(dir) = child_dir() {
        fill(Path::new(&dir));
        process::exit(0);
    }
    let dir = TempDir::new().unwrap();
    let child = spawn("a_disk_that_is_full_in_the_middle_of_a_row_leaves_no_part_of_it", dir.path());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let numbers: Vec<_> = newest_first(&path(dir.path())).unwrap().map(|row| number(&row.unwrap())).collect();
    assert_eq!(numbers, [2002, 1001, 1000]);
    assert_eq!(torn(dir.path()), 0);
    let text = fs::read_to_string(path(dir.path())).unwrap();
    assert_eq!(text.lines().count(), 3);
}

/// Lets the system take 2,500 bytes of the file: two rows of a thousand and a half of the third.
fn fill(dir: &Path) {
    // Without this the signal that comes with the refusal would end the process.
    signal_hook::flag::register(nix::libc::SIGXFSZ, std::sync::Arc::default()).unwrap();
    let journal = Journal::open(&path(dir), JournalLimits::default()).unwrap();
    let (_, hard) = getrlimit(Resource::RLIMIT_FSIZE).unwrap();
    setrlimit(Resource::RLIMIT_FSIZE, 2500, hard).unwrap();
    journal.append_and_confirm(row(1000), LONG).unwrap();
    journal.append_and_confirm(row(1001), LONG).unwrap();
    let refused = journal.append_and_confirm(row(1002), LONG).unwrap_err();
    assert!(matches!(refused, JournalError::NotWritten { .. }), "{refused}");
    setrlimit(Resource::RLIMIT_FSIZE, hard, hard).unwrap();
    journal.append_and_confirm(row(2002), LONG).unwrap();
    assert_eq!((journal.stats().written, journal.stats().failed), (3, 1));
}
