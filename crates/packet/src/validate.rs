//! The rules beyond the shape, in the order of the specification; the first that is broken is told.

use std::io;

use crate::error::PacketError;
use crate::limits::{
    ASSERTION_LIST_MAX, ASSERTION_TOKEN_MAX_CHARS, AUDIENCE_ID_MAX_CHARS, AUDIENCE_MAX, CONSTRAINT_ID_MAX_CHARS,
    CONSTRAINT_TEXT_MAX_CHARS, CONSTRAINTS_MAX, EVIDENCE_INDEX_MAX, OBJECTIVE_MAX_CHARS, TASK_PACKET_MAX_BYTES,
};
use crate::task_packet::TaskPacket;
use crate::words::AssertionKind;

impl TaskPacket {
    /// Checks caps, blanks, ids and contradictions. Nothing is trimmed, cut or dropped.
    ///
    /// Blank means nothing but Unicode `White_Space`; lengths count Unicode scalar values of the string as it is.
    ///
    /// # Errors
    /// The first broken rule.
    pub fn validate(&self) -> Result<(), PacketError> {
        not_blank(&self.packet_id, || "packet_id".to_owned())?;
        not_blank(&self.goal_id, || "goal_id".to_owned())?;
        if self.from_role == self.to_role {
            return Err(PacketError::SelfHandoff { role: self.from_role });
        }
        text(&self.objective, OBJECTIVE_MAX_CHARS, || "objective".to_owned())?;
        self.validate_constraints()?;
        self.validate_audience()?;
        self.validate_acceptance()?;
        at_most("evidence_index", self.evidence_index.len(), EVIDENCE_INDEX_MAX)?;
        match self.written_len() {
            bytes if bytes > TASK_PACKET_MAX_BYTES => Err(PacketError::PacketTooLarge { bytes }),
            _ => Ok(()),
        }
    }

    fn validate_constraints(&self) -> Result<(), PacketError> {
        at_most("constraints", self.constraints.len(), CONSTRAINTS_MAX)?;
        for (index, constraint) in self.constraints.iter().enumerate() {
            text(&constraint.id, CONSTRAINT_ID_MAX_CHARS, || format!("constraints[{index}].id"))?;
            text(&constraint.text, CONSTRAINT_TEXT_MAX_CHARS, || format!("constraints[{index}].text"))?;
            let id = constraint.id.trim();
            let mut earlier = self.constraints.iter().take(index);
            if earlier.any(|earlier| earlier.id.trim().eq_ignore_ascii_case(id)) {
                return Err(PacketError::DuplicateConstraintId { id: id.to_owned() });
            }
        }
        Ok(())
    }

    fn validate_audience(&self) -> Result<(), PacketError> {
        at_most("audience", self.audience.len(), AUDIENCE_MAX)?;
        let mut entries = self.audience.iter().enumerate();
        entries.try_for_each(|(index, entry)| text(entry, AUDIENCE_ID_MAX_CHARS, || format!("audience[{index}]")))
    }

    fn validate_acceptance(&self) -> Result<(), PacketError> {
        for kind in AssertionKind::ALL {
            let items = self.acceptance.iter().filter(|assertion| assertion.kind == *kind).count();
            at_most(kind.as_str(), items, ASSERTION_LIST_MAX)?;
        }
        for (index, assertion) in self.acceptance.iter().enumerate() {
            let (kind, value) = (assertion.kind, &assertion.value);
            text(value, ASSERTION_TOKEN_MAX_CHARS, || format!("acceptance[{index}].value"))?;
            let mut opposite = self.acceptance.iter().filter(|other| other.kind == kind.opposite());
            if opposite.any(|other| kind.same_value(&other.value, value)) {
                return Err(PacketError::ContradictoryAssertion { value: value.clone() });
            }
        }
        Ok(())
    }

    /// The length of [`normalized`](Self::normalized) in bytes, without making it.
    #[must_use]
    pub fn written_len(&self) -> usize {
        let mut count = Count(0);
        // It cannot fail, as in `normalized`.
        serde_json::to_writer(&mut count, self).map_or(0, |()| count.0)
    }
}

fn at_most(list: &'static str, items: usize, max: usize) -> Result<(), PacketError> {
    if items > max { Err(PacketError::TooManyItems { list, items, max }) } else { Ok(()) }
}

/// Not blank, and not too long, in this order.
fn text(value: &str, max: usize, item: impl Fn() -> String) -> Result<(), PacketError> {
    not_blank(value, &item)?;
    // A character has at least one byte, so that most texts need no counting.
    let chars = if value.len() > max { value.chars().count() } else { 0 };
    if chars > max { Err(PacketError::FieldTooLong { item: item(), chars, max }) } else { Ok(()) }
}

fn not_blank(value: &str, item: impl Fn() -> String) -> Result<(), PacketError> {
    if value.trim().is_empty() { Err(PacketError::BlankField { item: item() }) } else { Ok(()) }
}

/// Takes bytes and keeps their number.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
