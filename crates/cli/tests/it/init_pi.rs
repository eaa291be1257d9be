//! `handoff init --pi`: the extension's files, one entry in Pi's settings, and nothing else.
#![expect(clippy::disallowed_methods, reason = "a world with a Pi in it is laid out by hand")]

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::env::{TestEnv, write};

const SETTINGS: &str = ".pi/agent/settings.json";

fn settings(env: &TestEnv) -> String {
    std::fs::read_to_string(env.home().join(SETTINGS)).unwrap()
}

/// A package of npm with nothing but its manifest.
fn package(folder: &Path, name: &str, version: &str) {
    write(&folder.join("package.json"), json!({"name": name, "version": version}).to_string().as_bytes());
}

/// A world with Pi and pi-subagents of these versions.
fn with_pi(pi: &str, subagents: &str) -> TestEnv {
    let env = TestEnv::new();
    let modules = env.root().join("node/node_modules");
    let host = modules.join("@earendil-works/pi-coding-agent");
    package(&host, "@earendil-works/pi-coding-agent", pi);
    write(&host.join("dist/cli.js"), b"");
    std::fs::create_dir_all(modules.join(".bin")).unwrap();
    symlink("../@earendil-works/pi-coding-agent/dist/cli.js", modules.join(".bin/pi")).unwrap();
    package(&env.home().join(".pi/agent/npm/node_modules/pi-subagents"), "pi-subagents", subagents);
    env.with("PATH", modules.join(".bin").as_os_str())
}

#[test]
fn the_extension_is_installed_once_and_renewed() {
    let env = with_pi("0.87.1", "0.67.0");
    assert_eq!(env.run(&["init"]).code, 0);
    let said = env.run(&["init", "--pi"]);
    assert!(said.code == 0 && !said.stderr.contains("Warning"), "{said}");
    let told: Vec<&str> = said.stdout.lines().skip_while(|line| !line.contains("registered")).skip(1).collect();
    assert_snapshot!(told.join("\n"), @r"
    made the Pi extension in {HOME}/.local/share/handoffd/clients/pi
    added {HOME}/.local/share/handoffd/clients/pi to `packages` in {HOME}/.pi/agent/settings.json
    found Pi 0.87.1 and pi-subagents 0.67.0
    ");
    let copy = env.home().join(".local/share/handoffd/clients/pi");
    let manifest: Value = serde_json::from_slice(&std::fs::read(copy.join("package.json")).unwrap()).unwrap();
    assert_eq!(manifest["name"], "pi-handoffd");
    assert!(copy.join(manifest["pi"]["extensions"][0].as_str().unwrap()).is_file());
    let before = settings(&env);
    assert_eq!(serde_json::from_str::<Value>(&before).unwrap(), json!({"packages": [copy]}));
    write(&copy.join("src/index.ts"), b"old");
    let again = env.run(&["init", "--pi"]).stdout;
    assert!(again.contains("made the Pi extension in ") && !again.contains("added"), "{again}");
    let again = env.run(&["init", "--pi"]).stdout;
    assert!(again.contains("kept the Pi extension in "), "{again}");
    assert_eq!(settings(&env), before);
    assert!(!env.home().join(".pi/agent/settings.json.lock").exists());
}

#[test]
fn what_a_person_wrote_stays() {
    let env = TestEnv::new();
    let dotfiles = env.root().join("dotfiles.json");
    write(&dotfiles, b"{\n\t\"theme\" : \"dark\",\n\t\"packages\": [\"npm:x\"]\n}\n");
    std::fs::set_permissions(&dotfiles, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::fs::create_dir_all(env.home().join(".pi/agent")).unwrap();
    symlink(&dotfiles, env.home().join(SETTINGS)).unwrap();
    assert_eq!(env.run(&["init", "--pi"]).code, 0);
    let copy = env.home().join(".local/share/handoffd/clients/pi").display().to_string();
    let expected = format!("{{\n\t\"theme\" : \"dark\",\n\t\"packages\": [\"npm:x\", \"{copy}\"]\n}}\n");
    assert_eq!(std::fs::read_to_string(&dotfiles).unwrap(), expected);
    assert!(env.home().join(SETTINGS).is_symlink(), "a link stays a link");
    assert_eq!(std::fs::metadata(&dotfiles).unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn settings_that_pi_cannot_read_are_left_alone() {
    let env = TestEnv::new();
    let path = write(&env.home().join(SETTINGS), b"{ // mine\n}");
    let said = env.run(&["init", "--pi"]);
    assert!(said.code == 1 && said.stderr.contains("settings.json is left alone: it is no JSON object"), "{said}");
    assert_eq!(std::fs::read(path).unwrap(), b"{ // mine\n}");
}

#[test]
fn an_extension_from_elsewhere_is_kept() {
    let env = TestEnv::new().with("PI_CODING_AGENT_DIR", "~/agent");
    package(&env.home().join("src/pi"), "pi-handoffd", "0.0.1");
    let before = "{\"packages\":[{\"source\":\"../src/pi\",\"skills\":[]}]}";
    let path = write(&env.home().join("agent/settings.json"), before.as_bytes());
    let said = env.run(&["init", "--pi"]);
    assert!(
        said.code == 0 && said.stdout.contains("kept the Pi extension as it is, from {HOME}/agent/../src/pi"),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(path).unwrap(), before);
    assert!(!env.home().join(".local/share/handoffd/clients").exists());
}

#[test]
fn a_package_of_the_system_brings_the_extension_itself() {
    let env = TestEnv::new();
    let prefix = env.root().join("usr");
    std::fs::create_dir_all(prefix.join("bin")).unwrap();
    let program: PathBuf = prefix.join("bin/handoff");
    // By another process: a program that another test starts while this one writes would hold the copy open for writing,
    // and it could not be started (`ETXTBSY`).
    let copied = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_handoff")).arg(&program).status();
    assert!(copied.unwrap().success());
    let shared = prefix.join("share/handoffd/clients/pi");
    package(&shared, "pi-handoffd", "0.1.0");
    let mut command = std::process::Command::new(&program);
    command.env_clear().env("HOME", env.home()).current_dir(env.project()).args(["init", "--pi"]);
    let said = env.said(&mut command);
    assert_eq!(said.code, 0, "{said}");
    assert_eq!(serde_json::from_str::<Value>(&settings(&env)).unwrap(), json!({"packages": [shared]}));
}

#[test]
fn what_is_missing_or_does_not_fit_is_said() {
    let env = TestEnv::new();
    let said = env.run(&["init", "--pi"]).stderr;
    for part in [
        "`pi` is not in the PATH",
        "npm install -g @earendil-works/pi-coding-agent@0.87",
        "pi install npm:pi-subagents",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let said = with_pi("1.6.0", "0.67.0").run(&["init", "--pi"]);
    assert!(said.stderr.contains("pi-subagents 0.67.0 cannot start background runs on Pi 1.0"), "{said}");
    let said = with_pi("0.80.0", "0.67.0").run(&["init", "--pi"]);
    assert!(said.code == 0 && said.stderr.contains("Pi 0.80.0 is older than"), "{said}");
}

#[test]
fn a_home_is_no_project() {
    let env = TestEnv::new();
    let mut command = env.command();
    command.current_dir(env.home()).args(["init", "--pi"]);
    let said = env.said(&mut command);
    assert!(said.code == 0 && said.stderr.contains("this is your home and no project"), "{said}");
    assert!(!env.home().join("tasks.json").exists() && env.home().join(SETTINGS).exists());
}
