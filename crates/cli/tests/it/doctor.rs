//! `handoff doctor`: the checks of the service and of this user, each with a good and a bad case, made of real files and
//! programs. What is looked at in each project is in `doctor_projects`; what needs the real daemon in `tests/tests/e2e`.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::env::{Said, TestEnv, write};

/// A world with one project, and no daemon.
pub(crate) fn world() -> TestEnv {
    let world = TestEnv::new().with("PATH", "/usr/bin:/bin");
    std::fs::create_dir(world.project().join("src")).unwrap();
    assert_eq!(world.run(&["init"]).code, 0);
    world
}

/// What a check says of the worst kind, as `state: what | remedy`.
#[track_caller]
pub(crate) fn worst(said: &Said, check: &str) -> String {
    let document = said.json();
    let findings = document["findings"].as_array().unwrap();
    let rank = |finding: &Value| ["good", "note", "warning", "fault"].iter().position(|word| finding["state"] == *word);
    let found = findings.iter().filter(|finding| finding["check"] == check).max_by_key(|finding| rank(finding));
    let found = found.unwrap_or_else(|| panic!("no {check}: {said}"));
    let text = |name: &str| found[name].as_str().unwrap_or("-").to_owned();
    if matches!(found["state"].as_str(), Some("warning" | "fault")) {
        assert!(found["remedy"].is_string(), "no remedy: {found}");
    }
    for remedy in findings.iter().filter_map(|finding| finding["remedy"].as_str()) {
        is_a_command_of_ours(remedy);
    }
    format!("{}: {} | {}", text("state"), text("what"), text("remedy"))
}

/// A remedy that begins with `handoff` is a whole command line, and so is what stands in back-quotes: they work as typed.
#[track_caller]
fn is_a_command_of_ours(remedy: &str) {
    let whole = Some(remedy).filter(|remedy| remedy.starts_with("handoff "));
    let quoted = remedy.split('`').skip(1).step_by(2).filter(|text| text.starts_with("handoff "));
    for line in whole.into_iter().chain(quoted) {
        let parsed = cli::command().try_get_matches_from(line.split(' '));
        assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
    }
}

pub(crate) fn doctor(world: &TestEnv) -> Said {
    world.run(&["doctor", "--json"])
}

#[track_caller]
pub(crate) fn check(world: &TestEnv, name: &str, state: &str, parts: &[&str]) {
    let found = worst(&doctor(world), name);
    assert!(found.starts_with(state), "{name}: {found}");
    for part in parts {
        assert!(found.contains(part), "{part}: {found}");
    }
}

