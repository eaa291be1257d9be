//! The launch agent: well-formed, and with the same meaning as the unit. `plutil` is asked, too, where there is one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use handoffd_tests::binaries::binaries;
use handoffd_tests::wait;
use libtest_mimic::Trial;

use crate::fixture::said;

#[derive(Debug, PartialEq, Eq)]
enum Value {
    Text(String),
    Number(i64),
    Truth(bool),
    List(Vec<Self>),
    Dict(BTreeMap<String, Self>),
}

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |name: &str, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    vec![
        trial("plist_is_sound_and_means_the_same", check),
        trial("f133_launchd_is_told_that_another_start_would_not_help", launchd_is_told),
    ]
}

/// launchd starts again whatever does not end with 0.
fn launchd_is_told() {
    let home = tempfile::tempdir().unwrap();
    let run = |variable: Option<&str>| {
        let mut command = Command::new(&binaries().handoffd);
        command.env_clear().env("HOME", home.path()).envs(variable.map(|value| ("HANDOFFD_SUPERVISOR", value)));
        command.args(["--config", "config.toml"]).current_dir(home.path());
        said(&mut command)
    };
    std::fs::write(home.path().join("config.toml"), "[log]\nlevel = \"loud\"\n").unwrap();
    for (variable, code) in [(None, 2), (Some("launchd"), 0)] {
        let said = run(variable);
        assert!(said.code == code && said.err.contains("`log.level`"), "{said:?}");
    }
    std::fs::write(home.path().join("config.toml"), "").unwrap();
    let mut first = Command::new(&binaries().handoffd);
    let mut first = first.env_clear().env("HOME", home.path()).spawn().unwrap();
    let codes = [None, Some("launchd")].map(|variable| {
        wait::until("the other daemon is named", || {
            let taken = home.path().join(".local/state/handoffd").read_dir().ok()?.flatten();
            let names_it = |path: &Path| {
                path.extension().is_some_and(|end| end == "lock")
                    && std::fs::read(path).is_ok_and(|text| !text.is_empty())
            };
            taken.into_iter().any(|entry| names_it(&entry.path())).then(|| run(variable).code)
        })
    });
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(codes, [3, 0]);
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("launchd/io.github.handoffd.plist")
}

fn check() {
    let Value::Dict(agent) = parse(&std::fs::read_to_string(file()).unwrap()) else { panic!("the root is a dict") };
    let text = |text: &str| Value::Text(text.to_owned());
    assert_eq!(agent["Label"], text("io.github.handoffd"));
    assert_eq!(agent["ProgramArguments"], Value::List(vec![text("/usr/local/bin/handoffd")]));
    assert_eq!(agent["RunAtLoad"], Value::Truth(true));
    let Value::Dict(keep) = &agent["KeepAlive"] else { panic!("KeepAlive is a dict") };
    assert_eq!(keep["SuccessfulExit"], Value::Truth(false), "as Restart=on-failure");
    assert_eq!(agent["ExitTimeOut"], Value::Number(30), "as TimeoutStopSec");
    let Value::Dict(variables) = &agent["EnvironmentVariables"] else { panic!("variables are a dict") };
    assert_eq!(variables["HANDOFFD_SUPERVISOR"], text("launchd"), "as RestartPreventExitStatus");
    assert!(variables.contains_key("PATH"));
    assert!(matches!(&agent["StandardErrorPath"], Value::Text(path) if path.starts_with('/')), "launchd knows no ~");
    if Path::new("/usr/bin/plutil").exists() {
        assert!(Command::new("plutil").arg("-lint").arg(file()).status().unwrap().success());
    }
}

/// The value of a property list. Panics on anything that is not one.
fn parse(text: &str) -> Value {
    let mut tokens = tokens(text);
    assert_eq!(tokens.remove(0), "<plist version=\"1.0\">");
    assert_eq!(tokens.pop().as_deref(), Some("</plist>"));
    tokens.reverse();
    let value = value(&mut tokens);
    assert!(tokens.is_empty(), "more than one value: {tokens:?}");
    value
}

/// Tags and texts; declaration, document type and comments are checked for their ends and left out.
fn tokens(text: &str) -> Vec<String> {
    let (mut rest, mut tokens) = (text.trim(), Vec::new());
    assert!(rest.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist "));
    while !rest.is_empty() {
        let end = match rest {
            _ if rest.starts_with("<!--") => {
                let end = rest.find("-->").expect("a comment ends");
                assert!(!rest[4..end].contains("--"), "a comment has no --");
                end + 3
            }
            _ if rest.starts_with('<') => rest.find('>').expect("a tag ends") + 1,
            _ => rest.find('<').expect("a text is inside of a tag"),
        };
        let token = &rest[..end];
        if !token.starts_with("<?") && !token.starts_with("<!") {
            tokens.push(token.to_owned());
        }
        rest = rest[end..].trim_start();
    }
    tokens
}

/// Takes one value from the end.
fn value(tokens: &mut Vec<String>) -> Value {
    let mut next = || tokens.pop().expect("a value");
    let opening = next();
    match opening.as_str() {
        "<true/>" => Value::Truth(true),
        "<false/>" => Value::Truth(false),
        "<string>" | "<integer>" => {
            let text = next();
            assert_eq!(next(), opening.replace('<', "</"));
            if opening == "<string>" { Value::Text(text) } else { Value::Number(text.parse().expect("a number")) }
        }
        "<array>" => {
            let mut list = Vec::new();
            while tokens.last().is_some_and(|token| token != "</array>") {
                list.push(value(tokens));
            }
            tokens.pop();
            Value::List(list)
        }
        "<dict>" => {
            let mut dict = BTreeMap::new();
            while tokens.pop().is_some_and(|token| token == "<key>") {
                let key = tokens.pop().expect("a key");
                assert_eq!(tokens.pop().as_deref(), Some("</key>"));
                assert!(dict.insert(key, value(tokens)).is_none(), "a key twice");
            }
            Value::Dict(dict)
        }
        other => panic!("{other} is no value"),
    }
}
