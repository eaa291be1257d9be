//! Rules for every text file: white space, numbers that are cited, hosts, and nothing of the machine it was written on.

use std::collections::BTreeSet;

use crate::tree::{TextFile, read, report, root, text_files};

/// Hosts that the repository may name. Anything else is a slip, or belongs here.
const HOSTS: &[&str] = &[
    "github.com",
    "json-schema.org",
    "keepachangelog.com",
    "rustup.rs",
    "semver.org",
    "www.apache.org",
    "www.debian.org",
    "www.apple.com",
    "www.jsonrpc.org",
];

/// Cases with bytes of their own, and texts that are not ours.
fn is_ours(file: &TextFile) -> bool {
    !file.is_below("tests/vectors") && !file.path.contains("/fixtures/") && !file.path.starts_with("LICENSE-")
}

#[test]
fn lines_end_where_their_text_ends() {
    let mut faults = Vec::new();
    for file in text_files().iter().filter(|file| is_ours(file) && !file.is("snap")) {
        let lines = file.text.lines().enumerate();
        faults.extend(
            lines.filter(|(_, line)| line.ends_with([' ', '\t'])).map(|(at, _)| format!("{}:{}", file.path, at + 1)),
        );
        if !file.text.is_empty() && (!file.text.ends_with('\n') || file.text.ends_with("\n\n")) {
            faults.push(format!("{}: ends without exactly one line end", file.path));
        }
    }
    report("no white space at the end of a line, one line end at the end of a file", &faults);
}

#[test]
fn every_cited_decision_exists() {
    let decisions = read("docs/decisions.md");
    let listed: Vec<u32> = decisions
        .lines()
        .filter_map(|line| line.strip_prefix("- **D"))
        .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("a number"))
        .collect();
    let known: BTreeSet<u32> = listed.iter().copied().collect();
    assert_eq!(known.len(), listed.len(), "a decision stands twice in docs/decisions.md");
    assert!(
        known.iter().copied().eq(1..=87),
        "docs/decisions.md must list D1 to D87 (or this test be raised): {known:?}"
    );
    check_cited('D', 1..=2, &known);
}

#[test]
fn every_cited_field_log_entry_exists() {
    let log = read("docs/field-log.md");
    let known =
        log.lines().filter_map(|line| line.strip_prefix("| F")?.get(..3)?.parse().ok()).collect::<BTreeSet<u32>>();
    assert!(known.len() > 100, "docs/field-log.md has only {} entries", known.len());
    check_cited('F', 3..=3, &known);
}

#[track_caller]
fn check_cited(letter: char, digits: std::ops::RangeInclusive<usize>, known: &BTreeSet<u32>) {
    let mut faults = Vec::new();
    for file in text_files().iter().filter(|file| is_ours(file) && (file.is("rs") || file.is("md") || file.is("toml")))
    {
        for (at, line) in file.text.lines().enumerate() {
            let cited = cited(line, letter).filter(|number| digits.contains(&number.len()));
            let unknown = cited.filter(|number| number.parse().is_ok_and(|number| !known.contains(&number)));
            faults.extend(unknown.map(|number| format!("{}:{}: {letter}{number}", file.path, at + 1)));
        }
    }
    report("what is cited by number is listed", &faults);
}

/// The numbers of words such as `D16`, as they are written.
fn cited(line: &str, letter: char) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    words
        .filter_map(move |word| word.strip_prefix(letter))
        .filter(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

#[test]
fn nothing_tells_of_the_machine_it_was_written_on() {
    let root = root().to_str().expect("tests need a path in UTF-8").to_owned();
    let faults: Vec<String> =
        text_files().iter().filter(|file| file.text.contains(&root)).map(|file| file.path.clone()).collect();
    report("no file has the absolute path of this clone", &faults);
}

#[test]
fn only_public_hosts_are_named() {
    let mut faults = Vec::new();
    for file in text_files() {
        let unknown = hosts(&file.text).filter(|host| !HOSTS.contains(host) && !host.contains("example"));
        faults.extend(unknown.map(|host| format!("{}: {host}", file.path)));
    }
    report("every host is listed in `HOSTS`", &faults);
}

/// The hosts of web addresses. `a.b` and the like are no hosts but letters of a test.
fn hosts(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-';
    let addresses = text.split("http").skip(1).filter_map(|rest| rest.trim_start_matches('s').strip_prefix("://"));
    addresses
        .filter_map(move |rest| rest.split(ends).next())
        .map(|host| host.trim_end_matches('.'))
        .filter(|host| host.contains('.') && host.split('.').all(|label| label.len() > 1))
}
