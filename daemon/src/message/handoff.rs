//! What a handoff message is made of: plain values, already validated and looked up by the caller.
//!
//! No rule about tasks is decided here, and nothing is formatted.

use queue::{AcceptanceRole, DispatchId};

use crate::context::ContextFile;

/// One dispatch, as the session is to see it. Texts are the planner's own unless a member says otherwise.
#[derive(Debug, Clone)]
pub struct Handoff<'a> {
    /// The identity of this dispatch.
    pub dispatch_id: DispatchId,
    /// `task_id`
    pub task_id: &'a str,
    /// `task_type`
    pub task_type: &'a str,
    /// `required_role`
    pub required_role: &'a str,
    /// The role that the worker's profile must have for this type of task (D27).
    pub worker_role: AcceptanceRole,
    /// `preferred_agent`
    pub preferred_agent: Option<Preferred<'a>>,
    /// `gate`; `None` for `none` and for an absent one.
    pub gate: Option<Gate<'a>>,
    /// `parent_task_id`
    pub parent_task_id: Option<&'a str>,
    /// `instruction`
    pub instruction: &'a str,
    /// `working_dir` as the planner wrote it.
    pub working_dir: &'a str,
    /// `scope`
    pub scope: Vec<&'a str>,
    /// `acceptance_criteria`
    pub criteria: Vec<&'a str>,
    /// `plan_ref`
    pub plan_ref: Option<&'a str>,
    /// `created_at` as the planner wrote it.
    pub created_at: &'a str,
    /// The context files, read for this dispatch (D68).
    pub context: &'a [ContextFile],
    /// Set when a task with this id and `created_at` ran before (D65).
    pub earlier: Option<EarlierRun<'a>>,
    /// Which agents would pass the checks of a report.
    pub candidates: Candidates<'a>,
    /// How many bytes the queue file has left for the report (D12); `None` when it is not known.
    pub report_room: Option<u64>,
}

/// `preferred_agent`, a hint only, and what it is worth here.
#[derive(Debug, Clone, Copy)]
pub struct Preferred<'a> {
    /// The name as the planner wrote it.
    pub name: &'a str,
    /// What a lookup of it gave.
    pub fit: PreferredFit,
}

/// Whether the preferred agent can be the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreferredFit {
    /// There is such an agent, and it has the right role.
    Fits,
    /// There is such an agent, but a report that names it as worker would be refused.
    OtherRole,
    /// No agent has that name, or more than one.
    Unknown,
}

/// The gate that the planner set.
#[derive(Debug, Clone, Copy)]
pub struct Gate<'a> {
    /// When it is to happen.
    pub kind: GateKind,
    /// `gate_reason`
    pub reason: &'a str,
}

/// The two gates of the queue protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateKind {
    /// `consult-before`: an opinion before the work starts.
    ConsultBefore,
    /// `review-after`: a verdict on finished work.
    ReviewAfter,
}

impl GateKind {
    /// The word of the queue protocol.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConsultBefore => "consult-before",
            Self::ReviewAfter => "review-after",
        }
    }
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

/// Names of agents that would pass the checks of a report (D27), in order of precedence.
#[derive(Debug, Clone, Default)]
pub struct Candidates<'a> {
    /// Agents with the role that the worker needs.
    pub workers: Vec<&'a str>,
    /// Read-only agents; looked at only when there is a gate.
    pub reviewers: Vec<&'a str>,
}
