//! Agent profiles as pi-subagents 0.67 loads them: discovery, precedence, effective role and pins (D27, D55, D56).
//!
//! [`load`] answers one question: if a session in this project launched a delegate now, which agents could it name, and
//! with which role, model and thinking level? The answer is a list of [`queue::Agent`] for the report check and a list
//! of [`Note`]s that say what was left out and why. Which text names which agent is the report check's rule, not ours.
//!
//! The crate reads files and nothing else: no environment, no clock, no program is started, nothing is written. It
//! reads synchronously; call it from a thread that may wait for a disk.
//!
//! # Where profiles come from
//!
//! Highest precedence first: the project's `.pi/agents`, `.agents` and `agentScanDirs`; the user's `~/.agents`,
//! `<agentDir>/agents`, `agentScanDirs` and extra folders; installed packages; the builtins of pi-subagents 0.67.
//!
//! # Bounds
//!
//! A tree may be hostile, so everything has an end: 64 KiB a profile, 256 profiles, 1 MiB a settings file or package
//! manifest, 4,096 directory entries and 16 levels a place, 16,384 entries, 1,024 Markdown files, 1,024 packages and 256
//! places in all. Whatever is cut is noted.
//!
//! # Known limits
//!
//! - Agents that extensions register at run time, and packages of npm's global folder, are not seen.
//! - `agentOverridesByProvider` depends on the session's model and is not applied (a note says so).
//! - `defaultModel` and `defaultThinking` are defaults, not pins of a profile, and are not applied.
//! - Nested values that need YAML are checked only as far as [`Reason::Invalid`] says.

mod builtin;
mod definition;
mod disk;
mod form;
mod front_matter;
mod load;
mod looks;
mod merge;
mod note;
mod overlay;
mod packages;
mod places;
mod read;
mod root;
mod runner;
mod settings;
mod sources;
mod walk;

pub use load::{Loaded, MAX_PROFILES, load, load_and_remember};
pub use looks::Looks;
pub use note::{Note, Reason};
pub use places::Places;
pub use read::{MAX_PROFILE, MAX_SETTINGS};
