//! The durable replace: order of calls, what is kept, and every way the planner can come in between (D3, D64).

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use store::sys::{Call, FaultPlan, Pass, Sys};
use store::{Expected, Method, ReplaceError, Settled};

use crate::support::{EINVAL, Meddler, Project, hash, now, write_by_rename};

#[test]
fn ours_replaces_exactly_the_expected_bytes() {
    let project = Project::with_queue(b"old");
    let dir = project.open();
    let replaced = dir.replace_queue(hash(b"old"), b"new", now()).unwrap();
    assert_eq!(replaced.method, Method::Exchanged);
    assert_eq!(project.queue_bytes(), b"new");
    assert_eq!(replaced.stamp, dir.stamp(store::Watched::Queue).unwrap(), "our own write is recognised");
    let swap = replaced.displaced.unwrap();
    assert_eq!(fs::read(project.root.join(swap.name())).unwrap(), b"old");
    assert_eq!(swap.settle(&dir, now()).unwrap(), Settled::Clean);
    assert_eq!(project.leftovers(), Vec::<String>::new());
}

#[test]
fn other_bytes_are_never_replaced() {
    let check = |setup: fn(&Project), expected: Expected| {
        let project = Project::new();
        setup(&project);
        let outcome = project.open().replace_queue(expected, b"new", now());
        assert!(matches!(outcome, Err(ReplaceError::Changed { kept_as: None })), "{outcome:?}");
        assert_eq!(project.leftovers(), Vec::<String>::new());
    };
    check(|_| {}, hash(b"old"));
    check(|p| fs::write(p.queue(), b"other").unwrap(), hash(b"old"));
    check(|p| fs::write(p.queue(), b"other").unwrap(), Expected::Absent);
    check(|p| fs::create_dir(p.queue()).unwrap(), hash(b"old"));
    check(|p| std::os::unix::fs::symlink("/etc/passwd", p.queue()).unwrap(), Expected::Absent);
}

#[test]
fn a_new_file_never_replaces_one_that_came_first() {
    let project = Project::new();
    let replaced = project.open().replace_queue(Expected::Absent, b"first", now()).unwrap();
    assert_eq!((replaced.method, replaced.displaced.is_none()), (Method::Created, true));
    let queue = project.queue();
    fs::remove_file(&queue).unwrap();
    let sys = Meddler::sys(Call::RenameNew, move |_| fs::write(&queue, b"planner").unwrap());
    let outcome = project.open_with(&sys).replace_queue(Expected::Absent, b"ours", now());
    assert!(matches!(outcome, Err(ReplaceError::Changed { .. })), "{outcome:?}");
    assert_eq!(project.queue_bytes(), b"planner");
    assert_eq!(project.leftovers(), Vec::<String>::new());
}

#[test]
fn mode_and_attributes_are_kept() {
    for mode in [0o600, 0o640, 0o664, 0o444] {
        let project = Project::with_queue(b"old");
        fs::set_permissions(project.queue(), fs::Permissions::from_mode(mode)).unwrap();
        let file = fs::File::open(project.queue()).unwrap();
        let attributes = rustix::fs::fsetxattr(&file, "user.note", b"kept", rustix::fs::XattrFlags::empty()).is_ok();
        let replaced = project.open().replace_queue(hash(b"old"), b"new", now()).unwrap();
        assert!(replaced.displaced.is_some());
        assert_eq!(fs::metadata(project.queue()).unwrap().mode() & 0o7777, mode, "mode {mode:o}");
        let mut value = [0_u8; 4];
        let file = fs::File::open(project.queue()).unwrap();
        let kept = rustix::fs::fgetxattr(&file, "user.note", &mut value[..]);
        assert_eq!((kept.is_ok(), attributes.then_some(&value)), (attributes, attributes.then_some(b"kept")));
    }
}

#[test]
fn a_foreign_owner_that_cannot_be_kept_blocks_the_write() {
    let project = Project::with_queue(b"old");
    let queue = fs::File::open(project.queue()).unwrap();
    // Only root can prepare this; elsewhere the refusal alone is injected below.
    let foreign = rustix::fs::fchown(&queue, None, Some(rustix::fs::Gid::from_raw(12345))).is_ok();
    if !foreign {
        println!("skipped: changing a group needs root");
        return;
    }
    let sys = Sys::gated(Arc::new(FaultPlan::every(Call::Chown, Pass::Fail(1))));
    let outcome = project.open_with(&sys).replace_queue(hash(b"old"), b"new", now());
    assert!(matches!(outcome, Err(ReplaceError::ForeignOwner { gid: 12345, .. })), "{outcome:?}");
    assert_eq!((project.queue_bytes(), project.leftovers()), (b"old".to_vec(), vec![]));
    let kept = project.open().replace_queue(hash(b"old"), b"new", now()).unwrap();
    assert!(kept.displaced.is_some());
    assert_eq!(fs::metadata(project.queue()).unwrap().gid(), 12345);
}

