//! Signs of a session: idle or busy, settled, leaving, alive.

use crate::object::objects;
use crate::words::words;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// `session.state` (notification).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct State {
    /// Whether a task could be taken now.
    pub state: Activity,
    /// What keeps it busy, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
}

words! {
    /// Idle or not.
    pub closed Activity {
        /// Nothing is going on and nothing is queued.
        Idle = "idle",
        /// Anything else.
        Busy = "busy",
    }
}

words! {
    /// What keeps a session busy.
    pub open Hint {
        /// A dialog is open.
        Dialog = "dialog",
        /// The person's shell command runs.
        Shell = "shell",
        /// The conversation is being compacted.
        Compaction = "compaction",
        /// It has no model that could be asked, or no credentials for it.
        Model = "model",
    } else
    /// Something else.
    Other = "other"
}

/// `session.settled` (notification): a turn with everything after it is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Settled {
    /// The dispatch that the client has at hand, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch_id: Option<String>,
    /// The person or an error ended the turn (D25).
    #[serde(default, deserialize_with = "null_is_false", skip_serializing_if = "std::ops::Not::not")]
    pub aborted: bool,
    /// Why, in the host's words, where it was no person: a model that cannot be reached, for instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A flag that may be left out or `null`.
pub(crate) fn null_is_false<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(false))
}

/// `session.leaving` (notification): the last word of a session on this connection (D21).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Leaving {
    /// Why.
    pub reason: LeaveReason,
}

words! {
    /// Why a session leaves.
    pub closed LeaveReason {
        /// It comes back at once.
        Reload = "reload",
        /// A new session takes its place.
        New = "new",
        /// An older session takes its place.
        Resume = "resume",
        /// A fork takes its place.
        Fork = "fork",
        /// The program ends.
        Quit = "quit",
    }
}

/// `session.ping`: a sign of life.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Ping {}

/// The answer to `session.ping`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct PingResult {}

objects!(State, Settled, Leaving, Ping, PingResult);
