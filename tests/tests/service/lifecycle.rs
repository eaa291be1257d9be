//! Install, reload, stop, restart.

use std::fs;

use handoffd_tests::wait;
use nix::sys::signal::Signal;

use crate::Test;
use crate::fixture::{Home, SERVICE, SOCKET};

pub(crate) const TESTS: &[Test] = &[
    ("install_makes_a_daemon_that_answers_at_login_and_now", install_makes_a_daemon_that_answers_at_login_and_now),
    ("what_is_ready_serves", what_is_ready_serves),
    ("a_reload_has_a_result", a_reload_has_a_result),
    ("stop_is_in_order_and_the_socket_stays", stop_is_in_order_and_the_socket_stays),
    ("a_restart_in_mid_task_is_safe", a_restart_in_mid_task_is_safe),
    ("status_says_how_it_is", status_says_how_it_is),
    ("status_says_when_it_starts_again", status_says_when_it_starts_again),
    ("a_restart_reads_the_units_again", a_restart_reads_the_units_again),
];

fn install_makes_a_daemon_that_answers_at_login_and_now() {
    let home = Home::new();
    let said = home.handoff(&["service", "install"]).good();
    assert!(said.err.contains("loginctl enable-linger"), "{said:?}");
    assert_eq!(home.connect().hello["daemon"]["pid"], home.pid());
    for unit in [SERVICE, SOCKET] {
        assert_eq!(
            (home.show(unit, "ActiveState"), home.show(unit, "UnitFileState")),
            ("active".into(), "enabled".into())
        );
    }
    let pid = home.pid();
    let again = home.handoff(&["service", "install"]).good();
    assert_eq!(again.out.matches("as it should be").count(), home.written().len(), "{again:?}");
    assert_eq!(home.pid(), pid, "nothing was restarted");
}

fn what_is_ready_serves() {
    let home = Home::installed();
    home.systemctl(&["stop", SERVICE, SOCKET]).good();
    // Without the socket unit nobody but the daemon itself can have bound the socket.
    home.systemctl(&["mask", "--runtime", SOCKET]).good();
    home.systemctl(&["start", SERVICE]).good();
    assert_eq!(home.connect().hello["daemon"]["pid"], home.pid());
}

fn a_reload_has_a_result() {
    let home = Home::installed();
    let pid = home.pid();
    home.configure("[log]\nlevel = \"debug\"\n");
    home.systemctl(&["reload", SERVICE]).good();
    let config = home.connect().status()["daemon"]["config"].clone();
    assert!(config["path"].as_str().is_some_and(|path| path.ends_with("handoffd/config.toml")), "{config}");
    home.configure("[log]\nlevel = \"loud\"\n");
    let said = home.handoff(&["service", "reload"]).failed_with(1, "`log.level`");
    assert_eq!((said.err.matches("`log.level`").count(), said.err.matches("loud").count()), (1, 1), "{said:?}");
    home.systemctl(&["reload", SERVICE]).failed_with(1, "failed");
    assert!(home.show(SERVICE, "StatusText").contains("`log.level`"), "{}", home.show(SERVICE, "StatusText"));
    assert_eq!((home.state().as_str(), home.pid()), ("active", pid), "the old configuration stays in force");
    home.configure("");
    home.systemctl(&["reload", SERVICE]).good();
    assert_eq!(home.show(SERVICE, "StatusText"), "");
}

fn stop_is_in_order_and_the_socket_stays() {
    let home = Home::installed();
    let project = home.project("shop");
    home.connect().wait_state(&project, "idle", "");
    home.systemctl(&["stop", SERVICE]).good();
    assert_eq!((home.show(SERVICE, "Result"), home.show(SERVICE, "ExecMainStatus")), ("success".into(), "0".into()));
    assert!(!project.lock().exists());
    assert_eq!(home.show(SOCKET, "ActiveState"), "active");
}