#[test]
fn durable_means_file_then_exchange_then_folder() {
    let project = Project::with_queue(b"old");
    let recorder = Arc::new(FaultPlan::recorder());
    let dir = project.open_with(&Sys::gated(recorder.clone()));
    let replaced = dir.replace_queue(hash(b"old"), b"new", now()).unwrap();
    assert!(replaced.displaced.is_some());
    let order: Vec<Call> = recorder
        .made()
        .iter()
        .map(|made| made.call)
        .filter(|call| matches!(call, Call::Create | Call::Write | Call::Sync | Call::Rename | Call::Exchange))
        .collect();
    assert_eq!(order, [Call::Create, Call::Write, Call::Sync, Call::Rename, Call::Exchange, Call::Sync]);
}

#[test]
fn short_writes_are_continued() {
    let project = Project::with_queue(b"old");
    let sys = Sys::gated(Arc::new(FaultPlan::every(Call::Write, Pass::Short(2))));
    let replaced = project.open_with(&sys).replace_queue(hash(b"old"), b"much longer", now()).unwrap();
    assert!(replaced.displaced.is_some());
    assert_eq!(project.queue_bytes(), b"much longer");
}

#[test]
fn without_exchange_a_plain_rename_is_reported() {
    let project = Project::with_queue(b"old");
    let sys = Sys::gated(Arc::new(FaultPlan::every(Call::Exchange, Pass::Fail(EINVAL))));
    let replaced = project.open_with(&sys).replace_queue(hash(b"old"), b"new", now()).unwrap();
    assert_eq!((replaced.method, replaced.displaced.is_none()), (Method::PlainRename, true));
    assert_eq!((project.queue_bytes(), project.leftovers()), (b"new".to_vec(), vec![]));
}

#[test]
fn a_write_in_the_last_window_is_put_back() {
    let project = Project::with_queue(b"old");
    let queue = project.queue();
    let sys = Meddler::sys(Call::Exchange, move |number| {
        if number == 0 {
            write_by_rename(&queue, b"planner 1");
        }
    });
    let outcome = project.open_with(&sys).replace_queue(hash(b"old"), b"ours", now());
    assert!(matches!(outcome, Err(ReplaceError::Changed { kept_as: None })), "{outcome:?}");
    assert_eq!((project.queue_bytes(), project.leftovers()), (b"planner 1".to_vec(), vec![]));
}

/// Also a planner that writes again at every step of the way back, by rename and in place.
#[test]
fn the_last_write_of_a_stubborn_planner_stands() {
    for last in 1..9 {
        for in_place in [false, true] {
            let project = Project::with_queue(b"old");
            let queue = project.queue();
            let sys = Meddler::sys(Call::Exchange, move |number| {
                let bytes = format!("planner {number}");
                match number <= last {
                    true if in_place && number > 0 => fs::write(&queue, bytes).unwrap(),
                    true => write_by_rename(&queue, bytes.as_bytes()),
                    false => {}
                }
            });
            let outcome = project.open_with(&sys).replace_queue(hash(b"old"), b"ours", now());
            assert!(matches!(outcome, Err(ReplaceError::Changed { kept_as: None })), "{outcome:?}");
            let expected = format!("planner {last}").into_bytes();
            assert_eq!((project.queue_bytes(), project.leftovers()), (expected, vec![]), "{last} {in_place}");
        }
    }
}

/// One write comes late to the displaced file, the next one to ours, both while that is put back.
#[test]
fn of_two_writes_during_the_way_back_the_newer_one_stands_or_is_kept() {
    let play = |age: Duration| {
        let project = Project::with_queue(b"old");
        let (queue, at) = (project.queue(), SystemTime::now());
        let opened = fs::OpenOptions::new().write(true).open(&queue).unwrap();
        let sys = Meddler::sys(Call::Exchange, move |number| match number {
            0 => fs::write(&queue, "first").unwrap(),
            1 => {
                std::io::Write::write_all(&mut &opened, b"second").unwrap();
                opened.set_modified(at - age).unwrap();
                fs::write(&queue, "third").unwrap();
                fs::File::options().write(true).open(&queue).unwrap().set_modified(at).unwrap();
            }
            _ => {}
        });
        let outcome = project.open_with(&sys).replace_queue(hash(b"old"), b"ours", now());
        let Err(ReplaceError::Changed { kept_as }) = outcome else { panic!("{outcome:?}") };
        (project.queue_bytes(), kept_as.map(|path| fs::read(path).unwrap()))
    };
    assert_eq!(play(Duration::from_millis(1)), (b"third".to_vec(), None));
    // The clock does not tell.
    assert_eq!(play(Duration::ZERO), (b"second".to_vec(), Some(b"third".to_vec())));
}

/// The file was half written when it was looked at, on its way back. Complete, it was taken for newer than what came after it.
#[test]
fn a_write_that_ends_while_it_is_put_back_hides_no_later_one() {
    let project = Project::with_queue(b"old");
    let (queue, half) = (project.queue(), std::sync::Mutex::new(None));
    let sys = Meddler::sys(Call::Exchange, move |number| match number {
        0 => *half.lock().unwrap() = Some(fs::File::create(&queue).unwrap()),
        1 => {
            std::io::Write::write_all(&mut half.lock().unwrap().take().unwrap(), b"planner 1").unwrap();
            fs::write(&queue, b"planner 2").unwrap();
        }
        _ => {}
    });
    let outcome = project.open_with(&sys).replace_queue(hash(b"old"), b"ours", now());
    let Err(ReplaceError::Changed { kept_as }) = outcome else { panic!("{outcome:?}") };
    // Whether the clock tells them apart is chance.
    let found = [Some(project.queue_bytes()), kept_as.map(|path| fs::read(path).unwrap())];
    assert!(found.contains(&Some(b"planner 2".to_vec())), "{found:?}");
}

