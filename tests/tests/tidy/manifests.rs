//! Rules for packages: what each says of itself, and who may depend on whom.

#![expect(clippy::disallowed_methods, reason = "cargo itself is asked about the workspace")]

use std::process::Command;

use serde_json::Value;

use crate::tree::{read, report, root};

/// What `cargo metadata` says of this host's dependency tree. Needs no network: it was built a moment ago.
pub(crate) fn metadata() -> Value {
    let cargo = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().expect("cargo runs");
        assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("cargo writes UTF-8")
    };
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo names its host");
    let text = cargo(&["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform", host]);
    serde_json::from_str(&text).expect("cargo writes JSON")
}

/// The packages of the workspace.
fn members(metadata: &Value) -> Vec<&Value> {
    let all = metadata["packages"].as_array().expect("packages");
    let members = metadata["workspace_members"].as_array().expect("members");
    all.iter().filter(|package| members.contains(&package["id"])).collect()
}

#[test]
fn every_package_has_licence_description_and_the_lints() {
    let metadata = metadata();
    let mut faults = Vec::new();
    for package in members(&metadata) {
        let name = package["name"].as_str().expect("a name");
        let mut claim = |good: bool, what: &str| {
            if !good {
                faults.push(format!("{name}: {what}"));
            }
        };
        claim(package["license"] == "MIT OR Apache-2.0", "license.workspace = true");
        claim(package["description"].is_string(), "description");
        claim(package["rust_version"].is_string(), "rust-version.workspace = true");
        claim(package["publish"] == serde_json::json!([]), "publish.workspace = true");
        let manifest = std::fs::read_to_string(package["manifest_path"].as_str().expect("a path")).expect("manifest");
        claim(manifest.contains("[lints]\nworkspace = true"), "[lints] workspace = true");
        claim(!manifest.contains("git = "), "no dependency by git");
    }
    report("what every package says of itself", &faults);
}

/// Each package, and the packages of ours that its code (not its tests) may use.
const LAYERS: &[(&str, &[&str])] = &[
    ("queue", &[]),
    ("packet", &[]),
    ("wire", &[]),
    ("budget", &[]),
    ("lifecycle", &["queue"]),
    ("store", &["queue"]),
    ("secrets", &[]),
    ("team", &["packet", "secrets", "store"]),
    ("mcp", &["packet", "team"]),
    ("profiles", &["queue"]),
    ("handoffd", &["queue", "packet", "secrets", "lifecycle", "store", "team", "profiles", "wire"]),
    (
        "cli",
        &["queue", "secrets", "packet", "lifecycle", "store", "profiles", "wire", "budget", "handoffd", "mcp", "team"],
    ),
];

#[test]
fn dependencies_point_one_way() {
    let metadata = metadata();
    let members = members(&metadata);
    let ours: Vec<&str> = members.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut faults = Vec::new();
    for (name, allowed) in LAYERS {
        let package = members.iter().find(|package| package["name"] == *name).expect("each layer is a package");
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let normal = dependencies.iter().filter(|dependency| dependency["kind"].is_null());
        let names = normal.filter_map(|dependency| dependency["name"].as_str());
        let wrong = names.filter(|dependency| ours.contains(dependency) && !allowed.contains(dependency));
        faults.extend(wrong.map(|dependency| format!("{name} uses {dependency}")));
    }
    report("layers (docs/architecture.md)", &faults);
}

#[test]
fn crates_come_from_the_public_registry_only() {
    let lock = read("Cargo.lock");
    let sources = lock.lines().filter_map(|line| line.strip_prefix("source = "));
    let faults: Vec<String> = sources
        .filter(|source| *source != "\"registry+https://github.com/rust-lang/crates.io-index\"")
        .map(str::to_owned)
        .collect();
    report("sources in Cargo.lock", &faults);
}
