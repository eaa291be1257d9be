//! Why a packet that fits the shape is refused: a closed list, each with a stable code and a message that names the item.

use thiserror::Error;

use crate::limits::TASK_PACKET_MAX_BYTES;
use crate::words::Role;

/// The first rule that a packet breaks. The packet is refused whole; nothing is ever cut.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PacketError {
    /// Something has nothing but white space.
    #[error("`{item}` must not be blank")]
    BlankField {
        /// Such as `constraints[3].text`.
        item: String,
    },
    /// Something has too many characters (Unicode scalar values).
    #[error("`{item}` is {chars} chars (max {max})")]
    FieldTooLong {
        /// Such as `constraints[3].text`.
        item: String,
        /// How many it has.
        chars: usize,
        /// How many it may have.
        max: usize,
    },
    /// A list has too many entries.
    #[error("`{list}` has {items} items (max {max})")]
    TooManyItems {
        /// The field, or the kind of assertion.
        list: &'static str,
        /// How many it has.
        items: usize,
        /// How many it may have.
        max: usize,
    },
    /// Two constraints have one id.
    #[error("duplicate constraint id `{id}`")]
    DuplicateConstraintId {
        /// As the later one spells it, trimmed.
        id: String,
    },
    /// Two assertions contradict each other.
    #[error("`{value}` appears in an assertion and its opposite; it can never be satisfied")]
    ContradictoryAssertion {
        /// As the earlier one spells it.
        value: String,
    },
    /// A role hands over to itself.
    #[error("from_role and to_role are both `{role}`")]
    SelfHandoff {
        /// Which.
        role: Role,
    },
    /// The written form is too large.
    #[error("packet is {bytes} bytes (max {TASK_PACKET_MAX_BYTES}); rejected whole — never truncated")]
    PacketTooLarge {
        /// Of the written form.
        bytes: usize,
    },
}

impl PacketError {
    /// Every code, in the order of the specification.
    pub const CODES: [&str; 7] = [
        "blank_field",
        "field_too_long",
        "too_many_items",
        "duplicate_constraint_id",
        "contradictory_assertion",
        "self_handoff",
        "packet_too_large",
    ];

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BlankField { .. } => "blank_field",
            Self::FieldTooLong { .. } => "field_too_long",
            Self::TooManyItems { .. } => "too_many_items",
            Self::DuplicateConstraintId { .. } => "duplicate_constraint_id",
            Self::ContradictoryAssertion { .. } => "contradictory_assertion",
            Self::SelfHandoff { .. } => "self_handoff",
            Self::PacketTooLarge { .. } => "packet_too_large",
        }
    }
}
