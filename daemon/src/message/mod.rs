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
/// Only context files can bring that about: a valid task fits into 256 KiB and grows at most threefold. Files within the
/// limits of D68 fit, too, unless they have back-quotes by the ten thousand (a fence must be longer than any run of them)
/// or consist of control characters. So the caller can treat this as a context file that breaks a rule.
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
