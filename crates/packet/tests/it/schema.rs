//! The printed schema: it says what the code does, where a schema can say it, and it is the committed one.

use std::fs::File;
use std::io::Write as _;

use packet::door;
use serde_json::{Map, Value, json};

use crate::json_schema::fits;
use crate::vectors::rows;

/// The verdict of the code on a tree: the code of its refusal, or none. Forbidden keys are unknown keys here.
fn refusal(tree: &Value) -> Option<&'static str> {
    let Value::Object(object) = tree.clone() else { return Some("invalid_packet") };
    door::admit(object).err().map(|refusal| refusal.code())
}

/// What no schema can say. It must let these pass, so that all that it refuses is wrong.
const NOT_IN_A_SCHEMA: [&str; 3] = ["duplicate_constraint_id", "contradictory_assertion", "packet_too_large"];

#[test]
fn schema_and_code_agree_on_every_row() {
    let schema = packet::schema();
    let mut agreed = [0, 0];
    let mut faults = Vec::new();
    for row in rows() {
        let Ok(tree) = serde_json::from_str::<Value>(row["input"].as_str().unwrap()) else { continue };
        let refused = refusal(&tree);
        if row["kind"] == "order" && refused.is_some_and(|code| NOT_IN_A_SCHEMA.contains(&code)) {
            continue; // It has a second fault, which a schema may see.
        }
        let expected = refused.is_none_or(|code| NOT_IN_A_SCHEMA.contains(&code)) || has_whole_fraction(&tree);
        if fits(&schema, &schema, &tree) == expected {
            agreed[usize::from(expected)] += 1;
        } else {
            faults.push(format!("{}: the schema says {}, the code {refused:?}", row["name"], !expected));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(agreed.iter().all(|rows| *rows > 150), "too few rows on one side: {agreed:?}");
}

/// `1.0` and `1e3` are integers to a schema, and not to us.
fn has_whole_fraction(tree: &Value) -> bool {
    let whole = |value: &Value| value.is_f64() && value.as_f64().is_some_and(|number| number.fract() == 0.0);
    let in_range = |value: &Value| value.as_f64().is_some_and(|number| (0.0..=f64::from(u32::MAX)).contains(&number));
    let counts = [&tree["round"], &tree["budget"]["max_turns"], &tree["budget"]["max_tokens"]];
    counts.iter().any(|value| whole(value) && in_range(value))
}

#[track_caller]
fn check(packet: &Value, expected: bool) {
    let schema = packet::schema();
    assert_eq!(refusal(packet).is_none(), expected, "the code says {:?} of {packet}", refusal(packet));
    assert_eq!(fits(&schema, &schema, packet), expected, "the schema of {packet}");
}

/// The rows would not notice a limit that the schema forgets.
#[test]
fn schema_and_code_agree_on_every_length() {
    check(&full(), true);
    for (place, max) in [
        ("/objective", packet::OBJECTIVE_MAX_CHARS),
        ("/constraints/0/id", packet::CONSTRAINT_ID_MAX_CHARS),
        ("/constraints/0/text", packet::CONSTRAINT_TEXT_MAX_CHARS),
        ("/audience/0", packet::AUDIENCE_ID_MAX_CHARS),
        ("/acceptance/0/value", packet::ASSERTION_TOKEN_MAX_CHARS),
    ] {
        for (text, expected) in [("約".repeat(max), true), ("約".repeat(max + 1), false), ("\u{85}".to_owned(), false)]
        {
            let mut packet = full();
            *packet.pointer_mut(place).unwrap() = text.into();
            check(&packet, expected);
        }
    }
}

#[test]
fn schema_and_code_agree_on_every_number_of_entries() {
    #[track_caller]
    fn check_list(key: &str, max: usize, entry: fn(usize) -> Value) {
        for (count, expected) in [(max, true), (max + 1, false)] {
            let mut packet = full();
            packet[key] = (0..count).map(entry).collect();
            check(&packet, expected);
        }
    }
    check_list("constraints", packet::CONSTRAINTS_MAX, |at| json!({"id": at.to_string(), "text": "x"}));
    check_list("audience", packet::AUDIENCE_MAX, |at| at.to_string().into());
    check_list("evidence_index", packet::EVIDENCE_INDEX_MAX, |at| at.to_string().into());
    check_list(
        "acceptance",
        packet::ASSERTION_LIST_MAX,
        |at| json!({"kind": "must_use_tools", "value": at.to_string()}),
    );
    check_list(
        "acceptance",
        packet::ASSERTION_LIST_MAX,
        |at| json!({"kind": "output_contains", "value": at.to_string()}),
    );
}

/// Every key, in every object, is needed or not in both; a key more is refused by both.
#[test]
fn schema_and_code_agree_on_every_key() {
    let (full, schema) = (full(), packet::schema());
    let places = [
        "",
        "/output_format",
        "/tool_scope",
        "/constraints/0",
        "/acceptance/0",
        "/artifacts/0",
        "/findings/0",
        "/budget",
    ];
    for place in places {
        let keys: Vec<String> = full.pointer(place).unwrap().as_object().unwrap().keys().cloned().collect();
        for key in keys {
            let mut packet = full.clone();
            packet.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(&key);
            assert_eq!(refusal(&packet).is_none(), fits(&schema, &schema, &packet), "{place} without {key}");
            packet.pointer_mut(place).unwrap()[&key] = Value::Null;
            assert_eq!(refusal(&packet).is_none(), fits(&schema, &schema, &packet), "{place}/{key} null");
            packet.pointer_mut(place).unwrap()[&key] = json!(["x"]);
            assert_eq!(refusal(&packet).is_none(), fits(&schema, &schema, &packet), "{place}/{key} a list");
        }
        let mut packet = full.clone();
        packet.pointer_mut(place).unwrap()["zz"] = json!(1);
        assert!(refusal(&packet).is_some() && !fits(&schema, &schema, &packet), "{place} with zz");
    }
}

/// A packet with every key.
pub(crate) fn full() -> Value {
    let mut packet: Map<String, Value> = serde_json::from_str(packet::MINIMAL_PACKET_EXAMPLE).unwrap();
    packet.insert("output_format".to_owned(), json!({"kind": "json", "schema": "{}"}));
    for key in packet::OPTIONAL_KEYS {
        let value = match key {
            "parent_packet" | "acceptance_baseline_ref" => json!("x"),
            "tool_scope" => json!({"allowed": ["a"], "denied": ["b"]}),
            "constraints" => json!([{"id": "c1", "text": "x"}]),
            "acceptance" => json!([{"kind": "output_contains", "value": "x"}]),
            "artifacts" => json!([{"id": "a", "path": "p", "sha256": "s"}]),
            "findings" => json!([{"text": "t", "evidence": ["e"]}]),
            "fidelity" => json!("full"),
            "budget" => json!({"max_turns": 1, "max_tokens": 2, "wall_clock_secs": 3, "max_cost_usd": 4.5}),
            "irreversible" => json!(true),
            _ => json!(["x"]),
        };
        packet.insert(key.to_owned(), value);
    }
    packet.into()
}

#[test]
fn the_schema_is_the_committed_one() {
    let text = serde_json::to_string_pretty(&packet::schema()).unwrap() + "\n";
    let path = format!("{}/schemas/packet.json", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        File::create(&path).and_then(|mut file| file.write_all(text.as_bytes())).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "schemas/packet.json is out of date: look at the change, then UPDATE=1 cargo test -p packet"
    );
}
