//! `tasks.json` in hand-made indexes of every form, whole and broken (D65).

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "helpers of tests")]

mod repo;

use std::fs::{self, File};
use std::path::Path;

use handoffd::git::{CannotTell, TrackedCache, Tracking};
use proptest::prelude::*;
use repo::{git_folder, put, scratch};

/// How an index is written.
#[derive(Debug, Clone, Copy)]
struct Form {
    version: u32,
    hash: usize,
}

const FORMS: [Form; 6] = [
    Form { version: 2, hash: 20 },
    Form { version: 3, hash: 20 },
    Form { version: 4, hash: 20 },
    Form { version: 2, hash: 32 },
    Form { version: 3, hash: 32 },
    Form { version: 4, hash: 32 },
];

/// An index with these names, in this order, and these extensions.
fn index(form: Form, names: &[&str], extensions: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let mut out = b"DIRC".to_vec();
    out.extend(form.version.to_be_bytes());
    out.extend((names.len() as u32).to_be_bytes());
    let mut before: &str = "";
    for name in names {
        let start = out.len();
        out.extend([7; 40]);
        out.extend(vec![0xab; form.hash]);
        // Version 3: every entry with the second flags, as "intent to add" has them.
        let extended = if form.version == 3 { 0x4000 } else { 0 };
        out.extend((extended | name.len().min(0xfff) as u16).to_be_bytes());
        if extended != 0 {
            out.extend(0x2000_u16.to_be_bytes());
        }
        if form.version == 4 {
            let common = name.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
            out.extend(varint(before.len() - common));
            out.extend(&name.as_bytes()[common..]);
            out.push(0);
            before = name;
        } else {
            out.extend(name.as_bytes());
            out.push(0);
            while !(out.len() - start).is_multiple_of(8) {
                out.push(0);
            }
        }
    }
    for (signature, data) in extensions {
        out.extend(*signature);
        out.extend((data.len() as u32).to_be_bytes());
        out.extend(data);
    }
    out.extend(vec![0xcd; form.hash]);
    out
}

/// Git's offset encoding: seven bits a byte, most significant first, minus one for each further byte.
fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = vec![(value & 0x7f) as u8];
    while value >> 7 != 0 {
        value = (value >> 7) - 1;
        bytes.insert(0, 0x80 | (value & 0x7f) as u8);
    }
    bytes
}

fn look_up(root: &Path) -> Tracking {
    TrackedCache::default().look_up(root, "tasks.json")
}

/// A repository whose index is written again and again.
struct Repository(tempfile::TempDir);

impl Repository {
    fn new() -> Self {
        let (keep, root) = scratch();
        git_folder(&root.join(".git"));
        Self(keep)
    }

    /// What it says of `tasks.json` in its root with this index.
    fn judge(&self, index: &[u8]) -> Tracking {
        put(&self.0.path().join(".git/index"), index);
        look_up(self.0.path())
    }
}

fn judge(index: &[u8]) -> Tracking {
    Repository::new().judge(index)
}

#[track_caller]
fn check(names: &[&str], expected: &Tracking) {
    let repository = Repository::new();
    for form in FORMS {
        assert_eq!(repository.judge(&index(form, names, &[])), *expected, "{form:?} {names:?}");
    }
}

#[test]
fn the_name_is_found_in_every_form() {
    let long = "d/".repeat(3000) + "tasks.json";
    check(&["tasks.json"], &Tracking::Tracked);
    check(&["README.md", "src/lib.rs", "src/main.rs", "tasks.json", "tasks.json.bak"], &Tracking::Tracked);
    check(&["a", &long, "tasks.json"], &Tracking::Tracked);
    check(&["tasks.json", "tasks.json", "tasks.json"], &Tracking::Tracked);
}

#[test]
fn other_names_are_not_the_name() {
    check(&[], &Tracking::NotTracked);
    check(&["README.md", "sub/tasks.json", "task.json", "tasks.jso", "tasks.json.bak"], &Tracking::NotTracked);
    check(&["tasks.json/inner"], &Tracking::NotTracked);
}

#[test]
fn optional_extensions_are_skipped_and_required_ones_are_not_guessed() {
    for form in FORMS {
        let with = |signature| index(form, &["tasks.json"], &[(b"TREE", vec![1; 99]), (signature, vec![2; 5])]);
        assert_eq!(judge(&with(b"UNTR")), Tracking::Tracked);
        assert_eq!(judge(&with(b"sdir")), Tracking::Tracked);
        assert!(matches!(judge(&with(b"newx")), Tracking::Unknown(CannotTell::Format { .. })));
    }
}