/// A program in a folder that comes first in the service's PATH.
fn program(world: &TestEnv, name: &str, script: &str) {
    let path = write(&world.root().join("bin").join(name), format!("#!/bin/sh\n{script}\n").as_bytes());
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A world in which `systemctl --user` tells of a unit with these properties, and of a socket that listens.
fn with_unit(properties: &str, environment: &str) -> TestEnv {
    with_units(properties, "LoadState=loaded ActiveState=active UnitFileState=disabled", environment)
}

fn with_units(properties: &str, socket: &str, environment: &str) -> TestEnv {
    let world = world();
    let bin = world.root().join("bin");
    let world = world.with("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let script = format!(
        "case \"$*\" in\n*handoffd.service) printf '%s\\n' {properties};;\n*handoffd.socket) printf '%s\\n' {socket};;\n\
         *show-environment) printf '%s\\n' {environment};;\n*) exit 1;;\nesac"
    );
    program(&world, "systemctl", &script);
    program(&world, "loginctl", "echo Linger=no");
    world
}

const UNIT: &str = "Id=handoffd.service LoadState=loaded UnitFileState=enabled NRestarts=0 Environment= FragmentPath=/u/handoffd.service \
                    'ExecStart={ path=/bin/true ; argv[]=/bin/true ; }' MainPID=0";

#[test]
fn without_a_daemon_everything_else_is_looked_at_and_that_fault_alone_is_found() {
    let world = world();
    let said = doctor(&world);
    assert_eq!(said.code, 1, "{said}");
    let document = said.json();
    let faults: Vec<&Value> =
        document["findings"].as_array().unwrap().iter().filter(|finding| finding["state"] == "fault").collect();
    assert_eq!(faults.len(), 1, "{said}");
    assert_eq!(faults[0]["check"], "daemon");
    assert_eq!(document["good"], false);
    for name in ["locks", "queues", "tracked", "work-logs", "profiles", "leftovers", "events", "disk"] {
        check(&world, name, "good", &[]);
    }
    let table = world.run(&["doctor"]);
    assert!(table.code == 1 && table.stdout.contains("remedy: "), "{table}");
    assert!(table.stderr.starts_with("1 fault, "), "{table}");
}

#[test]
fn a_lock_that_names_no_daemon_any_more_is_none() {
    let world = world();
    let lock = format!(".local/state/handoffd/handoffd-{}.lock", handoffd::places::host::host_part());
    for pid in [i32::MAX.cast_unsigned(), std::process::id()] {
        write(&world.home().join(&lock), format!("{{\"pid\":{pid},\"socket\":\"/none\"}}").as_bytes());
        check(&world, "daemon", "fault", &["no daemon answers"]);
    }
}

fn placed(world: &TestEnv, text: &str) -> String {
    text.replace(&*world.home().to_string_lossy(), "{HOME}").replace(&*world.root().to_string_lossy(), "{ROOT}")
}

#[test]
fn folders_of_ours_that_others_can_write_are_a_fault_and_are_closed() {
    let world = world();
    let state = world.home().join(".local/state/handoffd");
    check(&world, "socket", "good", &[]);
    let mode = |mode| std::fs::set_permissions(&state, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o777);
    check(&world, "socket", "fault", &["other users can write", "chmod 700"]);
    mode(0o755);
    let run = world.run_dir().join("handoffd");
    std::fs::create_dir_all(&run).unwrap();
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o755)).unwrap();
    check(&world, "socket", "warning", &["other users can look into", "(mode 755)", "chmod 700"]);
    let said = world.run(&["doctor", "--fix"]);
    for folder in [&state, &run] {
        let will = format!("Will close to all other users (mode 700): {}", folder.display());
        assert!(said.stderr.contains(&placed(&world, &will)), "{said}");
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
    check(&world, "socket", "good", &[]);
    write(&world.run_dir().join("handoffd/handoffd.sock"), b"");
    check(&world, "socket", "fault", &["is not a socket"]);
    let folder = world.root().join("open");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    let world = world.with("HANDOFFD_SOCKET", folder.join("s"));
    check(&world, "socket", "fault", &["every user can replace", "chmod o-w"]);
}

#[test]
fn a_socket_that_is_left_and_one_that_others_can_use() {
    let world = world();
    let path = world.run_dir().join("handoffd/handoffd.sock");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::set_permissions(path.parent().unwrap(), std::fs::Permissions::from_mode(0o700)).unwrap();
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    check(&world, "socket", "note", &["the next one takes its place"]);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    check(&world, "socket", "warning", &["666", "chmod 600"]);
}

#[test]
fn a_damaged_registry_is_a_fault() {
    let world = world();
    write(&world.home().join(".local/state/handoffd/projects.json"), b"{\"version\":1");
    let file = "{HOME}/.local/state/handoffd/projects.json";
    let aside = format!("| mv {file} {file}.old");
    check(&world, "socket", "fault", &["is damaged", "`handoff projects add`", &aside]);
}

