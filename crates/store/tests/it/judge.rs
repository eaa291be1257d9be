//! The rules of D16, each with what it must and must not decide.

use store::{Claimant, Facts, FsKind, GuardState, LockContent, LockState, Readable, judge};

use crate::world::{GONE, LIVE, US, ZOMBIE, claimant, earlier};

const LOCAL: FsKind = FsKind::Local { name: "ext4" };
const NFS: FsKind = FsKind::Network { name: "nfs" };

struct Case {
    lock: LockContent,
    guard: GuardState,
    fs: FsKind,
    me: Claimant,
    other_user: bool,
}

impl Case {
    fn new(lock: LockContent) -> Self {
        Self { lock, guard: GuardState::Free, fs: LOCAL, me: claimant(1), other_user: false }
    }

    fn on(self, fs: FsKind) -> Self {
        Self { fs, ..self }
    }

    fn guard(self, guard: GuardState) -> Self {
        Self { guard, ..self }
    }

    #[track_caller]
    fn check(self, rule: u8, state: LockState) {
        let uid = self.me.host.uid + u32::from(self.other_user);
        let content = Readable::Content(Box::new(self.lock));
        let facts = Facts { content: &content, guard: self.guard, file_uid: uid, fs: self.fs, me: &self.me };
        let verdict = judge(&facts);
        assert_eq!((verdict.rule, verdict.state), (rule, state), "{}", verdict.reason);
        assert!(verdict.holder.is_some() && !verdict.reason.is_empty());
    }
}

/// A lock with nothing but what `change` sets.
fn foreign(pid: i32, change: fn(&mut LockContent)) -> LockContent {
    let mut lock = LockContent::parse(format!("{{\"pid\":{pid}}}").as_bytes()).unwrap();
    change(&mut lock);
    lock
}

#[test]
fn rule_1_malformed_comes_first() {
    let content = Readable::Malformed("it is empty".to_owned());
    let me = claimant(1);
    for guard in [GuardState::Free, GuardState::HeldElsewhere] {
        let verdict = judge(&Facts { content: &content, guard, file_uid: 77, fs: LOCAL, me: &me });
        assert_eq!((verdict.rule, verdict.state), (1, LockState::Malformed));
    }
}

#[test]
fn rule_2_a_held_guard_is_a_live_owner_whatever_the_content_says() {
    Case::new(earlier(GONE, 1)).guard(GuardState::HeldElsewhere).check(2, LockState::Live);
    let other_user = Case { other_user: true, ..Case::new(earlier(GONE, 1)) };
    other_user.guard(GuardState::HeldElsewhere).check(2, LockState::Live);
}

#[test]
fn rule_3_a_lock_of_another_user_is_not_ours_to_judge() {
    Case { other_user: true, ..Case::new(earlier(GONE, 1)) }.check(3, LockState::CannotTell);
    let me = claimant(1);
    let facts = Facts { content: &Readable::Forbidden, guard: GuardState::Free, file_uid: 77, fs: LOCAL, me: &me };
    assert_eq!((judge(&facts).rule, judge(&facts).state), (3, LockState::CannotTell));
}

#[test]
fn rule_4_in_our_process_table_the_process_decides() {
    Case::new(earlier(GONE, 1)).check(4, LockState::Dead);
    Case::new(earlier(ZOMBIE, 1)).check(4, LockState::Dead);
    Case::new(earlier(LIVE, 7)).check(4, LockState::Live);
    Case::new(earlier(LIVE, 6)).check(4, LockState::Dead);
    Case::new(earlier(US, 5)).check(4, LockState::Dead);
    let renamed = LockContent { host: Some("yesterday".to_owned()), ..earlier(GONE, 1) };
    Case::new(renamed.clone()).check(4, LockState::Dead);
    Case::new(renamed).on(NFS).check(4, LockState::Dead);
    let own = LockContent { instance: Some(format!("{:032x}", 1)), ..earlier(US, 5) };
    Case::new(own).check(4, LockState::Live);
    let no_start = LockContent { started: None, ..earlier(LIVE, 0) };
    Case::new(no_start).check(4, LockState::Live);
}

#[test]
fn rule_5_another_host_is_never_judged_by_a_local_number() {
    let there = |pid| LockContent {
        host: Some("pod-1".to_owned()),
        boot_id: Some("other".to_owned()),
        pid_ns: Some(1),
        ..earlier(pid, 7)
    };
    for pid in [GONE, LIVE, US] {
        Case::new(there(pid)).check(5, LockState::CannotTell);
        Case::new(foreign(pid, |lock| lock.host = Some("pod-1".to_owned()))).check(5, LockState::CannotTell);
    }
}

#[test]
fn rule_6_another_boot_is_dead_on_our_own_disk_only() {
    let before = LockContent { boot_id: Some("other".to_owned()), ..earlier(LIVE, 7) };
    Case::new(before.clone()).check(6, LockState::Dead);
    for fs in [NFS, FsKind::Fuse, FsKind::Other { magic: 1 }] {
        Case::new(before.clone()).on(fs).check(6, LockState::CannotTell);
    }
    let mut blind = Case::new(before);
    blind.me.host.boot_id = None;
    blind.check(6, LockState::CannotTell);
}

#[test]
fn rule_7_another_process_table_is_dead_only_when_the_guard_proves_it() {
    let container = LockContent { pid_ns: Some(1), ..earlier(LIVE, 7) };
    Case::new(container.clone()).check(7, LockState::Dead);
    Case::new(container.clone()).on(NFS).check(7, LockState::CannotTell);
    Case::new(container.clone()).guard(GuardState::Unsupported).check(7, LockState::CannotTell);
    Case::new(LockContent { version: None, ..container }).check(7, LockState::CannotTell);
    Case::new(foreign(1, |lock| lock.pid_ns = Some(1))).check(7, LockState::CannotTell);
}

#[test]
fn rule_8_a_lock_with_only_a_number_is_looked_up() {
    Case::new(foreign(GONE, |_| ())).check(8, LockState::Dead);
    Case::new(foreign(ZOMBIE, |_| ())).check(8, LockState::Dead);
    Case::new(foreign(LIVE, |_| ())).check(8, LockState::Live);
    Case::new(foreign(LIVE, |lock| lock.started = Some(6))).check(8, LockState::Dead);
    Case::new(foreign(LIVE, |lock| lock.started = Some(7))).check(8, LockState::Live);
    Case::new(foreign(US, |lock| lock.instance = Some("another".to_owned()))).check(8, LockState::Dead);
    Case::new(foreign(US, |_| ())).check(8, LockState::Dead);
    Case::new(foreign(GONE, |lock| lock.host = Some("here".to_owned()))).check(8, LockState::Dead);
}

#[test]
fn a_holder_is_named_but_never_by_a_strangers_command() {
    let name = |lock| {
        let (content, me) = (Readable::Content(Box::new(lock)), claimant(1));
        let facts = Facts { content: &content, guard: GuardState::Free, file_uid: me.host.uid, fs: LOCAL, me: &me };
        judge(&facts).holder.unwrap().to_string()
    };
    assert_eq!(name(earlier(LIVE, 7)), "pid 200 (command-200) of someone on here since 2026-11-30T07:00:00Z");
    let elsewhere = LockContent { host: Some("pod-1".to_owned()), pid_ns: Some(1), ..earlier(LIVE, 7) };
    assert_eq!(name(elsewhere), "pid 200 on pod-1 since 2026-11-30T07:00:00Z");
}
