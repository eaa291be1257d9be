//! The file in which a program finds its task: readable by its owner alone, gone when the work is. It is locked as long as
//! this process lives, so that the next session can tell one that was left behind when this one was killed.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use handoffd::places::folder::make_private;
use jiff::{SignedDuration, Timestamp};
use tempfile::NamedTempFile;

const PREFIX: &str = "task-";
const SUFFIX: &str = ".json";
/// A file without content is one that is being made, or that was left behind in that moment.
const MAKING: SignedDuration = SignedDuration::from_mins(1);

/// Makes it in the first folder that can be had.
pub(super) fn create(folders: &[PathBuf], json: &str) -> io::Result<NamedTempFile> {
    let mut fault = io::Error::from(io::ErrorKind::NotFound);
    for folder in folders {
        match create_in(folder, json) {
            Ok(file) => return Ok(file),
            Err(error) => fault = error,
        }
    }
    Err(fault)
}

fn create_in(folder: &Path, json: &str) -> io::Result<NamedTempFile> {
    make_private(folder).map_err(io::Error::other)?;
    let mut file = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder)?;
    // Where files cannot be locked, nobody can find this one unlocked either.
    file.as_file().try_lock().ok();
    file.write_all(json.as_bytes())?;
    file.flush()?;
    Ok(file)
}

/// Removes files whose process was killed.
pub(super) fn sweep(folders: &[PathBuf], now: Timestamp) {
    for folder in folders {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_ours = |name: &str| name.starts_with(PREFIX) && name.ends_with(SUFFIX);
            if name.to_str().is_some_and(is_ours) && was_left(&entry.path(), now).is_ok_and(|left| left) {
                fs::remove_file(entry.path()).ok();
            }
        }
    }
}

fn was_left(path: &Path, now: Timestamp) -> io::Result<bool> {
    let meta = path.symlink_metadata()?;
    let age = Timestamp::try_from(meta.modified()?).map_or(SignedDuration::ZERO, |made| now.duration_since(made));
    if !meta.is_file() || (meta.len() == 0 && age < MAKING) {
        return Ok(false);
    }
    Ok(File::open(path)?.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn now() -> Timestamp {
        Timestamp::now()
    }

    #[test]
    fn a_file_lives_as_long_as_its_process_and_one_that_was_left_goes() {
        let home = tempfile::tempdir().unwrap();
        let folders = [home.path().join("run")];
        let live = create(&folders, "{}").unwrap();
        assert_eq!(live.as_file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let (left, path) = create(&folders, "{}").unwrap().keep().unwrap();
        sweep(&folders, now());
        assert!(live.path().exists() && path.exists());
        // Closing alone leaves it locked while another thread is starting a program.
        left.unlock().unwrap();
        let foreign = folders[0].join("handoffd.sock");
        File::create(&foreign).unwrap();
        sweep(&folders, now());
        assert!(live.path().exists() && !path.exists() && foreign.exists());
    }

    #[test]
    fn a_file_that_is_being_made_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let folders = [home.path().to_path_buf()];
        let path = home.path().join("task-x.json");
        File::create(&path).unwrap();
        sweep(&folders, now());
        assert!(path.exists());
        sweep(&folders, now() + MAKING + MAKING);
        assert!(!path.exists());
    }

    #[test]
    fn another_folder_does_where_the_first_cannot_be_had() {
        let home = tempfile::tempdir().unwrap();
        File::create(home.path().join("no-folder")).unwrap();
        let folders = ["no-folder", "run"].map(|name| home.path().join(name));
        assert!(create(&folders, "{}").unwrap().path().starts_with(&folders[1]));
        assert!(create(&folders[..1], "{}").is_err());
    }
}
