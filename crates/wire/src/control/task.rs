//! Calls about the task in a project's file, and about tasks that have ended.

use crate::object::objects;
use crate::raw::Raw;
use crate::run::Run;
use crate::session::null_is_false;
use crate::status::{ProjectState, TaskStatus};
use crate::words::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `task.submit`: the planner's write, done for it (D64).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct TaskSubmit {
    /// Which.
    pub project: String,
    /// The planner's fields.
    pub task: Raw,
}

/// The answer to `task.submit` and `task.retry`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct SubmitResult {
    /// The id of the task that is PENDING now.
    pub task_id: String,
    /// 64 hexadecimal digits (D10).
    pub fingerprint: String,
    /// Always PENDING.
    pub status: TaskStatus,
    /// `retry`: the task that it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<String>,
}

/// `task.wait`: answered when the task ends. Without `task_id`: the task that is in the file now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct TaskWait {
    /// Which.
    pub project: String,
    /// The planner's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Milliseconds after which the answer comes in any case; without it there is no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// The answer to `task.wait`: an ended task, or `timed_out` with the state that the project is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct WaitResult {
    /// COMPLETE or ERROR; RUNNING when the time is over.
    pub status: TaskStatus,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<EndedTask>,
    /// The first line of the gate's verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The time is over; this is a result and no error.
    #[serde(default, deserialize_with = "null_is_false", skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// With `timed_out`: the project's state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ProjectState>,
    /// With `timed_out`: one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl WaitResult {
    /// The task ended.
    #[must_use]
    pub fn ended(task: EndedTask, verdict: Option<String>) -> Self {
        Self { status: task.status, task: Some(task), verdict, timed_out: false, state: None, why: None }
    }

    /// The time is over.
    #[must_use]
    pub const fn timed_out(state: ProjectState, why: Option<String>) -> Self {
        Self { status: TaskStatus::Running, task: None, verdict: None, timed_out: true, state: Some(state), why }
    }
}

/// A task that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct EndedTask {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch; `null` if it never was RUNNING.
    pub dispatch_id: Option<String>,
    /// COMPLETE or ERROR.
    pub status: TaskStatus,
    /// When it became RUNNING, RFC 3339.
    pub started_at: Option<String>,
    /// When it ended, RFC 3339.
    pub completed_at: Option<String>,
    /// The report's result.
    pub result: Option<String>,
    /// Why, for ERROR.
    pub error: Option<String>,
    /// The evidence as it stands in `tasks.json` (D63).
    pub report: Option<Raw>,
}

/// `task.cancel`: end this task, whatever its state (D76).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct TaskCancel {
    /// Which.
    pub project: String,
    /// The task that is meant; another one there is `task_mismatch`.
    pub task_id: String,
    /// Why; it becomes part of `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The answer to `task.cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct CancelResult {
    /// The status before.
    pub was: TaskStatus,
    /// The status now.
    pub now: TaskStatus,
    /// What the session did; `null` for a task that was not RUNNING.
    pub session: Option<CancelOutcome>,
    /// Runs of the task that are still alive (D66).
    pub live_runs: Vec<Run>,
}

words! {
    /// What the session did about a cancel.
    pub open CancelOutcome {
        /// Its turn was stopped.
        Aborted = "aborted",
        /// It knows; no turn of it was at work on the task.
        Told = "told",
        /// It did not answer, or there is none.
        NotReached = "not_reached",
        /// It had ended before, or its report had been accepted.
        FinishedFirst = "finished_first",
    } else
    /// A word of a newer daemon; never sent.
    Other = "other"
}

/// `task.retry`: a new PENDING from an ended task, with a new id and time and `parent_task_id` set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct TaskRetry {
    /// Which.
    pub project: String,
    /// The ended task.
    pub task_id: String,
}

objects!(TaskSubmit, SubmitResult, TaskWait, WaitResult, EndedTask, TaskCancel, CancelResult, TaskRetry,);
