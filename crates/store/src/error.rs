//! One failed system call: what was tried, on which path, the system's words, and what a person can do about it.
//!
//! Larger errors (a replace, a lock, the log) wrap this one; nothing else in the crate carries a raw error number.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

use crate::remedy;

/// A system call that failed. Its text names the act, the path and the system's words.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot {act} `{}`: {source}", path.display())]
pub struct IoFault {
    /// What was tried: `open`, `sync`, `exchange`, …
    pub act: &'static str,
    /// On which path.
    pub path: PathBuf,
    /// The system's answer.
    source: Errno,
}

impl IoFault {
    pub(crate) fn new(act: &'static str, path: impl Into<PathBuf>, source: Errno) -> Self {
        Self { act, path: path.into(), source }
    }

    /// The same fault of another path.
    pub(crate) fn at(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    pub(crate) fn errno(&self) -> Errno {
        self.source
    }

    /// The system's error number.
    #[must_use]
    pub fn raw_os_error(&self) -> i32 {
        self.source.raw_os_error()
    }

    /// The system's error kind.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// What a person can do, where the number tells it (D70, F157, F160).
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        advice(self.source)
    }

    /// The one command that mends it, or shows what to mend, where the system's tables tell it: which path has the wrong
    /// mode or owner, which disk is full.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        remedy::of(self)
    }
}

/// The one table from error numbers to advice.
fn advice(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::NOSPC => "the disk is full: free some space",
        Errno::DQUOT => "the disk quota is used up: free some space or ask for more",
        Errno::ROFS => "the file system is mounted read-only: mount it writable",
        Errno::ACCESS => "permission is missing: look at owner and mode of the file and its folder",
        Errno::PERM => {
            "the system forbids it: look for an immutable file (`lsattr`), a sticky folder of another owner, or a sandbox"
        }
        Errno::BUSY => "the file is mounted by itself and cannot be replaced atomically: mount its folder instead",
        Errno::IO => "the disk reports errors: look at the system log",
        Errno::NOLCK | Errno::OPNOTSUPP | Errno::BADF => "the file system does not support file locks",
        Errno::STALE => "the server no longer has this file or folder: mount it again",
        Errno::NAMETOOLONG => "the path is too long",
        Errno::MFILE | Errno::NFILE => "too many open files: raise the limit",
        Errno::LOOP => "symbolic links are not followed here: put the file itself in its place",
        Errno::NOTDIR => {
            "a file or a symbolic link stands where a folder should; links are not followed here: move it away"
        }
        Errno::WOULDBLOCK => "another process holds the file or folder locked: end it or try again",
        Errno::XDEV => "the name is a mount point or a link to another file system",
        _ => return None,
    })
}
