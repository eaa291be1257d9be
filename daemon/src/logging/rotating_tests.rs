//! The log files: when a new one begins, which old ones go, what happens when somebody interferes.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use tempfile::TempDir;

use super::*;

const DAY_MS: i64 = 24 * 3600 * 1000;

fn noon(day: i64) -> Wall {
    Wall::from_unix_ms(day * DAY_MS + DAY_MS / 2)
}

#[track_caller]
fn opened(settings: FileSettings) -> RotatingFile {
    let (log, error) = RotatingFile::open(settings, noon(0));
    assert!(error.is_none(), "{error:?}");
    log
}

fn refused(settings: FileSettings) -> String {
    RotatingFile::open(settings, noon(0)).1.unwrap().to_string()
}

struct Fixture {
    dir: TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    fn logs(&self) -> PathBuf {
        self.dir.path().join("state/log")
    }

    fn settings(&self) -> FileSettings {
        FileSettings { dir: self.logs(), max_size: 100, max_total: 10_000, keep: 10 }
    }

    fn open(&self) -> RotatingFile {
        opened(self.settings())
    }

    /// Names and contents, oldest first.
    #[track_caller]
    fn check(&self, expected: &[(&str, &str)]) {
        let mut files = files::files(&self.logs()).unwrap();
        files.reverse();
        let found: Vec<_> = files
            .iter()
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap();
                (name.to_owned(), fs::read_to_string(path).unwrap())
            })
            .collect();
        let found: Vec<_> = found.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn the_folder_is_made_and_private() {
    let fixture = Fixture::new();
    fixture.open().write_line(b"one\n", noon(0)).unwrap();
    fixture.check(&[("handoffd.1970-01-01.log", "one\n")]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&fixture.logs()), 0o700);
    assert_eq!(mode(&fixture.logs().join("handoffd.1970-01-01.log")), 0o600);
}

#[test]
fn a_new_file_every_day() {
    let fixture = Fixture::new();
    let mut log = fixture.open();
    log.write_line(b"one\n", noon(0)).unwrap();
    log.write_line(b"two\n", noon(1)).unwrap();
    log.write_line(b"three\n", noon(1)).unwrap();
    fixture.check(&[("handoffd.1970-01-01.log", "one\n"), ("handoffd.1970-01-02.log", "two\nthree\n")]);
}

#[test]
fn a_new_file_at_every_size_limit_and_after_a_restart() {
    let fixture = Fixture::new();
    let line = format!("{}\n", "x".repeat(59));
    for _ in 0..3 {
        fixture.open().write_line(line.as_bytes(), noon(0)).unwrap();
    }
    fixture.check(&[
        ("handoffd.1970-01-01.log", &line),
        ("handoffd.1970-01-01.1.log", &line),
        ("handoffd.1970-01-01.2.log", &line),
    ]);
}

#[test]
fn a_line_longer_than_the_limit_has_a_file_of_its_own() {
    let fixture = Fixture::new();
    let long = format!("{}\n", "x".repeat(300));
    let mut log = fixture.open();
    for line in ["a\n", &long, "b\n"] {
        log.write_line(line.as_bytes(), noon(0)).unwrap();
    }
    fixture.check(&[
        ("handoffd.1970-01-01.log", "a\n"),
        ("handoffd.1970-01-01.1.log", &long),
        ("handoffd.1970-01-01.2.log", "b\n"),
    ]);
}

#[test]
fn the_oldest_go_and_strangers_stay() {
    let fixture = Fixture::new();
    let mut settings = fixture.settings();
    settings.keep = 3;
    let mut log = opened(settings);
    let stranger = fixture.logs().join("handoffd.1960-01-01.log.old");
    File::create(&stranger).unwrap();
    for day in 0..20 {
        log.write_line(b"x\n", noon(day)).unwrap();
    }
    fixture.check(&[
        ("handoffd.1970-01-18.log", "x\n"),
        ("handoffd.1970-01-19.log", "x\n"),
        ("handoffd.1970-01-20.log", "x\n"),
    ]);
    assert!(stranger.exists());
}

#[test]
fn a_file_that_was_deleted_or_renamed_is_opened_again() {
    let fixture = Fixture::new();
    let path = fixture.logs().join("handoffd.1970-01-01.log");
    let mut log = fixture.open();
    log.write_line(b"one\n", noon(0)).unwrap();
    fs::remove_file(&path).unwrap();
    log.write_line(b"two\n", noon(0)).unwrap();
    fixture.check(&[("handoffd.1970-01-01.log", "two\n")]);

    fs::hard_link(&path, fixture.logs().join("aside")).unwrap();
    fs::remove_file(&path).unwrap();
    log.write_line(b"three\n", noon(0)).unwrap();
    fixture.check(&[("handoffd.1970-01-01.log", "three\n")]);

    fs::remove_dir_all(fixture.logs()).unwrap();
    log.write_line(b"four\n", noon(0)).unwrap();
    fixture.check(&[("handoffd.1970-01-01.log", "four\n")]);
}

#[test]
fn a_file_in_place_of_the_folder_is_said_in_words() {
    let fixture = Fixture::new();
    let path = fixture.dir.path().join("log");
    File::create(&path).unwrap();
    let settings = FileSettings { dir: path.clone(), ..fixture.settings() };
    assert_eq!(refused(settings), format!("the log folder {} is not a folder", path.display()));

    let below = FileSettings { dir: path.join("deeper"), ..fixture.settings() };
    assert_eq!(refused(below), format!("cannot create the log folder {}", path.join("deeper").display()));
}

