//! Files of a project: bounded reads, durable replace, ownership lock, work log, contained paths.
//!
//! The synchronous file layer. Everything goes through directory descriptors that [`ProjectDir`] opened once; nothing
//! here is async, reads the environment or a clock (callers pass `now`), or decides what a task means. Calls may block
//! as long as the file system does: run them on a blocking pool.
//!
//! Files elsewhere than in a project (team packets and their ledgers) are reached through [`Folder`], [`Temporary`] and
//! [`append_line`], with the same care.
//!
//! # What it cannot promise
//!
//! - A writer that still has a displaced file open and writes after [`SwapFile::settle`] writes into nothing.
//! - Without `RENAME_EXCHANGE` ([`Method::PlainRename`]) a write in the last window is lost; without `flock`
//!   ([`Protection::ContentOnly`]) of several recoverers there is never more than one lasting owner, but perhaps none
//!   at the first try.
//! - Tools that neither rename nor keep the inode (a restore from backup with the same inode, size and times) are not
//!   seen by stamps; every write compares the bytes.
//! - macOS: `sys/macos.rs` and `liveness/macos.rs` are untested.

mod attributes;
mod beneath;
mod contained;
mod error;
mod exchange;
mod folder;
mod fs_kind;
mod hash;
mod lines;
mod liveness;
mod lock;
pub mod names;
mod paths;
mod project;
mod read;
mod remedy;
mod replace;
mod staged;
mod stamp;
mod swap;
pub mod sys;
mod temporary;
mod turn;
mod worklog;

pub use beneath::{FileLock, Kind};
pub use contained::ContainedError;
pub use error::IoFault;
pub use folder::Folder;
pub use fs_kind::FsKind;
pub use hash::RawHash;
pub use lines::{LineError, Rotation, append_line};
pub use liveness::{Description, Host, Presence, ProcessId, Processes, SystemProcesses};
pub use lock::{
    Acquisition, Binding, Claimant, Facts, GuardState, Holder, Instance, KeepFile, Lock, LockContent, LockError,
    LockState, Protection, Readable, Unlocked, Verdict, judge,
};
pub use project::{Moved, OpenError, PiFolder, ProjectDir, ProjectRoot, Watched};
pub use read::{FileBytes, Limit, OpenQueue, ReadError};
pub use remedy::{allow, put_aside};
pub use replace::{Expected, Method, ReplaceError, Replaced};
pub use staged::{Staged, Unsynced};
pub use stamp::{Identity, Stamp};
pub use swap::{Settled, SwapFile, SwapVerdict, Swept};
pub use temporary::Temporary;
pub use worklog::{LogCheck, LogError, OpenLog, Rotated, WorkLog};
