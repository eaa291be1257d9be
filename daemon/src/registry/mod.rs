//! `<state dir>/projects.json`: the projects that a person registered, and whether each is enabled or paused (D77).
//!
//! It is written under its own lock by the daemon and by `handoff`, which needs no daemon for it; a running daemon
//! notices by [`Registry::stamp`]. What a project does is not known here, and nothing of a project is ever written.

mod error;
mod index;
mod list;
mod merge;
mod owned;
mod select;
mod state_file;

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

pub use error::RegistryError;
pub(crate) use index::Index;
pub use list::{Change, Entry, ProjectList};
pub use merge::{ByOption, Project, all_projects, merge_projects};
pub use owned::Owned;
pub use select::{Candidate, SelectError, Selector, enclosing, select};
pub use state_file::StateFileError;

use crate::config::{Config, check_name};
use crate::files::{FileError, is_named, remove_leftovers};
use crate::places::folder::make_private;

/// How long another writer may hold the lock. Its work takes milliseconds; longer means that it is stopped.
const LOCK_WAIT: Duration = Duration::from_secs(5);
const REMEDY: &str = "register the projects again with `handoff projects add`";

/// The registry of one state folder. Holds nothing open between calls.
#[derive(Debug, Clone)]
pub struct Registry {
    state_dir: PathBuf,
}

/// Changes whenever the file was replaced or edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// What `add` found.
#[derive(Debug, Clone, PartialEq)]
pub enum Added {
    /// The project is new.
    New(Entry),
    /// The folder is registered already (perhaps under another path); a given name was set.
    Known(Entry),
}

/// What `remove` took away.
#[derive(Debug, Clone, PartialEq)]
pub struct Removed {
    /// The entry.
    pub entry: Entry,
    /// The line of the configuration whose `[[project]]` names the folder still, so that it stays a project.
    pub still_configured: Option<usize>,
}

impl Registry {
    /// The registry in a state folder; nothing is touched yet.
    #[must_use]
    pub fn new(state_dir: &Path) -> Self {
        Self { state_dir: state_dir.to_path_buf() }
    }

    /// Reads the list; a file that does not exist is an empty list. Takes no lock: the file is always whole.
    ///
    /// # Errors
    /// [`StateFileError`]: unreadable, damaged, or of a newer version.
    pub fn read(&self) -> Result<ProjectList, StateFileError> {
        Ok(self.read_if_there()?.unwrap_or_default())
    }

    /// As [`Registry::read`]; `None` if there is no file, which is not a list without projects.
    ///
    /// # Errors
    /// As [`Registry::read`].
    pub fn read_if_there(&self) -> Result<Option<ProjectList>, StateFileError> {
        state_file::read(&self.file(), REMEDY)
    }

    /// The present stamp of the file; `None` if there is none. It costs one stat.
    #[must_use]
    pub fn stamp(&self) -> Option<Stamp> {
        let meta = self.file().symlink_metadata().ok()?;
        Some(Stamp {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        })
    }

    /// Registers a folder, enabled; one that is registered already stays as it is, but for a given name.
    ///
    /// # Errors
    /// [`RegistryError`]: no such folder, a path that is not UTF-8, a name that cannot be used or is taken, or the file.
    pub fn add(&self, folder: &Path, name: Option<&str>) -> Result<Added, RegistryError> {
        let no_folder = |source| RegistryError::NoFolder { path: folder.to_path_buf(), source };
        let path = folder.canonicalize().map_err(no_folder)?;
        if !path.is_dir() {
            return Err(no_folder(std::io::ErrorKind::NotADirectory.into()));
        }
        if path.to_str().is_none() {
            return Err(RegistryError::NotUtf8 { path });
        }
        if path.parent().is_none() {
            return Err(RegistryError::Everything);
        }
        if let Some(name) = name {
            check_name(name).map_err(|reason| RegistryError::BadName { name: name.to_owned(), reason })?;
        }
        self.update(|list| add(list, path, name))
    }

    /// Takes an entry off the list. The folder and its files stay as they are.
    ///
    /// # Errors
    /// [`RegistryError`]: no project or several fit, only the configuration names it, or the file.
    pub fn remove(&self, config: &Config, which: &Selector) -> Result<Removed, RegistryError> {
        self.update(|list| {
            let project = chosen(list, config, which)?;
            let line = project.config.as_ref().map(|config| config.line);
            match list.position(&project.path) {
                Some(index) => Ok(Removed { entry: list.projects.remove(index), still_configured: line }),
                None => Err(RegistryError::OnlyConfigured { path: project.path, line: line.unwrap_or_default() }),
            }
        })
    }

