//! 0 stopped in order, 1 failed, 2 usage or invalid configuration, 3 another daemon is running.

use std::os::unix::net::UnixStream;
use std::process::Output;

use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};

use crate::world::World;

#[track_caller]
fn check(output: &Output, code: i32) -> String {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    stderr
}

#[test]
fn the_version_is_told_and_wrong_arguments_are_refused() {
    let world = World::new();
    let version = world.run(&["--version"]);
    check(&version, 0);
    assert_eq!(String::from_utf8(version.stdout).unwrap(), format!("handoffd {}\n", env!("CARGO_PKG_VERSION")));
    check(&world.run(&["--detach"]), 2);
    check(&world.run(&["some/folder"]), 2);
}

#[test]
fn a_check_names_every_problem_and_starts_nothing() {
    let world = World::new();
    let bad = "[task]\naccept_timeout = 'soon'\n[log]\nlevel = 'loud'\n";
    let file = world.write("bad.toml", bad);
    let stderr = check(&world.run(&["--check", "--config", "bad.toml"]), 2);
    let lines: Vec<_> = stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{stderr}");
    assert!(lines[0].starts_with(&format!("handoffd: {}:2: `task.accept_timeout`", file.display())), "{stderr}");
    assert!(lines[1].contains(":4: `log.level`"), "{stderr}");

    world.write("good.toml", "[log]\nlevel = 'debug'\n");
    assert_eq!(check(&world.run(&["--check", "--config", "good.toml"]), 0), "");
    check(&world.run(&["--check"]), 0);
    assert!(!world.state().exists());
}

#[test]
fn an_invalid_configuration_does_not_start() {
    let world = World::new();
    world.write("home/.config/handoffd/config.toml", "task = 1\n");
    let stderr = check(&world.run(&[]), 2);
    assert!(stderr.contains("config.toml:1: `task`"), "{stderr}");
    assert!(!world.state().exists());
    let socket = format!("daemon.socket = '/tmp/{}'\n", "s".repeat(120));
    world.write("long.toml", &socket);
    let stderr = check(&world.run(&["--config", "long.toml"]), 2);
    assert!(stderr.contains("the limit is"), "{stderr}");
}

#[test]
fn the_journal_hears_why_once_and_as_an_error() {
    use std::os::unix::fs::MetadataExt as _;
    let world = World::new();
    let said = |args: &[&str], code: i32| {
        let file = world.write("err", "");
        let meta = std::fs::metadata(&file).unwrap();
        let mut command = world.command(args);
        command.env("JOURNAL_STREAM", format!("{}:{}", meta.dev(), meta.ino()));
        command.stderr(std::fs::File::options().append(true).open(&file).unwrap());
        assert_eq!(command.status().unwrap().code(), Some(code));
        std::fs::read_to_string(&file).unwrap()
    };
    world.write("bad.toml", "task = 1\n");
    let refused = said(&["--config", "bad.toml"], 2);
    assert!(refused.starts_with("<3>handoffd: ") && refused.lines().count() == 1, "{refused}");
    let running = world.start(&[]);
    let held = said(&[], 3);
    assert!(held.starts_with("<3>handoffd: ") && held.lines().count() == 1, "{held}");
    drop(running);
}

#[test]
fn a_closed_terminal_stops_it_and_an_open_one_does_not() {
    let world = World::new();
    // No other process must hold it, too: not this daemon, and none that another test starts at this moment.
    #[cfg(target_os = "linux")]
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let terminal = openpt(flags).unwrap();
    fcntl_setfd(&terminal, FdFlags::CLOEXEC).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    // Neither must it become the terminal of this test, whose session would end with it.
    let other_end = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    let mut command = world.command(&[]);
    command.stderr(other_end);
    let running = world.start_command(&mut command);
    drop(command);
    running.signal(Signal::HUP);
    assert!(UnixStream::connect(world.socket().unwrap()).is_ok());
    drop(terminal);
    running.signal(Signal::HUP);
    check(&running.end(), 0);
}

#[test]
fn a_second_daemon_says_which_one_runs() {
    let world = World::new();
    let first = world.start(&[]);
    let stderr = check(&world.run(&[]), 3);
    let socket = world.socket().unwrap();
    assert!(stderr.contains(&format!("(pid {}, socket {})", first.pid(), socket.display())), "{stderr}");
    first.signal(Signal::TERM);
    check(&first.end(), 0);
}

#[test]
fn what_is_in_the_way_is_a_failure_that_says_so() {
    let world = World::new();
    world.write("home/.local/state/handoffd", "a file");
    let stderr = check(&world.run(&[]), 1);
    assert!(stderr.starts_with("handoffd: ") && stderr.contains("home/.local/state/handoffd"), "{stderr}");
}

#[test]
fn sigterm_and_sigint_stop_in_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let world = World::new();
        world.write("shop/.pi/keep", "");
        let running = world.start(&["--project", "shop"]);
        let socket = world.socket().unwrap();
        running.signal(signal);
        check(&running.end(), 0);
        assert!(!socket.exists());
        assert!(!world.path("shop/.pi/pi-claude-handoff.lock").exists());
        let log = world.log();
        for fact in ["handoffd has started", "handoffd is stopping", "handoffd has stopped"] {
            assert!(log.contains(fact), "{fact}: {log}");
        }
    }
}

#[test]
fn the_second_signal_ends_it_at_once() {
    let world = World::new();
    let running = world.start(&[]);
    // Both are waiting when it goes on. Two threads can take one each, so how far an orderly stop came is chance; that it did
    // not come to its end is not.
    running.signal(Signal::STOP);
    running.signal(Signal::TERM);
    running.signal(Signal::INT);
    running.signal(Signal::CONT);
    check(&running.end(), 1);
    // What it left behind is no hindrance.
    let next = world.start(&[]);
    next.signal(Signal::TERM);
    check(&next.end(), 0);
}
