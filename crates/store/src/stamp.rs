//! What tells one file from another, and one state of a file from the next, without reading it.

use rustix::fs::{FileType, Stat};

/// Which file: device and inode (D18, D72).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// The device.
    pub device: u64,
    /// The inode on it.
    pub inode: u64,
}

/// Which state of a file. Two equal stamps mean the same content, except within one tick of the file system's clock:
/// who reads must read again while the stamp is younger than that ("racily clean").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Which file.
    pub identity: Identity,
    /// Size in bytes.
    pub size: u64,
    /// Last change of the content, in nanoseconds since 1970.
    pub modified_ns: i128,
    /// Last change of content, name or metadata, in nanoseconds since 1970. Cannot be set back by a user.
    pub changed_ns: i128,
}

impl Identity {
    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "the fields' types differ by system")]
    pub(crate) fn of(stat: &Stat) -> Self {
        Self { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }
}

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        let ns = |seconds: i128, ns: i128| seconds * 1_000_000_000 + ns;
        Self {
            identity: Identity::of(stat),
            size: size(stat),
            modified_ns: ns(stat.st_mtime.into(), stat.st_mtime_nsec.into()),
            changed_ns: ns(stat.st_ctime.into(), stat.st_ctime_nsec.into()),
        }
    }
}

pub(crate) fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

pub(crate) fn is_regular(stat: &Stat) -> bool {
    file_type(stat) == FileType::RegularFile
}

pub(crate) fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Permission bits, set-id and sticky bits included.
pub(crate) fn permissions(stat: &Stat) -> u32 {
    #[allow(clippy::useless_conversion, reason = "16 bits wide on macOS")]
    let mode = u32::from(stat.st_mode);
    mode & 0o7777
}
