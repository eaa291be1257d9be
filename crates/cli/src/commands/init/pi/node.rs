//! The Node that starts Pi: Pi's program is a script, and its package says which Node it needs. An older one ends at Pi's first
//! line, with words about its syntax.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::versions::{Version, program};
use crate::spawn;

/// The most of a first line that systems look at.
const MAX_LINE: u64 = 256;
/// How long Node may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why this Pi cannot be started, as far as that can be known, and what to do about it.
pub(super) fn judge(pi: &Path, needed: Option<&str>, path: &OsStr) -> Option<(String, String)> {
    // Of a range that is more than its lower end nothing is known here.
    let needed = needed.and_then(|range| range.trim().strip_prefix(">=")).map(str::trim);
    let install = match needed {
        Some(version) => format!("put Node {version} or newer first in the PATH"),
        None => "put Node first in the PATH".to_owned(),
    };
    let Some(node) = interpreter(&first_line(pi)?, path)? else {
        return Some((format!("{} cannot start: there is no `node` in the PATH", pi.display()), install));
    };
    let told = match spawn::told(node.to_str()?, &["--version"], None, PATIENCE) {
        Ok(told) => told,
        Err(error) => return Some((format!("{} cannot start: {error}", pi.display()), install)),
    };
    let told = told.trim().trim_start_matches('v');
    let is_old = Version::parse(told)? < Version::parse(needed?)?;
    is_old.then(|| {
        let what =
            format!("{} cannot start: {} is Node {told}, and it needs {}", pi.display(), node.display(), needed?);
        Some((what, install))
    })?
}

fn first_line(program: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(program).ok()?.take(MAX_LINE).read_to_end(&mut bytes).ok()?;
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    String::from_utf8(line.to_vec()).ok()
}

/// The Node that a script's first line names; `None` if it names another program, `Some(None)` if it is not there.
fn interpreter(line: &str, path: &OsStr) -> Option<Option<PathBuf>> {
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    let first = Path::new(words.next()?);
    if first.file_name()? == "env" {
        let name = words.find(|word| !word.starts_with('-'))?;
        return (name == "node").then(|| program(name, path));
    }
    (first.file_name()? == "node").then(|| first.is_file().then(|| first.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<Option<&str>>) {
        let path = OsStr::new("/no/such/folder");
        assert_eq!(interpreter(line, path), expected.map(|node| node.map(PathBuf::from)), "{line}");
    }

    #[test]
    fn a_first_line_names_node_or_another_program() {
        check("#!/usr/bin/env node", Some(None));
        check("#! /usr/bin/env -S node --no-warnings", Some(None));
        check("#!/no/such/node", Some(None));
        check("#!/bin/sh", None);
        check("#!/usr/bin/env bash", None);
        check("#!/usr/bin/env", None);
        check("\u{7f}ELF", None);
        check("", None);
    }
}
