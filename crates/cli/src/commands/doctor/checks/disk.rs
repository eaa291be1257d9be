//! Room: a full disk stops tasks (D70), journal and log. Looked at as an ordinary user may use it.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{StatVfs, StatVfsMountFlags};

use super::{Finding, Subject, World};

/// Less than this, and the next write may fail.
const TOO_LITTLE: u64 = 16 << 20;
/// Less than this, and somebody should look.
const LITTLE: u64 = 256 << 20;
/// Fewer free files than this are few.
const FEW_FILES: u64 = 1_000;
const REMEDY: &str = "make room; look with `df -h` and `df -i`";

/// State folder, logs, packets: what lies on one file system is one finding.
pub(super) fn check(world: &World) -> Vec<Finding> {
    let disks = disks(world);
    let told: Vec<Finding> = disks.iter().filter_map(|(disk, whats)| disk.room(&whats.join(", "))).collect();
    match told.is_empty() {
        true => vec![Finding::good("there is room for state, logs and packets")],
        false => told,
    }
}

/// The project's root, if it is on a file system of its own.
pub(super) fn of_project(world: &World, subject: &Subject) -> Vec<Finding> {
    let Some(own) = Disk::of(&subject.path) else { return Vec::new() };
    let shared = disks(world).into_iter().find(|(disk, _)| disk.is_same(&own));
    match (own.room("the project"), shared) {
        (Some(_), Some((_, whats))) => vec![Finding::note(format!("its disk is also that of {}", whats.join(", ")))],
        (told, _) => vec![told.unwrap_or_else(|| Finding::good("there is room"))],
    }
}

fn disks(world: &World) -> Vec<(Disk, Vec<&'static str>)> {
    let mut disks: Vec<(Disk, Vec<&str>)> = Vec::new();
    let Ok(places) = &world.places else { return disks };
    let folders =
        [("the state folder", &places.state_dir), ("the log", &places.log_dir), ("packets", &places.team_home)];
    for (what, path) in folders {
        let Some(disk) = Disk::of(path) else { continue };
        match disks.iter_mut().find(|(known, _)| known.is_same(&disk)) {
            Some((_, whats)) => whats.push(what),
            None => disks.push((disk, vec![what])),
        }
    }
    disks
}

/// A file system as a folder shows it: one may be mounted writable here and read-only there.
struct Disk {
    /// The folder, or the nearest one above it that is there.
    folder: PathBuf,
    device: u64,
    stat: io::Result<StatVfs>,
}

impl Disk {
    fn of(path: &Path) -> Option<Self> {
        let folder = path.ancestors().find(|path| path.exists())?;
        let device = folder.metadata().ok()?.dev();
        Some(Self { folder: folder.to_owned(), device, stat: rustix::fs::statvfs(folder).map_err(io::Error::from) })
    }

    fn is_read_only(&self) -> bool {
        self.stat.as_ref().is_ok_and(|stat| stat.f_flag.contains(StatVfsMountFlags::RDONLY))
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.device, self.is_read_only()) == (other.device, other.is_read_only())
    }

    /// What is short; `what` lies there.
    fn room(&self, what: &str) -> Option<Finding> {
        let there = self.folder.display();
        let stat = match &self.stat {
            Ok(stat) => stat,
            Err(error) => return Some(Finding::warning(format!("{there}: its room cannot be told: {error}"), REMEDY)),
        };
        if self.is_read_only() {
            let sentence = format!("{there} is on a file system that is mounted read-only ({what})");
            return Some(Finding::fault(sentence, "mount it writable, or move what is there"));
        }
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        judge(free, (stat.f_files > 0).then_some(stat.f_favail), &format!("{there} ({what})"))
    }
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
