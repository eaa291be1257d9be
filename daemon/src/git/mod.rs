//! What git knows of a file, read from the repository's own files: whether it tracks `tasks.json` (D65), and whether it
//! ignores a context file (D68).
//!
//! A repository may come from a stranger. So git is never run, no configuration, attribute or hook of a repository is
//! ever looked at, every read is bounded, and nothing is written. What cannot be read is said to be unknown, never
//! guessed.

mod error;
mod ewah;
mod ignored;
mod index;
mod read;
mod repository;
mod tracked;

pub use error::CannotTell;
pub use ignored::{Ignored, ignored};
pub use tracked::{TrackedCache, Tracking};
