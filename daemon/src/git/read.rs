//! Opening a repository's files: bounded, regular files only, never hanging on a FIFO. No knowledge of their content.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

use super::error::CannotTell;

/// Whether a link in the last part of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// As git does with files of its own folder.
    Follow,
    /// As git does with `.gitignore`: a link there counts as no file.
    TreatAsMissing,
}

/// What tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// In bytes.
    pub(super) const fn size(&self) -> u64 {
        self.size
    }
}

/// Opens a regular file of at most `limit` bytes; `None` when there is none.
pub(super) fn open(path: &Path, limit: u64, links: Links) -> Result<Option<(File, Stamp)>, CannotTell> {
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::TreatAsMissing {
        flags |= OFlags::NOFOLLOW;
    }
    let file = match OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path) {
        Ok(file) => file,
        Err(error) if is_missing(&error) || is_link(&error, links) => return Ok(None),
        Err(error) => return Err(CannotTell::io("open", path, &error)),
    };
    let meta = file.metadata().map_err(|error| CannotTell::io("look at", path, &error))?;
    if !meta.is_file() {
        return Err(CannotTell::NotRegular { path: path.display().to_string() });
    }
    if meta.size() > limit {
        return Err(CannotTell::TooLarge { path: path.display().to_string(), bytes: meta.size(), limit });
    }
    Ok(Some((file, Stamp::of(&meta))))
}

/// All of a small file, as text; bytes that are not UTF-8 become U+FFFD. `None` when there is none.
pub(super) fn text(path: &Path, limit: u64, links: Links) -> Result<Option<String>, CannotTell> {
    let Some((file, _)) = open(path, limit, links)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).map_err(|error| CannotTell::io("read", path, &error))?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Whether an error means that nothing has this name.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// `O_NOFOLLOW` on a link is `ELOOP` (FreeBSD has `EMLINK`).
fn is_link(error: &io::Error, links: Links) -> bool {
    links == Links::TreatAsMissing && error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}
