//! Calls about a project and who owns it.

use crate::object::objects;
use crate::session::null_is_false;
use crate::status::{LockStatus, ProjectState, StateReason};
use crate::words::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

objects!(
    ProjectAdd,
    ProjectRemove,
    ProjectEnable,
    ProjectDisable,
    ProjectPause,
    ProjectResume,
    ProjectResult,
    ProjectUnlock,
    UnlockResult,
    SessionTake,
    TakeResult,
);
