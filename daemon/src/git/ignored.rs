//! Whether git ignores a file: the `.gitignore` files from the working tree's root down to the file, and
//! `.git/info/exclude` (D68). The user's own global ignore file is not looked at, nor is the index: a name that a rule
//! covers counts as ignored even if someone added it by force.

use std::fs;
use std::path::{Component, Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::error::CannotTell;
use super::read::{self, Links};
use super::repository;

/// The largest ignore file that is read.
const MAX_RULES: u64 = 128 * 1024;
/// The most parts that a path below the working tree may have; each part may bring its own rules.
const MAX_DEPTH: usize = 64;

/// What git does with a file that is not yet tracked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ignored {
    /// No rule covers it.
    No,
    /// It is inside a `.git` folder, which git never tracks.
    GitFolder,
    /// A rule covers it, or a folder above it.
    By {
        /// The file that has the rule.
        file: PathBuf,
        /// The rule as written.
        rule: String,
    },
}

/// Whether git ignores `relative`, a path below `project_root` without `..`. Outside of any repository, the project's
/// own `.gitignore` files count.
///
/// # Errors
/// When rules cannot be read, are over 128 KiB in one file, or the path is unusable: the caller should not pass on
/// what may be ignored.
pub fn ignored(project_root: &Path, relative: &str) -> Result<Ignored, CannotTell> {
    let root = fs::canonicalize(project_root).map_err(|error| CannotTell::io("resolve", project_root, &error))?;
    let repository = repository::find(&root)?;
    let work_tree = repository.as_ref().map_or(root.as_path(), |repository| &repository.work_tree);
    let parts = parts(root.strip_prefix(work_tree).unwrap_or(Path::new("")), relative)?;
    if parts.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
        return Ok(Ignored::GitFolder);
    }

    let mut rules = Vec::with_capacity(parts.len() + 1);
    if let Some(repository) = &repository {
        rules.extend(load(work_tree, &repository.common_dir.join("info/exclude"), Links::Follow)?);
    }
    let mut path = work_tree.to_owned();
    for (index, part) in parts.iter().enumerate() {
        rules.extend(load(&path, &path.join(".gitignore"), Links::TreatAsMissing)?);
        path.push(part);
        // An ignored folder ends the search: nothing below it can be taken back.
        if let Some(found) = deepest_match(&rules, &path, index + 1 < parts.len()) {
            return Ok(found);
        }
    }
    Ok(Ignored::No)
}

/// The parts of the path below the working tree's root.
fn parts(prefix: &Path, relative: &str) -> Result<Vec<String>, CannotTell> {
    let unusable = || CannotTell::Path { path: relative.to_owned() };
    let mut parts = Vec::new();
    for component in prefix.join(relative).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str().ok_or_else(unusable)?.to_owned()),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(unusable()),
        }
    }
    if parts.is_empty() || parts.len() > MAX_DEPTH { Err(unusable()) } else { Ok(parts) }
}

/// The rules of one file, for paths below `folder`. A rule that is no valid pattern covers nothing, as in git.
fn load(folder: &Path, file: &Path, links: Links) -> Result<Option<Gitignore>, CannotTell> {
    let Some(text) = read::text(file, MAX_RULES, links)? else { return Ok(None) };
    let mut builder = GitignoreBuilder::new(folder);
    let fault = |error: ignore::Error| CannotTell::format(file, error.to_string());
    builder.case_insensitive(cfg!(target_os = "macos")).map_err(fault)?;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _invalid_rule = builder.add_line(Some(file.to_owned()), line);
    }
    builder.build().map(Some).map_err(fault)
}

/// The last rule of the deepest file that says something about `path` decides.
fn deepest_match(rules: &[Gitignore], path: &Path, is_folder: bool) -> Option<Ignored> {
    rules.iter().rev().find_map(|rules| match rules.matched(path, is_folder) {
        Match::None => None,
        Match::Whitelist(_) => Some(None),
        Match::Ignore(rule) => Some(Some(Ignored::By {
            file: rule.from().map(Path::to_owned).unwrap_or_default(),
            rule: rule.original().to_owned(),
        })),
    })?
}
