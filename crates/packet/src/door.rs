//! The door: the way of a packet through the tool `team_handoff`, but for what needs the caller's identity.
//!
//! [`open`] the argument, let the caller fill what it knows into the object, then [`admit`] it. For a packet that comes as
//! a file, [`check`].

use serde_json::{Map, Value};
use thiserror::Error;

use crate::error::PacketError;
use crate::forbidden::forbidden_key;
use crate::keys::shape_hint;
use crate::read::ReadError;
use crate::task_packet::TaskPacket;

/// Why a packet is refused, with one of the stable codes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Not JSON, not an object, or not the shape: `invalid_packet`.
    #[error(transparent)]
    Shape(#[from] ReadError),
    /// A key that no packet carries: `forbidden_provider_field`.
    #[error(
        "packets never carry `{key}`: conversations and one vendor's formats stay with the role that had them; write \
         decisions and references into the packet's own fields"
    )]
    ForbiddenKey {
        /// Which.
        key: &'static str,
    },
    /// A rule beyond the shape, with a code of its own.
    #[error(transparent)]
    Rule(#[from] PacketError),
}

impl Refusal {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Shape(_) => ReadError::CODE,
            Self::ForbiddenKey { .. } => "forbidden_provider_field",
            Self::Rule(error) => error.code(),
        }
    }

    /// How to write a packet, where the shape was not understood.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        matches!(self, Self::Shape(_)).then(shape_hint)
    }

    /// The message, and behind it the hint: what a model is told, which cannot look anything up.
    #[must_use]
    pub fn teaching(&self) -> String {
        self.hint().map_or_else(|| self.to_string(), |hint| format!("{self} · {hint}"))
    }
}

/// The object in the tool's argument, which may be JSON text of one (once, not twice), without a forbidden key (D32).
///
/// # Errors
/// `invalid_packet`, `forbidden_provider_field`.
pub fn open(argument: Value) -> Result<Map<String, Value>, Refusal> {
    let decoded = match argument {
        Value::String(text) => decode(&text)?,
        other => other,
    };
    let Value::Object(object) = decoded else {
        let kind = kind(&decoded);
        return Err(ReadError::new(format!("packet must be a JSON object (or JSON text of one), got {kind}")).into());
    };
    match forbidden_key(&object) {
        Some(key) => Err(Refusal::ForbiddenKey { key }),
        None => Ok(object),
    }
}

/// The packet in an object that came through [`open`].
///
/// # Errors
/// `invalid_packet` and the codes of [`PacketError`].
pub fn admit(object: Map<String, Value>) -> Result<TaskPacket, Refusal> {
    let packet = TaskPacket::from_value(&Value::Object(object))?;
    packet.validate()?;
    Ok(packet)
}

/// The packet in a text, as the composer and `handoff packet check` read it: repeated keys are refused, and a forbidden
/// key is an unknown one (D60).
///
/// # Errors
/// `invalid_packet` and the codes of [`PacketError`].
pub fn check(text: &[u8]) -> Result<TaskPacket, Refusal> {
    let packet = TaskPacket::from_text(text)?;
    packet.validate()?;
    Ok(packet)
}

fn decode(text: &str) -> Result<Value, Refusal> {
    serde_json::from_str(text).map_err(|error| {
        let too_deep = error.to_string().starts_with("recursion limit");
        // What is too deep for a tree is not wrong as JSON, and the packet's own reader names the key that leads there.
        let refused = if too_deep { TaskPacket::from_text(text.as_bytes()).err() } else { None };
        refused.unwrap_or_else(|| ReadError::new(format!("packet is not valid JSON: {error}"))).into()
    })
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
