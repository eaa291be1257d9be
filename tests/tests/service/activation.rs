//! The socket unit: first use, restarts without a lost connection, one daemon.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use handoffd_tests::{Control, wait};
use nix::sys::signal::Signal;

use crate::Test;
use crate::fixture::{Home, SERVICE, SOCKET, said};

pub(crate) const TESTS: &[Test] = &[
    ("the_first_use_starts_the_daemon", the_first_use_starts_the_daemon),
    ("a_restart_loses_no_connection_attempt", a_restart_loses_no_connection_attempt),
    ("two_starts_give_one_daemon", two_starts_give_one_daemon),
    (
        "install_does_not_take_the_socket_from_a_daemon_in_a_terminal",
        install_does_not_take_the_socket_from_a_daemon_in_a_terminal,
    ),
    ("a_socket_of_the_configuration_is_listened_on", a_socket_of_the_configuration_is_listened_on),
    (
        "f104_a_socket_of_systemd_that_vanished_is_bound_by_the_daemon",
        f104_a_socket_of_systemd_that_vanished_is_bound_by_the_daemon,
    ),
];

fn the_first_use_starts_the_daemon() {
    let home = Home::installed();
    home.systemctl(&["stop", SERVICE]).good();
    home.handoff(&["status"]).good();
    assert_eq!(home.state(), "active");
}

fn a_restart_loses_no_connection_attempt() {
    let home = Home::installed();
    let (socket, done, answered) = (home.socket(), AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // A connection may end with the old daemon; that it cannot be made at all must not happen.
                    let stream = std::os::unix::net::UnixStream::connect(&socket).expect("somebody listens");
                    drop(stream);
                    if Control::try_open(&socket).is_some() {
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        for _ in 0..3 {
            let before = answered.load(Ordering::Relaxed);
            home.systemctl(&["restart", SERVICE]).good();
            wait::until_true("clients are answered again", || answered.load(Ordering::Relaxed) > before + 4);
        }
        done.store(true, Ordering::Relaxed);
    });
}

fn two_starts_give_one_daemon() {
    let home = Home::installed();
    let pid = home.pid();
    let second = said(std::process::Command::new(home.program("handoffd")).env_remove("NOTIFY_SOCKET"));
    assert!(second.code == 3 && second.err.contains(&format!("pid {pid}")), "{second:?}");
    home.systemctl(&["start", SERVICE]).good();
    assert_eq!((home.pid(), home.connect().hello["daemon"]["pid"].clone()), (pid, pid.into()));
}

fn install_does_not_take_the_socket_from_a_daemon_in_a_terminal() {
    let home = Home::new();
    let mut by_hand = std::process::Command::new(home.program("handoffd")).spawn().unwrap();
    wait::until_true("it answers", || Control::try_open(&home.socket()).is_some());
    let pid = by_hand.id();
    home.handoff(&["service", "install"]).failed_with(4, &format!("kill {pid}"));
    assert_eq!(home.connect().hello["daemon"]["pid"], pid);
    assert_eq!(home.written(), [""; 0]);
    by_hand.kill().unwrap();
    by_hand.wait().unwrap();
    home.handoff(&["service", "install"]).good();
    assert_eq!(home.connect().hello["daemon"]["pid"], home.pid());
}

fn a_socket_of_the_configuration_is_listened_on() {
    let home = Home::new();
    let own = home.path("own/socket");
    home.configure(&format!("[daemon]\nsocket = \"{}\"\n", own.display()));
    home.handoff(&["service", "install"]).good();
    assert!(Control::try_open(&own).is_some());
    assert_eq!(home.show(SOCKET, "Listen"), format!("{} (Stream)", own.display()));
    // Changed later, without another installation: it is served beside the unit's.
    let other = home.path("own/other");
    home.configure(&format!("[daemon]\nsocket = \"{}\"\n", other.display()));
    home.systemctl(&["restart", SERVICE]).good();
    assert!(Control::try_open(&other).is_some() && Control::try_open(&own).is_some());
    home.handoff(&["service", "install"]).good();
    assert_eq!(home.show(SOCKET, "Listen"), format!("{} (Stream)", other.display()));
    assert!(Control::try_open(&other).is_some());
}

fn f104_a_socket_of_systemd_that_vanished_is_bound_by_the_daemon() {
    let home = Home::installed();
    let answers = || wait::until("it answers again", || Control::try_open(&home.socket()));
    let told = || home.handoff(&["service", "status"]).err.contains("the daemon listens there itself");
    let vanish: [&dyn Fn(); 2] = [&|| std::fs::remove_file(home.socket()).unwrap(), &|| {
        std::fs::remove_dir_all(home.socket().parent().unwrap()).unwrap();
    }];
    assert!(!told());
    for remove in vanish {
        remove();
        answers();
        assert!(home.handoff(&["logs"]).out.contains("`handoff service restart` makes it whole"));
        // Also after a crash, which leaves the daemon's own file behind.
        let before = home.pid();
        home.signal(Signal::SIGKILL);
        wait::until_true("systemd starts it again", || ![0, before].contains(&home.pid()));
        answers();
        let said = home.handoff(&["doctor", "--json"]);
        assert!(told() && said.out.contains("the daemon listens there itself"), "{said:?}");
        home.handoff(&["service", "restart"]).good();
        home.handoff(&["service", "status"]).good();
        home.systemctl(&["stop", SERVICE]).good();
        home.handoff(&["status"]).good();
    }
    // Somebody stops the socket alone.
    home.systemctl(&["stop", SOCKET]).good();
    answers();
    home.handoff(&["service", "status"]).failed_with(1, "handoffd.socket does not listen");
    home.handoff(&["service", "restart"]).good();
    home.handoff(&["service", "status"]).good();
}
