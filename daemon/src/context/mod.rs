//! Context files of a dispatch (D68): which files a handoff message carries, read fresh, and why one may stop it.
//!
//! No Markdown here (that is `message`), and no file of the queue.

mod file;

pub use file::{Content, ContextFile};
