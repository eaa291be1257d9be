//! The checks of `fuzz/`, fed from a seeded generator, so that every run of the tests is a short run of every target, with
//! no tool but cargo. What cargo-fuzz finds beyond it belongs here as a seed.
#![expect(clippy::unwrap_used, reason = "in tests a panic is the report")]

mod mutate;

#[path = "../../../fuzz/src/lib.rs"]
pub mod targets;

use std::panic::catch_unwind;

use crate::mutate::Mutator;

/// Executions of a target: some seconds in a debug build, a tenth of what CI does.
fn executions() -> u64 {
    let slow = std::env::var_os("HANDOFF_SLOW").is_some_and(|value| value == "1");
    if slow { 100_000 } else { 10_000 }
}

/// Runs `check` so many times on mutants of `seeds`. A failure names the number that makes its bytes again.
#[track_caller]
fn run(executions: u64, seeds: &[Vec<u8>], pieces: &[&str], check: fn(&[u8])) {
    for number in 0..executions {
        let bytes = Mutator::new(number, seeds, pieces).bytes();
        let outcome = catch_unwind(|| check(&bytes));
        assert!(outcome.is_ok(), "execution {number}, the bytes of {:?}", String::from_utf8_lossy(&bytes));
    }
}

/// The packets of the vectors, good and bad.
fn packets() -> Vec<Vec<u8>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/task_packet.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    rows.map(|row| row["input"].as_str().unwrap().as_bytes().to_vec()).collect()
}

const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "null",
    "true",
    "-0",
    "1e16",
    "1e400",
    "18446744073709551616",
    "{\"kind\":\"json\",\"schema\":null}",
    "\"thinking\":1,",
    "\"round\":1,",
    "\"constraints\":[{\"id\":\"c\",\"text\":\"x\"}],",
    "\"budget\":{\"max_cost_usd\":0.1},",
    "\u{feff}",
    "\u{3000}",
    "約",
    " ",
];

const LINES: &[&str] = &[
    "## Constraints",
    "## Audience",
    "## 約束",
    "## 受眾",
    "\n## Constraints\n- [c1] x\n",
    "# x\n",
    "\n",
    "\r",
    "\r\n",
    "\u{b}",
    "\u{85}",
    "\u{2028}",
    "\u{3000}",
    "===\n",
    "---\n",
    "```\n",
    "- ",
    "] ",
    "&#10;",
    "&",
    "<",
    "</task_packet>",
    "\t",
    "x ",
    "word word word\n",
];

#[test]
fn packet_parse() {
    run(executions(), &packets(), JSON, targets::packet_parse::check);
}

#[test]
fn forbidden_keys() {
    run(executions(), &packets(), JSON, targets::forbidden_keys::check);
}

#[test]
fn packet_render() {
    run(executions(), &texts(), LINES, targets::packet_render::check);
}

#[test]
fn prompt_fit() {
    // Each reads a whole conversation several times.
    run(executions() / 5, &texts(), LINES, targets::prompt_fit::check);
}

/// A target that one of the lists forgets would never run.
#[test]
fn every_target_is_known_everywhere() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let read = |path: &str| std::fs::read_to_string(format!("{root}/{path}")).unwrap();
    let (manifest, checks, tests) =
        (read("fuzz/Cargo.toml"), read("fuzz/src/lib.rs"), read("tests/tests/fuzz/main.rs"));
    let mut names: Vec<String> = std::fs::read_dir(format!("{root}/fuzz/fuzz_targets"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort_unstable();
    let declared = checks.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    assert_eq!(names, declared.collect::<Vec<_>>());
    for name in names {
        assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"")), "{name}");
        assert!(
            read(&format!("fuzz/fuzz_targets/{name}.rs")).contains(&format!("handoffd_fuzz::{name}::check(")),
            "{name}"
        );
        assert!(tests.contains(&format!("fn {name}() {{")), "{name}");
    }
}

/// Texts with 0xFF between them, as both targets cut them.
fn texts() -> Vec<Vec<u8>> {
    let many = LINES.iter().map(|line| [line.as_bytes(), b"\xff"].concat());
    let each = |byte: u8| [vec![byte], many.clone().flatten().collect()].concat();
    vec![each(b'a'), each(b'b'), b"x".to_vec(), vec![0xff; 40]]
}
