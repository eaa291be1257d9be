//! Context files of a dispatch (D68): which files a handoff message carries, read fresh, and why one may stop it.
//!
//! No Markdown here (that is `message`), and no file of the queue. Files are reached through the project's own
//! descriptors only, so that nothing outside is ever read.

mod blocked;
mod collect;
mod file;
mod guard;

pub use blocked::{Blocked, Rule};
pub use collect::collect;
pub use file::{Content, ContextFile};

/// The most paths that may be listed; the file that `plan_ref` names comes on top.
pub const MAX_FILES: usize = 16;
/// The most bytes of all files together.
pub const MAX_TOTAL_BYTES: usize = 512 * 1024;
