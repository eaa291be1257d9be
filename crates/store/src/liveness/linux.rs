//! The process table of Linux: `/proc`. Its twin is `macos.rs`.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;

use nix::unistd::{Uid, User};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::{Description, Presence};

pub(super) fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

pub(super) fn pid_ns() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|meta| meta.ino())
}

/// For a number that the kernel knows. An entry that cannot be read (hidden, or no `/proc`) is a live process.
pub(super) fn look(pid: i32) -> Presence {
    let Ok(stat) = read_entry(&format!("/proc/{pid}/stat")) else {
        return Presence::Alive { started: None, stopped: false };
    };
    if is_thread(pid) {
        return Presence::Gone;
    }
    parse_stat(&stat)
}

/// An entry of `/proc`, which has no size to ask for: most come whole with the first read.
fn read_entry(path: &str) -> io::Result<Vec<u8>> {
    const USUAL: usize = 2048;
    let mut bytes = Vec::with_capacity(USUAL);
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A thread's number answers like a process's; only its thread group differs. The kernel gives no pidfd for one, which
/// is the cheap question: writing `status` costs it more than everything else here.
fn is_thread(pid: i32) -> bool {
    if Pid::from_raw(pid).is_some_and(|pid| pidfd_open(pid, PidfdFlags::empty()).is_ok()) {
        return false;
    }
    let status = read_entry(&format!("/proc/{pid}/status")).unwrap_or_default();
    let group = String::from_utf8_lossy(&status)
        .lines()
        .find_map(|line| line.strip_prefix("Tgid:").and_then(|number| number.trim().parse::<i32>().ok()));
    group.is_some_and(|group| group != pid)
}

/// The fields after the *last* `)`: a command name may contain spaces and parentheses.
fn parse_stat(stat: &[u8]) -> Presence {
    let text = String::from_utf8_lossy(stat);
    let fields: Vec<&str> = text.rsplit_once(')').map_or("", |(_, fields)| fields).split_ascii_whitespace().collect();
    // Field 3 of the file is the state, field 22 the start time.
    match fields.first() {
        Some(&"Z" | &"X" | &"x") => Presence::Zombie,
        state => Presence::Alive {
            started: fields.get(19).and_then(|ticks| ticks.parse().ok()),
            stopped: matches!(state, Some(&"T" | &"t")),
        },
    }
}

pub(super) fn describe(pid: i32) -> Description {
    let command = fs::read(format!("/proc/{pid}/comm")).ok().map(|name| {
        let name = String::from_utf8_lossy(&name);
        name.trim_end().chars().filter(|c| !c.is_control()).collect()
    });
    let uid = fs::metadata(format!("/proc/{pid}")).ok().map(|meta| meta.uid());
    let user = uid.map(|uid| match User::from_uid(Uid::from_raw(uid)) {
        Ok(Some(user)) => user.name,
        _ => uid.to_string(),
    });
    Description { command, user }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stat: &str, expected: Presence) {
        assert_eq!(parse_stat(stat.as_bytes()), expected, "{stat}");
    }

    #[test]
    fn states_and_start_times_are_read() {
        let rest = "1 2 3 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000";
        let alive = |stopped| Presence::Alive { started: Some(98765), stopped };
        check(&format!("42 (pi) S {rest}"), alive(false));
        check(&format!("42 (a) b) (c) R {rest}"), alive(false));
        check(&format!("42 (x) Z 1 2) T {rest}"), alive(true));
        check(&format!("42 (pi) t {rest}"), alive(true));
        check(&format!("42 (pi) Z {rest}"), Presence::Zombie);
        check(&format!("42 (pi) X {rest}"), Presence::Zombie);
        check("42 (pi) S", Presence::Alive { started: None, stopped: false });
        check("", Presence::Alive { started: None, stopped: false });
    }
}
