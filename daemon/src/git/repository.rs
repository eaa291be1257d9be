//! Finding the repository that a folder belongs to, as git does: the nearest `.git` upward, a folder or a file that
//! names one (linked worktrees, submodules). Only names and small pointer files are read here.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::CannotTell;
use super::read::{self, Links};

/// The largest `.git` or `commondir` file that is read: a path and a few words.
const MAX_POINTER: u64 = 8 * 1024;

/// Where one working tree keeps what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    /// The folder that holds `.git`.
    pub(super) work_tree: PathBuf,
    /// The folder with this working tree's own index.
    pub(super) git_dir: PathBuf,
    /// The folder shared by all working trees of the repository; the same as `git_dir` for the main one.
    pub(super) common_dir: PathBuf,
}

/// The repository whose working tree holds `folder`, an absolute path without links or dot segments.
pub(super) fn find(folder: &Path) -> Result<Option<Repository>, CannotTell> {
    for work_tree in folder.ancestors() {
        let dot_git = work_tree.join(".git");
        let kind = match fs::metadata(&dot_git) {
            Ok(meta) => meta.file_type(),
            Err(error) if read::is_missing(&error) => continue,
            Err(error) => return Err(CannotTell::io("look at", &dot_git, &error)),
        };
        if kind.is_dir() {
            // Git passes over a folder that only has the name.
            if let Some(common_dir) = common_dir(&dot_git)? {
                return Ok(Some(Repository { work_tree: work_tree.to_owned(), git_dir: dot_git, common_dir }));
            }
            continue;
        }
        let git_dir = follow_pointer(work_tree, &dot_git)?;
        let Some(common_dir) = common_dir(&git_dir)? else {
            return Err(CannotTell::format(&dot_git, format!("{} is no git folder", git_dir.display())));
        };
        return Ok(Some(Repository { work_tree: work_tree.to_owned(), git_dir, common_dir }));
    }
    Ok(None)
}

/// A `.git` file: `gitdir: ` and a path, absolute or relative to the file's folder.
fn follow_pointer(work_tree: &Path, dot_git: &Path) -> Result<PathBuf, CannotTell> {
    let text = read::text(dot_git, MAX_POINTER, Links::Follow)?.unwrap_or_default();
    let target = text.strip_prefix("gitdir: ").map(|path| path.trim_end_matches(['\n', '\r']));
    match target {
        Some(path) if !path.is_empty() && !path.contains('\0') => Ok(work_tree.join(path)),
        _ => Err(CannotTell::format(dot_git, "it does not begin with `gitdir: ` and a path")),
    }
}

/// The common folder of `git_dir`, or `None` when it is no git folder: it must have `HEAD`, `objects` and `refs`.
fn common_dir(git_dir: &Path) -> Result<Option<PathBuf>, CannotTell> {
    let pointer = git_dir.join("commondir");
    let common = match read::text(&pointer, MAX_POINTER, Links::Follow)? {
        Some(text) => git_dir.join(text.trim_end_matches(['\n', '\r'])),
        None => git_dir.to_owned(),
    };
    let complete = fs::symlink_metadata(git_dir.join("HEAD")).is_ok_and(|meta| !meta.is_dir())
        && common.join("objects").is_dir()
        && common.join("refs").is_dir();
    Ok(complete.then_some(common))
}
