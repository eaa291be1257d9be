//! The one way of this crate to the disk. Each look is remembered, so that it can be told later, without reading
//! anything again, whether all of them would find the same.
//!
//! A stamp is taken before what it stands for is read: a change in between makes the stamp differ the next time.
//! No look is made twice in one loading, so that a loading does not contradict itself.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::looks::{Look, Looks, Stamp};

/// The most looks that are worth remembering (a few hundred bytes each).
const MAX_LOOKS: usize = 1024;

/// What was looked at so far.
#[derive(Default)]
pub(crate) struct Disk(RefCell<Seen>);

#[derive(Default)]
struct Seen {
    /// What names stand for: links not followed, and followed.
    stamps: BTreeMap<OsString, [Option<Option<Stamp>>; 2]>,
    /// Where paths lead.
    real: BTreeMap<OsString, Option<PathBuf>>,
    /// Something was found that can come to an end without any stamp telling of it.
    vague: bool,
}

const NAMED: usize = 0;
const FOLLOWED: usize = 1;

impl Disk {
    /// What the path leads to.
    pub(crate) fn stat(&self, path: &Path) -> io::Result<Stamp> {
        self.stamp(path, FOLLOWED, Path::metadata)
    }

    /// What the name stands for; a link is not followed.
    pub(crate) fn lstat(&self, path: &Path) -> io::Result<Stamp> {
        self.stamp(path, NAMED, Path::symlink_metadata)
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.stat(path).is_ok()
    }

    pub(crate) fn is_dir(&self, path: &Path) -> bool {
        self.stat(path).is_ok_and(|stamp| stamp.kind.is_dir())
    }

    /// The entries of a folder.
    pub(crate) fn read_dir(&self, path: &Path) -> io::Result<fs::ReadDir> {
        self.stat(path)?;
        fs::read_dir(path).inspect_err(|_| self.is_vague())
    }

    /// The path without links.
    pub(crate) fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        let found = path.canonicalize();
        match &found {
            Err(error) if !is_absence(error) => self.is_vague(),
            found => {
                self.0.borrow_mut().real.insert(path.into(), found.as_ref().ok().cloned());
            }
        }
        found
    }

    /// Opens a file, or whatever it is, without waiting for a pipe; a link at the end of the path is not followed.
    pub(crate) fn open(&self, path: &Path) -> io::Result<(File, Metadata)> {
        let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).map_err(io::Error::other)?;
        let opened = File::options().read(true).custom_flags(flags).open(path);
        let opened = opened.and_then(|file| file.metadata().map(|meta| (file, meta)));
        match &opened {
            Ok((_, meta)) => {
                let stamp = Some(Stamp::of(meta));
                let mut seen = self.0.borrow_mut();
                let known = *seen.stamps.entry(path.into()).or_default()[NAMED].get_or_insert(stamp);
                seen.vague |= known != stamp;
            }
            Err(_) => self.is_vague(),
        }
        opened
    }

    /// What is being read cannot be remembered.
    pub(crate) fn is_vague(&self) {
        self.0.borrow_mut().vague = true;
    }

    /// All looks; `None` when they are too many, or no stamp can tell whether what was found still holds.
    pub(crate) fn into_looks(self) -> Option<Looks> {
        let Seen { stamps, real, mut vague } = self.0.into_inner();
        let mut looks = Vec::new();
        for (path, [named, followed]) in stamps {
            // Of what is no link, one look says both.
            let is_link = named.flatten().is_some_and(|stamp| stamp.kind.is_symlink());
            let same = named.is_some() && !is_link;
            vague |= same && followed.is_some() && followed != named;
            let followed = followed.filter(|_| !same);
            let path = PathBuf::from(path);
            looks.extend(followed.map(|stamp| Look::Followed(path.clone(), stamp)));
            looks.extend(named.map(|stamp| Look::Named(path, stamp)));
        }
        looks.extend(real.into_iter().map(|(path, real)| Look::Real(path.into(), real)));
        (!vague && looks.len() <= MAX_LOOKS).then_some(Looks(looks))
    }

    fn stamp(&self, path: &Path, kind: usize, look: fn(&Path) -> io::Result<Metadata>) -> io::Result<Stamp> {
        let known = self.0.borrow().stamps.get(path.as_os_str()).and_then(|stamps| stamps[kind]);
        if let Some(known) = known {
            return known.ok_or_else(|| io::ErrorKind::NotFound.into());
        }
        let found = look(path).map(|meta| Stamp::of(&meta));
        match &found {
            Err(error) if !is_absence(error) => self.is_vague(),
            found => {
                let stamp = found.as_ref().ok().copied();
                self.0.borrow_mut().stamps.entry(path.into()).or_default()[kind] = Some(stamp);
            }
        }
        found
    }
}

/// Nothing is there; whatever else went wrong may come right without a trace.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Stamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self {
            kind: meta.file_type(),
            identity: (meta.dev(), meta.ino()),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}
