//! One turn of a conversation.

/// What somebody said. The role is the runtime's word (`system`, `user`, `assistant`, `tool`, …); three kinds of role
/// matter here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who said it.
    pub role: String,
    /// What was said.
    pub content: String,
}

impl Message {
    /// A turn.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self { role: role.into(), content: content.into() }
    }

    /// Instructions are not history: no stage touches them.
    pub(crate) fn is_instruction(&self) -> bool {
        matches!(self.role.as_str(), "system" | "developer")
    }

    /// The result of a tool call, which can be had again.
    pub(crate) fn is_tool_echo(&self) -> bool {
        matches!(self.role.as_str(), "tool" | "function")
    }
}
