//! What people, scripts and dashboards ask of the daemon. `project` is a root's absolute path, or a name that fits one.

use crate::journal::Row;
use crate::limits;
use crate::object::objects;
use crate::raw::Raw;
use crate::run::Run;
use crate::session::null_is_false;
use crate::status::{LockStatus, ProjectState, StateReason, TaskStatus};
use crate::words::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `daemon.status`: everything that is to be seen. It keeps its shape in all protocol versions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct DaemonStatus {}

/// `daemon.reload`: read the configuration again. An invalid one is refused whole and the old one stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct DaemonReload {}

/// The answer to `daemon.reload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ReloadResult {
    /// When it was read, RFC 3339.
    pub loaded_at: String,
    /// Unknown keys and the like, one sentence each.
    pub warnings: Vec<String>,
}

/// `daemon.shutdown`: stop in order. It keeps its shape in all protocol versions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct DaemonShutdown {}

/// The answer to `daemon.shutdown`: it has begun.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ShutdownResult {}

/// `project.add`: manage this folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ProjectAdd {
    /// The root, absolute.
    pub path: String,
}

/// `project.remove`: manage it no more (D71).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ProjectRemove {
    /// Which.
    pub project: String,
    /// Cancel its task first instead of waiting for it.
    #[serde(default, deserialize_with = "null_is_false", skip_serializing_if = "std::ops::Not::not")]
    pub now: bool,
}

/// `project.enable`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ProjectEnable {
    /// Which.
    pub project: String,
}

/// `project.disable`: keep it registered, own nothing in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ProjectDisable {
    /// Which.
    pub project: String,
    /// Cancel its task first instead of waiting for it.
    #[serde(default, deserialize_with = "null_is_false", skip_serializing_if = "std::ops::Not::not")]
    pub now: bool,
}

/// `project.pause`: no new dispatch; what is RUNNING goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ProjectPause {
    /// Which.
    pub project: String,
}

/// `project.resume`: lifts paused, halted, held, and the wait for runs of an ended task (D66).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ProjectResume {
    /// Which.
    pub project: String,
}

/// The answer of the project calls: how it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ProjectResult {
    /// Its root.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Its state now.
    pub state: ProjectState,
    /// The word behind the state.
    pub reason: Option<StateReason>,
    /// One sentence; for `remove` and `disable` also what is waited for.
    pub why: Option<String>,
    /// The one command that helps.
    pub next: Option<String>,
    /// `resume`: what it lifted; empty when there was nothing to lift.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifted: Option<Vec<Lifted>>,
}

words! {
    /// What `project.resume` can lift.
    pub open Lifted {
        /// A person's pause.
        Paused = "paused",
        /// The task that was given up (D11).
        Halted = "halted",
        /// A hold, once (D65).
        Held = "held",
        /// The wait for runs of an ended task (D66).
        RunsAlive = "runs_alive",
    } else
    /// A word of a newer daemon; never sent.
    Other = "other"
}

/// `project.unlock`: which rule of D16 fits the lock; with `confirm`, move it aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ProjectUnlock {
    /// Which.
    pub project: String,
    /// Move it aside if it is malformed, dead, or cannot be told. A live one is `lock_live`.
    #[serde(default, deserialize_with = "null_is_false", skip_serializing_if = "std::ops::Not::not")]
    pub confirm: bool,
}

/// The answer to `project.unlock`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct UnlockResult {
    /// Its root.
    pub path: String,
    /// Its state now.
    pub state: ProjectState,
    /// The lock as it was found; `null` when there is none.
    pub lock: Option<LockStatus>,
    /// Which rule fits, and what that means, in words.
    pub why: String,
    /// Where it was moved to; `null` when it was not moved.
    pub moved_to: Option<String>,
}

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
        /// It answered.
        Aborted = "aborted",
        /// It did not answer, or there is none.
        NotReached = "not_reached",
        /// Its report was accepted before.
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

/// `session.take`: give the owner's place to this session. Not while a task is RUNNING.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct SessionTake {
    /// Which.
    pub project: String,
    /// The session that gets the place.
    pub session_id: String,
}

/// The answer to `session.take`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct TakeResult {
    /// The session that has the place now.
    pub session_id: String,
    /// The session that had it; `null` when it was free.
    pub from: Option<String>,
}

/// `events.subscribe`: from now on `event` notifications, of one project or of all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct EventsSubscribe {
    /// Which; all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// The answer to `events.subscribe`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct SubscribeResult {
    /// The number of the last event before the subscription; the first one has a higher number.
    pub seq: u64,
}

/// `history.list`: the journal, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct HistoryList {
    /// Which; all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// One task only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// How many rows: 50 without it; more than 500 counts as 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

impl HistoryList {
    /// How many rows to answer.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.limit.map_or(limits::HISTORY_DEFAULT, |limit| {
            usize::try_from(limit).unwrap_or(limits::HISTORY_MAX).min(limits::HISTORY_MAX)
        })
    }
}

/// The answer to `history.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct HistoryResult {
    /// Newest first, as they stand in the journal; [`Row::parse`] gives one its type.
    #[schemars(with = "Vec<Row>")]
    pub rows: Vec<Raw>,
    /// Older rows that fit the question were left out, by `limit` or because the line was full.
    #[serde(default, deserialize_with = "null_is_false", skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

objects!(
    DaemonStatus,
    DaemonReload,
    ReloadResult,
    DaemonShutdown,
    ShutdownResult,
    ProjectAdd,
    ProjectRemove,
    ProjectEnable,
    ProjectDisable,
    ProjectPause,
    ProjectResume,
    ProjectResult,
    ProjectUnlock,
    UnlockResult,
    TaskSubmit,
    SubmitResult,
    TaskWait,
    WaitResult,
    EndedTask,
    TaskCancel,
    CancelResult,
    TaskRetry,
    SessionTake,
    TakeResult,
    EventsSubscribe,
    SubscribeResult,
    HistoryList,
    HistoryResult,
);
