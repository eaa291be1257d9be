//! The journal inside one process: order, rotation, confirmation, loss, and reading beside the writer.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::thread;

use nix::sys::stat::Mode;
use tempfile::TempDir;

use super::*;
use crate::clock::Wall;

const SECOND: Duration = Duration::from_secs(1);
/// Longer than anything takes, so that only a fault ends a wait.
const LONG: Duration = Duration::from_secs(60);

struct Fixture {
    dir: TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("journal-here.jsonl")
    }

    fn open(&self, limits: JournalLimits) -> Journal {
        Journal::open(&self.path(), limits).unwrap()
    }

    /// All rows, newest first.
    fn rows(&self) -> Vec<String> {
        newest_first(&self.path()).unwrap().map(Result::unwrap).collect()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path()).unwrap();
        let names: BTreeSet<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.into_iter().collect()
    }
}

fn row(number: u64) -> String {
    format!(r#"{{"at":"2026-11-30T08:12:03.120Z","number":{number},"filler":"{}"}}"#, "x".repeat(60))
}

fn number(row: &str) -> u64 {
    serde_json::from_str::<serde_json::Value>(row).unwrap()["number"].as_u64().unwrap()
}

fn small(max_size: u64, keep: u32) -> JournalLimits {
    JournalLimits { max_size, keep, ..JournalLimits::default() }
}

#[test]
fn ten_thousand_confirmed_rows_from_many_threads_are_all_there_and_whole() {
    let fixture = Fixture::new();
    let journal = fixture.open(small(64 * 1024, 100));
    thread::scope(|scope| {
        for writer in 0..8 {
            let journal = journal.clone();
            scope.spawn(move || {
                for number in 0..1250 {
                    journal.append_and_confirm(row(writer * 1250 + number), LONG).unwrap();
                }
            });
        }
        // Reading meanwhile must never see a torn row, or one twice.
        for _ in 0..20 {
            let mut rows = newest_first(&fixture.path()).unwrap();
            let seen: Vec<_> = rows.by_ref().map(|row| number(&row.unwrap())).collect();
            assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len());
        }
    });
    let numbers: BTreeSet<_> = fixture.rows().iter().map(|row| number(row)).collect();
    assert_eq!(numbers.len(), 10_000);
    assert!(fixture.names().len() > 10, "{:?}", fixture.names());
    assert_eq!(journal.stats(), JournalStats { written: 10_000, ..JournalStats::default() });
}

#[test]
fn rows_come_back_newest_first_and_only_as_many_files_as_kept() {
    let fixture = Fixture::new();
    let journal = fixture.open(small(1024, 2));
    for number in 0..100 {
        journal.append_and_confirm(row(number), LONG).unwrap();
    }
    let numbers: Vec<_> = fixture.rows().iter().map(|row| number(row)).collect();
    let expected: Vec<_> = (0..100).rev().take(numbers.len()).collect();
    assert_eq!(numbers, expected);
    assert_eq!(fixture.names(), ["journal-here.jsonl", "journal-here.jsonl.1", "journal-here.jsonl.2"]);
    drop(journal);

    fixture.open(small(1024, 1));
    assert_eq!(fixture.names(), ["journal-here.jsonl", "journal-here.jsonl.1"]);
}

#[test]
fn a_gap_among_the_files_hides_nothing() {
    let fixture = Fixture::new();
    let journal = fixture.open(small(1, 9));
    for number in 0..6 {
        journal.append_and_confirm(row(number), LONG).unwrap();
    }
    fs::remove_file(fixture.dir.path().join("journal-here.jsonl.2")).unwrap();
    let numbers = |fixture: &Fixture| fixture.rows().iter().map(|row| number(row)).collect::<Vec<_>>();
    assert_eq!(numbers(&fixture), [5, 4, 2, 1, 0]);
    journal.append_and_confirm(row(6), LONG).unwrap();
    assert_eq!(numbers(&fixture), [6, 5, 4, 2, 1, 0]);
}

