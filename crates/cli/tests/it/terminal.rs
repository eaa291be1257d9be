//! What must never happen to a terminal or a pipe, whatever the command (F117, F218, F219).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use crate::env::{TestEnv, VALID};

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let env = TestEnv::new();
    env.file("tasks.json", VALID);
    for arguments in [&["lint"][..], &["schema", "wire"], &["completions", "bash"], &["--help"], &["projects", "list"]]
    {
        let mut command = env.command();
        let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!told.contains("panicked") && !told.contains("Broken pipe"), "{arguments:?}: {told}");
        assert!(output.status.code().is_some_and(|code| code < 2), "{arguments:?}: {told}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_an_ordinary_error() {
    let odd = OsStr::from_bytes(b"p\xff");
    let env = TestEnv::new();
    for before in
        [&["lint"][..], &["report", "check"], &["init"], &["submit"], &["submit", "--instruction"], &["wait", "-p"]]
    {
        let said = env.said(env.command().args(before).arg(odd));
        assert!((1..=4).contains(&said.code), "{before:?}: {said}");
        assert!(!said.stderr.contains("panicked"), "{said}");
    }
    let odd_home = env.root().join(odd);
    std::fs::create_dir(&odd_home).unwrap();
    let said = env.said(env.command().env("HOME", &odd_home).env("HANDOFF_AGENT_ID", odd).args(["projects", "list"]));
    assert_eq!(said.code, 0, "{said}");
}

#[test]
fn foreign_text_cannot_command_the_terminal() {
    let env = TestEnv::new();
    env.file("tasks.json", VALID.replace("IMPLEMENT", "\\u001b[2J\\u202eevil\\u200b"));
    let said = env.run(&["lint"]);
    assert!(said.stdout.contains("evil"), "{said}");
    assert!(!said.stdout.contains(['\u{1b}', '\u{202e}', '\u{200b}']), "{said:?}");
}
