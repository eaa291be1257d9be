//! What a handoff message is made of: values that the caller has validated, read and loaded.
//!
//! No rule about tasks is decided here, and nothing is formatted.

use queue::{Agent, DispatchId, Planner};

use crate::context::ContextFile;

/// One dispatch, as the session is to see it.
#[derive(Debug, Clone, Copy)]
pub struct Handoff<'a> {
    /// The identity of this dispatch.
    pub dispatch_id: DispatchId,
    /// The task. Its paths were checked for this dispatch (D47).
    pub planner: &'a Planner,
    /// The agents that are loaded for the project, in order of precedence: the same that a report is checked against.
    pub agents: &'a [Agent],
    /// The context files, read for this dispatch (D68).
    pub context: &'a [ContextFile],
    /// Set when a task with this id and `created_at` ran before (D65).
    pub earlier: Option<EarlierRun<'a>>,
    /// How many bytes the queue file has left for the report (D12).
    pub report_room: usize,
}

/// When and how an earlier run of the same task ended (D65).
#[derive(Debug, Clone, Copy)]
pub struct EarlierRun<'a> {
    /// When it ended, as RFC 3339.
    pub ended_at: &'a str,
    /// `COMPLETE` or `ERROR`.
    pub status: &'a str,
    /// The reason of an ERROR.
    pub error: Option<&'a str>,
}
