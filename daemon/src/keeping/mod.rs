//! What outlives an uninstall: everything in the state folder that cannot be made again moves into `kept/` of the log
//! folder, and comes back when a daemon starts. So nothing is left but the logs, and nothing is lost.
//!
//! All of it happens under the instance lock. Each step is one rename or a copy that is whole before the original goes;
//! after an end in the middle both directions can be begun again. What other hosts have in the folder (F084) is theirs.

mod back;
mod moving;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

pub use self::back::{Back, take_back};
use self::moving::Mover;
use crate::files::{FileError, remove_leftovers};
use crate::folder_id::FolderId;
use crate::instance::Instance;
use crate::logging;
use crate::places::Places;
use crate::places::folder::{FolderError, close};
use crate::registry::{Registry, RegistryError};
use crate::server::socket::make_room;

/// The list of projects, which all hosts share.
const LIST: &str = "projects.json";
/// What `handoff doctor --fix` took away, of all hosts.
const BACKUP: &str = "doctor-backup";

/// It could not be kept, or not be taken back; each thing is in one of the two places, whole.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The system refused a step.
    #[error(transparent)]
    File(#[from] FileError),
    /// A folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The list of projects cannot be locked or read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// What became of the state folder.
#[derive(Debug, Default)]
pub struct Left {
    /// What was moved into the folder of kept things, or removed for good: where it stood.
    pub gone: Vec<PathBuf>,
    /// Other hosts that use the state folder: what is theirs, or everybody's, stays.
    pub hosts: Vec<String>,
    /// Names in the state folder that are not known here, the logs left out. They stay.
    pub unknown: Vec<OsString>,
}

/// What is to become of the things that cannot be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// They move into [`folder`].
    Keep,
    /// They are removed, with those that were kept before, and with the logs.
    Remove,
}

/// The folder of kept things.
#[must_use]
pub fn folder(places: &Places) -> PathBuf {
    places.log_dir.join("kept")
}

/// What waits in it, by name.
#[must_use]
pub fn waiting(places: &Places) -> Vec<OsString> {
    let folder = folder(places);
    let is_one = is_private(&folder) && !holds_state(places);
    if is_one { belongings(&folder, places).unwrap_or_default() } else { Vec::new() }
}

/// Whether the folder of kept things is the state folder itself, or around it, under whatever name: what is there is where
/// it belongs, and nothing of it may be moved or removed as a copy. `log.dir` and `daemon.state_dir` can make it so.
fn holds_state(places: &Places) -> bool {
    let Ok(kept) = FolderId::of(&folder(places)) else { return false };
    let Ok(state) = places.state_dir.canonicalize() else { return false };
    state.ancestors().any(|above| FolderId::of(above).is_ok_and(|above| above == kept))
}

/// Empties the state folder of what is this host's, gives up the lock, and removes what is empty then.
///
/// # Errors
/// [`KeepError`]: what was not done yet can be tried again.
pub fn leave(places: &Places, instance: Instance, fate: Fate) -> Result<Left, KeepError> {
    let state = &places.state_dir;
    let mut left = Left { hosts: other_hosts(places)?, ..Left::default() };
    let mover = sweep(places);
    let stays = fate == Fate::Keep && holds_state(places);
    let is_shared = |name: &OsString| name == LIST || name == BACKUP;
    let (shared, own): (Vec<_>, Vec<_>) = belongings(state, places)?.into_iter().partition(is_shared);
    let mut go = |name: &OsString| -> Result<(), KeepError> {
        let path = state.join(name);
        match fate {
            Fate::Remove => remove(&path)?,
            Fate::Keep if is_empty_journal(&path, places) => remove(&path)?,
            Fate::Keep => keep(&mover, &path, &folder(places))?,
        }
        left.gone.push(path);
        Ok(())
    };
    if !stays {
        own.iter().try_for_each(&mut go)?;
    }
    if left.hosts.is_empty() && !stays {
        Registry::new(state).retire(|| shared.iter().try_for_each(&mut go))?;
    }
    if fate == Fate::Remove {
        left.gone.extend(remove_logs(places)?);
    }
    remove_leftovers(&places.owned_file());
    empty_run_folder(places);
    left.unknown = unknown(places)?;
    instance.retire(&places.instance_lock())?;
    // Each stays if it is not empty. A folder elsewhere is the person's.
    if places.log_dir.starts_with(state) {
        fs::remove_dir(&places.log_dir).ok();
    }
    fs::remove_dir(state).ok();
    Ok(left)
}

/// What moves things, once what an earlier end in the middle left of a move is gone: under the instance lock nobody of this
/// host moves anything.
fn sweep(places: &Places) -> Mover {
    let (mover, kept) = (Mover::of(&places.host), folder(places));
    mover.sweep(&places.state_dir);
    if is_private(&kept) {
        mover.sweep(&kept);
    }
    mover
}

