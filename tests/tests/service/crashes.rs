//! A daemon that dies or is stuck: another one is started, and no task is lost.

use std::time::Duration;

use handoffd_tests::wait;
use nix::sys::signal::Signal;

use crate::Test;
use crate::fixture::{Home, SERVICE};

pub(crate) const TESTS: &[Test] = &[
    ("a_killed_daemon_is_started_again_and_no_task_is_lost", a_killed_daemon_is_started_again_and_no_task_is_lost),
    ("a_command_in_the_pause_before_a_restart_is_answered", a_command_in_the_pause_before_a_restart_is_answered),
    (
        "a_stuck_daemon_is_ended_by_the_watchdog_and_no_task_is_lost",
        a_stuck_daemon_is_ended_by_the_watchdog_and_no_task_is_lost,
    ),
    ("a_daemon_that_works_is_left_alone_by_the_watchdog", a_daemon_that_works_is_left_alone_by_the_watchdog),
];

const RESTART: Duration = Duration::from_secs(90);

fn started_again(home: &Home, before: i32) {
    wait::until_within(RESTART, "another daemon runs", || {
        (home.state() == "active" && ![0, before].contains(&home.pid())).then_some(())
    });
}

fn a_killed_daemon_is_started_again_and_no_task_is_lost() {
    let home = Home::installed();
    let work = home.at_work();
    let before = home.pid();
    home.signal(Signal::SIGKILL);
    started_again(&home, before);
    work.ends_well_at(&home.socket());
}

fn a_command_in_the_pause_before_a_restart_is_answered() {
    let home = Home::installed();
    let before = home.pid();
    home.signal(Signal::SIGKILL);
    wait::until_true("it is gone", || home.pid() != before);
    home.handoff(&["status"]).good();
    assert_eq!(home.show(SERVICE, "NRestarts"), "1");
}

fn a_stuck_daemon_is_ended_by_the_watchdog_and_no_task_is_lost() {
    let home = Home::installed();
    assert_eq!(home.show(SERVICE, "WatchdogUSec"), "30s", "the shipped unit has one");
    home.drop_in("[Service]\nWatchdogSec=2s\n");
    home.handoff(&["service", "restart"]).good();
    let work = home.at_work();
    let before = home.pid();
    home.signal(Signal::SIGSTOP);
    started_again(&home, before);
    work.ends_well_at(&home.socket());
}

fn a_daemon_that_works_is_left_alone_by_the_watchdog() {
    let home = Home::installed();
    // Shorter than the usual beat of the loop, which must follow it.
    home.drop_in("[Service]\nWatchdogSec=900ms\n");
    home.handoff(&["service", "restart"]).good();
    // A busy machine may once keep it from its beat; one that never hears of it ends it again and again.
    let pid = wait::until_rests(Duration::from_secs(4), "it runs on", || home.pid());
    assert_ne!(pid, 0, "it runs");
}
