//! The scan for keys of conversations and vendors' formats, at any depth (D32). Keys only: as values the words are fine.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use crate::keys::FORBIDDEN_PROVIDER_FIELDS;

/// The first forbidden key of an object or of anything in it. An object's own keys come before those of its members.
///
/// It needs no stack, so that depth cannot hurt it.
#[must_use]
pub fn forbidden_key(object: &Map<String, Value>) -> Option<&'static str> {
    let mut objects = VecDeque::from([object]);
    while let Some(object) = objects.pop_front() {
        if let Some(found) = object.keys().find_map(|key| listed(key)) {
            return Some(found);
        }
        let mut values: Vec<&Value> = object.values().collect();
        while let Some(value) = values.pop() {
            match value {
                Value::Object(members) => objects.push_back(members),
                Value::Array(items) => values.extend(items),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }
    None
}

fn listed(key: &str) -> Option<&'static str> {
    FORBIDDEN_PROVIDER_FIELDS.into_iter().find(|forbidden| *forbidden == key)
}
