//! Which Pi and which pi-subagents are there, and whether they fit the extension and each other. Neither is started: a package
//! says its version in its manifest.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use handoffd::env::Env;
use serde_json::Value;

use super::package::manifest;
use super::{Versions, node};
use crate::context::Context;
use crate::text::{Line, Tone};

const PI: &str = "@earendil-works/pi-coding-agent";
const SUBAGENTS: &str = "pi-subagents";
/// The newest Pi with which everything works; the newest of all is not.
const PAIR: &str = "@0.87";
/// The oldest and the newest Pi that the extension is tested with.
const TESTED: [Version; 2] = [Version(0, 85, 0), Version(1, 6, u64::MAX)];
/// The first Pi on which pi-subagents up to `LAST_BEFORE` cannot start background runs.
const SINCE: Version = Version(1, 0, 0);
const LAST_BEFORE: Version = Version(0, 67, u64::MAX);

/// `major.minor.patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(u64, u64, u64);

impl Version {
    /// What follows the numbers (`-beta.1`) is not looked at.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(['.', '-', '+']).map(str::parse::<u64>);
        Some(Self(numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}

/// Says what was found and what is missing.
pub(super) fn tell(ctx: &mut Context, agent_dir: &Path, packages: &[String]) {
    let found = find(&ctx.env, agent_dir, packages);
    for (what, remedy) in found.cannot_start.iter().chain(&found.remarks) {
        ctx.out.warn(&format!("{what}; this helps: {remedy}"));
    }
    if let Some(version) = &found.pi {
        let pi = match version {
            Some(version) => format!("Pi {version}"),
            None => "a Pi that does not tell its version (0.85 or newer is needed)".to_owned(),
        };
        let with = found.subagents.map(|version| format!(" and pi-subagents {version}")).unwrap_or_default();
        ctx.out.line(Line::of(Tone::Dim, "found").plain(&format!(" {pi}{with}")));
    }
}

/// What is there, and what does not fit.
pub(super) fn find(env: &Env, agent_dir: &Path, packages: &[String]) -> Versions {
    let path = env.path.as_deref().unwrap_or_default();
    let program = program("pi", path);
    let package = program.as_deref().map(package_of);
    let pi = package.as_ref().map(|package| package.as_ref().and_then(version));
    let needed = package.as_ref().and_then(Option::as_ref).and_then(|manifest| manifest["engines"]["node"].as_str());
    let cannot_start = program.and_then(|program| node::judge(&program, needed, path));
    let named = packages.iter().map(|source| agent_dir.join(source.strip_prefix("file:").unwrap_or(source)));
    let places = std::iter::once(agent_dir.join("npm/node_modules").join(SUBAGENTS)).chain(named);
    let subagents = places.filter_map(|place| version_in(&place, SUBAGENTS)).next();
    let remarks = remarks(pi.as_ref().map(Option::as_deref), subagents.as_deref());
    Versions { pi, subagents, remarks, cannot_start, settings_fault: None }
}

/// What does not fit, and what to do about it. `None`: there is no Pi; `Some(None)`: there is one that does not say which.
fn remarks(pi: Option<Option<&str>>, subagents: Option<&str>) -> Vec<(String, String)> {
    let mut remarks = Vec::new();
    let version = pi.flatten().and_then(Version::parse);
    match (pi, version) {
        (None, _) => remarks.push(("`pi` is not in the PATH".to_owned(), format!("npm install -g {PI}{PAIR}"))),
        (Some(Some(told)), Some(version)) if version < TESTED[0] => remarks.push((
            format!("Pi {told} is older than what the extension is made for (0.85 to 1.6), and may not load it"),
            format!("npm install -g {PI}{PAIR}"),
        )),
        (Some(Some(told)), Some(version)) if version > TESTED[1] => {
            remarks.push((
                format!("Pi {told} is newer than what the extension was tested with (0.85 to 1.6)"),
                "try it with a small task; a newer handoffd may know it".to_owned(),
            ));
        }
        _ => {}
    }
    match (subagents, subagents.and_then(Version::parse)) {
        (None, _) => remarks.push((
            format!("{SUBAGENTS} is not installed, and without it a task cannot be delegated"),
            format!("pi install npm:{SUBAGENTS}"),
        )),
        (Some(told), Some(there)) if there <= LAST_BEFORE && version.is_some_and(|pi| pi >= SINCE) => {
            remarks.push((
                format!(
                    "{SUBAGENTS} {told} cannot start background runs on Pi 1.0 and later; foreground runs work, and with \
                     Pi 0.87 both do"
                ),
                format!("npm install -g {PI}{PAIR}"),
            ));
        }
        _ => {}
    }
    remarks
}

/// A program in the PATH.
pub(super) fn program(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// The manifest of the package that Pi's program belongs to. A program that is one file tells nothing.
fn package_of(program: &Path) -> Option<Value> {
    let real = program.canonicalize().ok()?;
    real.ancestors().skip(1).take(6).find_map(|folder| named(folder, PI))
}

fn version_in(folder: &Path, name: &str) -> Option<String> {
    version(&named(folder, name)?)
}

fn named(folder: &Path, name: &str) -> Option<Value> {
    manifest(folder).filter(|manifest| manifest["name"] == name)
}

fn version(manifest: &Value) -> Option<String> {
    manifest["version"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pi: Option<Option<&str>>, subagents: Option<&str>, expected: &[&str]) {
        let remarks = remarks(pi, subagents);
        assert_eq!(remarks.len(), expected.len(), "{remarks:?}");
        for (remark, part) in remarks.iter().zip(expected) {
            assert!(format!("{remark:?}").contains(part), "{remark:?}");
        }
    }

    #[test]
    fn pairs_that_work_need_no_word() {
        check(Some(Some("0.87.1")), Some("0.67.0"), &[]);
        check(Some(Some("0.85.0")), Some("0.67.0"), &[]);
        check(Some(Some("1.6.2")), Some("0.68.0"), &[]);
        check(Some(None), Some("0.67.0"), &[]);
    }

    #[test]
    fn what_is_missing_or_does_not_fit_is_told_with_the_remedy() {
        check(None, Some("0.67.0"), &["npm install -g"]);
        check(None, None, &["npm install -g", "pi install npm:pi-subagents"]);
        check(Some(Some("0.80.3")), Some("0.67.0"), &["older"]);
        check(Some(Some("1.7.0-beta.1")), Some("0.68.0"), &["newer"]);
        check(Some(Some("1.6.0")), Some("0.67.0"), &["cannot start background runs"]);
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(Version::parse("0.100.0") > Version::parse("0.87.1"));
        assert_eq!(Version::parse("1.2"), None);
        assert_eq!(Version::parse("1.2.3-rc.1"), Some(Version(1, 2, 3)));
    }
}
