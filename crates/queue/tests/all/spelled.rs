//! Documents and values in every spelling, and a second opinion on what a spelled value means. No assertions here.

use proptest::prelude::*;
use queue::Field;
use serde_json::Value;

/// One top-level member as written: key and value as spelled, and the white space around them.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) gaps: [String; 4],
}

fn white_space() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just(String::new()), 4 => Just(" ".to_owned()), 1 => "[ \t\r\n]{0,4}"]
}

fn string_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -!#-\\[\\]-~é🦀]",
        Just("\\\"".to_owned()),
        Just("\\\\".to_owned()),
        Just("\\/".to_owned()),
        Just("\\u0061".to_owned()),
        Just("\\ud83e\\udd80".to_owned()),
        Just("\\u0000".to_owned()),
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

pub(crate) fn value_text() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,5})?",
        string_text(),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        let spaced = (white_space(), inner, white_space())
            .prop_map(|(before, value, after)| format!("{before}{value}{after}"))
            .boxed();
        prop_oneof![
            proptest::collection::vec(spaced.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::vec((string_text(), spaced), 0..4).prop_map(|members| {
                let members: Vec<_> = members.iter().map(|(key, value)| format!("{key}:{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

/// Any field but `status`, or a foreign key; sometimes spelled with an escape.
fn key_text() -> impl Strategy<Value = String> {
    let names: Vec<_> = Field::ALL.iter().filter(|field| **field != Field::Status).map(|field| field.name()).collect();
    let name = prop_oneof![3 => proptest::sample::select(names).prop_map(ToOwned::to_owned), 2 => "[a-z]{1,3}"];
    (name, any::<bool>()).prop_map(|(name, is_escaped)| {
        if is_escaped { format!("\"\\u00{:02x}{}\"", name.as_bytes()[0], &name[1..]) } else { format!("\"{name}\"") }
    })
}

fn member() -> impl Strategy<Value = Member> {
    let gaps = [white_space(), white_space(), white_space(), white_space()];
    (key_text(), value_text(), gaps).prop_map(|(key, value, gaps)| Member { key, value, gaps })
}

/// A document's members with distinct keys, a status among them.
pub(crate) fn members(status: &'static str) -> impl Strategy<Value = Vec<Member>> {
    let status = (member(), 0..8_usize).prop_map(move |(member, at)| {
        (Member { key: "\"status\"".into(), value: format!("\"{status}\""), ..member }, at)
    });
    (proptest::collection::vec(member(), 0..10), status).prop_map(|(mut members, (status, at))| {
        members.insert(at.min(members.len()), status);
        let mut seen = std::collections::HashSet::new();
        members.retain(|member| seen.insert(decoded(&member.key)));
        members
    })
}

pub(crate) fn decoded(text: &str) -> String {
    serde_json::from_str(text).unwrap()
}

pub(crate) fn written(members: &[Member]) -> String {
    let members: Vec<_> =
        members.iter().map(|Member { key, value, gaps: [a, b, c, d] }| format!("{a}{key}{b}:{c}{value}{d}")).collect();
    format!("{{{}}}", members.join(","))
}

/// What a spelled value means, in a form of its own: two values of one meaning give the same text.
pub(crate) fn meaning(value: &str) -> String {
    let mut out = String::new();
    push_meaning(&serde_json::from_str(&numbers_as_strings(value)).unwrap(), &mut out);
    out
}

/// Sorted members, numbers by their text.
fn push_meaning(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| {
            out.push('[');
            push_meaning(item, out);
        }),
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            for (key, value) in members {
                out.push_str(&format!("{{{key:?}"));
                push_meaning(value, out);
            }
        }
        scalar => out.push_str(&format!("<{scalar}>")),
    }
    out.push_str(match value {
        Value::Array(_) => "]",
        Value::Object(_) => "}",
        _ => "",
    });
}

/// Wraps each number into a marked string, so that a reader cannot change it.
fn numbers_as_strings(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => string_length(rest),
            '-' | '0'..='9' => {
                rest.find(|c: char| !matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9')).unwrap_or(rest.len())
            }
            _ => c.len_utf8(),
        };
        let (token, tail) = rest.split_at(length);
        if matches!(c, '-' | '0'..='9') {
            out.push_str(&format!("\"number {token}\""));
        } else {
            out.push_str(token);
        }
        rest = tail;
    }
    out
}

fn string_length(text: &str) -> usize {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&serde_json::value::RawValue>();
    let _value = values.next().unwrap().unwrap();
    values.byte_offset()
}

/// Whether an object somewhere inside repeats a key: then re-reading it loses members.
pub(crate) fn has_repeats(text: &str) -> bool {
    let text = numbers_as_strings(text);
    let read: Value = serde_json::from_str(&text).unwrap();
    let keys = |text: &str| {
        let (mut count, mut rest) = (0, text);
        while let Some(c) = rest.chars().next() {
            let length = if c == '"' { string_length(rest) } else { c.len_utf8() };
            count += usize::from(c == ':');
            rest = &rest[length..];
        }
        count
    };
    keys(&text) != keys(&read.to_string())
}
