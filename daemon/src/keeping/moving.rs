//! A file or folder goes to another folder, perhaps on another file system, and is whole in one of the two at any moment.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::files::FileError;

/// Files of ours that may be there twice are read whole, to be compared; none is larger.
const MAX_SAME: u64 = 16 << 20;

/// Moves `from` to `to`, where nothing is.
pub(super) fn move_to(from: &Path, to: &Path) -> Result<(), FileError> {
    match rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => copy(from, to)?,
        moved => moved.map_err(|error| FileError::io("move", from, error))?,
    }
    sync_folder_of(to)?;
    sync_folder_of(from)
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

/// Whether both are files with the same bytes: the copy of a move that was interrupted before the original went.
pub(super) fn are_same(one: &Path, other: &Path) -> bool {
    let read = |path: &Path| {
        let meta = path.symlink_metadata().ok().filter(|meta| meta.is_file() && meta.len() <= MAX_SAME)?;
        fs::read(path).ok().filter(|bytes| bytes.len() as u64 == meta.len())
    };
    read(one).is_some_and(|bytes| read(other) == Some(bytes))
}

/// The copy gets its name when it is on the disk; only then the original goes.
fn copy(from: &Path, to: &Path) -> Result<(), FileError> {
    let folder = to.parent().unwrap_or(Path::new("/"));
    let private = tempfile::Builder::new().prefix(".").suffix(".new").tempdir_in(folder);
    let private = private.map_err(|error| FileError::io("create a folder in", folder, error))?;
    let copy = private.path().join("copy");
    copy_tree(from, &copy)?;
    rename(&copy, to).map_err(|error| FileError::io("move", &copy, error))?;
    sync_folder_of(to)?;
    super::remove(from)
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

fn sync_folder_of(path: &Path) -> Result<(), FileError> {
    sync(path.parent().unwrap_or(Path::new("/")))
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

    /// As to another file system: the original goes only when the copy is whole and has its name.
    #[test]
    fn a_copy_has_files_folders_and_links_and_the_original_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        put(&from.join("a/b"), "text");
        symlink("b", from.join("a/link")).unwrap();
        copy(&from, &to).unwrap();
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
        let error = copy(&from, &to).unwrap_err().to_string();
        assert!(error.contains("z is not a regular file"), "{error}");
        assert!(from.join("a").exists() && !to.exists());
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
    }

    /// Where the system has a second file system to write to.
    #[test]
    fn a_file_goes_to_another_file_system() {
        let (Ok(one), Ok(other)) = (tempfile::tempdir(), tempfile::tempdir_in("/dev/shm")) else { return };
        put(&one.path().join("f"), "text");
        move_to(&one.path().join("f"), &other.path().join("f")).unwrap();
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
}
