//! Room: a full disk stops tasks (D70), journal and log. Looked at as an ordinary user may use it.

use std::path::Path;

use super::{Finding, Subject, World};

/// Less than this, and the next write may fail.
const TOO_LITTLE: u64 = 16 << 20;
/// Less than this, and somebody should look.
const LITTLE: u64 = 256 << 20;
/// Fewer free files than this are few.
const FEW_FILES: u64 = 1_000;
const REMEDY: &str = "make room; look with `df -h` and `df -i`";

/// State folder, logs, packets.
pub(super) fn check(world: &World) -> Vec<Finding> {
    let Ok(places) = &world.places else { return Vec::new() };
    let folders =
        [("the state folder", &places.state_dir), ("the log", &places.log_dir), ("packets", &places.team_home)];
    let told: Vec<Finding> = folders.into_iter().filter_map(|(what, path)| room(what, path)).collect();
    match told.is_empty() {
        true => vec![Finding::good("there is room for state, logs and packets")],
        false => told,
    }
}

/// The project's root.
pub(super) fn of_project(_: &World, subject: &Subject) -> Vec<Finding> {
    match room("the project", &subject.path) {
        Some(finding) => vec![finding],
        None => vec![Finding::good("there is room")],
    }
}

/// What is short at the folder, or at the nearest one above it that is there.
fn room(what: &str, path: &Path) -> Option<Finding> {
    let there = path.ancestors().find(|path| path.exists())?;
    let stat = match rustix::fs::statvfs(there) {
        Ok(stat) => stat,
        Err(error) => {
            return Some(Finding::warning(format!("{}: its room cannot be told: {error}", there.display()), REMEDY));
        }
    };
    if stat.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
        let sentence = format!("{} is on a file system that is mounted read-only ({what})", there.display());
        return Some(Finding::fault(sentence, "mount it writable, or move what is there"));
    }
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    judge(free, (stat.f_files > 0).then_some(stat.f_favail), &format!("{} ({what})", there.display()))
}

fn judge(free: u64, files: Option<u64>, place: &str) -> Option<Finding> {
    let mib = free >> 20;
    match (free, files) {
        (free, _) if free < TOO_LITTLE => {
            Some(Finding::fault(format!("{place} has {mib} MiB left: writes are about to fail"), REMEDY))
        }
        (_, Some(0)) => Some(Finding::fault(format!("{place} has room for no more files"), REMEDY)),
        (free, _) if free < LITTLE => Some(Finding::warning(format!("{place} has {mib} MiB left"), REMEDY)),
        (_, Some(files)) if files < FEW_FILES => {
            Some(Finding::warning(format!("{place} has room for {files} more files"), REMEDY))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::State;
    use super::*;

    #[track_caller]
    fn check(free_mib: u64, files: Option<u64>, expected: Option<State>) {
        assert_eq!(judge(free_mib << 20, files, "/p").map(|finding| finding.state), expected);
    }

    #[test]
    fn little_is_a_warning_and_too_little_a_fault() {
        check(10_000, Some(100_000), None);
        check(10_000, None, None);
        check(255, Some(100_000), Some(State::Warning));
        check(15, Some(100_000), Some(State::Fault));
        check(10_000, Some(999), Some(State::Warning));
        check(10_000, Some(0), Some(State::Fault));
    }
}
