//! One project's two folders, opened once: the root and `.pi` (D18, D72).
//!
//! Every other operation of this crate starts from a [`ProjectDir`] and goes through its descriptors, so that a
//! renamed or replaced folder can never redirect a write. What is in the folders is read and written elsewhere.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::error::IoFault;
use crate::folder::Folder;
use crate::fs_kind::FsKind;
use crate::names;
use crate::stamp::{Identity, Stamp, file_type};
use crate::sys::Sys;

/// What to do about a project without a `.pi` folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PiFolder {
    /// Make it, mode 0755: the lock and the log need it, and Pi itself keeps its settings there.
    Create,
    /// Refuse with [`OpenError::NoPiFolder`]: for commands that only look.
    Require,
}

/// Why a project cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is nothing at the path.
    #[error("there is no folder `{}`", .0.display())]
    Missing(PathBuf),
    /// The path leads to something else than a folder.
    #[error("`{}` is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// Paths travel in JSON, so a project path must be UTF-8 (F218).
    #[error("the path `{}` is not UTF-8: rename the folder", .0.display())]
    NotUtf8(PathBuf),
    /// There is no `.pi`, and [`PiFolder::Require`] was asked for.
    #[error("there is no folder `{}`: run `handoff init`", .0.display())]
    NoPiFolder(PathBuf),
    /// `.pi` is a link or a file; a link could lead the lock out of the project (D18).
    #[error("`{}` must be a real folder, not a link or a file", .0.display())]
    PiNotAFolder(PathBuf),
    /// The system refused.
    #[error(transparent)]
    Io(#[from] IoFault),
}

/// The name no longer leads to the folder that was opened (D18): nothing may be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no longer the folder that was opened", .0.display())]
pub struct Moved(pub PathBuf);

/// A file whose state the sweep compares (D73).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// `tasks.json`.
    Queue,
    /// The ownership lock.
    Lock,
}

/// A project's root alone, opened to look: for commands that must not need, and never make, a `.pi` (`handoff lint`).
#[derive(Debug)]
pub struct ProjectRoot {
    pub(crate) shown: String,
    pub(crate) root: Folder,
}

impl ProjectRoot {
    /// Opens the folder at `path`, which may itself be a link to it.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]; those about `.pi` do not occur.
    pub fn open(path: &Path, sys: &Sys) -> Result<Self, OpenError> {
        open_root(path, sys).map(|(root, _)| root)
    }
}

/// A project, opened.
#[derive(Debug)]
pub struct ProjectDir {
    named: PathBuf,
    shown: String,
    pub(crate) root: Folder,
    pub(crate) pi: Folder,
    fs: FsKind,
}

impl ProjectDir {
    /// Opens the project at `path`, which may itself be a link to the root.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]; nothing is left open then. A `.pi` that was made stays.
    pub fn open(path: &Path, sys: &Sys, pi: PiFolder) -> Result<Self, OpenError> {
        let (ProjectRoot { shown, root }, named) = open_root(path, sys)?;
        let pi = open_pi(&root, pi)?;
        let kind_of = |folder: &Folder| {
            sys.fs_kind(folder.fd()).map_err(|errno| IoFault::new("look at the file system of", &folder.path, errno))
        };
        let fs = kind_of(&root)?;
        // `.pi` may be a mount of its own, and the lock lies there.
        let fs = if fs.is_local() { kind_of(&pi)? } else { fs };
        Ok(Self { named, shown, root, pi, fs })
    }

