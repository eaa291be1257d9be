//! The Markdown that a session is shown: the handoff of a task, and the reminder and the cancellation that may follow.
//!
//! Everything here is pure: values in, text out. What never belongs here: files, clocks, the wire, and any text of a
//! planner, a file or an agent that did not pass through `foreign` – that module alone decides how such text is
//! written, so that it can be read but can never be taken for a line of ours.

mod agents;
mod context;
mod duties;
mod foreign;
mod handoff;
mod reminder;
mod report;
mod task;

pub use handoff::{EarlierRun, Handoff};
pub use reminder::{cancel, remind};

/// The largest message in bytes: what `task.dispatch` may carry (wire protocol, "Session side").
pub const MAX_BYTES: usize = 1024 * 1024;

/// The message would be larger than a session may be sent.
///
/// Planner fields of a queue file and context files within the limits of D68 fit, unless a file has back-quotes by
/// the ten thousand: a fence must be longer than any run of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the handoff message has {bytes} bytes ({context_bytes} of them context files), over the limit of {limit}")]
pub struct TooLarge {
    /// The size it would have had.
    pub bytes: usize,
    /// The part of it that is the section of context files.
    pub context_bytes: usize,
    /// [`MAX_BYTES`].
    pub limit: usize,
}

/// Writes the handoff message of one dispatch.
///
/// # Errors
/// [`TooLarge`] when it would have more than [`MAX_BYTES`]; nothing is ever cut.
pub fn render(handoff: &Handoff<'_>) -> Result<String, TooLarge> {
    let mut out = String::with_capacity(16 * 1024);
    task::write(&mut out, handoff);
    let before = out.len();
    context::write(&mut out, handoff.context);
    let context_bytes = out.len() - before;
    duties::write(&mut out, handoff);
    report::write(&mut out, handoff);
    if out.len() > MAX_BYTES {
        return Err(TooLarge { bytes: out.len(), context_bytes, limit: MAX_BYTES });
    }
    Ok(out)
}
