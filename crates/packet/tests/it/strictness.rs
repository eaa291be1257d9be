//! Strict everywhere (D31): in every object of a packet, through both ways in.

use packet::{ReadError, TaskPacket, door};
use serde_json::{Value, json};

use crate::schema::full;

/// Every object of a full packet.
const OBJECTS: [&str; 8] =
    ["", "/output_format", "/tool_scope", "/constraints/0", "/acceptance/0", "/artifacts/0", "/findings/0", "/budget"];
/// Every word of a closed list.
const WORDS: [&str; 5] = ["/from_role", "/to_role", "/acceptance/0/kind", "/fidelity", "/output_format/kind"];

/// Refused as a text, as a tree, and by the schema.
#[track_caller]
fn check_refused(packet: &Value, mention: &str) {
    let schema = packet::schema();
    assert!(!crate::json_schema::fits(&schema, &schema, packet), "the schema takes {packet}");
    let by_text = door::check(packet.to_string().as_bytes()).unwrap_err();
    let by_tree = door::open(packet.clone()).and_then(door::admit).unwrap_err();
    for refusal in [by_text, by_tree] {
        assert_eq!(refusal.code(), ReadError::CODE, "{packet}");
        assert!(refusal.to_string().contains(mention), "{refusal} does not mention {mention}");
    }
}

fn with(place: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut packet = full();
    change(packet.pointer_mut(place).unwrap());
    packet
}

#[test]
fn a_list_is_no_object() {
    for place in OBJECTS {
        let as_list = |object: &mut Value| *object = object.as_object().unwrap().values().cloned().collect();
        check_refused(&with(place, as_list), "");
        check_refused(&with(place, |object| *object = json!([])), "");
    }
}

#[test]
fn an_object_is_no_word() {
    for place in WORDS {
        let as_object = |word: &mut Value| *word = json!({ word.as_str().unwrap(): null });
        check_refused(&with(place, as_object), "");
        let padded = |word: &mut Value| *word = format!("{} ", word.as_str().unwrap()).into();
        check_refused(&with(place, padded), "unknown variant");
    }
}

#[test]
fn no_object_takes_a_key_more() {
    for place in OBJECTS {
        for key in ["zz", "", "Id", "kind ", "\u{200b}schema"] {
            check_refused(&with(place, |object| object[key] = Value::Null), &format!("unknown field `{key}`"));
        }
    }
}

#[test]
fn only_json_has_a_schema() {
    for kind in ["markdown", "diff", "files"] {
        for schema in [Value::Null, json!("{}")] {
            check_refused(
                &with("/output_format", |format| *format = json!({ "kind": kind, "schema": schema })),
                "schema",
            );
            check_refused(
                &with("/output_format", |format| *format = json!({ "schema": schema, "kind": kind })),
                "schema",
            );
        }
        // So it is not offered, either.
        let unknown = with("/output_format", |format| *format = json!({ "kind": kind, "x": 1 }));
        check_refused(&unknown, "unknown field `x`, expected `kind`");
        let message = door::check(unknown.to_string().as_bytes()).unwrap_err().to_string();
        assert!(!message.contains("`schema`"), "{message}");
    }
}

/// Whatever else is wrong with the keys beside it: which ones may stand there depends on the kind.
#[test]
fn a_wrong_kind_of_format_is_what_is_told() {
    for rest in [json!({ "x": 1 }), json!({ "schema": 3 }), json!({ "schema": null })] {
        let wrong = with("/output_format", |format| {
            *format = json!({ "kind": "md" });
            format.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        });
        check_refused(&wrong, "unknown variant `md`, expected one of `markdown`, `json`, `diff`, `files`");
    }
}

/// In a text. A tree cannot hold it.
#[test]
fn no_key_stands_twice() {
    for place in OBJECTS {
        let packet = full();
        let object = packet.pointer(place).unwrap();
        for (key, value) in object.as_object().unwrap() {
            let twice = format!("{{{}:{value},{}", json!(key), &object.to_string()[1..]);
            let text = if place.is_empty() { twice } else { replaced(&packet, place, &twice) };
            let error = TaskPacket::from_text(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(&format!("duplicate field `{key}`")), "{place}: {error}");
        }
    }
}

/// The text of `packet` with another text at `place`.
fn replaced(packet: &Value, place: &str, text: &str) -> String {
    let mut packet = packet.clone();
    *packet.pointer_mut(place).unwrap() = json!("HERE");
    packet.to_string().replace("\"HERE\"", text)
}

/// A model that gets a refusal must find the spot: type errors do not name it by themselves.
#[test]
fn a_refusal_names_the_place() {
    #[track_caller]
    fn check(place: &str, value: &Value, expected: &str) {
        let packet = with(place, |old| *old = value.clone());
        let by_text = TaskPacket::from_text(packet.to_string().as_bytes()).unwrap_err();
        let by_tree = TaskPacket::from_value(&packet).unwrap_err();
        for error in [by_text, by_tree] {
            assert_eq!(error.place(), Some(expected));
            assert!(error.to_string().starts_with(error.message()));
            assert!(error.to_string().ends_with(&format!("(at `{expected}`)")), "{error}");
        }
    }
    check("/round", &json!("1"), "round");
    check("/budget/max_turns", &json!(1.0), "budget.max_turns");
    check("/findings/0/evidence/0", &Value::Null, "findings[0].evidence[0]");
    check("/constraints/0", &json!({"id": "c1"}), "constraints[0]");
    check("/output_format", &json!("md"), "output_format");
}
