//! What Linux does differently from macOS. Its twin is `macos.rs`; nothing else in the crate may ask for the system,
//! except `liveness`.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FallocateFlags, Mode, OFlags, ResolveFlags, StatFs};
use rustix::io::Errno;

use super::Outcome;
use crate::FsKind;

pub(crate) const fn mode(bits: u32) -> Mode {
    Mode::from_bits_truncate(bits)
}

/// Data and metadata of `file` reach the disk.
pub(crate) fn sync(file: BorrowedFd<'_>) -> Outcome<()> {
    rustix::fs::fsync(file)
}

/// Room for `length` bytes at `offset`; the size stays as it is.
pub(crate) fn reserve(file: BorrowedFd<'_>, offset: u64, length: u64) -> Outcome<()> {
    rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, offset, length)
}

/// Returns once no call that changes the file is under way. The question itself (where its first data is) is of no interest:
/// file systems answer it under the lock that a truncation holds, also one that waits for the journal to reach the disk.
pub(crate) fn pass_changes(file: BorrowedFd<'_>) {
    rustix::fs::seek(file, rustix::fs::SeekFrom::Data(0)).ok();
}

/// Opens for reading; the kernel refuses every way out of `dir` with `EXDEV`. `EAGAIN` says that something was renamed
/// meanwhile and is worth another try.
pub(crate) fn open_beneath(dir: BorrowedFd<'_>, path: &Path) -> Outcome<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let mut tries = 0;
    loop {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(dir, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) if tries < 8 => tries += 1,
            outcome => return outcome,
        }
    }
}

/// By the magic numbers of `statfs(2)`; they are 32 bits wide whatever the field's type.
pub(crate) fn fs_kind(stat: &StatFs) -> FsKind {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the magic numbers have 32 bits")]
    let magic = stat.f_type as u32;
    kind_of_magic(magic)
}

fn kind_of_magic(magic: u32) -> FsKind {
    let local = |name| FsKind::Local { name };
    let network = |name| FsKind::Network { name };
    match magic {
        0x0000_EF53 => local("ext4"),
        0x5846_5342 => local("xfs"),
        0x9123_683E => local("btrfs"),
        0x0102_1994 => local("tmpfs"),
        0x8584_58F6 => local("ramfs"),
        0x2FC1_2FC1 => local("zfs"),
        0xF2F5_2010 => local("f2fs"),
        0xCA45_1A4E => local("bcachefs"),
        0x794C_7630 => local("overlayfs"),
        0x2011_BAB0 => local("exfat"),
        0x0000_4D44 => local("vfat"),
        0x7366_746E | 0x5346_544E => local("ntfs"),
        0x3153_464A => local("jfs"),
        0x5265_4973 => local("reiserfs"),
        0x0000_4244 => local("hfs"),
        0x0000_482B => local("hfsplus"),
        0x0000_F15F => local("ecryptfs"),
        0x7371_7368 => local("squashfs"),
        0x0000_6969 => network("nfs"),
        0x0000_517B | 0xFF53_4D42 | 0xFE53_4D42 => network("smb"),
        0x00C3_6400 => network("ceph"),
        0x5346_414F | 0x6B41_4653 => network("afs"),
        0x7375_7245 => network("coda"),
        0x0102_1997 => network("9p"),
        0x0116_1970 => network("gfs2"),
        0x7461_636F => network("ocfs2"),
        0x0BD0_0BD0 => network("lustre"),
        0x786F_4256 => network("vboxsf"),
        0x4750_4653 => network("gpfs"),
        0x6573_5546 => FsKind::Fuse,
        magic => FsKind::Other { magic },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magic_numbers_are_told_apart() {
        assert_eq!(kind_of_magic(0xEF53), FsKind::Local { name: "ext4" });
        assert_eq!(kind_of_magic(0x6969), FsKind::Network { name: "nfs" });
        assert_eq!(kind_of_magic(0x6573_5546), FsKind::Fuse);
        assert_eq!(kind_of_magic(1), FsKind::Other { magic: 1 });
    }
}
