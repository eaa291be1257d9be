//! The limits of file events against what the projects need. Past them everything still works, by looking once a second.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::{Finding, World};
use crate::text::counted;

/// Two folders a project: the root and `.pi`.
const WATCHES_A_PROJECT: u64 = 2;
/// Below so many left, another program will soon find none.
const SPARE: u64 = 64;

/// The kernel's limits and what this user has taken of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Use {
    most_watches: u64,
    most_instances: u64,
    watches: u64,
    instances: u64,
}

/// Limits, use, need; and what the daemon says of its own.
pub(super) fn check(world: &World) -> Vec<Finding> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let mut findings: Vec<Finding> = match &world.running().map(|status| &status.daemon.watch) {
        Some(watch) if watch.overflows > 0 => vec![Finding::note(format!(
            "the kernel's queue of events has overflowed {} since the daemon's start; everything was read again",
            counted(watch.overflows, "time")
        ))],
        _ => Vec::new(),
    };
    let need = WATCHES_A_PROJECT * world.projects.len() as u64;
    match limits().map(|limits| in_use(Path::new("/proc"), limits)) {
        Some(used) => findings.extend(judge(used, need, world.running().is_some())),
        None => findings.push(Finding::note("the limits of file events cannot be read")),
    }
    findings
}

fn limits() -> Option<Use> {
    let limit =
        |name: &str| std::fs::read_to_string(Path::new("/proc/sys/fs/inotify").join(name)).ok()?.trim().parse().ok();
    let (most_watches, most_instances) = (limit("max_user_watches")?, limit("max_user_instances")?);
    Some(Use { most_watches, most_instances, watches: 0, instances: 0 })
}

/// Counts the instances of this user's processes, and their watches.
fn in_use(proc: &Path, limits: Use) -> Use {
    let mut used = limits;
    let me = rustix::process::getuid().as_raw();
    for process in proc.read_dir().into_iter().flatten().flatten() {
        let path = process.path();
        if path.metadata().map_or(true, |meta| meta.uid() != me) {
            continue;
        }
        for fd in path.join("fd").read_dir().into_iter().flatten().flatten() {
            let is_instance = fd.path().read_link().is_ok_and(|to| to.as_os_str() == "anon_inode:inotify");
            if is_instance {
                used.instances += 1;
                let info = std::fs::read_to_string(path.join("fdinfo").join(fd.file_name())).unwrap_or_default();
                used.watches += info.lines().filter(|line| line.starts_with("inotify wd:")).count() as u64;
            }
        }
    }
    used
}

/// A daemon that runs has taken its part already.
fn judge(used: Use, need: u64, has_daemon: bool) -> Option<Finding> {
    let (more_watches, more_instances) = if has_daemon { (0, 0) } else { (need, 1) };
    let slower = "projects without events are looked at once a second";
    if used.watches + more_watches + SPARE > used.most_watches {
        let enough = (2 * (used.watches + need)).max(524_288);
        let what = format!(
            "{} of {} watches are taken and the projects need {need}: {slower}",
            used.watches, used.most_watches
        );
        return Some(Finding::warning(what, sysctl("max_user_watches", enough)));
    }
    if used.instances + more_instances > used.most_instances || (has_daemon && used.instances >= used.most_instances) {
        let enough = (2 * used.instances).max(512);
        let what = format!("{} of {} instances are taken: {slower}", used.instances, used.most_instances);
        return Some(Finding::warning(what, sysctl("max_user_instances", enough)));
    }
    Some(Finding::good(format!(
        "{} of {} watches and {} of {} instances are taken; the projects need {need} watches",
        used.watches, used.most_watches, used.instances, used.most_instances
    )))
}

fn sysctl(name: &str, value: u64) -> String {
    format!("echo fs.inotify.{name}={value} | sudo tee /etc/sysctl.d/60-inotify-{name}.conf && sudo sysctl --system")
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::State;
    use super::*;

    #[test]
    fn an_instance_and_its_watches_are_counted_as_the_kernel_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let instance = rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::CLOEXEC).unwrap();
        let create = rustix::fs::inotify::WatchFlags::CREATE;
        rustix::fs::inotify::add_watch(&instance, folder.path(), create).unwrap();
        // Other programs come and go, so a table with this process alone is looked at.
        let proc = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/proc/self", proc.path().join("1")).unwrap();
        let fds = || std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let is_instance =
            |path: std::path::PathBuf| path.read_link().is_ok_and(|to| to.as_os_str() == "anon_inode:inotify");
        let instances = fds().filter(|fd| is_instance(fd.path())).count() as u64;
        let used = in_use(proc.path(), limits().unwrap());
        assert_eq!(used.instances, instances);
        assert!(used.watches >= 1, "{used:?}");
    }

    #[track_caller]
    fn check(watches: [u64; 2], instances: [u64; 2], need: u64, has_daemon: bool, expected: State) {
        let [watches, most_watches] = watches;
        let [instances, most_instances] = instances;
        let used = Use { most_watches, most_instances, watches, instances };
        let found = judge(used, need, has_daemon).unwrap();
        assert_eq!(found.state, expected, "{found:?}");
    }

    #[test]
    fn what_is_left_is_held_against_what_is_needed() {
        check([10, 8_192], [3, 128], 20, false, State::Good);
        check([8_000, 8_192], [3, 128], 20, false, State::Good);
        check([8_000, 8_192], [3, 128], 200, false, State::Warning);
        check([8_000, 8_192], [3, 128], 200, true, State::Good);
        check([8_190, 8_192], [3, 128], 200, true, State::Warning);
        check([10, 8_192], [128, 128], 20, false, State::Warning);
        check([10, 8_192], [127, 128], 20, false, State::Good);
        check([10, 8_192], [128, 128], 20, true, State::Warning);
    }
}
