//! What a line is: a request, the withdrawal of one, something to answer at once, or nothing.
//!
//! Everything that the library behind the adapter would drop without an answer, or end over, is answered or dropped here.

use serde_json::{Map, Value, json};

use crate::transport::id::{Id, IdFinder};
use crate::transport::limits::{ECHO, LINE};
use crate::transport::reader::Input;

/// What to do with a line.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Nothing: blank, an answer to a question that was never asked, or a notification without a meaning for a server
    /// that keeps no state.
    Ignore,
    /// Send this back.
    Answer(Value),
    /// A request; both the message and its id.
    Request(Id, Value),
    /// The client takes a request back; both the message and the id of that request.
    Cancel(Id, Value),
}

const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const INVALID_PARAMS: i64 = -32_602;

/// What a line is.
pub(crate) fn judge(input: Input) -> Verdict {
    match input {
        Input::TooLong(id) => refuse(id.as_ref(), PARSE_ERROR, &format!("a line has at most {LINE} bytes")),
        Input::Line(line) if line.trim_ascii().is_empty() => Verdict::Ignore,
        Input::Line(line) => match parse(&line) {
            Ok(Value::Object(message)) => message_of(message),
            Ok(Value::Array(_)) => {
                refuse(None, INVALID_REQUEST, "batches are not part of the protocol: one object a line")
            }
            Ok(_) => refuse(None, INVALID_REQUEST, "a message is a JSON object"),
            Err((id, message)) => refuse(id.as_ref(), PARSE_ERROR, &message),
        },
    }
}

/// The answer to a request with the id of another one that is in flight or was taken back.
pub(crate) fn used(id: &Id) -> Value {
    error(Some(id), INVALID_REQUEST, "this id belongs to another request: ids are not used twice")
}

/// The answer to a request that is one, but that the library cannot read.
pub(crate) fn unreadable(id: &Id) -> Value {
    error(Some(id), INVALID_PARAMS, "the parameters cannot be read")
}

/// How the parser words what is well formed by the grammar of JSON and beyond us all the same.
const BEYOND_US: [&str; 2] = ["recursion limit exceeded", "number out of range"];
/// The same for half of a surrogate pair, which JavaScript writes when a text was cut within a character.
const HALF_CHARACTER: [&str; 2] = ["lone leading surrogate", "unexpected end of hex escape"];

/// Errors of JSON that is well formed but beyond us name the id, so that the client does not wait for ever.
fn parse(line: &[u8]) -> Result<Value, (Option<Id>, String)> {
    let text = std::str::from_utf8(line).map_err(|_| (None, "the line is not UTF-8".to_owned()))?;
    serde_json::from_str(text).map_err(|error| {
        let words = error.to_string();
        let is_one_of = |kinds: [&str; 2]| kinds.iter().any(|kind| words.starts_with(kind));
        let is_half = is_one_of(HALF_CHARACTER);
        let id = (is_half || is_one_of(BEYOND_US)).then(|| {
            let mut finder = IdFinder::default();
            finder.feed(line);
            finder.found()
        });
        let remedy = if is_half { "; a text was cut within a character: cut it between two" } else { "" };
        (id.flatten(), format!("the line is not JSON: {words}{remedy}"))
    })
}

fn message_of(mut message: Map<String, Value>) -> Verdict {
    let id = message.get("id");
    let known = id.and_then(Id::of);
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse(known.as_ref(), INVALID_REQUEST, "`jsonrpc` must be \"2.0\"");
    }
    if message.contains_key("result") || message.contains_key("error") {
        return match message.contains_key("method") {
            true => refuse(known.as_ref(), INVALID_REQUEST, "a message is either a request or an answer"),
            // We ask nothing.
            false => Verdict::Ignore,
        };
    }
    let Some(Value::String(method)) = message.get("method") else {
        return refuse(known.as_ref(), INVALID_REQUEST, "`method` must be a text");
    };
    match (id, known) {
        (None, _) if method == "notifications/cancelled" => match message.get("params").and_then(cancelled) {
            Some(id) => Verdict::Cancel(id, Value::Object(message)),
            None => Verdict::Ignore,
        },
        (None, _) => Verdict::Ignore,
        (Some(_), None) => refuse(None, INVALID_REQUEST, "`id` must be a text or a whole number"),
        (Some(_), Some(id)) => {
            normalize(&mut message);
            Verdict::Request(id, Value::Object(message))
        }
    }
}

fn cancelled(params: &Value) -> Option<Id> {
    params.get("requestId").and_then(Id::of)
}

