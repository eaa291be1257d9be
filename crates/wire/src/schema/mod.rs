//! JSON Schemas: of every message, made from the types, and of `tasks.json`. Printed by `handoff schema wire|queue`.
//!
//! The output is the same in every run. The TypeScript types of the Pi extension are generated from it.

mod queue;

pub use queue::queue;

use crate::calls::{ClientNotification, ClientRequest, DaemonNotification, DaemonRequest, MethodSchema};
use crate::error::{ErrorCode, ErrorData, ErrorObject};
use crate::limits;
use crate::rpc::Id;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of the socket protocol: it accepts one line. `methods` lists who sends what, `$defs` holds the types.
///
/// A member that the sender always writes is `required`; one that may be left out is not.
#[must_use]
pub fn wire() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let id = generator.subschema_for::<Id>();
    let error = generator.subschema_for::<ErrorObject>();
    generator.subschema_for::<ErrorData>();
    let sections = [
        ("client", ClientRequest::schemas(&mut generator)),
        ("client", ClientNotification::schemas(&mut generator)),
        ("daemon", DaemonRequest::schemas(&mut generator)),
        ("daemon", DaemonNotification::schemas(&mut generator)),
    ];
    let mut methods = Vec::new();
    let mut messages = vec![
        json!({
            "title": "response with a result", "type": "object", "required": ["jsonrpc", "id", "result"],
            "properties": { "jsonrpc": { "const": "2.0" }, "id": id, "result": true }
        }),
        json!({
            "title": "response with an error", "type": "object", "required": ["jsonrpc", "id", "error"],
            "properties": { "jsonrpc": { "const": "2.0" }, "id": { "anyOf": [id, { "type": "null" }] }, "error": error }
        }),
    ];
    for (sender, section) in sections {
        for method in section {
            messages.push(message(&method, &id));
            methods.push(index_entry(sender, method));
        }
    }
    json!({
        "$schema": DIALECT,
        "title": "handoffd socket protocol",
        "description": "One line on the socket. Unknown members are ignored.",
        "protocol": limits::PROTOCOL,
        "limits": { "client_line": limits::CLIENT_LINE, "daemon_line": limits::DAEMON_LINE, "report": limits::REPORT },
        "error_codes": ErrorCode::WORDS,
        "methods": methods,
        "anyOf": messages,
        "$defs": definitions(generator),
    })
}

fn index_entry(sender: &str, method: MethodSchema) -> Value {
    let mut entry = json!({ "method": method.method, "sender": sender, "params": method.params });
    if let (Some(result), Some(entry)) = (method.result, entry.as_object_mut()) {
        entry.insert("result".to_owned(), result.into());
    }
    entry
}

fn message(method: &MethodSchema, id: &Schema) -> Value {
    let mut properties = Map::new();
    properties.insert("jsonrpc".to_owned(), json!({ "const": "2.0" }));
    let mut required = vec!["jsonrpc", "method", "params"];
    if method.result.is_some() {
        properties.insert("id".to_owned(), id.clone().into());
        required.push("id");
    }
    properties.insert("method".to_owned(), json!({ "const": method.method }));
    properties.insert("params".to_owned(), method.params.clone().into());
    json!({ "title": method.method, "type": "object", "required": required, "properties": properties })
}

/// The types, sorted by name.
fn definitions(mut generator: SchemaGenerator) -> Value {
    let definitions = generator.take_definitions(true);
    let sorted: std::collections::BTreeMap<_, _> = definitions.into_iter().collect();
    sorted.into_iter().collect::<Map<_, _>>().into()
}