#[test]
fn a_unit_that_is_there_and_well_one_that_failed_and_one_whose_program_is_gone() {
    let unit = |more: &str| with_unit(&format!("{UNIT} {more}"), "PATH=/usr/bin:/bin");
    check(&unit("ActiveState=active"), "unit", "good", &["handoffd.service is active"]);
    check(&unit("ActiveState=failed Result=watchdog"), "unit", "fault", &["stuck", "handoff service restart"]);
    let failed = "ActiveState=failed Result=exit-code ExecMainStatus=2 StatusText=line_7";
    check(&unit(failed), "unit", "fault", &["line_7 (exit code 2)"]);
    let pause = "ActiveState=activating SubState=auto-restart Result=exit-code ExecMainStatus=1 RestartUSec=40s";
    let pause = format!("{pause} NRestarts=7 StateChangeTimestampMonotonic=1");
    check(
        &unit(&pause),
        "unit",
        "fault",
        &["after 7 restarts: it ended with exit code 1; it starts again by itself in"],
    );
    check(
        &unit("ActiveState=active NeedDaemonReload=yes"),
        "unit",
        "warning",
        &["has changed since", "handoff service restart"],
    );
    check(
        &unit("ActiveState=active UnitFileState=disabled"),
        "unit",
        "warning",
        &["does not start when you log in", "handoff service install"],
    );
    let gone = UNIT.replace("/bin/true ;", "/no/such/handoffd ;");
    check(&with_unit(&format!("{gone} ActiveState=inactive"), ""), "unit", "fault", &["/no/such/handoffd"]);
    check(&with_unit("LoadState=not-found", ""), "unit", "note", &["handoff service install"]);
    for (state, unmask) in [("masked", "unmask handoffd"), ("masked-runtime", "unmask --runtime handoffd")] {
        let masked = format!("LoadState=masked UnitFileState={state}");
        let world = with_unit(&masked, "");
        check(&world, "unit", "warning", &[unmask]);
        check(&world, "daemon", "fault", &[unmask]);
        let world = with_units(&format!("{UNIT} ActiveState=active"), &masked, "");
        check(&world, "unit", "warning", &["handoffd.socket is masked", unmask]);
    }
    let deaf = with_units(&format!("{UNIT} ActiveState=active"), "LoadState=loaded ActiveState=inactive", "");
    check(&deaf, "unit", "warning", &["handoffd.socket does not listen", "handoff service restart"]);
    let stopped = unit("ActiveState=inactive UnitFileState=disabled");
    check(&stopped, "daemon", "fault", &["handoff service install"]);
    let off = format!("{UNIT} ActiveState=inactive UnitFileState=disabled");
    let off = with_units(&off, "LoadState=loaded ActiveState=inactive", "");
    let said = doctor(&off);
    assert!(said.stdout.contains("does not listen") && !said.stdout.contains("service restart"), "{said}");
    check(&with_unit("LoadState=bad-setting LoadError=x", ""), "unit", "fault", &["bad-setting"]);
    let world = world();
    program(&world, "systemctl", "echo 'Failed to connect to bus' >&2; exit 1");
    let path = format!("{}:/usr/bin:/bin", world.root().join("bin").display());
    let world = world.with("PATH", path);
    check(&world, "unit", "note", &["no service manager", "Failed to connect"]);
}

#[test]
fn lingering_is_asked_for_where_a_service_is_installed() {
    let world = with_unit(&format!("{UNIT} ActiveState=active"), "");
    check(&world, "linger", "warning", &["when you log out", "loginctl enable-linger"]);
    program(&world, "loginctl", "echo Linger=yes");
    check(&world, "linger", "good", &[]);
    program(&world, "loginctl", "echo no bus >&2; exit 1");
    check(&world, "linger", "note", &["nobody says", "loginctl enable-linger"]);
}

#[test]
fn the_services_environment_counts_and_not_the_shells() {
    let active = format!("{UNIT} ActiveState=inactive");
    let world = with_unit(&active, "PATH=/opt/only:/bin").with("PI_CODING_AGENT_DIR", "/elsewhere");
    let said = doctor(&world);
    let document = said.json();
    let of = |word: &str| {
        let findings = document["findings"].as_array().unwrap();
        findings.iter().any(|f| f["check"] == "environment" && f["what"].as_str().unwrap().contains(word))
    };
    assert!(of("the service has PATH=/opt/only:/bin"), "{said}");
    assert!(of("PI_CODING_AGENT_DIR is /elsewhere in this shell and not set for the service"), "{said}");

    let config = |world: &TestEnv, command: &str| {
        let text = format!("[notify]\ncommand = [\"{command}\"]\n");
        write(&world.home().join(".config/handoffd/config.toml"), text.as_bytes());
    };
    // It lies in the shell's PATH, and the service has another one.
    program(&world, "only-here", "");
    config(&world, "only-here");
    check(&world, "environment", "fault", &["`notify.command` is not found by the service"]);
    config(&world, "true");
    check(&world, "environment", "warning", &["PI_CODING_AGENT_DIR"]);
}

