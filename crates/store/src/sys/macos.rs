//! What macOS does differently from Linux. Untested: no machine of ours can compile it. Its twin is `linux.rs`.

use std::os::fd::BorrowedFd;

use rustix::fs::{FallocateFlags, Mode, RawMode, StatFs};
use rustix::io::Errno;

use super::Outcome;
use crate::FsKind;

pub(crate) fn mode(bits: u32) -> Mode {
    Mode::from_bits_truncate(RawMode::try_from(bits & 0o7777).unwrap_or(0o600))
}

/// Plain `fsync` leaves the drive's cache unwritten here; some file systems know only that.
pub(crate) fn sync(file: BorrowedFd<'_>) -> Outcome<()> {
    match rustix::fs::fcntl_fullfsync(file) {
        Err(Errno::NOTSUP | Errno::INVAL | Errno::NOTTY) => rustix::fs::fsync(file),
        outcome => outcome,
    }
}

/// `F_PREALLOCATE` leaves the size alone without being told.
pub(crate) fn reserve(file: BorrowedFd<'_>, offset: u64, length: u64) -> Outcome<()> {
    rustix::fs::fallocate(file, FallocateFlags::empty(), offset, length)
}

/// Nothing is known here that would wait for a change under way.
pub(crate) fn pass_changes(_: BorrowedFd<'_>) {}

/// By `f_fstypename`.
pub(crate) fn fs_kind(stat: &StatFs) -> FsKind {
    let name: Vec<u8> = stat.f_fstypename.iter().take_while(|c| **c != 0).map(|c| c.to_ne_bytes()[0]).collect();
    match name.as_slice() {
        b"apfs" => FsKind::Local { name: "apfs" },
        b"hfs" => FsKind::Local { name: "hfs" },
        b"exfat" => FsKind::Local { name: "exfat" },
        b"msdos" => FsKind::Local { name: "msdos" },
        b"nfs" => FsKind::Network { name: "nfs" },
        b"smbfs" => FsKind::Network { name: "smb" },
        b"afpfs" => FsKind::Network { name: "afp" },
        b"webdav" => FsKind::Network { name: "webdav" },
        b"macfuse" | b"osxfuse" | b"fusefs" => FsKind::Fuse,
        _ => FsKind::Other { magic: stat.f_type },
    }
}

/// There is no such call here; the caller walks part by part.
pub(crate) fn open_beneath(_dir: BorrowedFd<'_>, _path: &std::path::Path) -> Outcome<std::os::fd::OwnedFd> {
    Err(Errno::NOSYS)
}
