//! System calls: the one place where this crate touches the kernel on a write path.
//!
//! Every call goes through [`Sys`], which asks the [`Gate`] first and repeats after `EINTR`. Production has no
//! gate; tests put a [`FaultPlan`] there and let any single call fail, or act as another process in between. Rules
//! about files belong elsewhere: nothing here knows what a queue or a lock is.

mod fault;
#[cfg_attr(target_os = "macos", path = "macos.rs")]
#[cfg_attr(not(target_os = "macos"), path = "linux.rs")]
pub(crate) mod platform;

use std::ffi::CString;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    self as calls, Access, AtFlags, FlockOperation, Gid, Mode, OFlags, RenameFlags, Stat, Uid, XattrFlags,
};
use rustix::io::Errno;

pub use fault::{FaultPlan, Made};

/// A system call by kind, as gates see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// `openat` of an existing name.
    Open,
    /// `openat` with `O_CREAT`.
    Create,
    /// `pread`.
    Read,
    /// `write`.
    Write,
    /// `fsync`.
    Sync,
    /// `fstat`.
    Stat,
    /// `fstatat` without following.
    StatAt,
    /// `faccessat`.
    Access,
    /// `fstatfs`.
    StatFs,
    /// `fchmod`.
    Chmod,
    /// `fchown`.
    Chown,
    /// `flistxattr`, `fgetxattr`.
    GetXattr,
    /// `fsetxattr`, `fremovexattr`.
    SetXattr,
    /// `renameat`.
    Rename,
    /// `renameat2` with `RENAME_NOREPLACE`.
    RenameNew,
    /// `renameat2` with `RENAME_EXCHANGE`.
    Exchange,
    /// `linkat`.
    Link,
    /// `unlinkat`.
    Unlink,
    /// `flock`.
    Flock,
    /// `fallocate` keeping the size.
    Reserve,
    /// `ftruncate`.
    Truncate,
    /// `getdents`.
    List,
    /// `mkdirat`.
    Mkdir,
}

/// What a gate lets a call do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Make the call.
    Go,
    /// Do not make it; answer this error number.
    Fail(i32),
    /// Make a `write` of at most so many bytes; other calls go as they are.
    Short(usize),
}

/// Asked before each system call. It may answer with a fault or do what another process could do at that moment.
pub trait Gate: Send + Sync {
    /// Decides about one call on `name` (a name beneath its folder; empty for calls on an open file).
    fn pass(&self, call: Call, name: &Path) -> Pass;
}

/// The way to the kernel. Cheap to clone.
#[derive(Clone, Default)]
pub struct Sys {
    gate: Option<Arc<dyn Gate>>,
}

impl fmt::Debug for Sys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sys").field("gated", &self.gate.is_some()).finish()
    }
}

pub(crate) type Outcome<T> = Result<T, Errno>;

impl Sys {
    /// Straight to the kernel.
    #[must_use]
    pub const fn real() -> Self {
        Self { gate: None }
    }

    /// Every call asks `gate` first.
    #[must_use]
    pub fn gated(gate: Arc<dyn Gate>) -> Self {
        Self { gate: Some(gate) }
    }

    fn pass(&self, call: Call, name: &Path) -> Outcome<Option<usize>> {
        match self.gate.as_ref().map_or(Pass::Go, |gate| gate.pass(call, name)) {
            Pass::Go => Ok(None),
            Pass::Fail(errno) => Err(Errno::from_raw_os_error(errno)),
            Pass::Short(limit) => Ok(Some(limit)),
        }
    }

    /// Makes one call, again after each `EINTR` (F086).
    fn run<T>(&self, call: Call, name: &Path, mut act: impl FnMut() -> Outcome<T>) -> Outcome<T> {
        loop {
            match self.pass(call, name).and_then(|_| act()) {
                Err(Errno::INTR) => {}
                outcome => return outcome,
            }
        }
    }