#[test]
fn the_unit_leads_to_other_places_than_this_shell() {
    let active = format!("{UNIT} ActiveState=inactive");
    let world = with_unit(&active.replace("Environment=", "Environment=XDG_STATE_HOME=/nowhere/state"), "");
    check(&world, "environment", "warning", &["XDG_STATE_HOME is not set in this shell and /nowhere/state"]);
    check(&world, "projects", "note", &["no project is registered"]);
}

#[test]
fn a_configuration_that_is_invalid_or_odd() {
    let world = world();
    check(&world, "configuration", "good", &["the defaults count"]);
    let file = world.home().join(".config/handoffd/config.toml");
    write(&file, b"[log]\nlevel = 7\n");
    check(&world, "configuration", "fault", &["level", "handoffd --check"]);
    let said = world.run(&["doctor"]);
    let told = format!("{}{}", said.stdout, said.stderr);
    assert_eq!(told.matches("`log.level`").count(), 1, "it is told once: {said}");
    write(&file, b"[lug]\n");
    check(&world, "configuration", "warning", &["lug", "handoffd --check"]);
    write(&file, b"");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o646)).unwrap();
    check(&world, "configuration", "warning", &["| chmod o-w {HOME}/.config/handoffd/config.toml"]);
    std::fs::remove_file(&file).unwrap();
    let log = write(&world.root().join("log"), b"");
    write(&file, format!("[log]\ndir = \"{}\"\n", log.display()).as_bytes());
    check(
        &world,
        "configuration",
        "fault",
        &["is not a folder, so no daemon starts", "| mv {ROOT}/log {ROOT}/log.old"],
    );
}

