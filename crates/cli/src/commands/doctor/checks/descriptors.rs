//! How many descriptors the daemon has open, and how many it may have (F135): past the limit, clients are refused and projects
//! cannot be opened.

use std::path::Path;

use super::{Finding, World};

/// Below so many left, some projects or sessions more are too many.
const SPARE: u64 = 64;

/// Only of a daemon that runs, where the kernel tells it.
pub(super) fn check(world: &World) -> Vec<Finding> {
    let Some(pid) = world.daemon_pid() else { return Vec::new() };
    let process = Path::new("/proc").join(pid.to_string());
    let (Some(most), Some(open)) = (limit(&process), open(&process)) else { return Vec::new() };
    let remedy = match world.unit() {
        Some(_) => "set `LimitNOFILE=` higher in `systemctl --user edit handoffd`; then `handoff service restart`",
        None => "start the daemon where `ulimit -Hn` is higher",
    };
    vec![judge(open, most, remedy)]
}

/// The soft limit; the daemon has raised it to the hard one.
fn limit(process: &Path) -> Option<u64> {
    let limits = std::fs::read_to_string(process.join("limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let soft = line.split_whitespace().next()?;
    if soft == "unlimited" { Some(u64::MAX) } else { soft.parse().ok() }
}

fn open(process: &Path) -> Option<u64> {
    Some(process.join("fd").read_dir().ok()?.count() as u64)
}

fn judge(open: u64, most: u64, remedy: &str) -> Finding {
    if open.saturating_add(SPARE) > most {
        let what =
            format!("the daemon has {open} of {most} descriptors open: soon it can take no client and no project more");
        return Finding::warning(what, remedy);
    }
    Finding::good(format!("the daemon has {open} descriptors open, of {most}"))
}

#[cfg(test)]
mod tests {
    use super::super::super::finding::State;
    use super::*;

    #[test]
    fn f135_few_that_are_left_are_a_warning() {
        let check = |open, most, expected| assert_eq!(judge(open, most, "r").state, expected, "{open} of {most}");
        check(20, 256, State::Good);
        check(192, 256, State::Good);
        check(193, 256, State::Warning);
        check(256, 256, State::Warning);
        check(20, u64::MAX, State::Good);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernel_tells_both() {
        let process = Path::new("/proc/self");
        assert!(open(process).unwrap() > 0 && open(process).unwrap() <= limit(process).unwrap());
    }
}
