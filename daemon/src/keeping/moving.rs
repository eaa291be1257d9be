//! A file or folder goes to another folder, perhaps on another file system, and is whole in one of the two at any moment.
//!
//! What is not whole lies in a private folder that only this module makes, named after the host: [`Mover::sweep`] removes
//! what an end in the middle left of it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::files::FileError;

/// Files of ours that may be there twice are read whole, to be compared; none is larger.
const MAX_SAME: u64 = 16 << 20;

/// Random letters in the name of a private folder.
const RANDOM: usize = 6;
const SUFFIX: &str = ".new";

/// Moves for one host: whoever holds its instance lock.
pub(super) struct Mover {
    /// Of the names of its private folders. Other hosts may have theirs in the same folder.
    prefix: String,
}

impl Mover {
    pub(super) fn of(host: &str) -> Self {
        Self { prefix: format!(".moving-{host}.") }
    }

    /// Moves `from` to `to`, where nothing is.
    pub(super) fn move_to(&self, from: &Path, to: &Path) -> Result<(), FileError> {
        match rename(from, to) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => self.copy(from, to)?,
            moved => moved.map_err(|error| FileError::io("move", from, error))?,
        }
        sync_folder_of(to)?;
        sync_folder_of(from)
    }

    /// The copy gets its name when it is on the disk; only then the original goes.
    fn copy(&self, from: &Path, to: &Path) -> Result<(), FileError> {
        let folder = folder_of(to);
        let private = self.private(folder)?;
        let copy = private.path().join("copy");
        copy_tree(from, &copy)?;
        rename(&copy, to).map_err(|error| FileError::io("move", &copy, error))?;
        sync_folder_of(to)?;
        self.discard(from)
    }

    /// Removes what is in another place, too. A folder goes at once: half of one would be taken for another than its copy.
    pub(super) fn discard(&self, path: &Path) -> Result<(), FileError> {
        if !path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return super::remove(path);
        }
        let private = self.private(folder_of(path))?;
        rename(path, &private.path().join("gone")).map_err(|error| FileError::io("remove", path, error))?;
        private.close().map_err(|error| FileError::io("remove", path, error))
    }

    fn private(&self, folder: &Path) -> Result<TempDir, FileError> {
        let mut builder = tempfile::Builder::new();
        let private = builder.prefix(&self.prefix).suffix(SUFFIX).rand_bytes(RANDOM).tempdir_in(folder);
        private.map_err(|error| FileError::io("create a folder in", folder, error))
    }

    /// Removes the private folders that a move left when it was killed. What cannot be removed stays for the next time.
    pub(super) fn sweep(&self, folder: &Path) {
        let is_private = |name: &str| {
            let random = name.strip_prefix(&self.prefix).and_then(|rest| rest.strip_suffix(SUFFIX));
            random.is_some_and(|random| random.len() == RANDOM && random.bytes().all(|c| c.is_ascii_alphanumeric()))
        };
        for name in super::names(folder, is_private).unwrap_or_default() {
            super::remove(&folder.join(name)).ok();
        }
    }
}

/// Gives what is at `path` the first name beside it that is free.
pub(super) fn put_aside(path: &Path) -> Result<PathBuf, FileError> {
    let numbered = |number: u32| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".before-{number}"));
        path.with_file_name(name)
    };
    let is_free =
        |place: &PathBuf| place.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let place = (1..=u32::MAX).map(numbered).find(is_free).ok_or(io::ErrorKind::AlreadyExists);
    let place = place.map_err(|kind| FileError::io("put aside", path, kind.into()))?;
    rename(path, &place).map_err(|error| FileError::io("put aside", path, error))?;
    Ok(place)
}

/// Whether both are the same, files byte for byte and folders with all in them: the copy of a move that was interrupted before
/// the original went.
pub(super) fn are_same(one: &Path, other: &Path) -> bool {
    let kinds = [one, other].map(|path| path.symlink_metadata().map(|meta| meta.file_type()).ok());
    match kinds {
        [Some(one_is), Some(other_is)] if one_is != other_is => false,
        [Some(kind), Some(_)] if kind.is_dir() => are_same_folders(one, other),
        [Some(kind), Some(_)] if kind.is_symlink() => fs::read_link(one).ok() == fs::read_link(other).ok(),
        [Some(kind), Some(_)] if kind.is_file() => are_same_files(one, other),
        _ => false,
    }
}

fn are_same_files(one: &Path, other: &Path) -> bool {
    let read = |path: &Path| {
        let meta = path.symlink_metadata().ok().filter(|meta| meta.is_file() && meta.len() <= MAX_SAME)?;
        fs::read(path).ok().filter(|bytes| bytes.len() as u64 == meta.len())
    };
    read(one).is_some_and(|bytes| read(other) == Some(bytes))
}

