//! Starts that fail: the reason is told, and what cannot help is not repeated (F133, F137).

use std::time::{Duration, Instant};

use handoffd_tests::{Control, wait};

use crate::Test;
use crate::fixture::{Home, SERVICE, SOCKET};

pub(crate) const TESTS: &[Test] = &[
    (
        "f133_an_invalid_configuration_is_told_and_not_tried_again",
        f133_an_invalid_configuration_is_told_and_not_tried_again,
    ),
    (
        "clients_of_a_daemon_that_cannot_start_are_told_why_until_it_can",
        clients_of_a_daemon_that_cannot_start_are_told_why_until_it_can,
    ),
    ("clients_of_a_daemon_with_wrong_arguments_are_told_so", clients_of_a_daemon_with_wrong_arguments_are_told_so),
    ("a_program_that_is_gone_does_not_wear_the_socket_out", a_program_that_is_gone_does_not_wear_the_socket_out),
    ("a_daemon_that_listens_elsewhere_is_found_all_the_same", a_daemon_that_listens_elsewhere_is_found_all_the_same),
    ("f137_a_failed_start_says_why", f137_a_failed_start_says_why),
    ("f133_a_fault_that_may_pass_is_tried_again_slowly", f133_a_fault_that_may_pass_is_tried_again_slowly),
    ("a_masked_unit_is_not_written_through", a_masked_unit_is_not_written_through),
];

fn f133_an_invalid_configuration_is_told_and_not_tried_again() {
    let home = Home::new();
    home.configure("[log]\nlevel = \"loud\"\n");
    let said = home.handoff(&["service", "install"]).failed_with(1, "did not start: its configuration is invalid");
    assert!(said.err.contains("config.toml:2: `log.level`"), "{said:?}");
    assert_eq!((home.state().as_str(), home.show(SERVICE, "NRestarts").as_str()), ("failed", "0"));
    home.handoff(&["service", "status"]).failed_with(1, "`log.level`");
    home.configure("");
    home.handoff(&["service", "restart"]).good();
    home.handoff(&["status"]).good();
}

/// systemd closes a socket whose service was started twenty times within two seconds, until somebody opens it by hand.
fn clients_of_a_daemon_that_cannot_start_are_told_why_until_it_can() {
    let home = Home::installed();
    let starts = |said: &str| home.handoff(&["logs"]).out.matches(said).count();
    home.configure("[log]\nlevel = \"loud\"\n");
    home.handoff(&["service", "restart"]).failed_with(1, "`log.level`");
    let before = starts("`log.level`");
    let begun = Instant::now();
    let clients = 8;
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                for _ in 0..10 {
                    let said = home.handoff(&["status"]).failed_with(3, "config.toml:2: `log.level`");
                    assert!(said.err.contains("handoffd cannot start"), "{said:?}");
                }
            });
        }
    });
    let most = usize::try_from(begun.elapsed().as_secs()).unwrap() + 2;
    let some = starts("`log.level`") - before;
    assert!((1..=most).contains(&some), "{some} starts in {most} s");
    assert_eq!(home.show(SOCKET, "ActiveState"), "active");
    // Nobody does anything for it but mend the file.
    home.configure("");
    home.handoff(&["status"]).good();
    assert_eq!(home.state(), "active");
}

/// Also without systemd's help: the program was started with an argument that it does not know.
fn clients_of_a_daemon_with_wrong_arguments_are_told_so() {
    let home = Home::installed();
    let start = format!("[Service]\nExecStart=\nExecStart={} --detach\n", home.program("handoffd").display());
    home.drop_in(&start);
    home.handoff(&["service", "restart"]).failed_with(1, "its command line is wrong");
    for _ in 0..30 {
        home.handoff(&["status"]).failed_with(3, "--detach");
    }
    assert_eq!(home.show(SOCKET, "ActiveState"), "active");
}

/// Nobody can answer then; systemd tries again and again, and the socket must outlive it.
fn a_program_that_is_gone_does_not_wear_the_socket_out() {
    let home = Home::installed();
    home.systemctl(&["stop", SERVICE]).good();
    std::fs::rename(home.program("handoffd"), home.path("handoffd")).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..30 {
            scope.spawn(|| home.handoff(&["status"]).failed_with(3, "`handoff service status`"));
        }
    });
    assert_eq!(home.show(SOCKET, "ActiveState"), "active");
    home.handoff(&["service", "status"]).failed_with(1, "is gone: `handoff service install`");
    std::fs::rename(home.path("handoffd"), home.program("handoffd")).unwrap();
    home.handoff(&["status"]).good();
}

