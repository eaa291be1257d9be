//! The printed schemas are files of the repository; other parts (the TypeScript types) are made from them.

use crate::snapshot::assert_file;
use serde_json::Value;

fn pretty(schema: &Value) -> String {
    serde_json::to_string_pretty(schema).unwrap() + "\n"
}

#[test]
fn wire_schema_is_the_committed_one() {
    assert_file("crates/wire/schemas/wire.json", &pretty(&wire::schema::wire()));
}

#[test]
fn queue_schema_is_the_committed_one() {
    assert_file("crates/wire/schemas/queue.json", &pretty(&wire::schema::queue()));
}

#[test]
fn schemas_are_the_same_each_time() {
    assert_eq!(pretty(&wire::schema::wire()), pretty(&wire::schema::wire()));
}

#[test]
fn every_method_of_every_side_is_listed() {
    let schema = wire::schema::wire();
    let listed: Vec<(&str, &str)> = schema["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (entry["sender"].as_str().unwrap(), entry["method"].as_str().unwrap()))
        .collect();
    let client = wire::calls::ClientRequest::METHODS.iter().chain(wire::calls::ClientNotification::METHODS);
    let daemon = wire::calls::DaemonRequest::METHODS.iter().chain(wire::calls::DaemonNotification::METHODS);
    let all: Vec<(&str, &str)> =
        client.map(|method| ("client", *method)).chain(daemon.map(|method| ("daemon", *method))).collect();
    assert_eq!(listed, all);
}

#[test]
fn every_reference_leads_to_a_definition() {
    for schema in [wire::schema::wire(), wire::schema::queue()] {
        let mut references = Vec::new();
        collect_references(&schema, &mut references);
        assert!(!references.is_empty());
        for reference in references {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(schema.pointer(pointer).is_some(), "{reference} leads nowhere");
        }
    }
}

/// Two types of one name would get a number, and the names of generated types would depend on their order.
#[test]
fn every_type_has_a_name_of_its_own() {
    let schema = wire::schema::wire();
    for name in schema["$defs"].as_object().unwrap().keys() {
        assert!(!name.ends_with(|last: char| last.is_ascii_digit()), "{name}");
    }
}

fn collect_references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            members.values().for_each(|member| collect_references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
        _ => {}
    }
}

/// What may be left out is not `required`; what the sender always writes is.
#[test]
fn required_members_are_those_that_are_always_written() {
    #[track_caller]
    fn check(name: &str, expected: &[&str]) {
        let schema = wire::schema::wire();
        let required = schema["$defs"][name]["required"].as_array().cloned().unwrap_or_default();
        assert_eq!(required, expected, "{name}");
    }
    check("Attach", &["session_id", "project", "mode", "reason", "idle", "host"]);
    check("AttachResult", &["project", "ownership", "task", "ended"]);
    check("Run", &["run_id", "agent", "state"]);
    check("TaskReport", &["dispatch_id", "report"]);
    check("DispatchResult", &["accepted"]);
    check("ProjectRemove", &["project"]);
    check("WaitResult", &["status"]);
    check("HistoryResult", &["rows"]);
}
