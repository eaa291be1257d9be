//! `handoff doctor` beside the real service manager: it reads the unit and the environment of the service as they are.

use std::fs;

use handoffd_tests::wait;
use serde_json::Value;

use crate::Test;
use crate::fixture::{Home, SERVICE, Said};

pub(crate) const TESTS: &[Test] = &[
    ("doctor_finds_no_fault_in_a_service_as_it_is_installed", doctor_finds_no_fault_in_a_service_as_it_is_installed),
    ("doctor_says_why_the_service_has_failed", doctor_says_why_the_service_has_failed),
    ("doctor_sees_a_unit_whose_program_is_gone", doctor_sees_a_unit_whose_program_is_gone),
    ("doctor_reads_the_environment_of_the_service", doctor_reads_the_environment_of_the_service),
];

/// What a check says of the worst kind: `state: what | remedy`.
#[track_caller]
fn worst(said: &Said, check: &str) -> String {
    let document: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let rank = |state: &Value| ["good", "note", "warning", "fault"].iter().position(|word| state == word);
    let of_check = document["findings"].as_array().unwrap().iter().filter(|finding| finding["check"] == check);
    let found =
        of_check.max_by_key(|finding| rank(&finding["state"])).unwrap_or_else(|| panic!("no {check}: {said:?}"));
    let text = |name: &str| found[name].as_str().unwrap_or("-").to_owned();
    format!("{}: {} | {}", text("state"), text("what"), text("remedy"))
}

#[track_caller]
fn has(said: &Said, check: &str, state: &str, part: &str) {
    let found = worst(said, check);
    assert!(found.starts_with(state) && found.contains(part), "{check}: no {state} with {part:?}: {found}");
}

fn doctor(home: &Home) -> Said {
    home.handoff(&["doctor", "--json"])
}

fn doctor_finds_no_fault_in_a_service_as_it_is_installed() {
    let home = Home::installed();
    let said = doctor(&home).good();
    has(&said, "unit", "good", "handoffd.service is active");
    has(&said, "daemon", "good", &format!("pid {}", home.pid()));
    has(&said, "environment", "good", ".local/bin:");
    has(&said, "versions", "good", "");
    home.systemctl(&["disable", SERVICE, crate::fixture::SOCKET]).good();
    has(&doctor(&home), "unit", "warning", "disabled: it does not start when you log in");
    home.handoff(&["service", "uninstall"]).good();
    let said = doctor(&home);
    has(&said, "unit", "note", "handoff service install");
    has(&said, "daemon", "fault", "handoff service install");
}

fn doctor_says_why_the_service_has_failed() {
    let home = Home::installed();
    home.configure("[log]\nlevel = 7\n");
    assert_ne!(home.handoff(&["service", "restart"]).code, 0);
    wait::until_true("it has failed", || home.state() == "failed");
    let said = doctor(&home);
    assert_eq!(said.code, 1);
    has(&said, "unit", "fault", "its configuration is invalid: ");
    has(&said, "configuration", "fault", "level");
}

fn doctor_sees_a_unit_whose_program_is_gone() {
    let home = Home::installed();
    fs::remove_file(home.program("handoffd")).unwrap();
    has(&doctor(&home), "unit", "fault", "app/bin/handoffd is gone");
}

fn doctor_reads_the_environment_of_the_service() {
    let home = Home::installed();
    home.drop_in("[Service]\nEnvironment=PI_CODING_AGENT_DIR=/elsewhere\n");
    has(&doctor(&home), "environment", "good", "PATH=");
    home.handoff(&["service", "restart"]).good();
    has(
        &doctor(&home),
        "environment",
        "warning",
        "PI_CODING_AGENT_DIR is not set in this shell and /elsewhere for the daemon",
    );
    // Without a daemon the unit says it, with the drop-in.
    home.systemctl(&["stop", crate::fixture::SOCKET, SERVICE]).good();
    has(&doctor(&home), "environment", "warning", "/elsewhere for the service");
}
