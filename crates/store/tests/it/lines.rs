//! Files of lines: whole lines whatever fails, and none lost between writers and rotations.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use store::sys::{Call, FaultPlan, Pass, Sys};
use store::{Folder, LineError, Rotation, append_line};

use crate::support::{EINTR, EIO, ENOSPC, EROFS, each_fault, names};

const ROOMY: Rotation = Rotation { max_bytes: 1 << 20, generations: 2 };

struct Place {
    _temp: tempfile::TempDir,
    path: PathBuf,
}

impl Place {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        Self { path: temp.path().canonicalize().unwrap(), _temp: temp }
    }

    fn append(&self, sys: &Sys, line: &str, rotation: Rotation) -> Result<(), LineError> {
        append_line(&Folder::open(sys, &self.path)?, "rows.jsonl", line, rotation)
    }

    fn file(&self) -> PathBuf {
        self.path.join("rows.jsonl")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }
}

#[test]
fn lines_come_one_after_the_other_and_never_break() {
    let place = Place::new();
    place.append(&Sys::real(), "a", ROOMY).unwrap();
    place.append(&Sys::real(), "b\nc\r", ROOMY).unwrap();
    assert_eq!(place.text(), "a\nb c \n");
    assert_eq!(place.file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[track_caller]
fn check_end(before: &str, after: &str) {
    let place = Place::new();
    fs::write(place.file(), before).unwrap();
    place.append(&Sys::real(), "{}", ROOMY).unwrap();
    assert_eq!(place.text(), after, "{before:?}");
}

#[test]
fn what_a_killed_writer_left_is_cut_away_and_a_whole_line_never() {
    check_end("{\"a\":1}\n{\"b\":", "{\"a\":1}\n{}\n");
    check_end("{\"b\":{}", "{}\n");
    check_end("{\"a\":1}\n{\"b\":2}", "{\"a\":1}\n{\"b\":2}\n{}\n");
    check_end("not ours\n", "not ours\n{}\n");
    let long = "x".repeat(70_000);
    check_end(&long, &format!("{long}\n{{}}\n"));
}

#[test]
fn the_file_is_for_this_user_only_whatever_it_was() {
    let place = Place::new();
    fs::write(place.file(), "").unwrap();
    fs::set_permissions(place.file(), fs::Permissions::from_mode(0o644)).unwrap();
    place.append(&Sys::real(), "a", ROOMY).unwrap();
    assert_eq!(place.file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn only_a_regular_file_takes_a_line() {
    let place = Place::new();
    fs::create_dir(place.file()).unwrap();
    assert!(matches!(place.append(&Sys::real(), "a", ROOMY), Err(LineError::NotRegular(_))));
    fs::remove_dir(place.file()).unwrap();
    let other = place.path.join("other");
    fs::write(&other, "").unwrap();
    symlink(&other, place.file()).unwrap();
    assert!(place.append(&Sys::real(), "a", ROOMY).is_err());
    assert_eq!(fs::read_to_string(other).unwrap(), "");
}

#[test]
fn a_full_disk_leaves_no_part_of_a_line() {
    let place = Place::new();
    place.append(&Sys::real(), "old", ROOMY).unwrap();
    let short = FaultPlan::every(Call::Write, Pass::Short(2));
    let fault = place.append(&Sys::gated(Arc::new(short)), "new line", ROOMY).unwrap_err();
    assert!(fault.to_string().contains("No space"), "{fault}");
    assert_eq!(place.text(), "old\n");
}

#[test]
fn every_fault_leaves_whole_lines() {
    let start = || {
        let place = Place::new();
        fs::write(place.file(), "old\n").unwrap();
        place
    };
    each_fault(
        &[EIO, ENOSPC, EROFS, EINTR],
        start,
        |place, sys| match place.append(sys, "new", ROOMY) {
            Err(LineError::NotCutBack { append, cut }) => panic!("one fault is always undone: {append}, {cut}"),
            outcome => outcome.is_ok(),
        },
        |place, _, succeeded, label| {
            assert_eq!(place.text(), if succeeded { "old\nnew\n" } else { "old\n" }, "{label}");
        },
    );
}

#[test]
fn every_fault_of_a_rotation_loses_nothing() {
    let tight = Rotation { max_bytes: 6, generations: 3 };
    let start = || {
        let place = Place::new();
        ["1", "2", "3"].iter().for_each(|line| place.append(&Sys::real(), &line.repeat(4), tight).unwrap());
        place
    };
    each_fault(
        &[EIO, ENOSPC, EROFS, EINTR],
        start,
        |place, sys| place.append(sys, "4444", tight).is_ok(),
        |place, _, succeeded, label| {
            if !succeeded {
                place.append(&Sys::real(), "4444", tight).unwrap();
            }
            assert_eq!(all_lines(&place.path).len(), 4, "{label}");
        },
    );
}

#[test]
fn the_oldest_of_the_rotated_files_goes() {
    let place = Place::new();
    let tight = Rotation { max_bytes: 4, generations: 2 };
    for line in ["aaa", "bbb", "ccc", "ddd", "too long for any file"] {
        place.append(&Sys::real(), line, tight).unwrap();
    }
    assert_eq!(names(&place.path), ["rows.jsonl", "rows.jsonl.1", "rows.jsonl.2"]);
    assert_eq!(all_lines(&place.path), ["too long for any file", "ddd", "ccc"]);
}

#[test]
fn no_line_is_lost_or_torn_between_writers_and_rotations() {
    let place = Place::new();
    let rotation = Rotation { max_bytes: 4_000, generations: 200 };
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let place = &place;
            scope.spawn(move || {
                for number in 0..100 {
                    let line = format!("{writer}-{number}-{}", "x".repeat(number));
                    place.append(&Sys::real(), &line, rotation).unwrap();
                }
            });
        }
    });
    let lines = all_lines(&place.path);
    let distinct: BTreeSet<&String> = lines.iter().collect();
    assert_eq!((lines.len(), distinct.len()), (800, 800));
    assert!(names(&place.path).len() > 10, "it was rotated");
    for line in &lines {
        let number: usize = line.split('-').nth(1).unwrap().parse().unwrap();
        assert!(line.ends_with(&format!("-{}", "x".repeat(number))), "{line}");
    }
}

#[test]
fn a_lock_of_a_file_is_exclusive_and_ends_with_its_holder() {
    use std::time::Duration;
    let place = Place::new();
    let folder = Folder::open(&Sys::real(), &place.path).unwrap();
    let held = folder.lock_file("x.lock", Duration::from_millis(50)).unwrap();
    let fault = folder.lock_file("x.lock", Duration::from_millis(50)).unwrap_err();
    assert!(fault.to_string().contains("wait for the other writer"), "{fault}");
    drop(held);
    // Not at once: a program that another test starts at this moment holds it, too, until it runs.
    folder.lock_file("x.lock", Duration::from_secs(60)).unwrap();
    assert_eq!(File::open(place.path.join("x.lock")).unwrap().metadata().unwrap().len(), 0);
}

/// The lines of all files, the youngest file first.
fn all_lines(folder: &Path) -> Vec<String> {
    let number = |name: &String| name.rsplit('.').next().and_then(|end| end.parse::<u32>().ok()).unwrap_or(0);
    let mut files = names(folder);
    files.sort_by_key(number);
    let read = |name: &String| fs::read_to_string(folder.join(name)).unwrap();
    let text: String = files.iter().map(read).collect();
    assert!(text.ends_with('\n') && !text.contains("\n\n"));
    text.lines().map(str::to_owned).collect()
}