fn a_restart_in_mid_task_is_safe() {
    let home = Home::installed();
    let work = home.at_work();
    let before = home.pid();
    home.handoff(&["service", "restart"]).good();
    assert_ne!(home.pid(), before);
    work.ends_well_at(&home.socket());
}

fn status_says_when_it_starts_again() {
    let home = Home::installed();
    home.drop_in("[Service]\nRestartSec=40s\n");
    home.signal(Signal::SIGKILL);
    wait::until_true("it waits", || home.show(SERVICE, "SubState") == "auto-restart");
    let said =
        home.handoff(&["service", "status"]).failed_with(1, "it was ended by signal 9; it starts again by itself in ");
    assert!(!said.err.contains("does not run"), "{said:?}");
    let told: serde_json::Value = serde_json::from_str(&home.handoff(&["service", "status", "--json"]).out).unwrap();
    let seconds = told["starts_again_in"].as_u64().unwrap();
    assert_eq!((&told["state"], (20..=40).contains(&seconds)), (&"restarting".into(), true), "{told}");
    home.handoff(&["service", "restart"]).good();
}

fn a_restart_reads_the_units_again() {
    let home = Home::installed();
    let drop_in = |unit: &str, text: &str| home.write(&format!(".config/systemd/user/{unit}.d/50-own.conf"), text);
    drop_in(SERVICE, "[Service]\nNice=7\n");
    drop_in(SOCKET, "[Socket]\nBacklog=77\n");
    home.handoff(&["service", "restart"]).good();
    assert_eq!((home.show(SERVICE, "Nice").as_str(), home.show(SOCKET, "Backlog").as_str()), ("7", "77"));
    // Also one that has stopped: systemd may have forgotten it, or not.
    home.systemctl(&["stop", SERVICE]).good();
    drop_in(SERVICE, "[Service]\nNice=8\n");
    home.handoff(&["service", "restart"]).good();
    assert_eq!(home.show(SERVICE, "Nice"), "8");
    let process = fs::read_to_string(format!("/proc/{}/stat", home.pid())).unwrap();
    assert_eq!(process.split(' ').nth(18), Some("8"), "it runs with it: {process}");
    let unit = home.units().join(SERVICE);
    fs::write(&unit, format!("{}# mine\n", fs::read_to_string(&unit).unwrap())).unwrap();
    home.handoff(&["service", "status"]).failed_with(1, "handoffd.service has changed since systemd read it");
    home.handoff(&["service", "restart"]).good();
    home.handoff(&["service", "status"]).good();
}

fn status_says_how_it_is() {
    let home = Home::new();
    home.handoff(&["service", "status"]).failed_with(1, "handoff service install");
    home.handoff(&["service", "install"]).good();
    let json = |home: &Home| -> serde_json::Value {
        serde_json::from_str(&home.handoff(&["service", "status", "--json"]).out).unwrap()
    };
    let told = json(&home);
    assert_eq!((&told["state"], &told["pid"]), (&"running".into(), &home.pid().into()), "{told}");
    assert_eq!((&told["problems"], &told["unit_from"]), (&serde_json::json!([]), &"install".into()), "{told}");
    home.handoff(&["service", "status"]).good();
    home.systemctl(&["stop", SERVICE]).good();
    let told = json(&home);
    assert_eq!(
        (&told["state"], home.state().as_str()),
        (&"stopped".into(), "inactive"),
        "looking starts nothing: {told}"
    );
    home.systemctl(&["stop", SOCKET]).good();
    home.handoff(&["service", "status"]).failed_with(1, "does not listen");
    home.handoff(&["service", "restart"]).good();
    fs::remove_file(home.program("handoffd")).unwrap();
    home.handoff(&["service", "status"]).failed_with(1, "handoffd is gone");
    // Another program in its place: an update that waits for a restart.
    crate::fixture::put_programs(home.program("handoffd").parent().unwrap());
    wait::until_true("the update is seen", || home.handoff(&["service", "status"]).err.contains("is newer"));
    home.handoff(&["service", "install"]).good();
    home.handoff(&["service", "status"]).good();
}
