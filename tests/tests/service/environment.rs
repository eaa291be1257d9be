//! The environment that a service has, no shell PATH and no profile, is enough (F132).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use handoffd_tests::{report, wait};

use crate::Test;
use crate::fixture::{Home, SERVICE};

pub(crate) const TESTS: &[Test] = &[
    ("f132_a_notice_command_by_name_is_found_or_named", f132_a_notice_command_by_name_is_found_or_named),
    ("a_shell_that_sees_other_folders_is_told", a_shell_that_sees_other_folders_is_told),
];

fn f132_a_notice_command_by_name_is_found_or_named() {
    let home = Home::new();
    let told = home.path("told");
    let script = home.write(".local/bin/tell-me", &format!("#!/bin/sh\ncat >> {}\n", told.display()));
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    home.configure("[notify]\ncommand = [\"tell-me\"]\n");
    home.handoff(&["service", "install"]).good();
    let variables = fs::read_to_string(format!("/proc/{}/environ", home.pid())).unwrap();
    let path = variables.split('\0').find_map(|line| line.strip_prefix("PATH=")).unwrap().to_owned();
    assert!(path.starts_with(home.path(".local/bin").to_str().unwrap()), "{path}");
    let work = home.at_work();
    work.session.finish(&work.dispatch, report::complete());
    wait::until_true("the person is told", || fs::read_to_string(&told).is_ok_and(|text| text.contains("t-1")));
    home.configure("[notify]\ncommand = [\"no-such-program\"]\n");
    home.systemctl(&["reload", SERVICE]).good();
    work.project.plan(&handoffd_tests::Task::new("t-2"));
    let second = work.session.wait_dispatch("t-2");
    work.session.finish(&second, report::complete());
    wait::until_true("the log names program and PATH", || {
        let log = home.handoff(&["logs"]).out;
        log.contains("no-such-program") && log.contains(&path)
    });
}

fn a_shell_that_sees_other_folders_is_told() {
    let home = Home::installed();
    let run = |name: &str, value: &str| {
        let mut command = std::process::Command::new(home.program("handoff"));
        crate::fixture::said(command.args(["service", "install"]).env(name, value))
    };
    let said = run("PI_CODING_AGENT_DIR", "/elsewhere").good();
    assert!(said.err.contains("PI_CODING_AGENT_DIR is `/elsewhere` here and not set for the service"), "{said:?}");
    run("HANDOFFD_SOCKET", "/elsewhere/socket").failed_with(2, "a service does not see it");
}
