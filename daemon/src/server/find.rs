//! Which project a client means: by path, by folder, by name (D72).
//!
//! Paths of clients may lead to file systems that hang: they are looked at on the pool, and no project's own folder is
//! looked at for them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use wire::error::{ErrorCode, ErrorObject, Refusal};

use crate::folder_id::FolderId;
use crate::hub::Hub;
use crate::projects::Entry;
use crate::registry::{Candidate, enclosing};

/// What a folder turned out to be.
#[derive(Debug)]
pub(super) struct Folder {
    /// With links resolved, where that was possible.
    pub(super) path: PathBuf,
    /// Its identity; `None` while there is no such folder.
    pub(super) id: Option<FolderId>,
}

/// The project that a control request names: an absolute path (any spelling of its root), or a name that fits one.
///
/// # Errors
/// `unknown_project` with a hint.
pub(super) async fn named(hub: &Arc<Hub>, wanted: &str) -> Result<Entry, ErrorObject> {
    if wanted.starts_with('/') {
        if let Some(entry) = hub.projects.by_path(Path::new(wanted)) {
            return Ok(entry);
        }
        let folder = look_at(hub, wanted).await?;
        return by_folder(hub, &folder).ok_or_else(|| unknown(hub, wanted, &folder.path).into());
    }
    let mut fits = hub.projects.named(wanted);
    match (fits.pop(), fits.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(_), false) => {
            let message = format!("{} is the name of several projects; give the path of one", quoted(wanted));
            Err(Refusal::unknown_project(message, None).into())
        }
        (None, _) => {
            let message = format!("no project has the name {}; `handoff projects list` shows all", quoted(wanted));
            Err(Refusal::unknown_project(message, None).into())
        }
    }
}

/// Looks at a folder that a client names.
///
/// # Errors
/// An internal error if that cannot be done.
pub(super) async fn look_at(hub: &Arc<Hub>, path: &str) -> Result<Folder, ErrorObject> {
    let path = PathBuf::from(path);
    let look = move || {
        let id = FolderId::of(&path).ok();
        Folder { path: path.canonicalize().unwrap_or(path), id }
    };
    hub.pool.run(look).await.map_err(|error| ErrorObject::internal(&error.to_string()))
}

/// The project whose root this folder is, never one above it.
pub(super) fn by_folder(hub: &Hub, folder: &Folder) -> Option<Entry> {
    let by_path = hub.projects.by_path(&folder.path);
    by_path.or_else(|| folder.id.and_then(|id| hub.projects.by_folder(id)))
}

/// `unknown_project` for a folder, with the project around it (D72).
pub(super) fn unknown(hub: &Hub, wanted: &str, resolved: &Path) -> Refusal {
    let all = hub.projects.all();
    let candidates: Vec<Candidate<'_>> =
        all.iter().map(|project| Candidate { path: &project.path, name: None }).collect();
    let nearest = enclosing(&candidates, resolved).map(|path| path.to_string_lossy().into_owned());
    let message = match &nearest {
        Some(root) => format!("{} is no project's root; the project around it is {root}", quoted(wanted)),
        None => format!("{} is no project; `handoff init` there makes it one", quoted(wanted)),
    };
    Refusal::unknown_project(message, nearest)
}

/// The refusal of a disabled project.
pub(super) fn disabled() -> Refusal {
    Refusal::new(ErrorCode::ProjectDisabled, "the project is disabled; `handoff enable` takes it up again")
}

/// Foreign text in a message: quoted as JSON, so that it is one line and its end can be seen; not endless.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(200).collect();
    serde_json::to_string(&short).unwrap_or_default()
}
