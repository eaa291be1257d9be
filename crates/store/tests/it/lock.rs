//! Taking, keeping, recovering and releasing the ownership of a project (D14–D19).

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::sync::{Arc, Barrier};

use store::sys::{Call, FaultPlan, Pass, Sys};
use store::{Acquisition, Binding, Claimant, KeepFile, Lock, LockContent, LockError, LockState, Protection, Unlocked};

use crate::support::{EINVAL, EOPNOTSUPP, Meddler, Project, names, now};
use crate::world::{GONE, LIVE, claimant, claimant_as, earlier, lock_path, put_lock, read_lock};

fn acquire(project: &Project, me: &Claimant) -> Result<Acquisition, LockError> {
    Lock::acquire(&Arc::new(project.open()), me, None, now())
}

#[track_caller]
fn acquired(outcome: Result<Acquisition, LockError>) -> (Lock, Option<LockContent>) {
    match outcome {
        Ok(Acquisition::Acquired { lock, recovered }) => (*lock, recovered.map(|old| *old)),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn blocked(outcome: Result<Acquisition, LockError>) -> (u8, LockState) {
    match outcome {
        Ok(Acquisition::Blocked(verdict)) => (verdict.rule, verdict.state),
        other => panic!("{other:?}"),
    }
}

fn binding() -> Binding {
    Binding { session_id: "s-1".to_owned(), pid: LIVE, started: Some(7), since: None, background: false }
}

#[test]
fn a_free_project_is_taken_and_given_back() {
    let project = Project::new();
    let (mut lock, recovered) = acquired(acquire(&project, &claimant(1)));
    assert_eq!((recovered, lock.protection()), (None, &Protection::Guarded));
    assert_eq!(&read_lock(&project), lock.content());
    assert_eq!(fs::metadata(lock_path(&project)).unwrap().mode() & 0o7777, 0o600);
    lock.still_ours().unwrap();
    lock.release(KeepFile::Remove).unwrap();
    assert_eq!(names(&project.root.join(".pi")), ["pi-claude-handoff.lock.guard"]);
}

#[test]
fn a_live_owner_blocks_and_a_kept_lock_is_recovered() {
    let project = Project::new();
    let (lock, _) = acquired(acquire(&project, &claimant(1)));
    assert_eq!(blocked(acquire(&project, &claimant_as(101, 2))), (2, LockState::Live));
    lock.release(KeepFile::Keep).unwrap();
    assert!(lock_path(&project).exists());
    assert_eq!(blocked(acquire(&project, &claimant_as(101, 2))), (4, LockState::Live), "its process lives");
    let (_lock, recovered) = acquired(acquire(&project, &claimant(3)));
    assert_eq!(recovered.unwrap().instance.unwrap(), format!("{:032x}", 1));
}

#[test]
fn our_own_lost_lock_is_taken_again() {
    let project = Project::new();
    let me = claimant(1);
    drop(acquired(acquire(&project, &me)));
    assert!(lock_path(&project).exists(), "dropping deletes nothing");
    let (_lock, recovered) = acquired(acquire(&project, &me));
    assert!(recovered.is_some());
}

#[test]
fn a_dead_owners_binding_comes_back() {
    let project = Project::new();
    put_lock(&project, &LockContent { session: Some(binding()), ..earlier(GONE, 1) });
    let (lock, recovered) = acquired(acquire(&project, &claimant(1)));
    assert_eq!(recovered.unwrap().session, Some(binding()));
    assert_eq!(lock.content().session, None);
}

#[test]
fn what_is_no_lock_is_left_for_inspection() {
    let check = |put: &dyn Fn(&std::path::Path)| {
        let project = Project::new();
        put(&lock_path(&project));
        let before = fs::symlink_metadata(lock_path(&project)).unwrap();
        assert_eq!(blocked(acquire(&project, &claimant(1))), (1, LockState::Malformed));
        let after = fs::symlink_metadata(lock_path(&project)).unwrap();
        assert_eq!((before.ino(), before.size(), before.mtime_nsec()), (after.ino(), after.size(), after.mtime_nsec()));
        let moved = project.open().unlock(&claimant(1), now()).unwrap();
        let Unlocked::Moved { moved_to, verdict } = moved else { panic!("{moved:?}") };
        assert_eq!(verdict.rule, 1);
        assert_eq!(moved_to, project.root.join(".pi/pi-claude-handoff.lock.removed-20261130T081203Z"));
        assert_eq!(fs::symlink_metadata(moved_to).unwrap().ino(), before.ino());
        acquired(acquire(&project, &claimant(1)));
    };
    check(&|path| fs::write(path, b"").unwrap());
    check(&|path| fs::write(path, [0; 64]).unwrap());
    check(&|path| fs::write(path, b"4711\n").unwrap());
    check(&|path| fs::write(path, b"{\"pid\":4.0}").unwrap());
    check(&|path| fs::write(path, [b"{\"pid\":400}".to_vec(), vec![b' '; 4096]].concat()).unwrap());
    check(&|path| fs::create_dir(path).unwrap());
    check(&|path| symlink("/nowhere", path).unwrap());
    check(&|path| {
        fs::write(path.with_extension("real"), b"{\"pid\":400}").unwrap();
        symlink(path.with_extension("real"), path).unwrap();
    });
}

#[test]
fn the_binding_is_rewritten_durably_and_only_while_ours() {
    let project = Project::new();
    let (mut lock, _) = acquired(acquire(&project, &claimant(1)));
    lock.rewrite(Some(binding())).unwrap();
    assert_eq!(read_lock(&project).session, Some(binding()));
    lock.still_ours().unwrap();
    lock.rewrite(None).unwrap();
    assert_eq!(read_lock(&project).session, None);
    let too_long = Binding { session_id: "s".repeat(1024), ..binding() };
    assert!(matches!(lock.rewrite(Some(too_long)), Err(LockError::TooLong)));
    assert_eq!(names(&project.root.join(".pi")), ["pi-claude-handoff.lock", "pi-claude-handoff.lock.guard"]);
}

#[test]
fn a_lock_that_is_not_ours_any_more_is_neither_written_nor_deleted() {
    let check = |change: fn(&Project)| {
        let project = Project::new();
        let (mut lock, _) = acquired(acquire(&project, &claimant(1)));
        change(&project);
        let before = fs::read(lock_path(&project)).ok();
        assert!(matches!(lock.rewrite(None), Err(LockError::Lost { .. } | LockError::Moved(_))));
        assert!(lock.still_ours().is_err());
        lock.release(KeepFile::Remove).unwrap();
        assert_eq!(fs::read(lock_path(&project)).ok(), before);
    };
    check(|p| fs::remove_file(lock_path(p)).unwrap());
    check(|p| fs::write(lock_path(p), b"{\"pid\":1}").unwrap());
    check(|p| {
        let copy = lock_path(p).with_extension("copy");
        fs::copy(lock_path(p), &copy).unwrap();
        fs::rename(copy, lock_path(p)).unwrap();
    });
    check(|p| fs::remove_file(p.root.join(".pi/pi-claude-handoff.lock.guard")).unwrap());
    check(|p| {
        fs::rename(&p.root, p.root.with_file_name("moved")).unwrap();
        fs::create_dir_all(p.root.join(".pi")).unwrap();
        fs::copy(p.root.with_file_name("moved").join(".pi/pi-claude-handoff.lock"), lock_path(p)).unwrap();
    });
}

#[test]
fn f085_a_lock_that_names_another_host_is_not_ours_whatever_else_it_says() {
    let project = Project::new();
    let (mut lock, _) = acquired(acquire(&project, &claimant(1)));
    let elsewhere =
        LockContent { host: Some("there".to_owned()), boot_id: Some("another".to_owned()), ..lock.content().clone() };
    put_lock(&project, &elsewhere);
    assert!(lock.still_ours().is_err());
    lock.release(KeepFile::Remove).unwrap();
    assert_eq!(blocked(acquire(&project, &claimant(1))), (5, LockState::CannotTell));
    assert_eq!(read_lock(&project), elsewhere, "left in place");
}

#[test]
fn touching_the_lock_does_not_lose_it() {
    let project = Project::new();
    let (mut lock, _) = acquired(acquire(&project, &claimant(1)));
    let file = fs::OpenOptions::new().append(true).open(lock_path(&project)).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    lock.still_ours().unwrap();
    lock.rewrite(Some(binding())).unwrap();
}

/// A stranger takes the name in the last moment: it stays, and nothing is deleted.
#[test]
fn a_lock_that_appears_in_between_wins() {
    let stranger = serde_json::to_vec(&earlier(LIVE, 7)).unwrap();
    for (call, prepare) in [(Call::RenameNew, false), (Call::Exchange, true)] {
        let project = Project::new();
        if prepare {
            put_lock(&project, &earlier(GONE, 1));
        }
        let (path, bytes) = (lock_path(&project), stranger.clone());
        let sys = Meddler::sys(call, move |number| {
            if number == 0 {
                fs::write(path.with_extension("tmp"), &bytes).unwrap();
                fs::rename(path.with_extension("tmp"), &path).unwrap();
            }
        });
        let outcome = Lock::acquire(&Arc::new(project.open_with(&sys)), &claimant(1), None, now());
        assert_eq!(blocked(outcome), (4, LockState::Live));
        assert_eq!(fs::read(lock_path(&project)).unwrap(), stranger);
        assert_eq!(names(&project.root.join(".pi")), ["pi-claude-handoff.lock", "pi-claude-handoff.lock.guard"]);
    }
}

/// F064: a lock that comes back each time it is replaced ends in an error, not in a loop.
#[test]
fn a_lock_that_keeps_changing_ends_in_an_error() {
    let project = Project::new();
    put_lock(&project, &earlier(GONE, 1));
    let path = lock_path(&project);
    let sys = Meddler::sys(Call::Exchange, move |number| {
        if number % 2 == 0 {
            let dead = earlier(GONE, 10 + u64::try_from(number).unwrap());
            fs::write(path.with_extension("tmp"), serde_json::to_vec(&dead).unwrap()).unwrap();
            fs::rename(path.with_extension("tmp"), &path).unwrap();
        }
    });
    let outcome = Lock::acquire(&Arc::new(project.open_with(&sys)), &claimant(1), None, now());
    assert!(matches!(outcome, Err(LockError::Contended)), "{outcome:?}");
}

#[test]
fn without_file_locks_the_content_decides_and_that_is_told() {
    for errno in [37, EOPNOTSUPP, 9] {
        let project = Project::new();
        put_lock(&project, &earlier(GONE, 1));
        let sys = Sys::gated(Arc::new(FaultPlan::every(Call::Flock, Pass::Fail(errno))));
        let dir = Arc::new(project.open_with(&sys));
        let (lock, recovered) = acquired(Lock::acquire(&dir, &claimant(1), None, now()));
        assert!(recovered.is_some());
        assert!(matches!(lock.protection(), Protection::ContentOnly { reason } if !reason.is_empty()));
        let second = Lock::acquire(&dir, &claimant_as(101, 2), None, now());
        assert_eq!(blocked(second), (4, LockState::Live));
    }
}

#[test]
fn without_rename_flags_and_links_the_lock_is_still_complete() {
    for faults in [vec![Call::RenameNew], vec![Call::RenameNew, Call::Link]] {
        let project = Project::new();
        let sys = Sys::gated(Arc::new(Lacking(faults)));
        let dir = Arc::new(project.open_with(&sys));
        let (mut lock, _) = acquired(Lock::acquire(&dir, &claimant(1), None, now()));
        assert_eq!(&read_lock(&project), lock.content());
        lock.rewrite(Some(binding())).unwrap();
        lock.release(KeepFile::Remove).unwrap();
        assert_eq!(names(&project.root.join(".pi")), ["pi-claude-handoff.lock.guard"]);
    }
}

/// A file system without these calls, and without exchange.
struct Lacking(Vec<Call>);

impl store::sys::Gate for Lacking {
    fn pass(&self, call: Call, _name: &std::path::Path) -> Pass {
        if self.0.contains(&call) || call == Call::Exchange { Pass::Fail(EINVAL) } else { Pass::Go }
    }
}

/// How many of 50 contenders for one stale lock took it and still had it when all were done.
fn winners(make_sys: impl Fn() -> Sys + Sync) -> usize {
    const CONTENDERS: i32 = 50;
    let project = Project::new();
    put_lock(&project, &earlier(GONE, 1));
    let barrier = Barrier::new(50);
    let contend = |number: i32| {
        // Each is another process of one table, and knows the others as alive.
        let mut me = claimant_as(1000 + number, u128::try_from(number).unwrap());
        let table = (1000..1000 + CONTENDERS).map(|pid| (pid, crate::world::alive(5))).collect();
        me.processes = Arc::new(crate::world::Table(table));
        let dir = Arc::new(project.open_with(&make_sys()));
        barrier.wait();
        let outcome = Lock::acquire(&dir, &me, None, now());
        barrier.wait();
        match outcome {
            Ok(Acquisition::Acquired { mut lock, .. }) => lock.still_ours().is_ok(),
            _ => false,
        }
    };
    std::thread::scope(|scope| {
        let contend = &contend;
        let threads: Vec<_> = (0..CONTENDERS).map(|number| scope.spawn(move || contend(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won).count()
    })
}

/// F065: of many contenders for a stale lock exactly one wins.
#[test]
fn of_many_recoverers_one_wins() {
    for round in 0..6 {
        assert_eq!(winners(Sys::real), 1, "round {round}");
    }
}

/// Without file locks nobody can promise a winner at once; there are never two that think so and write (D18).
#[test]
fn without_the_guard_there_are_never_two_owners() {
    let no_locks = || Sys::gated(Arc::new(FaultPlan::every(Call::Flock, Pass::Fail(EOPNOTSUPP))));
    for round in 0..6 {
        let winners = winners(no_locks);
        assert!(winners <= 1, "round {round}: {winners}");
    }
}

#[test]
fn unlock_explains_and_never_moves_a_live_lock() {
    let project = Project::new();
    let dir = project.open();
    let me = Claimant { instance: None, ..claimant(1) };
    assert!(dir.explain_lock(&me).unwrap().is_none());
    assert!(matches!(dir.unlock(&me, now()).unwrap(), Unlocked::NoLock));
    let refused = |rule| {
        assert_eq!(dir.explain_lock(&me).unwrap().unwrap().rule, rule);
        let outcome = dir.unlock(&me, now()).unwrap();
        assert!(matches!(&outcome, Unlocked::Refused(verdict) if verdict.rule == rule), "{outcome:?}");
        assert!(lock_path(&project).exists());
    };
    assert_eq!(names(&project.root.join(".pi")), Vec::<String>::new(), "looking leaves nothing");
    put_lock(&project, &earlier(LIVE, 7));
    refused(4);
    fs::write(lock_path(&project), format!("{{\"pid\":{LIVE}}}")).unwrap();
    refused(8);
    fs::remove_file(lock_path(&project)).unwrap();
    let (lock, _) = acquired(acquire(&project, &claimant(9)));
    refused(2);
    fs::write(lock_path(&project), b"").unwrap();
    let outcome = dir.unlock(&me, now()).unwrap();
    assert!(matches!(&outcome, Unlocked::Refused(verdict) if verdict.rule == 2), "its owner is there: {outcome:?}");
    drop(lock);
    for lock in [earlier(GONE, 1), LockContent { host: Some("pod-1".to_owned()), pid_ns: Some(1), ..earlier(LIVE, 7) }]
    {
        put_lock(&project, &lock);
        let outcome = dir.unlock(&me, now()).unwrap();
        assert!(matches!(&outcome, Unlocked::Moved { .. }), "{outcome:?}");
        assert!(!lock_path(&project).exists());
    }
}