fn are_same_folders(one: &Path, other: &Path) -> bool {
    // Sorted.
    let names = |folder: &Path| super::names(folder, |_| true).ok();
    let (Some(names), true) = (names(one), names(one) == names(other)) else { return false };
    names.iter().all(|name| are_same(&one.join(name), &other.join(name)))
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), FileError> {
    let fault = |act| move |error| FileError::io(act, from, error);
    let kind = from.symlink_metadata().map_err(fault("look at"))?.file_type();
    if kind.is_dir() {
        fs::create_dir(to).map_err(|error| FileError::io("create", to, error))?;
        for entry in from.read_dir().map_err(fault("read"))? {
            let name = entry.map_err(fault("read"))?.file_name();
            copy_tree(&from.join(&name), &to.join(&name))?;
        }
        return sync(to);
    }
    if kind.is_symlink() {
        return fs::read_link(from).and_then(|goal| symlink(goal, to)).map_err(fault("copy"));
    }
    if !kind.is_file() {
        return Err(FileError::NotRegular(from.to_owned()));
    }
    let mut options = File::options();
    let copied = options.write(true).create_new(true).mode(0o600).open(to).and_then(|mut copy| {
        io::copy(&mut File::open(from)?, &mut copy)?;
        copy.sync_all()
    });
    copied.map_err(fault("copy"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

fn sync_folder_of(path: &Path) -> Result<(), FileError> {
    sync(folder_of(path))
}

fn sync(folder: &Path) -> Result<(), FileError> {
    File::open(folder).and_then(|opened| opened.sync_all()).map_err(|error| FileError::io("sync", folder, error))
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "whole files change their places; no content is replaced")]
    fs::rename(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        io::Write::write_all(&mut File::create(path).unwrap(), text.as_bytes()).unwrap();
    }

    fn mover() -> Mover {
        Mover::of("h")
    }

    /// As to another file system: the original goes only when the copy is whole and has its name.
    #[test]
    fn a_copy_has_files_folders_and_links_and_the_original_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        put(&from.join("a/b"), "text");
        symlink("b", from.join("a/link")).unwrap();
        mover().copy(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("a/link")).unwrap(), "text");
        assert_eq!(fs::read_link(to.join("a/link")).unwrap(), Path::new("b"));
        assert_eq!(dir.path().read_dir().unwrap().count(), 1, "neither the original nor a private folder");
    }

    #[test]
    fn a_copy_that_fails_leaves_the_original_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        put(&from.join("a"), "text");
        nix::unistd::mkfifo(&from.join("z"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let error = mover().copy(&from, &to).unwrap_err().to_string();
        assert!(error.contains("z is not a regular file"), "{error}");
        assert!(from.join("a").exists() && !to.exists());
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
    }

    /// Where the system has a second file system to write to.
    #[test]
    fn a_file_goes_to_another_file_system() {
        let (Ok(one), Ok(other)) = (tempfile::tempdir(), tempfile::tempdir_in("/dev/shm")) else { return };
        put(&one.path().join("f"), "text");
        mover().move_to(&one.path().join("f"), &other.path().join("f")).unwrap();
        assert_eq!(fs::read_to_string(other.path().join("f")).unwrap(), "text");
        assert!(!one.path().join("f").exists());
    }

    #[test]
    fn what_is_in_the_way_gets_a_free_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        for number in 1..4 {
            put(&path, &number.to_string());
            assert_eq!(put_aside(&path).unwrap(), dir.path().join(format!("f.before-{number}")));
        }
        assert_eq!(fs::read_to_string(dir.path().join("f.before-2")).unwrap(), "2");
    }

    /// Killed in the middle of a copy, and of taking the original away.
    #[test]
    fn private_folders_of_a_move_that_was_killed_go_and_nothing_else_does() {
        let dir = tempfile::tempdir().unwrap();
        let private = mover().private(dir.path()).unwrap().keep();
        put(&private.join("copy/a"), "half");
        let others = [
            ".moving-h.new",
            ".moving-h.x.Ab12Cd.new",
            ".moving-h2.Ab12Cd.new",
            "moving-h.Ab12Cd.new",
            ".moving-h.Ab12Cd",
        ];
        for other in others {
            put(&dir.path().join(other).join("f"), "text");
        }
        mover().sweep(dir.path());
        mover().sweep(&dir.path().join("not there"));
        assert!(!private.exists());
        assert!(others.iter().all(|other| dir.path().join(other).join("f").exists()));
    }

    #[test]
    fn folders_are_the_same_with_all_that_is_in_them() {
        let dir = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| dir.path().join(name));
        for folder in [&one, &other] {
            put(&folder.join("a/b"), "text");
            symlink("b", folder.join("a/link")).unwrap();
        }
        assert!(are_same(&one, &other) && !are_same(&one, &dir.path().join("none")));
        put(&other.join("a/b"), "texT");
        assert!(!are_same(&one, &other));
        fs::remove_dir_all(other.join("a")).unwrap();
        assert!(!are_same(&one, &other) && !are_same(&other, &one), "half of it");
    }
}