/// Names of what cannot be made again, in the order in which they leave: the newest file of the journal goes first and
/// comes back last, so that where it is tells where the journal belongs.
fn belongings(folder: &Path, places: &Places) -> Result<Vec<OsString>, FileError> {
    let journal = file_name(&places.journal_file());
    let owned = file_name(&places.owned_file());
    let is_journal = |name: &str| {
        let rest = name.strip_prefix(journal.as_str());
        rest.is_some_and(|rest| rest.is_empty() || is_number(rest) || rest.starts_with(".odd-"))
    };
    names(folder, |name| name == LIST || name == BACKUP || name == owned || is_journal(name))
}

fn is_number(rest: &str) -> bool {
    rest.strip_prefix('.').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit()))
}

/// Sorted. A folder that is not there has none.
fn names(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<OsString>, FileError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| FileError::io("read", folder, error))?,
    };
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let names = names.collect::<io::Result<Vec<_>>>().map_err(|error| FileError::io("read", folder, error))?;
    let mut names: Vec<OsString> = names.into_iter().filter(|name| wanted(&name.to_string_lossy())).collect();
    names.sort();
    Ok(names)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whose instance lock is there besides ours: running or not, they are installed.
fn other_hosts(places: &Places) -> Result<Vec<String>, FileError> {
    let host = |name: &str| Some(name.strip_prefix("handoffd-")?.strip_suffix(".lock")?.to_owned());
    let locks = names(&places.state_dir, |name| host(name).is_some_and(|host| host != places.host))?;
    Ok(locks.iter().filter_map(|name| host(&name.to_string_lossy())).collect())
}

/// Neither ours, nor the logs, nor another host's.
fn unknown(places: &Places) -> Result<Vec<OsString>, FileError> {
    let state = &places.state_dir;
    let hosts = other_hosts(places)?;
    let logs = logging::files(&places.log_dir).unwrap_or_default();
    let is_log = |path: &Path| {
        [&places.log_dir, &folder(places)].iter().any(|log| log.starts_with(path)) || logs.iter().any(|log| log == path)
    };
    let is_shared = |name: &str| !hosts.is_empty() && [LIST, BACKUP, "projects.lock"].contains(&name);
    let of_a_host = |name: &str| {
        let rest = ["handoffd-", "journal-", "owned-", "log-", "run-"].iter().find_map(|kind| name.strip_prefix(kind));
        rest.is_some_and(|rest| hosts.iter().any(|host| rest.starts_with(host.as_str())))
    };
    let lock = places.instance_lock();
    names(state, |name| {
        let path = state.join(name);
        path != lock && !is_log(&path) && !is_shared(name) && !of_a_host(name)
    })
}

fn is_empty_journal(path: &Path, places: &Places) -> bool {
    *path == places.journal_file() && path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() == 0)
}

/// Moves it in. What stands there of an earlier time gets another name, unless a copy was interrupted after it was whole.
fn keep(mover: &Mover, path: &Path, folder: &Path) -> Result<(), KeepError> {
    // Through a link, nobody would take it back from there.
    if folder.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
        return Err(FolderError::NotFolder(folder.to_owned()).into());
    }
    close(folder)?;
    let to = folder.join(path.file_name().unwrap_or_default());
    if moving::are_same(path, &to) {
        return Ok(mover.discard(path)?);
    }
    if to.symlink_metadata().is_ok() {
        moving::put_aside(&to)?;
    }
    Ok(mover.move_to(path, &to)?)
}

fn remove(path: &Path) -> Result<(), FileError> {
    let is_folder = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.map_err(|error| FileError::io("remove", path, error))
}

/// Log files by their names, and the folder of kept things; in one that hosts share, what is of another host stays.
fn remove_logs(places: &Places) -> Result<Vec<PathBuf>, FileError> {
    let mut gone = logging::files(&places.log_dir).map_err(|error| FileError::io("read", &places.log_dir, error))?;
    gone.iter().try_for_each(|path| remove(path))?;
    let kept = folder(places);
    if !is_private(&kept) || holds_state(places) {
        return Ok(gone);
    }
    let own = [places.journal_file(), places.owned_file()].map(|path| file_name(&path));
    let is_foreign = |name: &str| {
        ["journal-", "owned-"].iter().any(|kind| name.starts_with(kind)) && !own.iter().any(|own| name.starts_with(own))
    };
    let removed: Vec<PathBuf> = names(&kept, |name| !is_foreign(name))?.iter().map(|name| kept.join(name)).collect();
    removed.iter().try_for_each(|path| remove(path))?;
    match fs::remove_dir(&kept) {
        Ok(()) => gone.push(kept),
        Err(_) => gone.extend(removed),
    }
    Ok(gone)
}

/// A dead socket goes; what programs of sessions at work have there stays with its folder.
fn empty_run_folder(places: &Places) {
    make_room(&places.socket.path).ok();
    for folder in places.run_dirs() {
        make_room(&folder.join("handoffd.sock")).ok();
        fs::remove_dir(folder).ok();
    }
}

/// Only a folder of ours that nobody else can write holds what we believe.
fn is_private(folder: &Path) -> bool {
    let is_ours = |meta: fs::Metadata| meta.is_dir() && meta.uid() == geteuid().as_raw() && meta.mode() & 0o022 == 0;
    folder.symlink_metadata().is_ok_and(is_ours)
}

#[cfg(test)]
mod tests;