/// The socket unit is asked first, and starts a daemon that finds the other one.
fn a_daemon_that_listens_elsewhere_is_found_all_the_same() {
    let home = Home::installed();
    home.systemctl(&["stop", SERVICE]).good();
    let own = home.path("own/socket");
    let mut by_hand =
        std::process::Command::new(home.program("handoffd")).env("HANDOFFD_SOCKET", &own).spawn().unwrap();
    wait::until_true("it answers", || Control::try_open(&own).is_some());
    home.handoff(&["status"]).good();
    let named = format!("another handoffd is running (pid {}", by_hand.id());
    home.handoff(&["service", "status"]).failed_with(1, &named);
    by_hand.kill().unwrap();
    by_hand.wait().unwrap();
    home.handoff(&["status"]).good();
    assert_eq!(home.connect().hello["daemon"]["pid"], home.pid());
}

fn f137_a_failed_start_says_why() {
    let home = Home::installed();
    home.systemctl(&["stop", SERVICE]).good();
    let state = home.path(".local/state/handoffd");
    let check = |break_it: &dyn Fn(), words: &str, repair: &dyn Fn()| {
        home.systemctl(&["stop", SERVICE]).good();
        break_it();
        home.handoff(&["service", "restart"]).failed_with(1, words);
        repair();
        home.handoff(&["service", "restart"]).good();
    };
    let remove = |path: &std::path::Path| std::fs::remove_dir_all(path).unwrap();
    check(
        &|| {
            std::fs::rename(&state, home.path("aside")).unwrap();
            home.write(".local/state/handoffd", "");
        },
        "is not a folder",
        &|| {
            std::fs::remove_file(&state).unwrap();
            std::fs::rename(home.path("aside"), &state).unwrap();
        },
    );
    let projects = state.join("projects.json");
    check(
        &|| {
            home.write(".local/state/handoffd/projects.json", "{");
        },
        "projects.json",
        &|| std::fs::remove_file(&projects).unwrap(),
    );
    let log = home.path("log");
    check(
        &|| {
            home.write("log", "");
            home.configure(&format!("[log]\ndir = \"{}\"\n", log.display()));
        },
        "is not a folder",
        &|| {
            std::fs::remove_file(&log).unwrap();
            home.configure("");
        },
    );
    check(
        &|| std::fs::rename(home.program("handoffd"), home.path("handoffd")).unwrap(),
        "cannot be started\nHint: the unit names a program that is gone: `handoff service install`",
        &|| {
            std::fs::rename(home.path("handoffd"), home.program("handoffd")).unwrap();
        },
    );
    let socket = home.path("socket");
    check(
        &|| {
            std::fs::create_dir(&socket).unwrap();
            home.configure(&format!("[daemon]\nsocket = \"{}\"\n", socket.display()));
        },
        "it is not a socket",
        &|| {
            remove(&socket);
            home.configure("");
        },
    );
}

fn f133_a_fault_that_may_pass_is_tried_again_slowly() {
    let home = Home::installed();
    home.systemctl(&["stop", SERVICE]).good();
    home.write(".local/state/handoffd/projects.json", "{");
    home.handoff(&["service", "restart"]).failed_with(1, "projects.json");
    let restarts = || home.show(SERVICE, "NRestarts").parse::<u32>().unwrap();
    // Clients neither hasten it nor wear the socket out: one attempt in two seconds.
    let begun = Instant::now();
    wait::stays(Duration::from_secs(3), "few attempts", || {
        home.handoff(&["status"]).failed_with(3, "projects.json");
        let now = restarts();
        u64::from(now) <= 2 + begun.elapsed().as_secs() / 2
    });
    assert_eq!(home.show(SOCKET, "ActiveState"), "active");
    std::fs::remove_file(home.path(".local/state/handoffd/projects.json")).unwrap();
    wait::until_true("it comes by itself", || home.state() == "active");
}

fn a_masked_unit_is_not_written_through() {
    let home = Home::new();
    std::os::unix::fs::symlink("/dev/null", home.units().join(SERVICE)).unwrap();
    home.handoff(&["service", "install"]).failed_with(4, "unmask");
    home.handoff(&["service", "restart"]).failed_with(4, "unmask");
    let said = home.handoff(&["service", "status"]).failed_with(1, "systemctl --user unmask handoffd.service");
    assert!(said.out.contains("masked") && !said.err.contains("log in"), "{said:?}");
    home.systemctl(&["unmask", SERVICE]).good();
    home.handoff(&["service", "install"]).good();
    std::fs::remove_file(home.units().join(SERVICE)).unwrap();
    home.systemctl(&["mask", SERVICE]).good();
    let said = home.handoff(&["service", "uninstall"]).good();
    assert!(said.out.contains("is masked"), "{said:?}");
    assert!(home.units().join(SERVICE).is_symlink(), "what a person forbade stays forbidden");
    assert!(
        !home.units().join("default.target.wants").join(SERVICE).is_symlink(),
        "and nothing starts it once it is allowed"
    );
}
