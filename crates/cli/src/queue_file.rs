//! Looking at a queue file without a daemon: nothing is made or written, and no `.pi` is needed.

use std::path::{Path, PathBuf};

use queue::{Code, Document, Field, Ownership, Problem, Reading, Status};
use store::sys::Sys;
use store::{
    Claimant, FileBytes, Limit, LockState, PiFolder, ProjectDir, ProjectRoot, RawHash, ReadError, Watched, names,
};

use crate::failure::Failure;

/// What was found under the name.
#[derive(Debug)]
pub(crate) enum QueueFile {
    /// Nothing: the queue is empty.
    Missing,
    /// A file that cannot be judged.
    Unreadable(Problem),
    /// A document, and the hash of its bytes.
    Readable(Box<Document>, RawHash),
}

impl QueueFile {
    /// Reads the file `name` in the project's root.
    pub(crate) fn read(root: &ProjectRoot, name: &str) -> Result<Self, Failure> {
        Self::of(root.read_file(name, Limit::Queue))
    }

    /// What a bounded read means.
    pub(crate) fn of(read: Result<FileBytes, ReadError>) -> Result<Self, Failure> {
        Ok(match read {
            Ok(file) => match Document::parse(&file.bytes) {
                Ok(document) => Self::Readable(Box::new(document), file.hash),
                Err(problem) => Self::Unreadable(problem),
            },
            Err(ReadError::Missing) => Self::Missing,
            Err(ReadError::NotRegular) => {
                let message = "the queue is not a regular file (a link is not followed); put a file in its place";
                Self::Unreadable(Problem::whole(Code::NotRegularFile, message))
            }
            Err(ReadError::TooLarge { limit }) => {
                let message = format!("the file is larger than {limit} bytes; shorten it");
                Self::Unreadable(Problem::whole(Code::TooLarge, message))
            }
            Err(ReadError::Io(fault)) => return Err(Failure::usage(fault)),
        })
    }

    /// As the queue crate judges it.
    pub(crate) fn reading(&self) -> Reading<'_> {
        match self {
            Self::Missing => Reading::Missing,
            Self::Unreadable(problem) => Reading::Unreadable(problem),
            Self::Readable(document, _) => Reading::Readable(document),
        }
    }

    /// The document, if there is one.
    pub(crate) fn document(&self) -> Option<&Document> {
        match self {
            Self::Readable(document, _) => Some(document),
            Self::Missing | Self::Unreadable(_) => None,
        }
    }
}

/// The task that waits or runs in a project, as its file says now. A daemon that was just given one may not have looked yet, and
/// tells of the task before, or of none.
pub(crate) fn open_task(project: &Path) -> Option<(String, Status)> {
    let file = open_root(project).and_then(|root| QueueFile::read(&root, QUEUE)).ok()?;
    let document = file.document()?;
    let status = document.status();
    let is_open = matches!(status, Status::Pending | Status::Running);
    Some((document.string(Field::TaskId)?.into_owned(), status)).filter(|_| is_open)
}

/// Opens a project's root to look at it.
pub(crate) fn open_root(path: &Path) -> Result<ProjectRoot, Failure> {
    ProjectRoot::open(path, &Sys::real()).map_err(Failure::usage)
}

/// The folder and the name of a queue file.
pub(crate) fn place(file: &Path) -> Result<(PathBuf, String), Failure> {
    let name = file.file_name().ok_or_else(|| Failure::usage(format!("{} is no file", file.display())))?;
    let name = name.to_str().ok_or_else(|| Failure::usage(format!("{}: the name is not UTF-8", file.display())))?;
    Ok((file.parent().unwrap_or(Path::new("/")).to_owned(), name.to_owned()))
}

/// Whether a live owner holds the project's lock. One that cannot be told blocks like a live one (D16).
pub(crate) fn ownership(root: &Path) -> Ownership {
    let Ok(project) = ProjectDir::open(root, &Sys::real(), PiFolder::Require) else { return Ownership::Unowned };
    if !matches!(project.stamp(Watched::Lock), Ok(Some(_))) {
        return Ownership::Unowned;
    }
    match project.explain_lock(&Claimant::current(None)) {
        Ok(Some(verdict)) if matches!(verdict.state, LockState::Live | LockState::CannotTell) => Ownership::Owned,
        _ => Ownership::Unowned,
    }
}

/// The name of the queue.
pub(crate) const QUEUE: &str = names::QUEUE;
