//! What every message has in common: members in any order, unknown ones ignored, no list in place of an object, and an
//! error that names the member. Tried on each example of the document, at each place in it.

use crate::messages::{Example, examples, through_params, through_result};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Members whose values pass through without a look inside.
const RAW: &[&str] = &["report", "planner", "packet", "task", "rows"];

/// Calls `change` with each object in `value` that has a type of ours, and gives every version of the whole.
fn at_each_object(value: &Value, raw_members: &[&str], change: &dyn Fn(&Map<String, Value>) -> Value) -> Vec<Value> {
    let mut versions = Vec::new();
    match value {
        Value::Object(members) => {
            versions.push(change(members));
            for (key, member) in members {
                if raw_members.contains(&key.as_str()) {
                    continue;
                }
                for version in at_each_object(member, raw_members, change) {
                    let mut whole = members.clone();
                    whole.insert(key.clone(), version);
                    versions.push(Value::Object(whole));
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                for version in at_each_object(item, raw_members, change) {
                    let mut whole = items.clone();
                    whole[index] = version;
                    versions.push(Value::Array(whole));
                }
            }
        }
        _ => {}
    }
    versions
}

/// Every example as (name, value, reader).
type Reader = Box<dyn Fn(&Value) -> Result<Value, String>>;

fn typed_examples() -> Vec<(String, Value, Reader)> {
    let typed = |example| -> Option<(String, Value, Reader)> {
        match example {
            Example::Call { method, params, .. } => {
                let name = method.clone();
                let read: Reader = Box::new(move |value| through_params(&method, value).map_err(|error| error.message));
                Some((name, params, read))
            }
            Example::Result { method, from_client, result } => {
                let name = format!("result of {method}");
                let read: Reader = Box::new(move |value| through_result(&method, from_client, value));
                Some((name, result, read))
            }
            Example::Error(_) => None,
        }
    };
    examples().into_iter().filter_map(typed).collect()
}

/// `report` and `task` are raw in the parameters they belong to, and types of ours in status and results.
fn raw_members(name: &str) -> &'static [&'static str] {
    match name {
        "result of daemon.status" | "result of session.attach" | "result of task.report" => &[],
        "result of task.wait" => &["report"],
        _ => RAW,
    }
}

#[test]
fn unknown_members_are_ignored_at_every_level() {
    for (name, value, read) in typed_examples() {
        let add = |members: &Map<String, Value>| {
            let mut more = Map::new();
            more.insert("a_later_version".to_owned(), json!({ "x": [1, { "y": null }] }));
            more.extend(members.clone());
            Value::Object(more)
        };
        for version in at_each_object(&value, raw_members(&name), &add) {
            assert_eq!(read(&version), Ok(value.clone()), "{name}: {version}");
        }
    }
}

#[test]
fn a_list_in_place_of_an_object_is_refused_at_every_level() {
    let mut tried = 0;
    for (name, value, read) in typed_examples() {
        let to_list = |members: &Map<String, Value>| Value::Array(members.values().cloned().collect());
        for version in at_each_object(&value, raw_members(&name), &to_list) {
            let error = read(&version).expect_err(&format!("{name}: {version}"));
            assert!(error.contains("object") || error.contains("struct") || error.contains("map"), "{name}: {error}");
            tried += 1;
        }
    }
    assert!(tried > 100, "only {tried} places were tried");
}

#[test]
fn the_order_of_members_means_nothing() {
    for (name, value, read) in typed_examples() {
        let reverse = |members: &Map<String, Value>| {
            Value::Object(members.iter().rev().map(|(key, value)| (key.clone(), value.clone())).collect())
        };
        for version in at_each_object(&value, raw_members(&name), &reverse) {
            assert_eq!(read(&version), Ok(value.clone()), "{name}: {version}");
        }
    }
}

#[test]
fn errors_name_the_member() {
    #[track_caller]
    fn check(method: &str, params: &str, expected: &str) {
        let params: Value = serde_json::from_str(params).unwrap();
        let error = through_params(method, &params).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-32602, expected));
    }
    check("hello", r#"{"protocol":1}"#, "invalid parameters: missing field `client`");
    check("hello", "[1]", "invalid parameters: invalid type: sequence, expected an object");
    check("hello", "\"x\"", "invalid parameters: invalid type: string \"x\", expected an object");
    check(
        "hello",
        r#"{"protocol":"1","client":{"name":"n","version":"v"}}"#,
        "invalid parameters: `protocol`: invalid type: string \"1\", expected u32",
    );
    check(
        "hello",
        r#"{"protocol":1,"client":{"name":5,"version":"v"}}"#,
        "invalid parameters: `client.name`: invalid type: integer `5`, expected a string",
    );
    check(
        "hello",
        r#"{"protocol":1,"client":["n","v"]}"#,
        "invalid parameters: `client`: invalid type: sequence, expected an object",
    );
    check(
        "session.leaving",
        r#"{"reason":"lunch"}"#,
        "invalid parameters: `reason`: unknown variant `lunch`, expected one of `reload`, `new`, `resume`, `fork`, `quit`",
    );
    check(
        "task.report",
        r#"{"dispatch_id":"d","report":{},"observed":[{"run_id":"r","agent":"a","state":7}]}"#,
        "invalid parameters: `observed[0].state`: invalid type: integer `7`, expected a string",
    );
    check("session.run_started", r#"{"dispatch_id":"d","agent":"a"}"#, "invalid parameters: missing field `run_id`");
}

#[test]
fn a_repeated_member_is_refused() {
    let text = r#"{"project":"a","project":"b"}"#;
    assert_eq!(wire::rpc::decode::<wire::control::ProjectPause>(text).unwrap_err(), "duplicate field `project`");
}

#[test]
fn foreign_words_in_an_error_are_cut() {
    let params = json!({ "state": "x".repeat(100_000) });
    let error = through_params("session.state", &params).unwrap_err();
    assert!(error.message.len() < 500, "{} bytes", error.message.len());
}

#[test]
fn too_deep_a_nesting_is_an_error_and_no_overflow() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let ignored = format!(r#"{{"protocol":1,"client":{{"name":"n","version":"v"}},"unknown":{deep}}}"#);
    wire::rpc::decode::<wire::hello::Hello>(&ignored).unwrap();
    let wrong = format!(r#"{{"protocol":{deep}}}"#);
    wire::rpc::decode::<wire::hello::Hello>(&wrong).unwrap_err();
    let raw = format!(r#"{{"dispatch_id":"d","report":{deep}}}"#);
    assert_eq!(wire::rpc::decode::<wire::session::TaskReport>(&raw).unwrap().report.get(), deep);
    let run = format!(r#"{{"dispatch_id":"d","run_id":"r","agent":"a","state":"running","unknown":{deep}}}"#);
    wire::rpc::decode::<wire::session::RunStarted>(&run).unwrap_err();
}

proptest! {
    /// Any value in any place gives a message or an error, never a panic.
    #[test]
    fn wrong_shapes_never_panic(which in 0usize..1000, place in 0usize..100, wrong in any_json()) {
        let all = typed_examples();
        let (_, value, read) = &all[which % all.len()];
        let swap = |members: &Map<String, Value>| {
            let mut changed = members.clone();
            let index = place % members.len().max(1);
            if let Some(member) = changed.values_mut().nth(index) {
                *member = wrong.clone();
            }
            Value::Object(changed)
        };
        for version in at_each_object(value, &[], &swap) {
            if let Err(message) = read(&version) {
                prop_assert!(!message.is_empty());
            }
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,8}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
