//! The daemon's own small files: bounded reads and durable replacement.
//!
//! For what handoffd keeps for itself (configuration, registry, list of owned projects). Files of a project never come
//! here: they need descriptors, a re-check and an exchange, which is the work of the crate `store`.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::places::folder::hint_for;

/// End of the name of a private file that is to replace another.
const PRIVATE_SUFFIX: &str = ".new";

/// A file could not be read or written: where, during which step, why, and what to do if that is known.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused a step.
    #[error("cannot {act} {}: {source}{hint}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The step, as a verb: `open`, `read`, `write`, `sync`, `replace`, `lock`.
        act: &'static str,
        /// Empty, or ` (whose file it is, and the command that repairs it)`.
        hint: String,
        /// The system's words.
        source: io::Error,
    },
    /// A folder, pipe, socket or device stands where a file should.
    #[error("{} is not a regular file", .0.display())]
    NotRegular(PathBuf),
    /// A link on the way leads nowhere: there was something once, so this is not the same as no file.
    #[error("{} is a link to {}, where nothing is", link.display(), to.display())]
    Dangling {
        /// The link: the file, or a folder above it.
        link: PathBuf,
        /// What it names.
        to: PathBuf,
    },
    /// More bytes than the limit; at most limit + 1 were read.
    #[error("{} is larger than the limit of {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
}

impl FileError {
    /// Wraps the system's error; a permission problem gets the owner and the command that repairs it (F159).
    #[must_use]
    pub fn io(act: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), act, hint: hint_for(path, &source), source }
    }
}

/// Whether the last component of a path may be a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// The user's own configuration is often a link into a folder of dotfiles.
    Follow,
    /// What we write ourselves, and what a stranger's repository holds, is never a link.
    Refuse,
}

/// Reads a regular file of at most `limit` bytes; `None` if there is no such file, and no link that should lead to one.
///
/// The size is checked first, and never more than `limit` + 1 bytes are read. A pipe does not make it wait.
///
/// # Errors
/// [`FileError`] for everything else than a missing file.
pub fn read_bounded(path: &Path, limit: u64, links: Links) -> Result<Option<Vec<u8>>, FileError> {
    let mut flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
    if links == Links::Refuse {
        flags |= rustix::fs::OFlags::NOFOLLOW;
    }
    let file = match OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return dangling(path).map_or(Ok(None), |(link, to)| Err(FileError::Dangling { link, to }));
        }
        Err(error) if is_link_refused(&error) => return Err(FileError::NotRegular(path.to_path_buf())),
        Err(error) => return Err(FileError::io("open", path, error)),
    };
    let meta = file.metadata().map_err(|error| FileError::io("read", path, error))?;
    if !meta.is_file() {
        return Err(FileError::NotRegular(path.to_path_buf()));
    }
    if meta.size() > limit {
        return Err(FileError::TooLarge { path: path.to_path_buf(), limit });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.size()).unwrap_or(0));
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| FileError::io("read", path, error))?;
    if bytes.len() as u64 > limit {
        return Err(FileError::TooLarge { path: path.to_path_buf(), limit });
    }
    Ok(Some(bytes))
}

/// The link on the way to `path` that leads nowhere, and what it names.
fn dangling(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let is_broken = |at: &Path| at.metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    path.ancestors().find_map(|at| Some((at.to_owned(), at.read_link().ok().filter(|_| is_broken(at))?)))
}