/// The arguments of a call are an object, or count as an empty one (D75).
fn normalize(message: &mut Map<String, Value>) {
    let is_call = message.get("method").is_some_and(|method| method == "tools/call");
    if let Some(Value::Object(params)) = message.get_mut("params").filter(|_| is_call)
        && let Some(arguments) = params.get_mut("arguments").filter(|arguments| !arguments.is_object())
    {
        *arguments = Value::Object(Map::new());
    }
}

fn refuse(id: Option<&Id>, code: i64, message: &str) -> Verdict {
    Verdict::Answer(error(id, code, message))
}

/// `id` is null where the request's own cannot be known, as JSON-RPC 2.0 says.
fn error(id: Option<&Id>, code: i64, message: &str) -> Value {
    let message: String = message.chars().take(2 * ECHO).collect();
    json!({"jsonrpc": "2.0", "id": id.map(Id::to_value), "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(line: &str) -> Verdict {
        judge(Input::Line(line.as_bytes().to_vec()))
    }

    #[track_caller]
    fn refused(input: Input, id: &Value, code: i64) {
        let shown = format!("{input:?}");
        let Verdict::Answer(answer) = judge(input) else { panic!("{shown} is answered") };
        assert_eq!(
            (&answer["jsonrpc"], &answer["id"], &answer["error"]["code"]),
            (&json!("2.0"), id, &json!(code)),
            "{shown}"
        );
        assert!(!answer["error"]["message"].as_str().unwrap().is_empty());
    }

    #[track_caller]
    fn check(line: impl AsRef<[u8]>, id: &Value, code: i64) {
        refused(Input::Line(line.as_ref().to_vec()), id, code);
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        for line in [
            &b"garbage"[..],
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"",
            b"{} {}",
            b"\0",
            b"\xff\xfe{}",
            b"{\"a\":\"\xc3\"}",
            b"{\"a\":\"\x01\"}",
            b"{\"a\":\"\\ud800\"}",
            b"NaN",
        ] {
            check(line, &Value::Null, -32_700);
        }
        refused(Input::TooLong(None), &Value::Null, -32_700);
    }

    #[test]
    fn what_is_json_and_too_much_names_the_id() {
        refused(Input::TooLong(Some(Id::Text("a".into()))), &json!("a"), -32_700);
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        check(format!(r#"{{"jsonrpc":"2.0","method":"x","params":{deep},"id":3}}"#), &json!(3), -32_700);
        check(r#"{"jsonrpc":"2.0","method":"x","params":{"a":1e999},"id":"i"}"#, &json!("i"), -32_700);
        for half in [r"\ud83d", r"\ude00", r"\ud83dx", r"\ud83d\n", r"\ud83d\ud83d", r"\ude00\ud83d"] {
            check(format!(r#"{{"jsonrpc":"2.0","id":4,"method":"x","params":{{"a":"{half}"}}}}"#), &json!(4), -32_700);
        }
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request() {
        for line in ["[]", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "null", "1", "\"x\"", "{}"] {
            check(line, &Value::Null, -32_600);
        }
        check(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, &json!(1), -32_600);
        check(r#"{"id":"a","method":"ping"}"#, &json!("a"), -32_600);
        check(r#"{"jsonrpc":"2.0","id":1}"#, &json!(1), -32_600);
        check(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, &json!(1), -32_600);
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, &json!(1), -32_600);
        for id in ["null", "1.5", "true", "{}", "[1]", "18446744073709551616"] {
            check(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#), &Value::Null, -32_600);
        }
    }

    #[test]
    fn what_means_nothing_is_ignored() {
        for line in [
            "",
            " \r",
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
        ] {
            assert_eq!(judged(line), Verdict::Ignore, "{line}");
        }
    }

    #[test]
    fn requests_and_their_withdrawal_pass() {
        let line = r#"{"jsonrpc":"2.0","id":"1","method":"tools/list"}"#;
        assert_eq!(judged(line), Verdict::Request(Id::Text("1".into()), serde_json::from_str(line).unwrap()));
        let line = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        assert_eq!(judged(line), Verdict::Cancel(Id::Number(1), serde_json::from_str(line).unwrap()));
    }

    #[test]
    fn arguments_that_are_no_object_are_an_empty_one() {
        for arguments in ["null", "[]", "\"{}\"", "1"] {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"x","arguments":{arguments}}}}}"#
            );
            let Verdict::Request(_, message) = judged(&line) else { panic!("a request") };
            assert_eq!(message["params"]["arguments"], json!({}), "{line}");
        }
    }
}
