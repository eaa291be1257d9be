//! Files of JSON lines that several processes append to (ledgers): whole lines only, rotated by size, none lost.
//!
//! Writers take turns by a `flock` on the file itself, so there is no second file to leave behind, and look again
//! whether the name still leads to it: a rotation moves the file away. A line is one `write` and a sync; what a failed
//! one left is cut back, and what one that was killed left is cut away by the next. What the lines say is the caller's.

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::IoFault;
use crate::folder::{Folder, OpenFile};
use crate::stamp::{Identity, is_regular, permissions, size};
use crate::turn::Turn;

/// When a file of lines is moved to `<name>.1`, and how many of those there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// A line that would make the file longer goes into a fresh one. In bytes.
    pub max_bytes: u64,
    /// `<name>.1` is the youngest; the one after this number is dropped.
    pub generations: u32,
}

/// A line could not be appended; no part of it stands in the file then, unless said otherwise.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] IoFault),
    /// A folder, pipe, socket or device has the name.
    #[error("{} is not a regular file", .0.display())]
    NotRegular(std::path::PathBuf),
    /// Only a part fitted, and it could not be taken back: the next writer will.
    #[error("{append}; and its beginning could not be taken back: {cut}")]
    NotCutBack {
        /// Why the line was not written.
        append: IoFault,
        /// Why its beginning stands there still.
        cut: IoFault,
    },
}

/// How often a file that was rotated meanwhile is opened again.
const TRIES: usize = 16;
/// How often the turn is tried for, a few milliseconds apart: 10 s.
const PATIENCE: usize = 2_000;

/// Appends `line` (JSON, without its end and without a line break) to the file `name` directly beneath, durably. The
/// file is made if it is missing; it is for this user only, whatever it was before.
///
/// # Errors
///
/// See [`LineError`].
pub fn append_line(folder: &Folder, name: &str, line: &str, rotation: Rotation) -> Result<(), LineError> {
    let bytes = format!("{}\n", line.replace(['\n', '\r'], " ")).into_bytes();
    for _ in 0..TRIES {
        let file = open(folder, name)?;
        Turn::within(&file, PATIENCE)?;
        if !leads_to(folder, name, &file)? {
            continue;
        }
        let length = size(&file.stat()?);
        let whole = length.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if length > 0 && whole > rotation.max_bytes {
            rotate(folder, name, rotation.generations)?;
            continue;
        }
        if length == 0 {
            // The name of a new file must outlive a power failure before its first line counts as written.
            folder.sync()?;
        }
        return append(&file, length, bytes);
    }
    Err(IoFault::new("append to", folder.shown(name), Errno::AGAIN).into())
}

fn open(folder: &Folder, name: &str) -> Result<OpenFile, LineError> {
    let not_regular = || LineError::NotRegular(folder.shown(name));
    // A device or a pipe is not even opened.
    if folder.stat(name)?.is_some_and(|stat| !is_regular(&stat)) {
        return Err(not_regular());
    }
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = folder.open_file("open", name, flags, 0o600)?;
    let stat = file.stat()?;
    if !is_regular(&stat) {
        return Err(not_regular());
    }
    if permissions(&stat) & 0o077 != 0 {
        file.fault("set the mode of", file.sys.chmod(file.fd(), 0o600))?;
    }
    Ok(file)
}

fn leads_to(folder: &Folder, name: &str, file: &OpenFile) -> Result<bool, IoFault> {
    let open = Identity::of(&file.stat()?);
    Ok(folder.stat(name)?.is_some_and(|stat| Identity::of(&stat) == open))
}

/// Moves `name` to `name.1`, those before it one further. Only as far as the first free number: what a crash left half
/// done is finished, and nothing is dropped twice.
fn rotate(folder: &Folder, name: &str, generations: u32) -> Result<(), IoFault> {
    let numbered = |number: u32| format!("{name}.{number}");
    let mut last = 1;
    while last < generations && folder.stat(&numbered(last))?.is_some() {
        last += 1;
    }
    for number in (1..last).rev() {
        folder.rename(&numbered(number), &numbered(number + 1))?;
    }
    folder.rename(name, &numbered(1))?;
    folder.sync()
}

fn append(file: &OpenFile, length: u64, mut bytes: Vec<u8>) -> Result<(), LineError> {
    let length = match ending(file, length)? {
        Ending::Whole => length,
        Ending::Unended => {
            bytes.insert(0, b'\n');
            length
        }
        Ending::Torn { start } => {
            file.fault("cut back", file.sys.truncate(file.fd(), start))?;
            start
        }
    };
    let written = match file.fault("append to", file.sys.write(file.fd(), &bytes)) {
        Ok(count) if count == bytes.len() => file.sync(),
        Ok(_) => file.fault("append to", Err(Errno::NOSPC)),
        Err(fault) => Err(fault),
    };
    written.map_err(|append| match cut_back(file, length, &bytes) {
        Ok(()) => append.into(),
        Err(cut) => LineError::NotCutBack { append, cut },
    })
}

/// How a file ends.
enum Ending {
    /// With the end of a line, or it is empty.
    Whole,
    /// With a line that only lacks its end, or with something that is none of ours.
    Unended,
    /// With the beginning of a line, whose writer was killed in the middle.
    Torn { start: u64 },
}

/// No line of ours is longer. In bytes.
const LINE_MAX: u64 = 64 << 10;

fn ending(file: &OpenFile, length: u64) -> Result<Ending, IoFault> {
    let from = length.saturating_sub(LINE_MAX);
    let size = usize::try_from(length - from).unwrap_or(0);
    let end = file.read(from, size, size)?;
    if end.is_empty() || end.ends_with(b"\n") {
        return Ok(Ending::Whole);
    }
    let start = match end.iter().rposition(|byte| *byte == b'\n') {
        Some(before) => before + 1,
        None if from == 0 => 0,
        None => return Ok(Ending::Unended),
    };
    let line: Result<serde::de::IgnoredAny, _> = serde_json::from_slice(end.get(start..).unwrap_or_default());
    Ok(match line {
        Ok(_) => Ending::Unended,
        Err(_) => Ending::Torn { start: from + u64::try_from(start).unwrap_or(0) },
    })
}

/// Takes back what a failed append left, if nothing but that follows.
fn cut_back(file: &OpenFile, length: u64, bytes: &[u8]) -> Result<(), IoFault> {
    let end = file.read(length, bytes.len() + 1, bytes.len())?;
    if end.is_empty() {
        return Ok(());
    }
    if !bytes.starts_with(&end) {
        // A stranger who takes no turns wrote too: cutting would take their text.
        return file.fault("cut back", Err(Errno::BUSY));
    }
    file.fault("cut back", file.sys.truncate(file.fd(), length))?;
    file.sync()
}