#[test]
fn the_file_is_private() {
    let fixture = Fixture::new();
    File::create(fixture.path()).unwrap();
    let _journal = fixture.open(JournalLimits::default());
    assert_eq!(fs::metadata(fixture.path()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_torn_last_line_spoils_no_other() {
    let fixture = Fixture::new();
    File::create(fixture.path()).unwrap().write_all(format!("{}\n{{\"number\":1,\"fil", row(0)).as_bytes()).unwrap();
    let journal = fixture.open(JournalLimits::default());
    journal.append_and_confirm(row(2), LONG).unwrap();
    let mut rows = newest_first(&fixture.path()).unwrap();
    let numbers: Vec<_> = rows.by_ref().map(|row| number(&row.unwrap())).collect();
    assert_eq!((numbers, rows.skipped()), (vec![2, 0], 1));
}

#[test]
fn lines_that_are_no_rows_are_skipped_and_counted() {
    let fixture = Fixture::new();
    let mut content = b"[1]\n\n\xff\xfe\nnull\n{\"a\":\n".to_vec();
    content.extend_from_slice(row(7).as_bytes());
    content.extend_from_slice(b"\n");
    content.extend(vec![b'z'; LONGEST_ROW + 10]);
    content.extend_from_slice(b"\n");
    content.extend_from_slice(row(8).as_bytes());
    File::create(fixture.path()).unwrap().write_all(&content).unwrap();

    let mut rows = newest_first(&fixture.path()).unwrap();
    let numbers: Vec<_> = rows.by_ref().map(|row| number(&row.unwrap())).collect();
    assert_eq!((numbers, rows.skipped()), (vec![8, 7], 5));

    let mut numbers = Vec::new();
    let seen = index(&fixture.path(), Wall::from_unix_ms(0), |row| numbers.push(number(row))).unwrap();
    assert_eq!((numbers, seen), (vec![7, 8], Indexed { rows: 2, older: 0, skipped: 5 }));
}

#[test]
fn the_index_is_oldest_first_from_a_moment_on() {
    let fixture = Fixture::new();
    let journal = fixture.open(small(200, 50));
    let at = |number: i64| Wall::from_unix_ms(1_796_000_000_000 + number * 1000);
    for number in 0..40 {
        let row = format!(r#"{{"number":{number},"at":"{}"}}"#, at(number));
        journal.append_and_confirm(row, LONG).unwrap();
    }
    let mut numbers = Vec::new();
    let seen = index(&fixture.path(), at(25), |row| numbers.push(number(row))).unwrap();
    assert_eq!(numbers, (25..40).collect::<Vec<_>>());
    assert_eq!((seen.rows, seen.skipped), (15, 0));
    let later = index(&fixture.path(), Wall::from_unix_ms(i64::MAX), |_| panic!("no row is that new")).unwrap();
    assert_eq!(later.rows, 0);
}

#[test]
fn a_journal_that_does_not_exist_is_empty() {
    let fixture = Fixture::new();
    assert!(fixture.rows().is_empty());
    assert_eq!(index(&fixture.path(), Wall::from_unix_ms(0), |_| ()).unwrap(), Indexed::default());
}

#[test]
fn a_row_of_many_lines_becomes_one() {
    let fixture = Fixture::new();
    let journal = fixture.open(JournalLimits::default());
    journal.append_and_confirm("{\n  \"number\": 1\r\n}".to_owned(), LONG).unwrap();
    assert_eq!(fixture.rows(), [r#"{   "number": 1  }"#]);
}

#[test]
fn a_row_that_is_too_long_is_refused_and_counted() {
    let fixture = Fixture::new();
    let journal = fixture.open(JournalLimits::default());
    let huge = "x".repeat(LONGEST_ROW + 1);
    assert_eq!(journal.append(huge.clone()), Appended::Dropped);
    assert!(matches!(journal.append_and_confirm(huge, SECOND), Err(JournalError::TooLong { .. })));
    assert_eq!(journal.stats().dropped, 2);
}

#[test]
fn a_journal_that_was_taken_away_is_made_again() {
    let fixture = Fixture::new();
    let journal = fixture.open(JournalLimits::default());
    journal.append_and_confirm(row(0), LONG).unwrap();
    fs::remove_file(fixture.path()).unwrap();
    journal.append_and_confirm(row(1), LONG).unwrap();
    assert_eq!(fixture.rows(), [row(1)]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_counted_and_survived() {
    let fixture = Fixture::new();
    symlink("/dev/full", fixture.path()).unwrap();
    let journal = fixture.open(JournalLimits::default());
    let refused = journal.append_and_confirm(row(0), LONG).unwrap_err();
    assert!(matches!(&refused, JournalError::NotWritten { reason } if reason.contains("No space")), "{refused}");
    assert_eq!(journal.append(row(1)), Appended::Queued);
    assert!(journal.flush(LONG));
    assert_eq!((journal.stats().written, journal.stats().failed), (0, 2));

    fs::remove_file(fixture.path()).unwrap();
    journal.append_and_confirm(row(2), LONG).unwrap();
    assert_eq!(fixture.rows(), [row(2)]);
}

/// A pipe that nobody reads: the thread that writes it is stuck as on a dead network disk.
fn stuck(fixture: &Fixture, limits: JournalLimits) -> (Journal, File) {
    nix::unistd::mkfifo(&fixture.path(), Mode::from_bits_truncate(0o600)).unwrap();
    let mut options = File::options();
    // With both ends in one descriptor neither this nor the journal's open waits for the other.
    let mut reader = options.read(true).write(true).open(fixture.path()).unwrap();
    let journal = fixture.open(limits);
    let big = format!(r#"{{"filler":"{}"}}"#, "x".repeat(1 << 20));
    assert_eq!(journal.append(big), Appended::Queued);
    // Once something arrives, the thread is inside its write, and the queue is empty.
    reader.read_exact(&mut [0]).unwrap();
    (journal, reader)
}

#[test]
fn a_stuck_disk_holds_nobody_up_and_what_has_no_room_is_counted() {
    let fixture = Fixture::new();
    let limits = JournalLimits { queued_rows: 10, ..JournalLimits::default() };
    let (journal, _reader) = stuck(&fixture, limits);
    let journal = Arc::new(journal);
    let (tell, told) = mpsc::channel();
    let of = Arc::clone(&journal);
    thread::spawn(move || {
        tell.send((0..10_000).filter(|&number| of.append(row(number)) == Appended::Dropped).count()).unwrap();
    });
    // Nobody reads the pipe: whoever waits for it, waits for ever.
    let dropped = told.recv_timeout(LONG).expect("nobody waits for the disk");
    assert_eq!(dropped, 9_990);
    let refused = journal.append_and_confirm(row(0), Duration::from_millis(50)).unwrap_err();
    assert!(matches!(refused, JournalError::Full { .. }), "{refused}");
    assert_eq!(journal.stats().dropped, u64::try_from(dropped).unwrap() + 1);
    assert!(!journal.flush(Duration::from_millis(50)));
}

#[test]
fn bytes_that_wait_are_bounded_too() {
    let fixture = Fixture::new();
    let limits = JournalLimits { queued_bytes: 1000, ..JournalLimits::default() };
    let (journal, _reader) = stuck(&fixture, limits);
    let queued = (0..100).filter(|&number| journal.append(row(number)) == Appended::Queued).count();
    assert_eq!(queued, 1000 / (row(0).len() + 1));
}

#[test]
fn a_confirmation_that_does_not_come_is_no_success() {
    let fixture = Fixture::new();
    let (journal, _reader) = stuck(&fixture, JournalLimits::default());
    let refused = journal.append_and_confirm(row(0), Duration::from_millis(50)).unwrap_err();
    assert!(matches!(refused, JournalError::Unconfirmed { .. }), "{refused}");
}

#[test]
fn dropping_the_last_handle_writes_what_waits() {
    let fixture = Fixture::new();
    let journal = fixture.open(JournalLimits::default());
    for number in 0..1000 {
        assert_eq!(journal.append(row(number)), Appended::Queued);
    }
    drop(journal);
    assert_eq!(fixture.rows().len(), 1000);
}

#[test]
fn a_folder_in_place_of_the_journal_is_said_in_words() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path()).unwrap();
    let error = Journal::open(&fixture.path(), JournalLimits::default()).err().unwrap();
    assert_eq!(error.to_string(), format!("cannot open the journal {}", fixture.path().display()));
}

/// A pipe would be waited for, a link written through, a folder would keep the daemon from starting (D70).
#[test]
fn what_is_no_file_is_put_aside_before_the_journal_is_opened() {
    for make in [
        (|path: &Path| nix::unistd::mkfifo(path, Mode::from_bits_truncate(0o600)).unwrap()) as fn(&Path),
        |path| fs::create_dir(path).unwrap(),
        |path| symlink("elsewhere", path).unwrap(),
    ] {
        let fixture = Fixture::new();
        make(&fixture.path());
        set_odd_aside(&fixture.path()).unwrap();
        let journal = fixture.open(JournalLimits::default());
        journal.append_and_confirm(row(0), LONG).unwrap();
        assert_eq!(fixture.rows(), [row(0)]);
        assert!(fs::symlink_metadata(fixture.path()).unwrap().is_file());
    }
}
