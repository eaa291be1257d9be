//! One line to one message. Parsing does not recurse, so the depth of a hostile line cannot overflow the stack.

use super::{Id, Incoming, Notification, Params, Request, Response};
use crate::Raw;
use crate::error::ErrorObject;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// A line that is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Not one JSON text in UTF-8: -32700, and the connection is closed.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// JSON, but no request: -32600. The connection stays.
    #[error("not a request: {reason}")]
    NotARequest {
        /// The request's id as far as it could be read.
        id: Option<Id>,
        /// What is wrong.
        reason: String,
    },
    /// A wrong notification or response: those never get an answer. The connection stays.
    #[error("ignored: {0}")]
    Unanswerable(String),
}

impl Malformed {
    /// What to answer, if anything: an id (`None` is `null`) and an error.
    #[must_use]
    pub fn answer(&self) -> Option<(Option<&Id>, ErrorObject)> {
        match self {
            Self::NotJson(why) => Some((None, ErrorObject::parse_error(why))),
            Self::NotARequest { id, reason } => Some((id.as_ref(), ErrorObject::invalid_request(reason))),
            Self::Unanswerable(_) => None,
        }
    }

    /// Whether the connection must be closed (after the answer was written).
    #[must_use]
    pub const fn closes_connection(&self) -> bool {
        matches!(self, Self::NotJson(_))
    }
}

/// Reads one line (without its `\n`).
///
/// # Errors
/// See [`Malformed`].
pub fn parse(line: &[u8]) -> Result<Incoming, Malformed> {
    let text = std::str::from_utf8(line).map_err(|_| Malformed::NotJson("the line is not UTF-8".to_owned()))?;
    if text.starts_with('\u{feff}') {
        return Err(Malformed::NotJson("the line begins with a byte-order mark".to_owned()));
    }
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| Malformed::NotJson(error.to_string()))?;
    let refuse = |reason: &str| Malformed::NotARequest { id: None, reason: reason.to_owned() };
    match whole.get().as_bytes().first() {
        Some(b'{') => {}
        Some(b'[') => return Err(refuse("batches are not supported")),
        _ => return Err(refuse("the message is not an object")),
    }
    let envelope = serde_json::Deserializer::from_str(whole.get()).deserialize_map(EnvelopeVisitor);
    envelope.map_err(|error| refuse(&error.to_string()))?.into_incoming()
}

/// The members of the envelope as they stand; any other member is ignored.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl Envelope<'_> {
    fn into_incoming(self) -> Result<Incoming, Malformed> {
        if self.method.is_none() && (self.result.is_some() || self.error.is_some()) {
            return self.into_response();
        }
        let id = self.id.map(Id::from_raw);
        let method = self.method.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        let fault = match (&method, &id) {
            _ if !self.is_version_2() => Some("`jsonrpc` is not \"2.0\""),
            (None, _) => Some("`method` is not a string"),
            (_, Some(None)) => Some("`id` is neither a string nor an integer"),
            _ => None,
        };
        match (fault, id, method) {
            (None, None, Some(method)) => {
                Ok(Incoming::Notification(Notification { method, params: params(self.params) }))
            }
            (None, Some(Some(id)), Some(method)) => {
                Ok(Incoming::Request(Request { id, method, params: params(self.params) }))
            }
            (fault, None, Some(_)) => Err(Malformed::Unanswerable(fault.unwrap_or_default().to_owned())),
            (fault, id, _) => {
                Err(Malformed::NotARequest { id: id.flatten(), reason: fault.unwrap_or_default().to_owned() })
            }
        }
    }

    fn into_response(self) -> Result<Incoming, Malformed> {
        let wrong = |why: &str| Malformed::Unanswerable(format!("a response whose {why}"));
        if !self.is_version_2() {
            return Err(wrong("`jsonrpc` is not \"2.0\""));
        }
        let id = match self.id {
            Some(raw) if raw.get() == "null" => None,
            Some(raw) => Some(Id::from_raw(raw).ok_or_else(|| wrong("`id` is neither a string nor an integer"))?),
            None => return Err(wrong("`id` is missing")),
        };
        let outcome = match (self.result, self.error) {
            (Some(result), None) => Ok(raw(result)),
            (None, Some(error)) => {
                Err(super::decode(error.get()).map_err(|why| wrong(&format!("error is bad: {why}")))?)
            }
            _ => return Err(wrong("`result` and `error` are both given")),
        };
        Ok(Incoming::Response(Response { id, outcome }))
    }

    fn is_version_2(&self) -> bool {
        self.jsonrpc.is_some_and(|raw| serde_json::from_str::<String>(raw.get()).is_ok_and(|text| text == "2.0"))
    }
}

fn params(raw_params: Option<&RawValue>) -> Params {
    Params::new(raw_params.map(raw))
}

fn raw(value: &RawValue) -> Raw {
    Raw::from_owned(value.to_owned())
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(key) = map.next_key::<String>()? {
            let value: &'de RawValue = map.next_value()?;
            let place = match key.as_str() {
                "jsonrpc" => &mut envelope.jsonrpc,
                "id" => &mut envelope.id,
                "method" => &mut envelope.method,
                "params" => &mut envelope.params,
                "result" => &mut envelope.result,
                "error" => &mut envelope.error,
                _ => continue,
            };
            if place.replace(value).is_some() {
                return Err(serde::de::Error::custom(format_args!("`{key}` is given twice")));
            }
        }
        Ok(envelope)
    }
}
