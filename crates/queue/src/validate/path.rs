//! Paths that others wrote: one code each, the first that fits (D7, D47). Also used for `files_changed` (D58).
//!
//! The file system is asked through [`ProjectPaths`] only.

use std::borrow::Cow;

use crate::json::Raw;
use crate::text::{Shown, is_blank};
use crate::{Code, Kind, Problem, ProjectPaths, Resolution, limits};

/// What a path is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathUse {
    /// Relative; need not exist; must not be a pattern.
    Scope,
    /// Relative or absolute; an existing directory.
    WorkingDir,
    /// Relative; need not exist.
    ChangedFile,
}

/// Checks one path; `paths` absent: as written only.
///
/// # Errors
/// The one problem of this path.
pub(crate) fn check_path<'a>(
    field: &str,
    raw: Raw<'a>,
    purpose: PathUse,
    paths: Option<&dyn ProjectPaths>,
) -> Result<Cow<'a, str>, Problem> {
    let fail = |code, rest: String| Err(Problem::at(field, code, rest));
    let Some(path) = raw.as_str() else {
        return fail(Code::WrongType, format!("is {}; it must be a string", raw.kind().described()));
    };
    let shown = Shown(&path);
    if is_blank(&path) {
        return fail(Code::BlankField, "is blank; `.` is the whole project".into());
    }
    if path.contains('\0') {
        return fail(Code::InvalidPath, format!("is {shown}; a path cannot hold a NUL"));
    }
    if purpose == PathUse::Scope && path.len() > limits::PATH_BYTES {
        let rest = format!("has {} bytes; no system takes a path of more than {}", path.len(), limits::PATH_BYTES);
        return fail(Code::InvalidPath, rest);
    }
    if path.starts_with('/') && purpose != PathUse::WorkingDir {
        return fail(Code::PathAbsolute, format!("is {shown}; write it relative to the project's root"));
    }
    if leaves_as_written(&path, paths) {
        return fail(
            Code::PathOutsideProject,
            format!("is {shown}, which leads out of the project; name a path inside it"),
        );
    }
    if purpose == PathUse::Scope && is_root_in_disguise(&path) {
        let rest = format!("is {shown}, which climbs back to the project's root; `.` is the whole project");
        return fail(Code::PathOutsideProject, rest);
    }
    let Some(paths) = paths else { return Ok(path) };
    let found = paths.resolve(&path);
    if let Some(hint) = pattern_hint(&path).filter(|_| purpose == PathUse::Scope && !exists(&found)) {
        return fail(Code::PathPattern, format!("is {shown}, and nothing has that name; {hint}"));
    }
    match judge(purpose, &found) {
        None => Ok(path),
        Some((code, what)) => fail(code, format!("is {shown}, {what}")),
    }
}

/// What is wrong with where the path leads.
fn judge(purpose: PathUse, found: &Resolution) -> Option<(Code, &'static str)> {
    let is_working_dir = purpose == PathUse::WorkingDir;
    match found {
        Resolution::Outside { .. } => {
            Some((Code::PathOutsideProject, "which leads out of the project through a link; name a path inside it"))
        }
        // What does not resolve is not found where something must exist, else it is not inside (D7).
        Resolution::Loop if is_working_dir => Some((Code::PathNotFound, "which runs into a loop of links")),
        Resolution::Loop => Some((Code::PathOutsideProject, "which runs into a loop of links")),
        Resolution::Inside { kind: Kind::Missing, .. } if is_working_dir => {
            Some((Code::PathNotFound, "which does not exist; create it or name an existing folder"))
        }
        Resolution::Inside { kind: Kind::Other, .. } if is_working_dir => {
            Some((Code::PathNotDirectory, "which is not a folder"))
        }
        Resolution::Inside { .. } => None,
    }
}

/// Whether the path leaves the project anywhere on its way, links not regarded; an absolute one must begin with the
/// project's own path.
pub(crate) fn leaves_as_written(path: &str, paths: Option<&dyn ProjectPaths>) -> bool {
    let mut parts = parts(path);
    if path.starts_with('/') {
        let Some(paths) = paths else { return false };
        for part in self::parts(paths.root()) {
            if parts.next() != Some(part) {
                return true;
            }
        }
    }
    let mut depth = 0_usize;
    for part in parts {
        if part != ".." {
            depth += 1;
        } else if depth == 0 {
            return true;
        } else {
            depth -= 1;
        }
    }
    false
}

/// Whether an entry reads as if it were something below, as `src/..`, and is the whole project (D7).
fn is_root_in_disguise(path: &str) -> bool {
    parts(path).any(|part| part == "..") && lexical(path) == "."
}

/// The parts of a path without empty ones and single dots.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !matches!(*part, "" | "."))
}

/// A relative path without dot segments, repeated and trailing slashes; `.` is the root. Links are not regarded.
pub(crate) fn lexical(path: &str) -> String {
    let mut kept = Vec::new();
    for part in parts(path) {
        match part {
            ".." => kept.truncate(kept.len().saturating_sub(1)),
            _ => kept.push(part),
        }
    }
    if kept.is_empty() { ".".to_owned() } else { kept.join("/") }
}

/// What to write instead, if the path looks like a pattern or another system's spelling (D7, D47).
fn pattern_hint(path: &str) -> Option<&'static str> {
    if path.contains('*') {
        Some("patterns are not expanded: name the folder, it covers all beneath it")
    } else if path == "~" || path.starts_with("~/") {
        Some("`~` is not expanded: write it relative to the project's root")
    } else if has_drive_letter(path) {
        Some("write it relative to the project's root, without a drive")
    } else if path.contains('\\') {
        Some("separate folders with `/`")
    } else {
        None
    }
}

fn has_drive_letter(path: &str) -> bool {
    match path.as_bytes() {
        [letter, b':', rest @ ..] => letter.is_ascii_alphabetic() && matches!(rest.first(), None | Some(b'/' | b'\\')),
        _ => false,
    }
}

/// Whether a path that looks like a pattern exists literally, wherever it leads.
fn exists(found: &Resolution) -> bool {
    match found {
        Resolution::Inside { kind, .. } => *kind != Kind::Missing,
        Resolution::Outside { exists } => *exists,
        Resolution::Loop => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_anywhere_counts_even_when_it_comes_back() {
        for path in ["..", "a/../..", "../p", "./../p/a", "a/b/../../../p/a"] {
            assert!(leaves_as_written(path, None), "{path}");
        }
        for path in [".", "a/..", "a//b/", "..a", "a/../b/./..", "..."] {
            assert!(!leaves_as_written(path, None), "{path}");
        }
    }

    #[test]
    fn lexical_form() {
        for (path, expected) in
            [("./src//main.rs", "src/main.rs"), ("a/..", "."), (".", "."), ("a/b/../c/", "a/c"), ("..x/y", "..x/y")]
        {
            assert_eq!(lexical(path), expected, "{path}");
        }
    }

    #[test]
    fn drive_letters() {
        for path in ["C:", "c:/x", "Z:\\x"] {
            assert!(has_drive_letter(path), "{path}");
        }
        for path in ["C", "CC:/x", "1:/x", "c:x", ":/", "é:/x"] {
            assert!(!has_drive_letter(path), "{path}");
        }
    }
}
