//! Which folder is the project for pi-subagents: not always the working directory. Never look for profiles here.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::disk::Disk;
use crate::note::{Note, Reason};
use crate::settings;

/// The folder whose `.pi` and `.agents` count: the nearest upward that has one of them, or, when the settings of the
/// nearest candidate that says something say `git-root`, the root of the git repository.
///
/// # Errors
///
/// [`Reason::SettingsUnusable`] for a settings file on the way that pi-subagents cannot use.
pub(crate) fn project_root(disk: &Disk, start: &Path) -> Result<Option<PathBuf>, Note> {
    let candidates: Vec<_> = start.ancestors().filter(|dir| is_project_root(disk, dir)).collect();
    let Some(nearest) = candidates.first() else { return Ok(None) };
    for (index, candidate) in candidates.iter().enumerate() {
        match resolution(disk, candidate)? {
            None => {}
            Some(Resolution::Nearest) => break,
            Some(Resolution::GitRoot) => {
                let git_root = start.ancestors().find(|dir| disk.exists(&dir.join(".git")));
                let of_git = candidates[index..].iter().find(|dir| Some(**dir) == git_root);
                let own = Some(candidate).filter(|dir| disk.exists(&dir.join(".git")));
                return Ok(Some(of_git.or(own).unwrap_or(nearest).to_path_buf()));
            }
        }
    }
    Ok(Some(nearest.to_path_buf()))
}

/// Whether a folder is a project of its own in the eyes of pi-subagents.
pub(crate) fn is_project_root(disk: &Disk, dir: &Path) -> bool {
    disk.is_dir(&dir.join(".pi")) || disk.is_dir(&dir.join(".agents"))
}

/// The file with the project's settings.
pub(crate) fn settings_file(project_root: &Path) -> PathBuf {
    project_root.join(".pi/settings.json")
}

enum Resolution {
    Nearest,
    GitRoot,
}

fn resolution(disk: &Disk, candidate: &Path) -> Result<Option<Resolution>, Note> {
    let path = settings_file(candidate);
    let object = settings::read_object(disk, &path)?;
    match settings::subagents(&object).and_then(|subagents| subagents.get("projectRootResolution")) {
        None => Ok(None),
        Some(Value::String(word)) if word == "nearest" => Ok(Some(Resolution::Nearest)),
        Some(Value::String(word)) if word == "git-root" => Ok(Some(Resolution::GitRoot)),
        Some(_) => {
            let fault = "`projectRootResolution` is neither `nearest` nor `git-root`".to_owned();
            Err(Note::new(path, Reason::SettingsUnusable(fault)))
        }
    }
}