#[test]
fn versions_that_differ_are_told() {
    let world = world();
    check(&world, "versions", "good", &[]);
    assert_eq!(world.run(&["init", "--pi"]).code, 0);
    check(&world, "versions", "good", &[]);
    let manifest = world.home().join(".local/share/handoffd/clients/pi/package.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    write(&manifest, text.replace(env!("CARGO_PKG_VERSION"), "0.0.7").as_bytes());
    check(&world, "versions", "warning", &["0.0.7", "handoff init --pi"]);
    assert!(world.run(&["doctor", "--fix"]).stderr.contains("Done: renew"));
    check(&world, "versions", "good", &[]);

    let plugin = world.home().join("plugin");
    write(&plugin.join(".claude-plugin/plugin.json"), b"{\"version\":\"0.0.8\"}");
    let list = format!("{{\"plugins\":{{\"handoff@shelf\":[{{\"installPath\":\"{}\"}}]}}}}", plugin.display());
    write(&world.home().join(".claude/plugins/installed_plugins.json"), list.as_bytes());
    check(&world, "versions", "warning", &["Claude Code is 0.0.8", "claude plugin update handoff@shelf"]);

    let world = with_unit(&format!("{} ActiveState=active", UNIT.replace("/bin/true", "$OLD")), "");
    let old = world.root().join("bin/handoffd");
    program(&world, "handoffd", "echo handoffd 0.0.9");
    let script = std::fs::read_to_string(world.root().join("bin/systemctl")).unwrap();
    program(&world, "systemctl", &script.replace("$OLD", &old.to_string_lossy()));
    check(&world, "versions", "warning", &["is 0.0.9"]);
}

#[test]
fn pi_is_no_fault_where_nobody_uses_it_and_is_told_where_it_does_not_fit() {
    let world = world();
    check(&world, "pi", "note", &["Pi is not here"]);
    assert_eq!(world.run(&["init", "--pi"]).code, 0);
    check(&world, "pi", "warning", &["pi-subagents is not installed", "pi install npm:pi-subagents"]);
    let package = |folder: &str, name: &str, version: &str| {
        let text = format!("{{\"name\":\"{name}\",\"version\":\"{version}\"}}");
        write(&world.root().join(folder).join("package.json"), text.as_bytes());
    };
    write(&world.root().join("pi/bin/pi"), b"");
    let path = format!("{}:/usr/bin:/bin", world.root().join("pi/bin").display());
    package("home/.pi/agent/npm/node_modules/pi-subagents", "pi-subagents", "0.67.0");
    package("pi", "@earendil-works/pi-coding-agent", "0.87.1");
    let judged = |path: &str| worst(&world.said(world.command().args(["doctor", "--json"]).env("PATH", path)), "pi");
    assert!(judged(&path).starts_with("good: Pi 0.87.1 with pi-subagents 0.67.0"), "{}", judged(&path));
    let manifest = world.root().join("pi/package.json");
    let needs =
        "{\"name\":\"@earendil-works/pi-coding-agent\",\"version\":\"0.87.1\",\"engines\":{\"node\":\">=22.19.0\"}}";
    write(&manifest, needs.as_bytes());
    write(&world.root().join("pi/bin/pi"), b"#!/usr/bin/env node\n");
    let only = world.root().join("pi/bin").display().to_string();
    let told = judged(&only);
    assert!(told.starts_with("fault") && told.contains("no `node` in the PATH") && told.contains("22.19.0"), "{told}");
    program(&world, "../pi/bin/node", "echo v20.20.2");
    let told = judged(&path);
    assert!(told.starts_with("fault") && told.contains("pi/bin/node is Node 20.20.2, and it needs 22.19.0"), "{told}");
    program(&world, "../pi/bin/node", "echo no memory >&2; exit 1");
    assert!(judged(&path).contains("no memory"), "{}", judged(&path));
    program(&world, "../pi/bin/node", "echo v22.19.0");
    assert!(judged(&path).starts_with("good"), "{}", judged(&path));
    package("pi", "@earendil-works/pi-coding-agent", "1.6.0");
    assert!(judged(&path).contains("cannot start background runs"), "{}", judged(&path));
    write(&world.home().join(".pi/agent/settings.json"), b"{");
    let said = world.said(world.command().args(["doctor", "--json"]).env("PATH", &path));
    assert!(worst(&said, "pi").starts_with("fault") && !said.stdout.contains("the extension is not"), "{said}");
}

#[test]
fn next_without_a_daemon_names_the_doctors_remedy() {
    let world = with_unit(&format!("{UNIT} ActiveState=inactive"), "");
    let said = world.run(&["next"]);
    assert!(said.code == 3 && said.stderr.contains("Hint: run `handoff service restart`"), "{said}");
}

#[test]
fn next_corrects_the_file_on_which_the_service_failed_before_it_starts_it_again() {
    let world = with_unit(&format!("{UNIT} ActiveState=failed Result=exit-code ExecMainStatus=2"), "");
    write(&world.home().join(".config/handoffd/config.toml"), b"[log]\nlevel = 7\n");
    let said = world.run(&["next"]);
    assert!(said.code == 3 && said.stderr.contains("Hint: correct the file; `handoffd --check`"), "{said}");
    let told = worst(&doctor(&world), "daemon");
    assert!(told.contains("correct the configuration, then: handoff service restart"), "{told}");
}

#[test]
fn the_document_names_each_check() {
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md")).unwrap();
    let section = document.split("\n## Doctor\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let named: BTreeSet<&str> =
        section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let said = doctor(&with_unit(&format!("{UNIT} ActiveState=active"), "")).json();
    let mut checks: BTreeSet<&str> =
        said["findings"].as_array().unwrap().iter().map(|finding| finding["check"].as_str().unwrap()).collect();
    // Without a daemon there is nothing to say of these.
    checks.extend(["projects", "descriptors"]);
    assert_eq!(named, checks);
}