    pub(crate) fn open_folder(&self, path: &Path) -> Outcome<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.run(Call::Open, path, || calls::open(path, flags, Mode::empty()))
    }

    pub(crate) fn stat_path(&self, path: &Path) -> Outcome<Stat> {
        self.run(Call::StatAt, path, || calls::stat(path))
    }

    /// `flags` gets `O_CLOEXEC` and `O_NOCTTY` in any case: no descriptor of ours is ever inherited (pitfall of
    /// `flock`: a copy in a child would keep the guard held).
    pub(crate) fn open_at(&self, dir: BorrowedFd<'_>, name: &Path, flags: OFlags, mode: u32) -> Outcome<OwnedFd> {
        let call = if flags.contains(OFlags::CREATE) { Call::Create } else { Call::Open };
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
        self.run(call, name, || calls::openat(dir, name, flags, platform::mode(mode)))
    }

    pub(crate) fn mkdir_at(&self, dir: BorrowedFd<'_>, name: &Path, mode: u32) -> Outcome<()> {
        self.run(Call::Mkdir, name, || calls::mkdirat(dir, name, platform::mode(mode)))
    }

    pub(crate) fn read_at(&self, file: BorrowedFd<'_>, buffer: &mut [u8], offset: u64) -> Outcome<usize> {
        self.run(Call::Read, Path::new(""), || rustix::io::pread(file, &mut *buffer, offset))
    }

    pub(crate) fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> Outcome<usize> {
        loop {
            let made = self.pass(Call::Write, Path::new("")).and_then(|limit| {
                let end = limit.map_or(bytes.len(), |limit| limit.min(bytes.len()));
                rustix::io::write(file, &bytes[..end])
            });
            if made != Err(Errno::INTR) {
                return made;
            }
        }
    }

    pub(crate) fn sync(&self, file: BorrowedFd<'_>) -> Outcome<()> {
        self.run(Call::Sync, Path::new(""), || platform::sync(file))
    }

    pub(crate) fn stat(&self, file: BorrowedFd<'_>) -> Outcome<Stat> {
        self.run(Call::Stat, Path::new(""), || calls::fstat(file))
    }

    pub(crate) fn stat_at(&self, dir: BorrowedFd<'_>, name: &Path) -> Outcome<Stat> {
        self.run(Call::StatAt, name, || calls::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))
    }

    /// Whether we may write to it, without opening it (which a watcher would take for a write).
    pub(crate) fn may_write(&self, dir: BorrowedFd<'_>, name: &Path) -> Outcome<()> {
        self.run(Call::Access, name, || calls::accessat(dir, name, Access::WRITE_OK, AtFlags::empty()))
    }

    pub(crate) fn fs_kind(&self, file: BorrowedFd<'_>) -> Outcome<crate::FsKind> {
        self.run(Call::StatFs, Path::new(""), || calls::fstatfs(file).map(|stat| platform::fs_kind(&stat)))
    }

    pub(crate) fn read_link(dir: BorrowedFd<'_>, name: &Path) -> Outcome<CString> {
        calls::readlinkat(dir, name, Vec::new())
    }

    pub(crate) fn chmod(&self, file: BorrowedFd<'_>, mode: u32) -> Outcome<()> {
        self.run(Call::Chmod, Path::new(""), || calls::fchmod(file, platform::mode(mode)))
    }

    pub(crate) fn chown(&self, file: BorrowedFd<'_>, uid: u32, gid: u32) -> Outcome<()> {
        let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
        self.run(Call::Chown, Path::new(""), || calls::fchown(file, Some(uid), Some(gid)))
    }

    /// The names of the extended attributes.
    pub(crate) fn xattrs(&self, file: BorrowedFd<'_>) -> Outcome<Vec<CString>> {
        let list = self.run(Call::GetXattr, Path::new(""), || {
            let mut list = vec![0_u8; calls::flistxattr_query(file)?];
            if list.is_empty() {
                return Ok(list);
            }
            let length = calls::flistxattr(file, &mut list[..])?;
            list.truncate(length);
            Ok(list)
        })?;
        Ok(list.split(|byte| *byte == 0).filter(|name| !name.is_empty()).flat_map(CString::new).collect())
    }

    pub(crate) fn xattr(&self, file: BorrowedFd<'_>, name: &CString) -> Outcome<Vec<u8>> {
        self.run(Call::GetXattr, Path::new(""), || {
            let mut value = vec![0_u8; calls::fgetxattr_query(file, name)?];
            let length = calls::fgetxattr(file, name, &mut value[..])?;
            value.truncate(length);
            Ok(value)
        })
    }

    pub(crate) fn set_xattr(&self, file: BorrowedFd<'_>, name: &CString, value: &[u8]) -> Outcome<()> {
        self.run(Call::SetXattr, Path::new(""), || calls::fsetxattr(file, name, value, XattrFlags::empty()))
    }

    pub(crate) fn remove_xattr(&self, file: BorrowedFd<'_>, name: &CString) -> Outcome<()> {
        self.run(Call::SetXattr, Path::new(""), || calls::fremovexattr(file, name))
    }

    pub(crate) fn rename(&self, dir: BorrowedFd<'_>, from: &Path, to: &Path) -> Outcome<()> {
        self.run(Call::Rename, to, || calls::renameat(dir, from, dir, to))
    }

    pub(crate) fn rename_new(&self, dir: BorrowedFd<'_>, from: &Path, to: &Path) -> Outcome<()> {
        self.run(Call::RenameNew, to, || calls::renameat_with(dir, from, dir, to, RenameFlags::NOREPLACE))
    }

    pub(crate) fn exchange(&self, dir: BorrowedFd<'_>, from: &Path, to: &Path) -> Outcome<()> {
        self.run(Call::Exchange, to, || calls::renameat_with(dir, from, dir, to, RenameFlags::EXCHANGE))
    }

    pub(crate) fn link(&self, dir: BorrowedFd<'_>, from: &Path, to: &Path) -> Outcome<()> {
        self.run(Call::Link, to, || calls::linkat(dir, from, dir, to, AtFlags::empty()))
    }

    pub(crate) fn unlink(&self, dir: BorrowedFd<'_>, name: &Path) -> Outcome<()> {
        self.run(Call::Unlink, name, || calls::unlinkat(dir, name, AtFlags::empty()))
    }

    pub(crate) fn rmdir(&self, dir: BorrowedFd<'_>, name: &Path) -> Outcome<()> {
        self.run(Call::Unlink, name, || calls::unlinkat(dir, name, AtFlags::REMOVEDIR))
    }

    /// Takes the exclusive lock without waiting; `EWOULDBLOCK` when another open file has it.
    pub(crate) fn try_flock(&self, file: BorrowedFd<'_>) -> Outcome<()> {
        self.run(Call::Flock, Path::new(""), || calls::flock(file, FlockOperation::NonBlockingLockExclusive))
    }

    pub(crate) fn reserve(&self, file: BorrowedFd<'_>, offset: u64, length: u64) -> Outcome<()> {
        self.run(Call::Reserve, Path::new(""), || platform::reserve(file, offset, length))
    }

    /// Lets a change of the file that is under way come to its end; a hint, which cannot fail.
    pub(crate) fn pass_changes(&self, file: BorrowedFd<'_>) {
        platform::pass_changes(file);
    }

    pub(crate) fn truncate(&self, file: BorrowedFd<'_>, length: u64) -> Outcome<()> {
        self.run(Call::Truncate, Path::new(""), || calls::ftruncate(file, length))
    }

    /// The UTF-8 names in a folder, itself and its parent left out; others cannot be ours.
    pub(crate) fn list(&self, dir: BorrowedFd<'_>) -> Outcome<Vec<String>> {
        self.run(Call::List, Path::new(""), || {
            let mut names = Vec::new();
            for entry in calls::Dir::read_from(dir.as_fd())? {
                match entry?.file_name().to_str() {
                    Ok("." | "..") | Err(_) => {}
                    Ok(name) => names.push(name.to_owned()),
                }
            }
            Ok(names)
        })
    }

    /// 32 random hexadecimal digits for a private name: unpredictable, so that nobody can prepare it.
    pub(crate) fn private_digits() -> Outcome<String> {
        let mut bits = [0_u8; 16];
        rustix::rand::getrandom(&mut bits[..], rustix::rand::GetRandomFlags::empty())?;
        Ok(crate::hash::hex(&bits))
    }
}

/// Where an operation on `name` in `folder` happens, for messages.
pub(crate) fn shown(folder: &Path, name: &Path) -> PathBuf {
    folder.join(name)
}
