//! `files_changed`: inside the project and inside `scope`, as written and as resolved (D29, D54, D58).

use super::object::{Object, wrong_type};
use crate::json::Raw;
use crate::text::{Shown, cut};
use crate::validate::{PathUse, check_path, leaves_as_written, lexical};
use crate::{Code, Planner, Problem, ProjectPaths, Resolution, limits};

/// Spellings in messages are cut here, in Unicode scalar values.
const SPELLED_CHARS: usize = 60;

/// Notes every changed file that the task may not have changed.
pub(super) fn check(report: &Object<'_>, planner: &Planner, paths: &dyn ProjectPaths, problems: &mut Vec<Problem>) {
    let name = "files_changed";
    let Some(raw) = report.get(name) else { return };
    let Some(files) = raw.items() else {
        problems.push(wrong_type(name, raw, "an array of strings"));
        return;
    };
    if !files.is_empty() && !planner.task_type.writes() {
        let rest = format!("has {} entries, but a task of type `{}` changes no files", files.len(), planner.task_type);
        problems.push(Problem::at(name, Code::FilesOnReadOnlyTask, rest));
        return;
    }
    let scope = Scope::of(planner, paths);
    let files = files.into_iter().enumerate();
    let faults = files.filter_map(|(index, raw)| check_file(&format!("{name}[{index}]"), raw, &scope, paths));
    problems.extend(faults.take(limits::PROBLEMS_OF_A_LIST));
}

fn check_file(field: &str, raw: Raw<'_>, scope: &Scope, paths: &dyn ProjectPaths) -> Option<Problem> {
    let path = match check_path(field, raw, PathUse::ChangedFile, Some(paths)) {
        Ok(path) => path,
        Err(problem) => return Some(problem),
    };
    if scope.covers(&path, paths) {
        return None;
    }
    let near = scope.near(&path).unwrap_or_default();
    let rest = format!("is {}, which no entry of `scope` covers{near}", Shown(&path));
    Some(Problem::at(field, Code::FileOutsideScope, rest))
}

/// The entries of `scope`, in both forms.
struct Scope {
    written: Vec<String>,
    resolved: Vec<String>,
}

impl Scope {
    fn of(planner: &Planner, paths: &dyn ProjectPaths) -> Self {
        let written = planner.scope.iter().map(|entry| lexical(entry)).collect();
        let resolved = planner.scope.iter().filter_map(|entry| resolved(entry, paths)).collect();
        Self { written, resolved }
    }

    fn covers(&self, path: &str, paths: &dyn ProjectPaths) -> bool {
        let is_covered = |path: &str, entries: &[String]| entries.iter().any(|entry| is_beneath(path, entry));
        is_covered(&lexical(path), &self.written)
            && resolved(path, paths).is_some_and(|path| is_covered(&path, &self.resolved))
    }

    /// Points at an entry that a person takes for the same, where the file system does not (F212, F214).
    fn near(&self, path: &str) -> Option<String> {
        let path = lexical(path);
        if self.written.iter().any(|entry| is_beneath(&path, entry)) {
            return None;
        }
        self.written.iter().enumerate().find_map(|(index, entry)| {
            if is_beneath(&path.to_lowercase(), &entry.to_lowercase()) {
                return Some(format!("; `scope[{index}]` differs from it in letter case only"));
            }
            let is_alike = has_marks(&path) != has_marks(entry) && is_beneath(&bare(&path), &bare(entry));
            is_alike.then(|| {
                let (entry, path) = (spelled(entry), spelled(&path));
                format!("; `scope[{index}]` looks like it, but is spelled `{entry}`, and this `{path}`")
            })
        })
    }
}

/// A mark that goes with the letter before it, as the accent of a decomposed one.
const fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

fn has_marks(text: &str) -> bool {
    text.chars().any(is_mark)
}

/// Without letters that have an accent, however they are composed: good enough for a hint, and no table is needed.
fn bare(text: &str) -> String {
    let mut out = String::new();
    let mut marked = false;
    for c in text.chars() {
        if is_mark(c) && !marked {
            out.pop();
        }
        marked = is_mark(c);
        if !marked && !matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') {
            out.push(c);
        }
    }
    out
}

/// With every character that is not plain as its number, and cut.
fn spelled(text: &str) -> String {
    let escaped = |c: char| if c.is_ascii() { c.escape_default().to_string() } else { c.escape_unicode().to_string() };
    cut(text, SPELLED_CHARS).chars().map(escaped).collect()
}

fn resolved(path: &str, paths: &dyn ProjectPaths) -> Option<String> {
    match paths.resolve(path) {
        Resolution::Inside { relative, .. } => Some(relative),
        Resolution::Outside { .. } | Resolution::Loop => None,
    }
}

/// Whether `path` is `entry` or beneath it; both without dot segments and trailing slashes.
fn is_beneath(path: &str, entry: &str) -> bool {
    entry == "." || path.strip_prefix(entry).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The files as they are stored: relative ones without dot segments, each once (D54). An ERROR report may name files
/// outside the project; those stay as written.
pub(super) fn normalized<'a>(files: impl Iterator<Item = std::borrow::Cow<'a, str>>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for file in files {
        let is_plain = !file.starts_with('/') && !leaves_as_written(&file, None);
        let file = if is_plain { lexical(&file) } else { file.into_owned() };
        if seen.insert(file.clone()) {
            kept.push(file);
        }
    }
    kept
}
