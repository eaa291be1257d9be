//! The way back: what an uninstall kept is taken by the next daemon, before it opens its journal and reads its list.

use std::fs;
use std::path::{Path, PathBuf};

use super::{BACKUP, KeepError, LIST, belongings, file_name, folder, holds_state, is_private, moving, sweep};
use crate::instance::Instance;
use crate::places::Places;
use crate::registry::Registry;

/// What came back.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Back {
    /// Projects that were not on the list.
    pub projects: usize,
    /// Other things, as they are called now.
    pub things: Vec<PathBuf>,
    /// What stays kept, because the state folder has one of its own.
    pub stays: Vec<PathBuf>,
}

/// Takes it back: never over anything that is there. The list of projects is added to the one that is there, because
/// `handoff init` writes that one without a daemon. The proof of the lock keeps everybody else out.
///
/// # Errors
/// [`KeepError`]: what did not come back waits for the next time. A backup that does not is none.
pub fn take_back(places: &Places, _lock: &Instance) -> Result<Back, KeepError> {
    let (kept, mut back) = (folder(places), Back::default());
    if holds_state(places) {
        return Ok(back);
    }
    if !is_private(&kept) {
        if kept.symlink_metadata().is_ok() {
            tracing::warn!(folder = %kept.display(), "others could write what is in there: it is not taken back");
        }
        return Ok(back);
    }
    let mover = sweep(places);
    // The newest file of the journal comes last: as long as it is not there, the journal has not come back.
    let has_journal = places.journal_file().symlink_metadata().is_ok();
    let is_journal = |path: &Path| file_name(path).starts_with("journal-");
    for name in belongings(&kept, places)?.into_iter().rev() {
        let (from, to) = (kept.join(&name), places.state_dir.join(&name));
        if name == LIST {
            match Registry::new(&places.state_dir).take_in(&from, || mover.move_to(&from, &to))? {
                Some(projects) => back.projects += projects,
                None => back.stays.push(from),
            }
        } else if moving::are_same(&from, &to) {
            mover.discard(&from)?;
        } else if to.symlink_metadata().is_ok() || (has_journal && is_journal(&to)) {
            back.stays.push(from);
        } else {
            match mover.move_to(&from, &to) {
                Ok(()) => back.things.push(to),
                // No daemon needs that; without room for it, it starts all the same.
                Err(error) if name == BACKUP => tracing::warn!(%error, "this stays kept until the next start"),
                Err(error) => return Err(error.into()),
            }
        }
    }
    fs::remove_dir(&kept).ok();
    Ok(back)
}

impl Back {
    /// Writes to the log what came back.
    pub(crate) fn tell(&self) {
        if self.projects > 0 || !self.things.is_empty() {
            let (projects, things) = (self.projects, self.things.len());
            tracing::info!(projects, things, "took back what an uninstall had kept");
        }
        for path in &self.stays {
            tracing::info!(path = %path.display(), "this stays kept: the state folder has one of its own");
        }
    }
}