/// Whether the path still leads to the opened file: a lock on one that was deleted or replaced protects nothing.
pub(crate) fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match path.symlink_metadata() {
        Ok(named) => Ok((ours.dev(), ours.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Replaces (or creates) a file with mode 0600 so that after a crash at any moment it is whole, old or new.
///
/// Order: private file in the same folder, full write, fsync, rename, fsync of the folder. When this returns `Ok`, the
/// new content survives a power cut. When it fails, the old file stays; only a failed fsync of the *folder* leaves
/// open which of the two a power cut would show.
///
/// # Errors
/// [`FileError::Io`] with the step that failed; the private file is removed.
pub fn replace_durably(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut private = tempfile::Builder::new()
        .prefix(&private_prefix(path))
        .suffix(PRIVATE_SUFFIX)
        .tempfile_in(folder)
        .map_err(|error| FileError::io("create a file in", folder, error))?;
    private.write_all(bytes).map_err(|error| FileError::io("write", path, error))?;
    private.as_file().sync_all().map_err(|error| FileError::io("sync", path, error))?;
    private.persist(path).map_err(|error| FileError::io("replace", path, error.error))?;
    File::open(folder).and_then(|dir| dir.sync_all()).map_err(|error| FileError::io("sync", folder, error))
}

/// Removes private files that a writer of `path` left when it was killed. Only whoever alone may write `path` may call
/// this. What cannot be removed stays; it harms nobody.
pub fn remove_leftovers(path: &Path) {
    let prefix = private_prefix(path);
    let Some(entries) = path.parent().and_then(|folder| folder.read_dir().ok()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let bytes = name.as_encoded_bytes();
        if bytes.starts_with(prefix.as_encoded_bytes()) && bytes.ends_with(PRIVATE_SUFFIX.as_bytes()) {
            std::fs::remove_file(entry.path()).ok();
        }
    }
}

/// `.projects.json.` for `projects.json`: no reader takes such a name for a file of ours.
fn private_prefix(path: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    prefix
}

fn is_link_refused(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn put(path: &Path, bytes: &[u8]) {
        File::create(path).unwrap().write_all(bytes).unwrap();
    }

    #[test]
    fn reads_up_to_the_limit_and_refuses_one_byte_more() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert!(read_bounded(&path, 4, Links::Refuse).unwrap().is_none());
        put(&path, b"1234");
        assert_eq!(read_bounded(&path, 4, Links::Refuse).unwrap().unwrap(), b"1234");
        put(&path, b"12345");
        assert!(matches!(read_bounded(&path, 4, Links::Refuse), Err(FileError::TooLarge { limit: 4, .. })));
    }

    #[test]
    fn only_regular_files_are_read_and_a_pipe_does_not_hang() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(matches!(read_bounded(&pipe, 9, Links::Follow), Err(FileError::NotRegular(_))));
        assert!(matches!(read_bounded(dir.path(), 9, Links::Follow), Err(FileError::NotRegular(_))));
    }

    #[test]
    fn links_are_followed_only_when_asked() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("f"), dir.path().join("l"));
        put(&file, b"x");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(read_bounded(&link, 9, Links::Follow).unwrap().unwrap(), b"x");
        assert!(matches!(read_bounded(&link, 9, Links::Refuse), Err(FileError::NotRegular(_))));
    }

    #[test]
    fn a_link_that_leads_nowhere_is_not_the_same_as_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let (gone, link, folder) = (dir.path().join("gone"), dir.path().join("l"), dir.path().join("folder"));
        std::os::unix::fs::symlink(&gone, &link).unwrap();
        std::os::unix::fs::symlink("../elsewhere", &folder).unwrap();
        let check = |path: &Path, broken: &Path, to: &Path| {
            let error = read_bounded(path, 9, Links::Follow).unwrap_err().to_string();
            assert_eq!(error, format!("{} is a link to {}, where nothing is", broken.display(), to.display()));
        };
        check(&link, &link, &gone);
        check(&folder.join("f"), &folder, Path::new("../elsewhere"));
        put(&gone, b"x");
        assert!(read_bounded(&link, 9, Links::Follow).unwrap().is_some());
        assert!(read_bounded(&dir.path().join("none/f"), 9, Links::Follow).unwrap().is_none());
    }

    #[test]
    fn a_replaced_file_is_private_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        replace_durably(&path, b"one").unwrap();
        replace_durably(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn leftovers_of_a_killed_writer_are_removed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("projects.json");
        let others =
            [".projects.json.a.swp", ".owned-h.json.a.new", "projects.json.new", ".other.new", "projects.json"];
        for name in others {
            put(&dir.path().join(name), b"x");
        }
        let (before, _) = (names(dir.path()), put(&dir.path().join(".projects.json.Ab12.new"), b"half"));
        remove_leftovers(&path);
        assert_eq!(names(dir.path()), before);
    }

    fn names(dir: &Path) -> std::collections::BTreeSet<OsString> {
        dir.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_failed_replacement_names_step_and_path_and_keeps_the_old() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("taken");
        std::fs::create_dir(&path).unwrap();
        let error = replace_durably(&path, b"x").unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot replace {}: ", path.display())), "{error}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
