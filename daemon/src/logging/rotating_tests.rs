//! The log files: when a new one begins, which old ones go, what happens when somebody interferes.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use tempfile::TempDir;

use super::*;

const DAY_MS: i64 = 24 * 3600 * 1000;

fn noon(day: i64) -> Wall {
    Wall::from_unix_ms(day * DAY_MS + DAY_MS / 2)
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
        RotatingFile::open(self.settings(), noon(0)).unwrap()
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
    let mut log = RotatingFile::open(settings, noon(0)).unwrap();
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
    let error = RotatingFile::open(settings, noon(0)).err().unwrap();
    assert_eq!(error.to_string(), format!("the log folder {} is not a folder", path.display()));

    let below = FileSettings { dir: path.join("deeper"), ..fixture.settings() };
    let error = RotatingFile::open(below, noon(0)).err().unwrap();
    assert_eq!(error.to_string(), format!("cannot create the log folder {}", path.join("deeper").display()));
}

#[test]
fn a_folder_in_place_of_the_file_is_said_in_words() {
    let fixture = Fixture::new();
    let path = fixture.logs().join("handoffd.1970-01-01.log");
    fs::create_dir_all(&path).unwrap();
    let error = RotatingFile::open(fixture.settings(), noon(0)).err().unwrap();
    assert_eq!(error.to_string(), format!("cannot open the log file {}", path.display()));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_and_then_forgotten() {
    let fixture = Fixture::new();
    let path = fixture.logs().join("handoffd.1970-01-01.log");
    fs::create_dir_all(fixture.logs()).unwrap();
    symlink("/dev/full", &path).unwrap();
    let mut log = fixture.open();
    let error = log.write_line(b"one\n", noon(0)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    fs::remove_file(&path).unwrap();
    log.write_line(b"two\n", noon(0)).unwrap();
    fixture.check(&[("handoffd.1970-01-01.log", "two\n")]);
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
        let mut log = RotatingFile::open(settings, noon(0)).unwrap();
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
