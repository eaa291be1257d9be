//! A process table filled by hand, and claimants that look it up.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use store::{Claimant, Description, Host, Instance, LockContent, Presence, ProcessId, Processes};

use crate::support::Project;

pub(crate) const BOOT: &str = "11111111-2222-3333-4444-555555555555";
pub(crate) const PID_NS: u64 = 4_026_531_836;
pub(crate) const US: i32 = 100;
pub(crate) const LIVE: i32 = 200;
pub(crate) const ZOMBIE: i32 = 300;
pub(crate) const GONE: i32 = 400;

/// Processes by number; who is not in it does not exist.
#[derive(Debug)]
pub(crate) struct Table(pub(crate) BTreeMap<i32, Presence>);

impl Processes for Table {
    fn look(&self, pid: i32) -> Presence {
        self.0.get(&pid).copied().unwrap_or(Presence::Gone)
    }

    fn describe(&self, pid: i32) -> Description {
        Description { command: Some(format!("command-{pid}")), user: Some("someone".to_owned()) }
    }
}

pub(crate) fn alive(started: u64) -> Presence {
    Presence::Alive { started: Some(started), stopped: false }
}

/// A daemon start on a fixed machine: it is process `US`, beside a live `LIVE` (started at 7) and a zombie.
pub(crate) fn claimant(instance: u128) -> Claimant {
    claimant_as(US, instance)
}

pub(crate) fn claimant_as(pid: i32, instance: u128) -> Claimant {
    let table = [(US, alive(5)), (LIVE, alive(7)), (ZOMBIE, Presence::Zombie)].into_iter().chain([(pid, alive(5))]);
    Claimant {
        host: Host {
            process: ProcessId { pid, started: Some(5) },
            boot_id: Some(BOOT.to_owned()),
            pid_ns: Some(PID_NS),
            host: "here".to_owned(),
            uid: rustix::process::getuid().as_raw(),
        },
        instance: Some(Instance::from_random(instance)),
        processes: Arc::new(Table(table.collect())),
    }
}

/// A lock of ours of an earlier start, as this machine would have written it.
pub(crate) fn earlier(pid: i32, started: u64) -> LockContent {
    LockContent {
        version: Some(1),
        pid,
        started: Some(started),
        boot_id: Some(BOOT.to_owned()),
        pid_ns: Some(PID_NS),
        host: Some("here".to_owned()),
        uid: Some(u64::from(rustix::process::getuid().as_raw())),
        instance: Some(Instance::from_random(0xdead).to_string()),
        acquired_at: Some("2026-11-30T07:00:00Z".parse().unwrap()),
        session: None,
    }
}

pub(crate) fn lock_path(project: &Project) -> std::path::PathBuf {
    project.root.join(".pi/pi-claude-handoff.lock")
}

pub(crate) fn put_lock(project: &Project, content: &LockContent) {
    fs::write(lock_path(project), serde_json::to_vec(content).unwrap()).unwrap();
}

pub(crate) fn read_lock(project: &Project) -> LockContent {
    LockContent::parse(&fs::read(lock_path(project)).unwrap()).unwrap()
}