/// Puts something in place of the first file of the day: it is passed over, said, and neither opened nor changed.
#[track_caller]
fn check_passed_over(put: impl FnOnce(&Path), by: &str) {
    let fixture = Fixture::new();
    let path = fixture.logs().join("handoffd.1970-01-01.log");
    fs::create_dir_all(fixture.logs()).unwrap();
    put(&path);
    let before = fs::symlink_metadata(&path).unwrap();
    let mut log = fixture.open();
    log.write_line(b"one\n", noon(0)).unwrap();
    let next = fixture.logs().join("handoffd.1970-01-01.1.log");
    let remark = format!("{} is {by} and no log file; the log goes on in {}", path.display(), next.display());
    assert_eq!(log.remark(), Some(remark.as_str()));
    assert_eq!(fs::read_to_string(next).unwrap(), "one\n");
    let after = fs::symlink_metadata(&path).unwrap();
    assert_eq!((after.ino(), after.len(), after.mode()), (before.ino(), before.len(), before.mode()));
    log.write_line(b"two\n", noon(1)).unwrap();
    assert_eq!(log.remark(), None, "the next day's name is free");
}

#[test]
fn what_is_no_file_is_passed_over_in_words() {
    check_passed_over(|path| fs::create_dir(path).unwrap(), "a folder");
    let fifo = |path: &Path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    check_passed_over(fifo, "a named pipe");
    check_passed_over(|path| drop(std::os::unix::net::UnixListener::bind(path).unwrap()), "a socket");
    check_passed_over(|path| symlink("/dev/full", path).unwrap(), "a link");
    check_passed_over(|path| symlink("elsewhere", path).unwrap(), "a link");
}

#[test]
fn a_pipe_that_somebody_reads_is_none_of_ours_either() {
    let fixture = Fixture::new();
    let path = fixture.logs().join("handoffd.1970-01-01.log");
    let mut log = fixture.open();
    log.write_line(b"one\n", noon(0)).unwrap();
    fs::remove_file(&path).unwrap();
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let reader = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    log.write_line(b"two\n", noon(0)).unwrap();
    assert!(log.remark().is_some_and(|remark| remark.contains("a named pipe")));
    fixture.check(&[("handoffd.1970-01-01.1.log", "two\n")]);
    drop(reader);
}

#[test]
fn names_that_are_all_taken_are_an_error_that_is_tried_again() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.logs()).unwrap();
    let names = (0..MOST_TAKEN).map(|number| Name { date: noon(0).date(), number }.path(&fixture.logs()));
    let names: Vec<_> = names.inspect(|path| fs::create_dir(path).unwrap()).collect();
    let (mut log, error) = RotatingFile::open(fixture.settings(), noon(0));
    let expected = format!("{} is a folder and no log file", names[0].display());
    assert_eq!(error.unwrap().to_string(), expected);
    assert_eq!(log.write_line(b"one\n", noon(0)).unwrap_err().to_string(), expected);
    fs::remove_dir(&names[0]).unwrap();
    log.not_before = 0;
    log.write_line(b"two\n", noon(0)).unwrap();
    assert_eq!(log.remark(), None);
    fixture.check(&[("handoffd.1970-01-01.log", "two\n")]);
}

#[test]
fn a_file_that_was_emptied_counts_as_empty() {
    let fixture = Fixture::new();
    let mut log = fixture.open();
    let line = format!("{}\n", "x".repeat(59));
    log.write_line(line.as_bytes(), noon(0)).unwrap();
    File::create(fixture.logs().join("handoffd.1970-01-01.log")).unwrap();
    log.write_line(line.as_bytes(), noon(0)).unwrap();
    fixture.check(&[("handoffd.1970-01-01.log", &line)]);
}

#[test]
fn what_is_cut_off_never_makes_a_file_longer() {
    let fixture = Fixture::new();
    let path = fixture.logs().join("handoffd.1970-01-01.log");
    let mut log = fixture.open();
    log.write_line(b"one\n", noon(0)).unwrap();
    let active = log.active_for(noon(0), 4).unwrap();
    active.file.write_all(b"tw").unwrap();
    active.cut().unwrap();
    fixture.check(&[("handoffd.1970-01-01.log", "one\n")]);
    let active = log.active_for(noon(0), 4).unwrap();
    File::create(&path).unwrap();
    active.cut().unwrap();
    fixture.check(&[("handoffd.1970-01-01.log", "")]);
}

#[test]
fn an_existing_file_is_continued() {
    let fixture = Fixture::new();
    fixture.open().write_line(b"one\n", noon(0)).unwrap();
    fixture.open().write_line(b"two\n", noon(0)).unwrap();
    fixture.check(&[("handoffd.1970-01-01.log", "one\ntwo\n")]);
    assert_eq!(fs::metadata(fixture.logs()).unwrap().permissions(), Permissions::from_mode(0o40700));
}

#[test]
fn a_flood_stays_within_the_limit_of_all_files_after_every_line() {
    for (max_size, max_total) in [(100, 1000), (1000, 1000), (5000, 1000), (999, 1000)] {
        let fixture = Fixture::new();
        let settings = FileSettings { max_size, max_total, keep: 1000, ..fixture.settings() };
        let mut log = opened(settings);
        for number in 0..400_usize {
            let line = format!("{}\n", "x".repeat(number * 7 % 60));
            log.write_line(line.as_bytes(), noon(i64::try_from(number / 150).unwrap())).unwrap();
            let total: u64 = files::list(&fixture.logs()).unwrap().iter().map(|file| file.size).sum();
            assert!(total <= max_total, "{total} of {max_total} after line {number}, files of {max_size}");
        }
        let total: u64 = files::list(&fixture.logs()).unwrap().iter().map(|file| file.size).sum();
        assert!(total > max_total / 3, "{total}: the newest lines are kept");
    }
}
