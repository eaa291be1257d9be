//! From raw JSON to the type of a method, with errors that name the member at fault.

use crate::Raw;
use crate::error::ErrorObject;
use serde::de::DeserializeOwned;

/// The `params` of a request or notification: an object, or left out (`null` counts as left out).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Params(Option<Raw>);

impl Params {
    /// Wraps what stood in the message.
    #[must_use]
    pub const fn new(raw: Option<Raw>) -> Self {
        Self(raw)
    }

    /// The JSON text; an empty object when there were none.
    #[must_use]
    pub fn get(&self) -> &str {
        match &self.0 {
            Some(raw) if raw.get() != "null" => raw.get(),
            _ => "{}",
        }
    }

    /// Gives the parameters their type. Unknown members are ignored, lists are refused, also inside.
    ///
    /// # Errors
    /// -32602 whose message names the member.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, ErrorObject> {
        decode(self.get()).map_err(|why| ErrorObject::invalid_params(&why))
    }
}

/// Reads `text` as `T`; used for parameters, results and journal rows alike.
///
/// # Errors
/// A sentence without a final stop; it begins with the member in back-quotes when serde's own words do not name it.
pub fn decode<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let why = without_position(&error.into_inner());
        if path == "." { why } else { format!("`{path}`: {why}") }
    })?;
    deserializer.end().map_err(|error| without_position(&error))?;
    Ok(value)
}

/// The words of a JSON error without " at line 1 column N", which means nothing inside a message.
fn without_position(error: &serde_json::Error) -> String {
    let mut words = error.to_string();
    if error.line() > 0
        && let Some(at) = words.rfind(" at line ")
    {
        words.truncate(at);
    }
    words
}
