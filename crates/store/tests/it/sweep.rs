//! What earlier runs left beside the queue (D64, F158).

use std::fs;

use store::sys::{Call, Sys};
use store::{PiFolder, ProjectDir, Settled, SwapVerdict};

use crate::support::{Meddler, Project, hash, now};

const DIGITS: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn only_our_own_leftovers_are_touched() {
    let project = Project::with_queue(b"queue");
    let outside = project.root.with_file_name("outside");
    fs::write(&outside, b"outside").unwrap();
    let name = |kind: &str| project.root.join(format!(".tasks.json.{kind}"));
    fs::write(name(&format!("{DIGITS}.new")), b"half").unwrap();
    fs::create_dir(name("1123456789abcdef0123456789abcdef.new")).unwrap();
    std::os::unix::fs::symlink(&outside, name("2123456789abcdef0123456789abcdef.new")).unwrap();
    fs::write(name("new"), b"not ours").unwrap();
    fs::write(name(&format!("{DIGITS}.swap")), b"known").unwrap();
    let swept = project.open().sweep_temporaries(now(), |_| SwapVerdict::Known).unwrap();
    assert_eq!((swept.removed.len(), swept.lost.len()), (2, 0));
    assert_eq!(
        project.leftovers(),
        [
            ".tasks.json.1123456789abcdef0123456789abcdef.new",
            ".tasks.json.2123456789abcdef0123456789abcdef.new",
            ".tasks.json.new"
        ]
    );
    assert_eq!(fs::read(outside).unwrap(), b"outside");
}

#[test]
fn an_unseen_write_is_kept_under_a_free_name() {
    let project = Project::with_queue(b"queue");
    fs::write(project.root.join("tasks.json.lost-20261130T081203Z"), b"earlier").unwrap();
    fs::write(project.root.join(format!(".tasks.json.{DIGITS}.swap")), b"unseen").unwrap();
    let mut judged = Vec::new();
    let swept = project
        .open()
        .sweep_temporaries(now(), |bytes| {
            judged.push(bytes.to_vec());
            SwapVerdict::Unseen
        })
        .unwrap();
    assert_eq!(judged, [b"unseen"]);
    assert_eq!(swept.lost, [project.root.join("tasks.json.lost-20261130T081203Z-2")]);
    assert_eq!(fs::read(&swept.lost[0]).unwrap(), b"unseen");
}

#[test]
fn what_cannot_be_judged_is_kept() {
    let project = Project::new();
    let big = vec![b' '; store::Limit::Queue.bytes() + 1];
    fs::write(project.root.join(format!(".tasks.json.{DIGITS}.swap")), big).unwrap();
    let swept = project.open().sweep_temporaries(now(), |_| SwapVerdict::Known).unwrap();
    assert_eq!(swept.lost.len(), 1);
}

/// A daemon that starts while `handoff submit` writes: it would take the new bytes, or the file that they displaced, for
/// what a crash left.
#[test]
fn a_sweep_never_comes_in_between_the_steps_of_a_write_by_who_owns_nothing() {
    for moment in [Call::Sync, Call::Unlink] {
        let project = Project::with_queue(b"old");
        let root = project.root.clone();
        let sys = Meddler::sys(moment, move |number| {
            if number == 0 {
                let owner = ProjectDir::open(&root, &Sys::real(), PiFolder::Create).unwrap();
                let swept = owner.sweep_temporaries(now(), |_| SwapVerdict::Unseen);
                assert!(swept.is_err(), "it waits for its turn, and in vain: {swept:?}");
            }
        });
        let settled = project.open_with(&sys).replace_unowned(hash(b"old"), b"new", now()).unwrap();
        assert_eq!(settled.unwrap(), Settled::Clean);
        assert_eq!((project.queue_bytes(), project.leftovers()), (b"new".to_vec(), vec![]));
    }
}