    /// Changes an entry and returns it as it is now. A project that only the configuration names gets an entry, so that
    /// the change survives restarts.
    ///
    /// # Errors
    /// [`RegistryError`]: no project or several fit, a path that is not UTF-8, or the file.
    pub fn change(&self, config: &Config, which: &Selector, change: Change) -> Result<Entry, RegistryError> {
        self.update(|list| {
            let project = chosen(list, config, which)?;
            let index = match list.position(&project.path) {
                Some(index) => index,
                None if project.path.to_str().is_none() => return Err(RegistryError::NotUtf8 { path: project.path }),
                None => {
                    list.projects.push(Entry::new(project.path, None));
                    list.projects.len() - 1
                }
            };
            list.projects[index].apply(change);
            Ok(list.projects[index].clone())
        })
    }

    /// Reads, changes and writes the list under the lock; nothing is written if nothing changed or `act` fails.
    ///
    /// # Errors
    /// What `act` returns, or [`RegistryError`] of the file, its lock and its folder.
    pub fn update<T>(
        &self,
        act: impl FnOnce(&mut ProjectList) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        make_private(&self.state_dir)?;
        let lock = self.lock(LOCK_WAIT)?;
        let before = self.read()?;
        let mut list = before.clone();
        let result = act(&mut list)?;
        if list != before {
            remove_leftovers(&self.file());
            state_file::write(&self.file(), &list)?;
        }
        drop(lock);
        Ok(result)
    }

    /// Adds the projects of another list, which goes then; `whole` puts it in place where there is none. How many came;
    /// `None` if it is damaged or of a newer version, and was left alone.
    ///
    /// # Errors
    /// As [`Registry::update`], and what `whole` returns.
    pub fn take_in(
        &self,
        from: &Path,
        whole: impl FnOnce() -> Result<(), FileError>,
    ) -> Result<Option<usize>, RegistryError> {
        let kept: Result<Option<ProjectList>, _> = state_file::read(from, REMEDY);
        make_private(&self.state_dir)?;
        let lock = self.lock(LOCK_WAIT)?;
        if self.stamp().is_none() {
            // A damaged one, too: it is what was there before, and whoever reads it says what is wrong.
            whole()?;
            return Ok(Some(kept.ok().flatten().map_or(0, |list| list.projects.len())));
        }
        drop(lock);
        let Ok(Some(kept)) = kept else { return Ok(None) };
        let added = self.update(|list| Ok(list.add_unknown(kept)))?;
        std::fs::remove_file(from).map_err(|error| FileError::io("remove", from, error))?;
        Ok(Some(added))
    }

    /// Does something while nobody writes the list, and takes the lock's file away after it.
    ///
    /// # Errors
    /// Those of `act`, and of the lock.
    pub fn retire<E: From<RegistryError>>(&self, act: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let lock = self.lock(LOCK_WAIT)?;
        act()?;
        remove_leftovers(&self.file());
        let path = self.lock_file();
        std::fs::remove_file(&path).map_err(|error| RegistryError::from(FileError::io("remove", &path, error)))?;
        drop(lock);
        Ok(())
    }

    fn file(&self) -> PathBuf {
        self.state_dir.join("projects.json")
    }

    fn lock_file(&self) -> PathBuf {
        self.state_dir.join("projects.lock")
    }

    /// The lock file is deleted by its holder only, when the whole folder is no longer used. The lock goes when the returned
    /// file is dropped.
    fn lock(&self, wait: Duration) -> Result<File, RegistryError> {
        let path = self.lock_file();
        let deadline = Instant::now() + wait;
        loop {
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
            let file = file.map_err(|error| FileError::io("open", &path, error))?;
            while let Err(refused) = file.try_lock() {
                match refused {
                    TryLockError::WouldBlock if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                    TryLockError::WouldBlock => return Err(RegistryError::Busy { path }),
                    TryLockError::Error(error) => return Err(FileError::io("lock", &path, error).into()),
                }
            }
            if is_named(&file, &path).map_err(|error| FileError::io("look at", &path, error))? {
                return Ok(file);
            }
        }
    }
}

fn add(list: &mut ProjectList, path: PathBuf, name: Option<&str>) -> Result<Added, RegistryError> {
    let known = list.position(&path);
    let taken = |(index, entry): &(usize, &Entry)| Some(*index) != known && entry.name.as_deref() == name;
    if let (Some(name), Some((_, other))) = (name, list.projects.iter().enumerate().find(taken)) {
        return Err(RegistryError::NameTaken { name: name.to_owned(), path: other.path.clone() });
    }
    if let Some(index) = known {
        let entry = &mut list.projects[index];
        if let Some(name) = name {
            entry.name = Some(name.to_owned());
        }
        return Ok(Added::Known(entry.clone()));
    }
    let entry = Entry::new(path, name.map(str::to_owned));
    list.projects.push(entry.clone());
    Ok(Added::New(entry))
}

fn chosen(list: &ProjectList, config: &Config, which: &Selector) -> Result<Project, SelectError> {
    let mut projects = all_projects(list, config, &[]);
    let candidates: Vec<Candidate<'_>> = projects.iter().map(Project::candidate).collect();
    let index = select(&candidates, which)?;
    Ok(projects.swap_remove(index))
}

#[cfg(test)]
mod tests;
