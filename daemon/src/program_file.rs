//! The program that runs, and whether another one lies in its place by now: an upgrade that waits for a restart.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// The program file as it was at the start.
#[derive(Debug, Clone)]
pub struct ProgramFile {
    started: Option<(PathBuf, Identity)>,
}

type Identity = (u64, u64, i64, i64);

impl ProgramFile {
    /// The file of this process; to be called early.
    #[must_use]
    pub fn current() -> Self {
        let path = std::env::current_exe().ok();
        Self { started: path.and_then(|path| identity(&path).map(|identity| (path, identity))) }
    }

    /// Whether the file at that path is another one now. A file that is gone is no newer one.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        let Some((path, at_start)) = &self.started else { return false };
        identity(path).is_some_and(|now| now != *at_start)
    }
}

fn identity(path: &PathBuf) -> Option<Identity> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.dev(), meta.ino(), meta.mtime(), meta.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write as _;

    #[test]
    fn a_replaced_program_is_noticed_and_a_removed_one_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("handoffd");
        File::create(&path).unwrap();
        let program = ProgramFile { started: Some((path.clone(), identity(&path).unwrap())) };
        assert!(!program.is_outdated());
        std::fs::remove_file(&path).unwrap();
        assert!(!program.is_outdated());
        // The old inode number may be given out again, the time of the new file is another.
        File::create(&path).unwrap().write_all(b"new").unwrap();
        assert!(program.is_outdated());
        assert!(!ProgramFile::current().is_outdated());
    }
}
