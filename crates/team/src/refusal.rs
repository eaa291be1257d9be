//! What the door answers when it does not file: a stable code and a message that names the item and the remedy.

use std::fmt;

/// The codes of refusals; closed (packet specification, "Refusal codes").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The caller's id is not a usable agent id.
    InvalidAgentId,
    /// No `packet` argument.
    MissingPacket,
    /// Not JSON, not an object, or not the shape of a packet.
    InvalidPacket,
    /// A key that belongs to a conversation.
    ForbiddenProviderField,
    /// The caller has no member record.
    NotATeamMember,
    /// The caller has one that cannot be used.
    TeamMemberUnreadable,
    /// The packet breaks a rule of its own: the code of the packet error.
    Validation(&'static str),
    /// `from_role` is not the caller's.
    FromRoleMismatch,
    /// `goal_id` is not the caller's task.
    TaskIdMismatch,
    /// `round` is not the caller's.
    RoundMismatch,
    /// Not one of the three legal handoffs.
    InvalidHandoffEdge,
    /// Goal or round cannot be part of a path.
    InvalidPathComponent,
    /// The packet could not be filed.
    WriteFailed,
}

impl Code {
    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidAgentId => "invalid_agent_id",
            Self::MissingPacket => "missing_packet",
            Self::InvalidPacket => "invalid_packet",
            Self::ForbiddenProviderField => "forbidden_provider_field",
            Self::NotATeamMember => "not_a_team_member",
            Self::TeamMemberUnreadable => "team_member_unreadable",
            Self::Validation(code) => code,
            Self::FromRoleMismatch => "from_role_mismatch",
            Self::TaskIdMismatch => "task_id_mismatch",
            Self::RoundMismatch => "round_mismatch",
            Self::InvalidHandoffEdge => "invalid_handoff_edge",
            Self::InvalidPathComponent => "invalid_path_component",
            Self::WriteFailed => "write_failed",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The packet was not filed, and nothing was written but a row in `tool_calls.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// For the caller, who cannot see our files: the item, and what to do.
    pub message: String,
}

impl Refusal {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl From<packet::Refusal> for Refusal {
    /// The reader's own words first, then, for a wrong shape, the shape that would have been taken.
    fn from(refusal: packet::Refusal) -> Self {
        let code = match &refusal {
            packet::Refusal::Shape(_) => Code::InvalidPacket,
            packet::Refusal::ForbiddenKey { .. } => Code::ForbiddenProviderField,
            packet::Refusal::Rule(error) => Code::Validation(error.code()),
        };
        Self::new(code, refusal.teaching())
    }
}
