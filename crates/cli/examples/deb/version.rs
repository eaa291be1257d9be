//! The version of the package: that of the sources, and between two releases also which commit it was made of. apt takes only a
//! higher one for an update.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;

use jiff::Timestamp;

use crate::output;

/// `0.1.0` of a release, `0.1.0+git20261130081203.0123456789` of a later commit, `….dirty` with changes of one's own.
pub(crate) fn of(root: &Path, version: &str) -> String {
    let Some((seconds, commit)) = head(root) else { return version.to_owned() };
    let is_clean = git(root, &["status", "--porcelain", "--untracked-files=no"]).is_some_and(|told| told.is_empty());
    let tag = format!("v{version}");
    let is_release = git(root, &["tag", "--points-at", "HEAD"]).is_some_and(|tags| tags.lines().any(|one| one == tag));
    if is_clean && is_release {
        return version.to_owned();
    }
    let Ok(time) = Timestamp::from_second(seconds) else { return version.to_owned() };
    let dirty = if is_clean { "" } else { ".dirty" };
    // The time first, since it grows. The length of an abbreviated hash depends on what else the clone holds.
    let commit = commit.get(..10).unwrap_or(&commit);
    format!("{version}+git{}.{commit}{dirty}", time.strftime("%Y%m%d%H%M%S"))
}

/// The last commit of a clone: when, in seconds, and which. A tree that was unpacked inside of another clone is none.
pub(crate) fn head(root: &Path) -> Option<(i64, String)> {
    if !root.join(".git").exists() {
        return None;
    }
    let told = git(root, &["log", "-1", "--format=%ct %H"])?;
    let (seconds, commit) = told.trim().split_once(' ')?;
    Some((seconds.parse().ok()?, commit.to_owned()))
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let told = output(Command::new("git").current_dir(root).args(arguments));
    told.inspect_err(|error| drop(writeln!(io::stderr(), "the version does not tell of the commit: {error}"))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A commit at that time, in seconds.
    fn commit(root: &Path, seconds: i64) {
        let date = format!("@{seconds} +0000");
        let mut git = Command::new("git");
        git.current_dir(root).args(["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q"]);
        git.args(["--allow-empty", "-m", "x"]).env("GIT_COMMITTER_DATE", &date).env("GIT_AUTHOR_DATE", &date);
        output(&mut git).unwrap();
    }

    #[track_caller]
    fn check(root: &Path, begins: &str, ends: &str) -> String {
        let version = of(root, "0.1.0");
        assert!(version.starts_with(begins) && version.ends_with(ends), "{version}");
        version
    }

    #[test]
    fn a_release_has_the_plain_version_and_a_later_commit_a_higher_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(of(root, "0.1.0"), "0.1.0");
        git(root, &["init", "-q"]).unwrap();
        commit(root, 1_767_225_599);
        git(root, &["tag", "v0.1.0"]).unwrap();
        let release = of(root, "0.1.0");
        assert_eq!(release, "0.1.0");
        commit(root, 1_767_225_600);
        let first = check(root, "0.1.0+git20260101000000.", "");
        assert_eq!(first.len(), "0.1.0+git20260101000000.0123456789".len());
        commit(root, 1_767_229_261);
        let second = check(root, "0.1.0+git20260101010101.", "");
        // What git does not know changes nothing, a change does.
        std::fs::write(root.join("a"), "a").unwrap();
        assert_eq!(of(root, "0.1.0"), second);
        git(root, &["add", "a"]).unwrap();
        let dirty = check(root, &second, ".dirty");
        for (low, high) in [(&release, &first), (&first, &second), (&second, &dirty)] {
            assert!(is_lower(low, high), "{low} {high}");
        }
        std::fs::create_dir(root.join("below")).unwrap();
        assert_eq!(of(&root.join("below"), "0.1.0"), "0.1.0");
    }

    /// As dpkg has it, where there is one.
    fn is_lower(low: &str, high: &str) -> bool {
        match Command::new("dpkg").args(["--compare-versions", low, "lt", high]).status() {
            Ok(status) => status.success(),
            Err(_) => low < high,
        }
    }
}
