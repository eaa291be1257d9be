//! What the daemon asks of and tells a session, and what the session answers.

use crate::object::objects;
use crate::raw::Raw;
use crate::session::{Ownership, null_is_false};
use crate::words::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `task.dispatch`: put this task into the conversation. RUNNING is already durable on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct TaskDispatch {
    /// 32 hexadecimal digits. A client that has this id already answers `duplicate` and injects nothing.
    pub dispatch_id: String,
    /// The planner's id.
    pub task_id: String,
    /// Markdown, ready to show; at most 1 MiB.
    pub message: String,
    /// The planner fields as they stand in `tasks.json`.
    pub planner: Raw,
    /// The context files that the message holds (D68).
    pub context: Vec<ContextFile>,
    /// A client that looks at this later answers `expired` and injects nothing (RFC 3339).
    pub expires_at: String,
}

/// A file whose contents are in the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ContextFile {
    /// Relative to the project.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// 64 hexadecimal digits.
    pub sha256: String,
}

/// The answer to `task.dispatch` and `packet.dispatch` (D69).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DispatchResult {
    /// The message is really in the conversation.
    Accepted {
        /// It was there already.
        duplicate: Duplicate,
    },
    /// Proof that it was not delivered.
    Refused {
        /// Why.
        reason: DispatchRefusal,
    },
}

/// Whether a dispatch was in the conversation before this call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicate {
    /// Injected by this call.
    No,
    /// The client had this id already.
    Yes,
}

words! {
    /// Why a session did not take a dispatch.
    pub open DispatchRefusal {
        /// It is not idle.
        Busy = "busy",
        /// `expires_at` has passed.
        Expired = "expired",
        /// It does not have the owner's place.
        NotOwner = "not_owner",
    } else
    /// No reason, or one that this version does not know: not delivered all the same.
    Other = "other"
}

/// The answer to `task.dispatch` and `packet.dispatch` as it looks on the wire (D69).
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote, rename = "DispatchResult")]
struct DispatchResultObject {
    /// Whether the message is really in the conversation.
    accepted: bool,
    /// With `accepted`: it was there already.
    #[serde(default, deserialize_with = "null_is_false", skip_serializing_if = "std::ops::Not::not")]
    duplicate: bool,
    /// Without `accepted`: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<DispatchRefusal>,
}

impl<'de> Deserialize<'de> for DispatchResult {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = <DispatchResultObject as Deserialize>::deserialize(deserializer)?;
        Ok(if object.accepted {
            Self::Accepted { duplicate: if object.duplicate { Duplicate::Yes } else { Duplicate::No } }
        } else {
            Self::Refused { reason: object.reason.unwrap_or(DispatchRefusal::Other) }
        })
    }
}

impl Serialize for DispatchResult {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let object = match self {
            Self::Accepted { duplicate } => {
                DispatchResultObject { accepted: true, duplicate: *duplicate == Duplicate::Yes, reason: None }
            }
            Self::Refused { reason } => {
                DispatchResultObject { accepted: false, duplicate: false, reason: Some(*reason) }
            }
        };
        Serialize::serialize(&object, serializer)
    }
}

impl JsonSchema for DispatchResult {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DispatchResult".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        DispatchResultObject::json_schema(generator)
    }
}

/// `task.remind`: the turn ended, the report is still owed (D25).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct TaskRemind {
    /// The dispatch whose report is owed.
    pub dispatch_id: String,
    /// Markdown, ready to show.
    pub text: String,
}

/// The answer to `task.remind`. A refused reminder counts as given (D25).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct RemindResult {
    /// Whether it is in the conversation.
    pub accepted: bool,
}

/// `task.cancel` to a session: stop working on this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct DispatchCancel {
    /// The dispatch to stop.
    pub dispatch_id: String,
    /// Why, for the person and the model.
    pub reason: String,
}

/// The answer of a session to `task.cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct DispatchCancelResult {
    /// Whether there was a turn to stop.
    pub aborted: bool,
}

/// `packet.dispatch`: a packet for a team member. It ends when the session settles; then the next one follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct PacketDispatch {
    /// 32 hexadecimal digits.
    pub dispatch_id: String,
    /// The packet's file, absolute.
    pub packet_path: String,
    /// Markdown, ready to show.
    pub message: String,
    /// The packet as it stands in its file.
    pub packet: Raw,
    /// A client that looks at this later answers `expired` and injects nothing (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

/// `session.notice` (notification): something the person should read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Notice {
    /// How urgent it is.
    pub level: NoticeLevel,
    /// One or two sentences.
    pub text: String,
}

words! {
    /// How urgent a notice is.
    pub closed NoticeLevel {
        /// Good to know.
        Info = "info",
        /// Somebody should look.
        Warning = "warning",
        /// Something failed.
        Error = "error",
    }
}

/// `session.ownership` (notification): the session's place has changed (D20).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct OwnershipChange {
    /// The place now.
    pub ownership: Ownership,
    /// One sentence why.
    pub reason: String,
}

/// `session.attach_again` (notification): a session that was refused with `unknown_project` may try again (D72).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct AttachAgain {
    /// The root of the project that appeared.
    pub project: String,
}

objects!(
    TaskDispatch,
    ContextFile,
    DispatchResultObject,
    TaskRemind,
    RemindResult,
    DispatchCancel,
    DispatchCancelResult,
    PacketDispatch,
    Notice,
    OwnershipChange,
    AttachAgain,
);
