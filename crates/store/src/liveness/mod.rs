//! Which process is which, and whether it still exists: the facts under every lock verdict and session check (D16, D21).
//!
//! A number alone names no process for long: the start time belongs to it. Nothing here decides what follows from an
//! answer, and nothing sends a signal.

#[cfg_attr(target_os = "macos", path = "macos.rs")]
#[cfg_attr(not(target_os = "macos"), path = "linux.rs")]
mod platform;

use std::fmt::Debug;

use rustix::io::Errno;
use rustix::process::{Pid, getpid, getuid, test_kill_process};

/// A process, told apart from later ones with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessId {
    /// The number in our process table.
    pub pid: i32,
    /// When it started (D14): clock ticks since boot on Linux, microseconds since 1970 on macOS. `None`: not known.
    pub started: Option<u64>,
}

/// What the process table says about a number at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// No such process (also: the number of a mere thread).
    Gone,
    /// It has ended and waits to be reaped: dead, although signals still "reach" it.
    Zombie,
    /// It exists.
    Alive {
        /// Its start time; `None` when it cannot be read.
        started: Option<u64>,
        /// Whether it is stopped (state `T` or `t`): alive, but it cannot answer (D24).
        stopped: bool,
    },
}

/// What a message says about a process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Description {
    /// Its command name, without control characters.
    pub command: Option<String>,
    /// The name of its user, or the number where there is no name.
    pub user: Option<String>,
}

/// The process table. Ours is [`SystemProcesses`]; tests fill one by hand.
pub trait Processes: Send + Sync + Debug {
    /// What the table says about `pid`.
    fn look(&self, pid: i32) -> Presence;

    /// What to call it in a message.
    fn describe(&self, pid: i32) -> Description;

    /// Whether exactly this process still lives: same number, same start as far as both are known.
    fn is_alive(&self, process: ProcessId) -> bool {
        match self.look(process.pid) {
            Presence::Gone | Presence::Zombie => false,
            Presence::Alive { started, .. } => !differ(process.started, started),
        }
    }
}

/// The system's process table.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemProcesses;

impl Processes for SystemProcesses {
    fn look(&self, pid: i32) -> Presence {
        // `/proc` may hide the processes of others, so the kernel is asked first.
        let Some(id) = Some(pid).filter(|pid| *pid > 0).and_then(Pid::from_raw) else { return Presence::Gone };
        if test_kill_process(id) == Err(Errno::SRCH) { Presence::Gone } else { platform::look(pid) }
    }

    fn describe(&self, pid: i32) -> Description {
        platform::describe(pid)
    }
}

/// This process and the machine it runs on, read once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Ourselves.
    pub process: ProcessId,
    /// Which boot of the machine; `None` when the system does not tell.
    pub boot_id: Option<String>,
    /// Which process table: the inode number of the pid namespace (0 on macOS); `None` when the system does not tell.
    pub pid_ns: Option<u64>,
    /// The host name.
    pub host: String,
    /// Our user.
    pub uid: u32,
}

impl Host {
    /// Reads who and where we are. What the system does not tell stays `None`.
    #[must_use]
    pub fn current() -> Self {
        let pid = getpid().as_raw_nonzero().get();
        let started = match platform::look(pid) {
            Presence::Alive { started, .. } => started,
            Presence::Gone | Presence::Zombie => None,
        };
        Self {
            process: ProcessId { pid, started },
            boot_id: platform::boot_id(),
            pid_ns: platform::pid_ns(),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            uid: getuid().as_raw(),
        }
    }
}

/// Whether both are known and not the same.
pub(crate) fn differ<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one != other)
}
