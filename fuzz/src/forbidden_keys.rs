//! `forbidden_keys`: the scan of any JSON object, beside a plain recursive one.

use packet::{FORBIDDEN_PROVIDER_FIELDS, Refusal, door, forbidden_key};
use serde_json::{Map, Value};

/// The scan finds a key where there is one and none where there is none, an object's own before those inside of it; and
/// the door refuses for exactly that.
pub fn check(bytes: &[u8]) {
    let Ok(Value::Object(object)) = serde_json::from_slice::<Value>(bytes) else { return };
    let found = forbidden_key(&object);
    assert_eq!(found.is_some(), is_anywhere(&object));
    if let Some(own) = object.keys().find(|key| is_forbidden(key)) {
        assert_eq!(found, Some(own.as_str()));
    }
    match door::open(Value::Object(object.clone())) {
        Ok(opened) => assert_eq!((found, opened), (None, object)),
        Err(refusal) => assert_eq!(Some(refusal), found.map(|key| Refusal::ForbiddenKey { key })),
    }
}

fn is_forbidden(key: &str) -> bool {
    FORBIDDEN_PROVIDER_FIELDS.contains(&key)
}

/// It may recurse: the parser gives it no more than 128 levels.
fn is_anywhere(object: &Map<String, Value>) -> bool {
    object.iter().any(|(key, value)| is_forbidden(key) || is_inside(value))
}

fn is_inside(value: &Value) -> bool {
    match value {
        Value::Object(object) => is_anywhere(object),
        Value::Array(items) => items.iter().any(is_inside),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
