//! The planner's fields after validation. Values of this type exist only for valid tasks.

use crate::{Gate, RequiredRole, TaskType};

/// One task as its planner wrote it; every rule of the protocol holds (D4–D9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planner {
    /// One line of 1 to 200 characters.
    pub task_id: String,
    /// What kind of work it is.
    pub task_type: TaskType,
    /// Fits the task type.
    pub required_role: RequiredRole,
    /// A hint, never checked.
    pub preferred_agent: Option<String>,
    /// `none` also when absent or null.
    pub gate: Gate,
    /// Given whenever there is a gate.
    pub gate_reason: Option<String>,
    /// The task that this one follows.
    pub parent_task_id: Option<String>,
    /// At most 32,768 bytes.
    pub instruction: String,
    /// As written: relative to the root, or absolute.
    pub working_dir: String,
    /// As written, 1 to 32 entries relative to the root.
    pub scope: Vec<String>,
    /// 1 to 32 items.
    pub acceptance_criteria: Vec<String>,
    /// Points at a plan; not checked.
    pub plan_ref: Option<String>,
    /// As written; a date or time by D48.
    pub created_at: String,
}
