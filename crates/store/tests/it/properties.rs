//! Properties over random worlds: resolving agrees with the kernel; no order of planner writes loses the last one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use queue::{Kind, ProjectPaths as _, Resolution};
use store::sys::Call;
use store::{LockContent, ReplaceError};

use crate::support::{Meddler, Project, hash, now, write_by_rename};

/// Short names, so that links, folders and queries meet.
fn part() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just("a"), 4 => Just("b"), 3 => Just("c"), 2 => Just(".."), 1 => Just("."), 1 => Just("app")]
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(part(), 1..6).prop_map(|parts| parts.join("/"))
}

#[derive(Debug, Clone)]
enum Entry {
    Folder(String),
    File(String),
    Link { at: String, target: String, absolute: bool },
}

fn entry() -> impl Strategy<Value = Entry> {
    prop_oneof![
        path().prop_map(Entry::Folder),
        path().prop_map(Entry::File),
        (path(), path(), any::<bool>()).prop_map(|(at, target, absolute)| Entry::Link { at, target, absolute }),
    ]
}

/// Makes what can be made; a path that leaves the project or clashes is skipped.
fn make(root: &Path, entry: &Entry) {
    let (Entry::Folder(at) | Entry::File(at) | Entry::Link { at, .. }) = entry;
    if at.split('/').any(|part| part == "..") {
        return;
    }
    let at = root.join(at);
    if at.parent().and_then(|parent| parent.canonicalize().ok()).is_none_or(|parent| !parent.starts_with(root)) {
        return;
    }
    match entry {
        Entry::Folder(_) => fs::create_dir(&at).ok(),
        Entry::File(_) => fs::File::create_new(&at).ok().map(drop),
        Entry::Link { target, absolute: true, .. } => symlink(root.join(target), &at).ok(),
        Entry::Link { target, absolute: false, .. } => symlink(target, &at).ok(),
    };
}

/// What the kernel says; `None` where it finds nothing.
fn by_kernel(root: &Path, path: &str) -> Option<Resolution> {
    let found = root.join(path).canonicalize().ok()?;
    let kind = if found.is_dir() { Kind::Directory } else { Kind::Other };
    Some(match found.strip_prefix(root) {
        Err(_) => Resolution::Outside { exists: true },
        Ok(inside) if inside.as_os_str().is_empty() => Resolution::Inside { relative: ".".to_owned(), kind },
        Ok(inside) => Resolution::Inside { relative: inside.to_str().unwrap().to_owned(), kind },
    })
}

#[derive(Debug, Clone, Copy)]
enum Act {
    Nothing,
    Rename,
    InPlace,
    Remove,
}

/// Plays `acts`, one before each exchange; the outcome and the planner's last write.
fn play(project: &Project, acts: Vec<Act>) -> (Result<store::Replaced, ReplaceError>, Option<Vec<u8>>) {
    let last = Arc::new(Mutex::new(None));
    let (queue, written) = (project.queue(), Arc::clone(&last));
    let sys = Meddler::sys(Call::Exchange, move |number| {
        let bytes = format!("planner {number}").into_bytes();
        match acts.get(number).unwrap_or(&Act::Nothing) {
            Act::Nothing => return,
            Act::Remove => return drop(fs::remove_file(&queue)),
            Act::Rename => write_by_rename(&queue, &bytes),
            Act::InPlace => fs::write(&queue, &bytes).unwrap(),
        }
        *written.lock().unwrap() = Some(bytes);
    });
    let outcome = project.open_with(&sys).replace_queue(hash(b"old"), b"ours", now());
    let last = last.lock().unwrap().clone();
    (outcome, last)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn resolving_agrees_with_the_kernel(entries in prop::collection::vec(entry(), 0..12), query in path()) {
        let project = Project::new();
        entries.iter().for_each(|entry| make(&project.root, entry));
        let ours = project.open().resolve(&query);
        match by_kernel(&project.root, &query) {
            Some(expected) => prop_assert_eq!(ours, expected),
            None => prop_assert!(
                matches!(
                    ours,
                    Resolution::Outside { exists: false }
                        | Resolution::Loop
                        | Resolution::Inside { kind: Kind::Missing, .. }
                ),
                "the kernel finds nothing at {}, we {:?}", query, ours
            ),
        }
    }

    #[test]
    fn the_last_write_of_the_planner_is_never_lost(
        acts in prop::collection::vec(
            prop_oneof![Just(Act::Nothing), Just(Act::Rename), Just(Act::InPlace), Just(Act::Remove)], 0..7),
    ) {
        let project = Project::with_queue(b"old");
        let (outcome, last) = play(&project, acts);
        let found = fs::read(project.queue()).ok();
        let kept = match &outcome {
            Err(ReplaceError::Changed { kept_as }) => kept_as.as_ref().map(|path| fs::read(path).unwrap()),
            Ok(_) => None,
            Err(other) => panic!("{other}"),
        };
        match last {
            Some(last) => prop_assert!(found.as_ref() == Some(&last) || kept == Some(last), "{found:?} {kept:?}"),
            None if outcome.is_ok() => prop_assert_eq!(found, Some(b"ours".to_vec())),
            None => prop_assert!(found.is_none(), "nothing was written, the file was removed"),
        }
    }

    #[test]
    fn a_parsed_lock_names_a_possible_process(bytes in prop::collection::vec(any::<u8>(), 0..64), pid in any::<i64>()) {
        LockContent::parse(&bytes).ok();
        let parsed = LockContent::parse(format!("{{\"pid\":{pid}}}").as_bytes()).map(|lock| i64::from(lock.pid)).ok();
        prop_assert_eq!(parsed, Some(pid).filter(|pid| (1..=i64::from(i32::MAX)).contains(pid)));
    }
}
