//! JSON that passes through unchanged: reports, planner fields, packets. Nothing here looks inside it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// One JSON value as it was written, byte for byte (numbers of any size, escapes, order, white space).
///
/// Its depth is not limited here; who parses it later must treat too deep a nesting as a fault of the value (D40).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Raw(Box<RawValue>);

impl Raw {
    /// Takes over `text` if it is exactly one JSON value.
    ///
    /// # Errors
    /// Says where `text` is not JSON.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Self)
    }

    /// Writes `value` as JSON.
    ///
    /// # Errors
    /// As `serde_json::to_string`: a map key that is not a string, or a `Serialize` that refuses.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Wraps a value that is known to be JSON.
    pub(crate) const fn from_owned(value: Box<RawValue>) -> Self {
        Self(value)
    }

    /// The text of the value, without white space around it.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

/// Equal means the same bytes.
impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Raw {}

impl schemars::JsonSchema for Raw {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Raw".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}