    /// The absolute path it was opened by (the resolved one when that was relative or had dot segments).
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(&self.shown)
    }

    pub(crate) fn path_text(&self) -> &str {
        &self.shown
    }

    /// Where the descriptors led when the project was opened, all links resolved.
    #[must_use]
    pub fn resolved_path(&self) -> &Path {
        &self.root.path
    }

    /// Which folder it is: two paths with one identity are one project (D72).
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.root.identity
    }

    /// The kind of file system: of the root, or of `.pi` where that is the less local one.
    #[must_use]
    pub fn fs_kind(&self) -> FsKind {
        self.fs
    }

    /// Whether the names still lead to the opened folders (D18). Asked before each write and at each eighth sweep.
    ///
    /// # Errors
    ///
    /// [`Moved`] with the name that leads elsewhere or nowhere, or cannot be looked at.
    pub fn still_named(&self) -> Result<(), Moved> {
        // Mostly the same path twice, and of every project this is asked again and again.
        let resolved = Some(self.root.path.as_path()).filter(|path| path.as_os_str() != self.named.as_os_str());
        for path in std::iter::once(self.named.as_path()).chain(resolved) {
            let found = self.root.sys.stat_path(path).map(|stat| Identity::of(&stat));
            if found != Ok(self.root.identity) {
                return Err(Moved(path.to_owned()));
            }
        }
        match self.root.stat(names::PI) {
            Ok(Some(stat)) if Identity::of(&stat) == self.pi.identity => Ok(()),
            _ => Err(Moved(self.root.shown(names::PI))),
        }
    }

    /// Whether files can be made and replaced in both folders, as far as their modes tell.
    ///
    /// # Errors
    ///
    /// [`IoFault`] of the folder that forbids it.
    pub fn may_write(&self) -> Result<(), IoFault> {
        let in_folder = |folder: &Folder, name: &str| match folder.may_write(".") {
            // As the act would say it.
            Err(fault) => Err(IoFault::new("replace", folder.shown(name), fault.errno())),
            Ok(()) => Ok(()),
        };
        in_folder(&self.root, names::QUEUE)?;
        in_folder(&self.pi, names::LOCK)
    }

    /// The states of `tasks.json` and of the lock, by one look each; for the sweep, which asks again and again for
    /// each project. The lock's whole name is walked anew: where that finds the very file that was seen through the opened
    /// folders before, these still have their names, except that one may be a link now. So a sweep must ask
    /// [`ProjectDir::still_named`] from time to time, too. `None`: it takes more looks to tell.
    #[must_use]
    pub fn glance(&self) -> Option<(Option<Stamp>, Stamp)> {
        if self.root.path.as_os_str() != self.named.as_os_str() {
            return None;
        }
        // Put together by hand: of every project this is asked again and again.
        let mut lock = OsString::with_capacity(self.named.as_os_str().len() + names::PI.len() + names::LOCK.len() + 2);
        for part in [self.named.as_os_str(), "/".as_ref(), names::PI.as_ref(), "/".as_ref(), names::LOCK.as_ref()] {
            lock.push(part);
        }
        let lock = self.root.sys.stat_path(Path::new(&lock)).ok()?;
        let queue = self.root.stat(names::QUEUE).ok()?;
        Some((queue.as_ref().map(Stamp::of), Stamp::of(&lock)))
    }

    /// The state of a watched file by one `fstatat`; `None` when there is nothing. Links are not followed.
    ///
    /// # Errors
    ///
    /// [`IoFault`] when the name cannot be looked at.
    pub fn stamp(&self, file: Watched) -> Result<Option<Stamp>, IoFault> {
        let stat = match file {
            Watched::Queue => self.root.stat(names::QUEUE)?,
            Watched::Lock => self.pi.stat(names::LOCK)?,
        };
        Ok(stat.as_ref().map(Stamp::of))
    }
}

/// Opens the root; also the name to check again before each write.
fn open_root(path: &Path, sys: &Sys) -> Result<(ProjectRoot, PathBuf), OpenError> {
    let canonical = std::fs::canonicalize(path).map_err(|error| not_there(path, &error))?;
    let root = Folder::open(sys, &canonical).map_err(|fault| match fault.errno() {
        Errno::NOENT => OpenError::Missing(path.to_owned()),
        Errno::NOTDIR | Errno::LOOP => OpenError::NotAFolder(path.to_owned()),
        _ => OpenError::Io(fault),
    })?;
    let text = if is_plain(path) { path } else { &canonical };
    let shown = text.to_str().ok_or_else(|| OpenError::NotUtf8(canonical.clone()))?.to_owned();
    let named = if path.is_absolute() { path.to_owned() } else { canonical };
    Ok((ProjectRoot { shown, root }, named))
}

fn not_there(path: &Path, error: &std::io::Error) -> OpenError {
    let errno = error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
    match errno {
        Errno::NOENT => OpenError::Missing(path.to_owned()),
        Errno::NOTDIR => OpenError::NotAFolder(path.to_owned()),
        errno => OpenError::Io(IoFault::new("resolve", path, errno)),
    }
}

/// Absolute, and spelled without dot segments, doubled or trailing slashes.
fn is_plain(path: &Path) -> bool {
    let rebuilt: PathBuf = path.components().collect();
    path.is_absolute()
        && rebuilt.as_os_str() == path.as_os_str()
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

fn open_pi(root: &Folder, pi: PiFolder) -> Result<Folder, OpenError> {
    let name = || root.shown(names::PI);
    match root.stat(names::PI)? {
        Some(stat) if file_type(&stat) != FileType::Directory => return Err(OpenError::PiNotAFolder(name())),
        None if pi == PiFolder::Require => return Err(OpenError::NoPiFolder(name())),
        None => match root.mkdir(names::PI, 0o755) {
            Err(fault) if fault.errno() != Errno::EXIST => return Err(fault.into()),
            _ => {}
        },
        Some(_) => {}
    }
    root.open_beneath(names::PI).map_err(|fault| match fault.errno() {
        Errno::NOTDIR | Errno::LOOP => OpenError::PiNotAFolder(name()),
        _ => OpenError::Io(fault),
    })
}
