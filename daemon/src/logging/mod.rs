//! The daemon's log: one line a fact, on stderr or in files, masked, sanitised, folded, and never in anybody's way.
//!
//! Facts are written with the macros of `tracing`; `project` and `task` are fields of the event or of a span around it.
//! A fact goes through [`fact`] (clean, masked, bounded), [`fold`] (repeats are counted), [`form`] (one line of text)
//! and a bounded queue to [`sink`]; what does not fit the queue is counted and told later, once. Bodies of tasks and
//! reports must never be logged: log ids and sizes (F277).

mod fact;
mod files;
mod fold;
mod form;
mod install;
mod layer;
mod panics;
mod rotating;
pub mod sanitize;
mod settings;
mod sink;

pub use files::files;
pub(crate) use form::priority;
pub use form::{project_of_line, task_of_line};
pub use install::{LogGuard, LogStats, init};
pub(crate) use settings::Stderr;
pub use settings::{Colour, FileSettings, LogError, LogSettings, Target};
