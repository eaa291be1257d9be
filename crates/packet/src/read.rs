//! Reading: bytes or a JSON tree become a packet of the right shape, or an error in the parser's own words with the place.

use serde::Deserialize;
use serde_json::Value;
use std::fmt;

use crate::task_packet::TaskPacket;

/// Why something is no packet: not UTF-8, not JSON, or not the shape (`invalid_packet`).
///
/// It displays the parser's own message first and verbatim, then the place, where the message does not name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    message: String,
    place: Option<String>,
    remark: Option<&'static str>,
}

impl ReadError {
    /// The stable code.
    pub const CODE: &'static str = "invalid_packet";

    /// The parser's own message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where in the packet it is, such as `budget.max_turns`, if that is known.
    #[must_use]
    pub fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    pub(crate) const fn new(message: String) -> Self {
        Self { message, place: None, remark: None }
    }

    fn with_place(error: &serde_path_to_error::Error<serde_json::Error>) -> Self {
        let place = error.path().to_string();
        let known = place != "." && !place.contains('?');
        Self { place: known.then_some(place), ..Self::new(error.inner().to_string()) }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(place) = self.place.as_deref().filter(|place| !self.message.contains(&format!("`{place}`"))) {
            write!(f, " (at `{place}`)")?;
        }
        self.remark.map_or(Ok(()), |remark| write!(f, " ({remark})"))
    }
}

impl std::error::Error for ReadError {}

impl TaskPacket {
    /// Reads a packet from its text, as the composer and `handoff packet check` do. A repeated key is refused.
    ///
    /// How much text there may be is the caller's to bound: the cap counts the written form, and blanks and escapes may
    /// make the text longer than that.
    ///
    /// # Errors
    /// When the text is not UTF-8, not one JSON value, or not of the shape. The place is given as line and column, and by
    /// name.
    ///
    /// ```
    /// let error = packet::TaskPacket::from_text(br#"{"packet_id": 7}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "invalid type: integer `7`, expected a string at line 1 column 15 (at `packet_id`)");
    /// ```
    pub fn from_text(text: &[u8]) -> Result<Self, ReadError> {
        let text = std::str::from_utf8(text).map_err(|error| {
            ReadError::new(format!("packet is not UTF-8: invalid byte at offset {}", error.valid_up_to()))
        })?;
        // Names cost time, so they are looked for only when there is something to say.
        serde_json::from_str(text).map_err(|error| explain(text, &error))
    }

    /// Reads a packet from a JSON tree, as the tool's door does: a tree has folded repeated keys already, the last one
    /// won.
    ///
    /// # Errors
    /// When the tree is not of the shape.
    pub fn from_value(value: &Value) -> Result<Self, ReadError> {
        Self::deserialize(value).map_err(|error| {
            let named: Result<Self, _> = serde_path_to_error::deserialize(value);
            named.err().map_or_else(|| ReadError::new(error.to_string()), |error| ReadError::with_place(&error))
        })
    }
}

fn explain(text: &str, error: &serde_json::Error) -> ReadError {
    let mut reader = serde_json::Deserializer::from_str(text);
    let named: Result<TaskPacket, _> = serde_path_to_error::deserialize(&mut reader);
    let mut explained = match named {
        // The fault lies behind the packet.
        Ok(_) => ReadError::new(error.to_string()),
        Err(error) => ReadError::with_place(&error),
    };
    if error.is_syntax() || error.is_eof() {
        explained.place = None;
    }
    if text.starts_with('\u{feff}') {
        explained.remark = Some("the text starts with a byte-order mark; leave it out");
    }
    explained
}
