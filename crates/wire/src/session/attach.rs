//! `session.attach`: who a session is, what its client remembers, which place it gets.

use crate::limits;
use crate::object::objects;
use crate::status::{ProjectState, StateReason};
use crate::words::words;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// `session.attach`: this session wants the tasks (or, as a member, the packets) of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Attach {
    /// The session's own id, 1 to 256 bytes. It names the session again after a restart (D23).
    #[serde(deserialize_with = "session_id")]
    #[schemars(length(min = 1, max = 256))]
    pub session_id: String,
    /// Where the session is kept, to say how to open it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// The session's working directory, absolute; it must be a project's root (D72).
    pub project: String,
    /// How the session is run.
    pub mode: Mode,
    /// Why it attaches now.
    pub reason: AttachReason,
    /// Whether it could take a task now.
    pub idle: bool,
    /// The program that runs the session.
    pub host: Host,
    /// What the client knows of a dispatch, see [`KnownDispatch`].
    #[serde(default, skip_serializing_if = "KnownDispatch::is_not_told")]
    #[schemars(with = "Option<Delivery>")]
    pub known_dispatch: KnownDispatch,
    /// Given by a team member: it gets packets, never tasks (D20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<Member>,
}

/// Checks the length of a session id.
fn session_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let id = String::deserialize(deserializer)?;
    match id.len() {
        1..=limits::SESSION_ID => Ok(id),
        size => Err(serde::de::Error::custom(format_args!("a session id has 1 to 256 bytes, this one has {size}"))),
    }
}

words! {
    /// How a session is run; only these get tasks.
    pub open Mode {
        /// In a terminal.
        Tui = "tui",
        /// Behind another program.
        Rpc = "rpc",
        /// `handoff attach`.
        Exec = "exec",
    } else
    /// Any other: `not_a_main_session`.
    Other = "other"
}

words! {
    /// Why a session attaches.
    pub closed AttachReason {
        /// The program started.
        Startup = "startup",
        /// The same session, its extensions loaded again.
        Reload = "reload",
        /// A new session in the same process.
        New = "new",
        /// An older session in the same process.
        Resume = "resume",
        /// A fork of a session.
        Fork = "fork",
        /// The connection was lost.
        Reconnect = "reconnect",
    }
}

/// The program that runs the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Host {
    /// `pi`, for example.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A member of a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Member {
    /// The id of its record.
    pub agent_id: String,
}

/// What a client knows of the dispatch that this session was given. The three cases differ (D23): left out, `null`, given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KnownDispatch {
    /// The member is left out: this client keeps no records.
    #[default]
    NotTold,
    /// `null` is a statement: "I keep records and have none".
    None,
    /// There is a record.
    Known(Delivery),
}

impl KnownDispatch {
    const fn is_not_told(&self) -> bool {
        matches!(self, Self::NotTold)
    }
}

/// A client's record of one dispatch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Delivery {
    /// The dispatch.
    pub dispatch_id: String,
    /// Whether its message is really in the conversation.
    pub delivered: bool,
}

impl<'de> Deserialize<'de> for KnownDispatch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::None, Self::Known))
    }
}

impl Serialize for KnownDispatch {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::NotTold | Self::None => serializer.serialize_none(),
            Self::Known(delivery) => Serialize::serialize(delivery, serializer),
        }
    }
}

/// The answer to `session.attach`; it is written before any request to that session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct AttachResult {
    /// The project and how it is.
    pub project: AttachedProject,
    /// The session's place.
    pub ownership: Ownership,
    /// The RUNNING task, if it is this session's.
    pub task: Option<AttachedTask>,
    /// How the dispatch of `known_dispatch` ended, if the journal knows it: tell the person and forget it.
    pub ended: Option<EndedDispatch>,
}

/// A project in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct AttachedProject {
    /// Its root.
    pub path: String,
    /// Its state.
    pub state: ProjectState,
    /// The stable word behind the state, for states that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<StateReason>,
    /// One sentence.
    pub why: Option<String>,
}

words! {
    /// The place of a session in its project (D20).
    pub closed Ownership {
        /// Gets the tasks.
        Owner = "owner",
        /// Next in line.
        Standby = "standby",
        /// Gets packets only.
        Member = "member",
    }
}

/// The task that goes on in this session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct AttachedTask {
    /// 32 hexadecimal digits.
    pub dispatch_id: String,
    /// The planner's id.
    pub task_id: String,
    /// When it became RUNNING, RFC 3339.
    pub started_at: String,
}

/// A dispatch that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct EndedDispatch {
    /// 32 hexadecimal digits.
    pub dispatch_id: String,
    /// How.
    pub status: EndStatus,
    /// Why, for ERROR.
    pub error: Option<String>,
}

words! {
    /// How a task can end.
    pub closed EndStatus {
        /// With evidence that passed every check.
        Complete = "COMPLETE",
        /// In any other way.
        Error = "ERROR",
    }
}

objects!(Attach, Host, Member, Delivery, AttachResult, AttachedProject, AttachedTask, EndedDispatch);
