//! Request ids: strings or integers, kept as they were written. How ids are chosen is the sender's affair.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;

/// A request id. Equal means spelled the same; the answer carries the same bytes as the request.
#[derive(Clone)]
pub struct Id(Box<RawValue>);

impl Id {
    /// The id in `raw` if it is a JSON string or integer (of any size).
    #[must_use]
    pub fn from_raw(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let integer = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let string = text.starts_with('"') && serde_json::from_str::<String>(text).is_ok();
        (integer || string).then(|| Self(raw.to_owned()))
    }

    /// The JSON text of the id.
    #[must_use]
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// The number, if the id is an integer that fits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.as_json().parse().ok()
    }
}

impl From<u64> for Id {
    fn from(number: u64) -> Self {
        // A number is always JSON; the fallback only keeps this function free of a panic.
        Self(RawValue::from_string(number.to_string()).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json()
    }
}

impl Eq for Id {}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_json())
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_raw(&raw).ok_or_else(|| serde::de::Error::custom("`id` is neither a string nor an integer"))
    }
}

impl schemars::JsonSchema for Id {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Id".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "integer"] })
    }
}