#[test]
fn a_write_that_the_planner_took_away_is_kept_aside() {
    let project = Project::with_queue(b"old");
    let queue = project.queue();
    let sys = Meddler::sys(Call::Exchange, move |number| match number {
        0 => write_by_rename(&queue, b"unseen"),
        _ => fs::remove_file(&queue).unwrap(),
    });
    let outcome = project.open_with(&sys).replace_queue(hash(b"old"), b"ours", now());
    let Err(ReplaceError::Changed { kept_as: Some(kept) }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(fs::read(&kept).unwrap(), b"unseen");
    assert_eq!(project.leftovers(), ["tasks.json.lost-20261130T081203Z"]);
    assert!(!project.queue().exists(), "a deleted task is not brought back");
}

#[test]
fn a_late_write_to_the_displaced_file_is_kept_as_lost() {
    let project = Project::with_queue(b"old");
    let dir = project.open();
    let mut writer = fs::OpenOptions::new().write(true).open(project.queue()).unwrap();
    let swap = dir.replace_queue(hash(b"old"), b"ours", now()).unwrap().displaced.unwrap();
    std::io::Write::write_all(&mut writer, b"late").unwrap();
    let Settled::Lost { kept_as } = swap.settle(&dir, now()).unwrap() else { panic!("must be lost") };
    assert_eq!(fs::read(kept_as).unwrap(), b"late");
    assert_eq!(project.queue_bytes(), b"ours");
    assert_eq!(swap.settle(&dir, now()).unwrap(), Settled::Clean, "settled once");
}

#[test]
fn a_moved_or_replaced_folder_is_not_written() {
    let check = |change: fn(&Project)| {
        let project = Project::with_queue(b"old");
        let dir = project.open();
        change(&project);
        let outcome = dir.replace_queue(hash(b"old"), b"new", now());
        assert!(matches!(outcome, Err(ReplaceError::Moved(_))), "{outcome:?}");
    };
    check(|p| fs::rename(&p.root, p.root.with_file_name("moved")).unwrap());
    check(|p| {
        fs::rename(&p.root, p.root.with_file_name("moved")).unwrap();
        fs::create_dir_all(p.root.join(".pi")).unwrap();
        fs::write(p.queue(), b"old").unwrap();
    });
    check(|p| {
        fs::rename(p.root.join(".pi"), p.root.join("was-pi")).unwrap();
        std::os::unix::fs::symlink("was-pi", p.root.join(".pi")).unwrap();
    });
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let project = Project::with_queue(b"old");
    let limit = store::Limit::Queue.bytes();
    let outcome = project.open().replace_queue(hash(b"old"), &vec![b'x'; limit + 1], now());
    assert!(matches!(outcome, Err(ReplaceError::TooLarge { size }) if size == limit + 1), "{outcome:?}");
    let replaced = project.open().replace_queue(hash(b"old"), &vec![b'x'; limit], now()).unwrap();
    assert!(replaced.displaced.is_some());
}

/// Two writers of ours and the planner at once would take each other for something newer; so ours take turns.
#[test]
fn writers_of_ours_take_turns() {
    let project = Project::with_queue(b"old");
    let root = fs::File::open(&project.root).unwrap();
    let lock = |file: &fs::File| rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
    let root_then = root.try_clone().unwrap();
    let sys = Meddler::sys(Call::Exchange, move |_| {
        assert_eq!(lock(&root_then), Err(rustix::io::Errno::WOULDBLOCK), "the turn is held");
    });
    let replaced = project.open_with(&sys).replace_queue(hash(b"old"), b"new", now()).unwrap();
    assert!(replaced.displaced.is_some());
    lock(&root).unwrap();
    let outcome = project.open().replace_queue(hash(b"new"), b"newer", now());
    assert!(matches!(outcome, Err(ReplaceError::CannotWrite(_))), "{outcome:?}");
    assert_eq!(project.queue_bytes(), b"new");
}

#[test]
fn a_file_that_is_being_written_is_no_leftover_to_a_daemon_that_starts() {
    let project = Project::with_queue(b"old");
    let root = fs::File::open(&project.root).unwrap();
    let sys = Meddler::sys(Call::Sync, move |_| {
        let taken = rustix::fs::flock(&root, rustix::fs::FlockOperation::NonBlockingLockExclusive);
        assert_eq!(taken, Err(rustix::io::Errno::WOULDBLOCK), "a sweep would have to wait");
    });
    let replaced = project.open_with(&sys).replace_queue(hash(b"old"), b"new", now()).unwrap();
    assert!(replaced.displaced.is_some());
    assert_eq!(project.queue_bytes(), b"new");
}