/// Only a cut right behind the entries, where the rest passes for the checksum, can still find the name.
#[test]
fn a_cut_index_never_hides_the_name() {
    let repository = Repository::new();
    for form in FORMS.into_iter().filter(|form| form.hash == 20) {
        let whole = index(form, &["a", "tasks.json"], &[(b"TREE", vec![1; 11])]);
        let mut answers = 0;
        for length in 0..whole.len() {
            match repository.judge(&whole[..length]) {
                Tracking::Unknown(CannotTell::Format { .. }) => {}
                Tracking::Tracked => answers += 1,
                other => panic!("{form:?} {length}: {other:?}"),
            }
        }
        assert_eq!(answers, 1, "{form:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_the_reader_fail_badly(
        form in prop::sample::select(FORMS.to_vec()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = index(form, &["a/b", "a/c", "tasks.json"], &[(b"link", vec![0; 60])]);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _any_answer = judge(&bytes);
    }

    #[test]
    fn what_was_written_is_found(names in prop::collection::btree_set("[a-c/]{1,6}", 0..20), tracked in any::<bool>()) {
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        if tracked {
            names.push("tasks.json");
        }
        let expected = if tracked { Tracking::Tracked } else { Tracking::NotTracked };
        check(&names, &expected);
    }
}

/// A bitmap with these bits among the first 64, and one without any.
fn bitmaps(bits: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for word in [bits, 0] {
        out.extend(64_u32.to_be_bytes());
        out.extend(2_u32.to_be_bytes());
        out.extend((1_u64 << 33).to_be_bytes());
        out.extend(word.to_be_bytes());
        out.extend(0_u32.to_be_bytes());
    }
    out
}

#[track_caller]
fn check_split(own: &[&str], base: &[&str], deleted: u64, expected: &Tracking) {
    for form in FORMS {
        let (_keep, root) = scratch();
        git_folder(&root.join(".git"));
        let link = [vec![0x1f; form.hash], bitmaps(deleted)].concat();
        put(&root.join(".git/index"), index(form, own, &[(b"link", link)]));
        let base_name = format!(".git/sharedindex.{}", "1f".repeat(form.hash));
        put(&root.join(base_name), index(form, base, &[]));
        assert_eq!(look_up(&root), *expected, "{form:?} {own:?} {base:?} {deleted:b}");
    }
}

#[test]
fn a_split_index_is_read_with_its_base() {
    check_split(&[], &["a", "tasks.json", "z"], 0, &Tracking::Tracked);
    check_split(&[], &["a", "tasks.json", "z"], 0b010, &Tracking::NotTracked);
    check_split(&[], &["a", "tasks.json", "z"], 0b101, &Tracking::Tracked);
    check_split(&["", "tasks.json"], &["a"], 0, &Tracking::Tracked);
    check_split(&["", "b"], &["a"], 0, &Tracking::NotTracked);
}

#[test]
fn a_split_index_without_its_base_is_unknown() {
    let form = FORMS[0];
    let link = [vec![0x1f; form.hash], bitmaps(0)].concat();
    let found = judge(&index(form, &["a"], &[(b"link", link)]));
    let Tracking::Unknown(why) = found else { panic!("{found:?}") };
    assert!(why.to_string().contains("sharedindex.1f1f"), "{why}");
}

#[test]
fn what_is_too_large_or_not_a_file_is_unknown_at_once() {
    let (_keep, root) = scratch();
    git_folder(&root.join(".git"));
    let path = root.join(".git/index");
    File::create(&path).unwrap().set_len(256 * 1024 * 1024 + 1).unwrap();
    assert!(matches!(look_up(&root), Tracking::Unknown(CannotTell::TooLarge { limit: 268_435_456, .. })));

    fs::remove_file(&path).unwrap();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert!(matches!(look_up(&root), Tracking::Unknown(CannotTell::NotRegular { .. })));
}

#[test]
fn another_spelling_counts_only_when_it_is_the_same_file() {
    let (_keep, root) = scratch();
    git_folder(&root.join(".git"));
    put(&root.join(".git/index"), index(FORMS[0], &["TASKS.json"], &[]));
    put(&root.join("tasks.json"), "{}");
    put(&root.join("TASKS.json"), "{}");
    let folds = fs::read_dir(&root).unwrap().count() == 2;
    let mut cache = TrackedCache::default();
    let expected = if folds { Tracking::Tracked } else { Tracking::NotTracked };
    assert_eq!(cache.look_up(&root, "tasks.json"), expected);
    // What a file system that folds letters shows: two names of one file.
    fs::remove_file(root.join("TASKS.json")).unwrap();
    put(&root.join("tasks.json"), "{}");
    if !folds {
        fs::hard_link(root.join("tasks.json"), root.join("TASKS.json")).unwrap();
    }
    assert_eq!(cache.look_up(&root, "tasks.json"), Tracking::Tracked);
}

#[test]
fn a_change_of_the_index_is_seen_by_the_same_cache() {
    let (_keep, root) = scratch();
    git_folder(&root.join(".git"));
    let mut cache = TrackedCache::default();
    assert_eq!(cache.look_up(&root, "tasks.json"), Tracking::NotTracked);
    for (names, expected) in
        [(vec!["a", "tasks.json"], Tracking::Tracked), (vec!["a", "tusks.json"], Tracking::NotTracked)]
    {
        put(&root.join(".git/index.lock"), index(FORMS[0], &names, &[]));
        replace(&root.join(".git/index.lock"), &root.join(".git/index"));
        assert_eq!(cache.look_up(&root, "tasks.json"), expected);
        assert_eq!(cache.look_up(&root, "tasks.json"), expected, "the same answer from the cache");
        assert_eq!(cache.look_up(&root, "a"), Tracking::Tracked, "another name is another question");
    }
}

#[expect(clippy::disallowed_methods, reason = "git's own way of writing an index")]
fn replace(from: &Path, to: &Path) {
    fs::rename(from, to).unwrap();
}
