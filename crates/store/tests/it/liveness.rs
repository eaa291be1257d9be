//! The process table as it really is.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use store::{Host, Presence, ProcessId, Processes as _, SystemProcesses};

/// Waits until `done` says so.
fn wait_for(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::yield_now();
    }
}

#[test]
fn we_are_alive_and_known() {
    let host = Host::current();
    assert!(SystemProcesses.is_alive(host.process));
    assert!(!host.host.is_empty());
    let later = ProcessId { started: host.process.started.map(|started| started + 1), ..host.process };
    if later.started.is_some() {
        assert!(!SystemProcesses.is_alive(later), "another start is another process");
        assert!(host.boot_id.is_some() && host.pid_ns.is_some());
        assert!(SystemProcesses.describe(host.process.pid).command.is_some());
    }
}

#[test]
fn numbers_without_a_process_are_gone() {
    for pid in [0, -1, i32::MAX] {
        assert_eq!(SystemProcesses.look(pid), Presence::Gone, "{pid}");
    }
}

#[test]
fn a_zombie_is_dead_and_a_stopped_process_is_alive() {
    let mut child = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn().unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    let signal = |signal| {
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
    };
    assert!(matches!(SystemProcesses.look(pid), Presence::Alive { stopped: false, .. }));
    signal(rustix::process::Signal::STOP);
    wait_for("stopped", || matches!(SystemProcesses.look(pid), Presence::Alive { stopped: true, .. }));
    signal(rustix::process::Signal::KILL);
    wait_for("a zombie", || SystemProcesses.look(pid) == Presence::Zombie);
    assert!(!SystemProcesses.is_alive(ProcessId { pid, started: None }));
    child.wait().unwrap();
    assert_eq!(SystemProcesses.look(pid), Presence::Gone);
}

/// A thread's number answers signals like a process's.
#[cfg(target_os = "linux")]
#[test]
fn a_thread_is_no_process() {
    let (send, receive) = std::sync::mpsc::channel::<i32>();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        send.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
        ended.recv().ok();
    });
    let tid = receive.recv().unwrap();
    assert_eq!(SystemProcesses.look(tid), Presence::Gone);
    drop(end);
    thread.join().unwrap();
}
