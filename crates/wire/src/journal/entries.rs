//! What each kind of row holds. A member that a later version adds must be optional.

use crate::control::Lifted;
use crate::error::Problem;
use crate::event::{LockChange, PacketChange, SessionChange};
use crate::object::objects;
use crate::raw::Raw;
use crate::run::Run;
use crate::session::{EndStatus, Ownership};
use crate::status::{ProjectState, StateReason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A step of a dispatch that needs no more words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct OfDispatch {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
}

/// A valid PENDING was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Pending {
    /// The planner's id.
    pub task_id: String,
    /// 64 hexadecimal digits (D10).
    pub fingerprint: String,
    /// The planner's time.
    pub created_at: Option<String>,
}

/// A task was written for the planner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Submitted {
    /// The planner's id.
    pub task_id: String,
    /// 64 hexadecimal digits (D10).
    pub fingerprint: String,
    /// The task that it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<String>,
}

/// A PENDING was rewritten to ERROR.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Rejected {
    /// The planner's id, if it has one.
    pub task_id: Option<String>,
    /// The text that was written to `error`.
    pub error: String,
    /// All faults.
    #[serde(default)]
    pub problems: Vec<Problem>,
}

/// RUNNING is durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Running {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// 64 hexadecimal digits (D10).
    pub fingerprint: String,
    /// The planner's time; with `task_id` it tells a task that ran before (D65).
    pub created_at: Option<String>,
    /// When it became RUNNING, RFC 3339.
    pub started_at: String,
    /// The session that gets it.
    pub session_id: Option<String>,
}

/// The task left for its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Sent {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// 1, then more each time it is sent again (D69).
    pub attempt: u32,
}

/// The session did not take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct NotAccepted {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// The session's word, or what went wrong.
    pub reason: String,
}

/// The task is in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Accepted {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// The session that has it.
    pub session_id: Option<String>,
}

/// A run was observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct RunSeen {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch whose work it is.
    pub dispatch_id: String,
    /// The run as it was then.
    pub run: Run,
}

/// A report failed its checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ReportRefused {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// All faults.
    pub problems: Vec<Problem>,
}

/// A person asked to end the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Cancelling {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch; `null` for a PENDING.
    pub dispatch_id: Option<String>,
    /// Why.
    pub reason: String,
}

/// The end of a task. `show`, `wait` and `retry` need nothing but this row (D65).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Ended {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch; `null` if it never was RUNNING.
    pub dispatch_id: Option<String>,
    /// How.
    pub status: EndStatus,
    /// Why, for ERROR.
    pub error: Option<String>,
    /// When it became RUNNING, RFC 3339.
    pub started_at: Option<String>,
    /// When it ended, RFC 3339.
    pub completed_at: Option<String>,
    /// 64 hexadecimal digits (D10).
    pub fingerprint: Option<String>,
    /// The planner's time.
    pub created_at: Option<String>,
    /// The planner fields as they stood in `tasks.json`.
    pub planner: Option<Raw>,
    /// The report's result.
    pub result: Option<String>,
    /// The evidence as it was written to `tasks.json` (D63).
    pub report: Option<Raw>,
    /// The first line of the gate's verdict.
    pub verdict: Option<String>,
    /// The finished line for the work log (D67); `null` for a task that never was RUNNING.
    pub log_line: Option<String>,
}

/// The work log could not be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct LogFailed {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// What went wrong.
    pub error: String,
}

/// `resume` lifted something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Resumed {
    /// What.
    pub lifted: Vec<Lifted>,
}

/// A planner's write was kept aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Lost {
    /// Where it is kept.
    pub path: String,
}

/// The project's state changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct StateChanged {
    /// The state from then on.
    pub state: ProjectState,
    /// The word behind it.
    pub reason: Option<StateReason>,
    /// One sentence.
    pub why: Option<String>,
}

/// A session came, went, or changed its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct SessionSeen {
    /// The session's own id.
    pub session_id: String,
    /// What it did.
    pub change: SessionChange,
    /// Its place from then on.
    pub ownership: Option<Ownership>,
}

/// The lock changed hands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct LockSeen {
    /// What became of it.
    pub change: LockChange,
    /// Who has it, in words.
    pub holder: Option<String>,
}

/// A packet went to a team member, or what became of it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct PacketSeen {
    /// The packet's goal, which is the id of its task (D74).
    pub task_id: String,
    /// The member.
    pub agent_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// The packet's own id.
    pub packet_id: String,
    /// The packet's file.
    pub packet_path: String,
    /// How far it got.
    pub change: PacketChange,
    /// Why it was refused, or ended otherwise than by a settled turn.
    pub reason: Option<String>,
}

objects!(
    OfDispatch,
    Pending,
    Submitted,
    Rejected,
    Running,
    Sent,
    NotAccepted,
    Accepted,
    RunSeen,
    ReportRefused,
    Cancelling,
    Ended,
    LogFailed,
    Resumed,
    Lost,
    StateChanged,
    SessionSeen,
    LockSeen,
    PacketSeen,
);
