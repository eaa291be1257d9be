//! Bounded reads: size first, at most limit + 1 bytes, regular files only, never waiting on a FIFO (D1).
//!
//! What the bytes mean is for the caller. Nothing here writes.

use rustix::fs::{OFlags, Stat};
use rustix::io::Errno;

use crate::error::IoFault;
use crate::folder::{Folder, OpenFile};
use crate::hash::RawHash;
use crate::names;
use crate::project::{ProjectDir, ProjectRoot};
use crate::stamp::{Stamp, is_regular, size};

/// How much of a kind of file is read (queue protocol, "Writes, locking and recovery").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// `tasks.json`: 256 KiB.
    Queue,
    /// A context file: 128 KiB.
    Context,
    /// An agent profile: 64 KiB.
    Profile,
    /// The project's configuration: 16 KiB.
    Config,
    /// A lock: 4 KiB.
    Lock,
    /// The work log: 4 MiB.
    WorkLog,
    /// A work log that somebody filled beyond that, to be rotated: 64 MiB.
    LongLog,
}

impl Limit {
    /// The limit in bytes; a file of exactly this size is read.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Queue => 256 << 10,
            Self::Context => 128 << 10,
            Self::Profile => 64 << 10,
            Self::Config => 16 << 10,
            Self::Lock => 4 << 10,
            Self::WorkLog => 4 << 20,
            Self::LongLog => 64 << 20,
        }
    }
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is nothing of that name.
    #[error("there is no such file")]
    Missing,
    /// A link, folder, FIFO, socket or device.
    #[error("not a regular file")]
    NotRegular,
    /// Over the limit, which is in bytes.
    #[error("larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The system refused.
    #[error(transparent)]
    Io(#[from] IoFault),
}

/// The bytes of a file at one moment.
#[derive(Debug, Clone)]
pub struct FileBytes {
    /// All of them.
    pub bytes: Vec<u8>,
    /// Their hash.
    pub hash: RawHash,
    /// The file's state before it was read: a change during the read shows as a difference at the next sweep.
    pub stamp: Stamp,
}

/// `tasks.json` as it was read, and still open: a replace that follows at once needs not open and read it again.
#[derive(Debug)]
pub struct OpenQueue {
    /// What was read.
    pub read: FileBytes,
    pub(crate) file: OpenFile,
    pub(crate) stat: Stat,
}

impl ProjectDir {
    /// As [`ProjectDir::read_queue`], and keeps the file open.
    ///
    /// # Errors
    ///
    /// See [`ReadError`]; the file is left alone in every case.
    pub fn open_queue(&self) -> Result<OpenQueue, ReadError> {
        let (file, stat) = open_regular(&self.root, names::QUEUE, OFlags::RDONLY)?;
        Ok(OpenQueue { read: read_open(&file, &stat, Limit::Queue)?, file, stat })
    }

    /// Reads `tasks.json`. A missing file is normal: the queue is empty (D1).
    ///
    /// # Errors
    ///
    /// See [`ReadError`]; the file is left alone in every case.
    pub fn read_queue(&self) -> Result<FileBytes, ReadError> {
        read_file(&self.root, names::QUEUE, Limit::Queue)
    }

    /// Reads a file directly in `.pi`, such as the project's configuration.
    ///
    /// # Errors
    ///
    /// See [`ReadError`]. A name with a slash is [`ReadError::Missing`].
    pub fn read_pi_file(&self, name: &str, limit: Limit) -> Result<FileBytes, ReadError> {
        if name.contains('/') {
            return Err(ReadError::Missing);
        }
        read_file(&self.pi, name, limit)
    }
}

impl ProjectRoot {
    /// Reads a file directly in the root: `tasks.json`, or a draft of one.
    ///
    /// # Errors
    ///
    /// See [`ReadError`]. A name with a slash is [`ReadError::Missing`].
    pub fn read_file(&self, name: &str, limit: Limit) -> Result<FileBytes, ReadError> {
        if name.contains('/') {
            return Err(ReadError::Missing);
        }
        read_file(&self.root, name, limit)
    }
}

/// Opens a regular file for reading, or for reading and appending. The name is looked at first, so that a device or a
/// FIFO is not even opened, and the open file again, since the name may have changed in between: that state is returned.
pub(crate) fn open_regular(folder: &Folder, name: &str, access: OFlags) -> Result<(OpenFile, Stat), ReadError> {
    match folder.stat(name)? {
        None => return Err(ReadError::Missing),
        Some(stat) if !is_regular(&stat) => return Err(ReadError::NotRegular),
        Some(_) => {}
    }
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = folder.open_file("open", name, flags, 0).map_err(|fault| match fault.errno() {
        Errno::NOENT => ReadError::Missing,
        Errno::LOOP | Errno::NXIO | Errno::ISDIR | Errno::NODEV => ReadError::NotRegular,
        _ => ReadError::Io(fault),
    })?;
    let stat = file.stat()?;
    if is_regular(&stat) { Ok((file, stat)) } else { Err(ReadError::NotRegular) }
}

impl Folder {
    /// Reads the regular file `name` directly beneath; a link is not followed, at most `limit` bytes are accepted.
    ///
    /// # Errors
    ///
    /// See [`ReadError`].
    pub fn read(&self, name: &str, limit: usize) -> Result<Vec<u8>, ReadError> {
        if name.contains('/') {
            return Err(ReadError::Missing);
        }
        let (file, stat) = open_regular(self, name, OFlags::RDONLY)?;
        let expected = usize::try_from(size(&stat)).ok().filter(|size| *size <= limit);
        let expected = expected.ok_or(ReadError::TooLarge { limit })?;
        let bytes = file.read(0, limit.saturating_add(1), expected)?;
        if bytes.len() > limit { Err(ReadError::TooLarge { limit }) } else { Ok(bytes) }
    }
}

pub(crate) fn read_file(folder: &Folder, name: &str, limit: Limit) -> Result<FileBytes, ReadError> {
    let (file, stat) = open_regular(folder, name, OFlags::RDONLY)?;
    read_open(&file, &stat, limit)
}

/// Reads an open file whose state was `stat` just before.
pub(crate) fn read_open(file: &OpenFile, stat: &Stat, limit: Limit) -> Result<FileBytes, ReadError> {
    let too_large = ReadError::TooLarge { limit: limit.bytes() };
    let expected = match usize::try_from(size(stat)) {
        Ok(size) if size <= limit.bytes() => size,
        _ => return Err(too_large),
    };
    let bytes = file.read(0, limit.bytes() + 1, expected)?;
    if bytes.len() > limit.bytes() {
        return Err(too_large);
    }
    Ok(FileBytes { hash: RawHash::of(&bytes), bytes, stamp: Stamp::of(stat) })
}
