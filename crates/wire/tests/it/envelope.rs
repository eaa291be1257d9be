//! One line in, one message or one exact fault out.

use proptest::prelude::*;
use wire::error::{ErrorCode, ErrorObject, Problem, Refusal};
use wire::limits::{CLIENT_LINE, DAEMON_LINE};
use wire::rpc::{EncodeError, Id, Incoming, Malformed, Response, error_line, parse, request_line, result_line};

/// What happens to a line, in short: `request ID METHOD PARAMS`, `answer CODE ID` (with `, close`), `silence`, …
fn outcome(line: &[u8]) -> String {
    match parse(line) {
        Ok(Incoming::Request(request)) => {
            format!("request {:?} {} {}", request.id, request.method, request.params.get())
        }
        Ok(Incoming::Notification(notification)) => {
            format!("notification {} {}", notification.method, notification.params.get())
        }
        Ok(Incoming::Response(Response { id, outcome })) => match outcome {
            Ok(result) => format!("result {id:?} {}", result.get()),
            Err(error) => format!("error {id:?} {}", error.code),
        },
        Err(malformed) => match malformed.answer() {
            Some((id, error)) => {
                let close = if malformed.closes_connection() { ", close" } else { "" };
                format!("answer {} {}{close}", error.code, id.map_or("null", Id::as_json))
            }
            None => "silence".to_owned(),
        },
    }
}

#[track_caller]
fn check(line: impl AsRef<[u8]>, expected: &str) {
    assert_eq!(outcome(line.as_ref()), expected, "{}", String::from_utf8_lossy(line.as_ref()));
}

#[test]
fn requests_with_ids_of_all_kinds() {
    #[track_caller]
    fn id(id: &str) {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{{}}}}"#);
        check(&line, &format!("request {id} m {{}}"));
        let Ok(Incoming::Request(request)) = parse(line.as_bytes()) else { panic!("{line}") };
        let answer = String::from_utf8(result_line(&request.id, &1, DAEMON_LINE).unwrap()).unwrap();
        assert_eq!(answer, format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":1}}\n"));
    }
    id("1");
    id("0");
    id("-7");
    id("-0");
    id("123456789012345678901234567890");
    id("\"\"");
    id("\"a\\u0062\\/c\"");
    id("\"ä \\\" \\n\"");
}

#[test]
fn ids_of_other_kinds_are_no_ids() {
    for id in ["null", "1.0", "1e3", "true", "[1]", "{}", "\"\\ud800\""] {
        check(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#), "answer -32600 null");
    }
}

#[test]
fn params_may_be_left_out_and_are_read_later() {
    check(r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, "request 1 m {}");
    check(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#, "request 1 m {}");
    check(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#, "request 1 m [1]");
    check(r#"{"method":"m","params":{ "a" : 1 },"jsonrpc":"2.0"}"#, r#"notification m { "a" : 1 }"#);
}

#[test]
fn unknown_members_and_white_space_are_ignored() {
    check(" \t{\"x\":{\"id\":9},\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"} \r", "request 1 m {}");
    check(r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#, "request 1 m {}");
    check(r#"{"\u006asonrpc":"2.\u0030","id":1,"meth\u006fd":"\u006d"}"#, "request 1 m {}");
}

#[test]
fn what_is_not_json_closes_the_connection() {
    let lines: [&[u8]; 14] = [
        b"",
        b" ",
        b"{",
        b"hello",
        b"{}{}",
        b"{} x",
        b"{\"a\":01}",
        b"{'a':1}",
        b"[1,]",
        b"\"\xff\"",
        b"{\"a\":\"\xc3\"}",
        b"\xef\xbb\xbf{}",
        b"{\"a\":\"\x01\"}",
        b"nul",
    ];
    for line in lines {
        check(line, "answer -32700 null, close");
    }
}

#[test]
fn what_is_json_but_no_request() {
    check("[]", "answer -32600 null");
    check(r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, "answer -32600 null");
    for line in ["1", "null", "true", "\"x\"", "{}", r#"{"jsonrpc":"2.0"}"#] {
        check(line, "answer -32600 null");
    }
    check(r#"{"jsonrpc":"2.0","id":1}"#, "answer -32600 1");
    check(r#"{"jsonrpc":"2.0","id":"x","method":5}"#, "answer -32600 \"x\"");
    check(r#"{"jsonrpc":"2.0","method":5}"#, "answer -32600 null");
    check(r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "answer -32600 1");
    check(r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, "answer -32600 1");
    check(r#"{"id":1,"method":"m"}"#, "answer -32600 1");
    check(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, "answer -32600 null");
}

#[test]
fn wrong_notifications_and_responses_get_no_answer() {
    check(r#"{"method":"m"}"#, "silence");
    check(r#"{"jsonrpc":"3.0","method":"m"}"#, "silence");
    check(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}"#, "silence");
    check(r#"{"jsonrpc":"2.0","result":1}"#, "silence");
    check(r#"{"jsonrpc":"2.0","id":1.5,"result":1}"#, "silence");
    check(r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, "silence");
    check(r#"{"jsonrpc":"2.0","id":1,"error":[1,"m"]}"#, "silence");
    check(r#"{"id":1,"result":1}"#, "silence");
}

#[test]
fn responses() {
    check(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1.10}}"#, r#"result Some(1) {"a":1.10}"#);
    check(r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "result Some(1) null");
    check(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m","more":1}}"#, "error None -32700");
    check(r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"m","data":[1]}}"#, "error Some(\"a\") -32000");
}

#[test]
fn a_byte_order_mark_is_named() {
    let error = parse("\u{feff}{}".as_bytes()).unwrap_err();
    assert!(error.to_string().contains("byte-order mark"), "{error}");
}

#[test]
fn a_hundred_thousand_brackets_do_not_overflow_the_stack() {
    let open = "[".repeat(100_000);
    let closed = format!("{open}{}", "]".repeat(100_000));
    check(&open, "answer -32700 null, close");
    check(&closed, "answer -32600 null");
    check(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{closed}}}"#), &format!("request 1 m {closed}"));
    check(format!(r#"{{"jsonrpc":"2.0","id":{closed},"method":"m"}}"#), "answer -32600 null");
    check(format!(r#"{{"jsonrpc":"2.0","id":1,"method":{closed}}}"#), "answer -32600 1");
    check(format!(r#"{{"jsonrpc":"2.0","id":1,"error":{closed}}}"#), "silence");
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    check(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","x":{objects}}}"#), "request 1 m {}");
}

#[test]
fn unknown_methods_and_positional_params_have_their_codes() {
    #[track_caller]
    fn code(line: &str, expected: i64) {
        let Ok(Incoming::Request(request)) = parse(line.as_bytes()) else { panic!("{line}") };
        let error = wire::calls::ClientRequest::decode(&request.method, &request.params).unwrap_err();
        assert_eq!(error.code, expected, "{error}");
    }
    code(r#"{"jsonrpc":"2.0","id":1,"method":"daemon.dance"}"#, -32601);
    code(r#"{"jsonrpc":"2.0","id":1,"method":"daemon.dance","params":[]}"#, -32601);
    code(r#"{"jsonrpc":"2.0","id":1,"method":"daemon.status","params":[]}"#, -32602);
    code(r#"{"jsonrpc":"2.0","id":1,"method":"daemon.status","params":7}"#, -32602);
    code(r#"{"jsonrpc":"2.0","id":1,"method":"hello","params":["1",{}]}"#, -32602);
    code(r#"{"jsonrpc":"2.0","id":1,"method":"hello"}"#, -32602);
    code(r#"{"jsonrpc":"2.0","id":1,"method":"task.dispatch"}"#, -32601);
}

#[test]
fn raw_members_spread_over_lines_do_not_break_the_line() {
    let task = wire::Raw::parse("{\n  \"a\": \"x\\ny\",\r\n  \"b\": [\n1]\n}").unwrap();
    let submit = wire::control::TaskSubmit { project: "p".to_owned(), task };
    let line = String::from_utf8(request_line(&1.into(), &submit, CLIENT_LINE).unwrap()).unwrap();
    assert_eq!(line.matches('\n').count(), 1);
    assert!(line.ends_with('\n'));
    let Ok(Incoming::Request(request)) = parse(line.trim_end().as_bytes()) else { panic!("{line}") };
    let again: wire::control::TaskSubmit = request.params.decode().unwrap();
    let value = |raw: &wire::Raw| serde_json::from_str::<serde_json::Value>(raw.get()).unwrap();
    assert_eq!(value(&again.task), value(&submit.task));
}

#[test]
fn what_a_peer_would_not_read_is_not_sent() {
    let text = "x".repeat(100);
    let error = result_line(&1.into(), &text, 50).unwrap_err();
    assert!(matches!(error, EncodeError::TooLong { limit: 50, size } if size > 100), "{error}");
    let size = result_line(&1.into(), &text, 1000).unwrap().len() - 1;
    result_line(&1.into(), &text, size).unwrap();
    result_line(&1.into(), &text, size - 1).unwrap_err();
}

#[test]
fn refusals_are_written_and_read() {
    #[track_caller]
    fn check(refusal: Refusal, expected: &str) {
        let data = refusal.data.clone();
        let line = error_line(Some(&4.into()), &refusal.into(), DAEMON_LINE).unwrap();
        assert_eq!(String::from_utf8(line.clone()).unwrap(), format!("{expected}\n"));
        let Ok(Incoming::Response(response)) = parse(line.trim_ascii_end()) else { panic!("{expected}") };
        assert_eq!(response.outcome.unwrap_err().refusal(), Some(data));
    }
    check(
        Refusal::new(ErrorCode::NoTask, "no task T-1"),
        r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"no task T-1","data":{"code":"no_task"}}}"#,
    );
    check(
        Refusal::unsupported_protocol(2, "0.1.0"),
        r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"protocol 2 is not supported; this daemon (0.1.0) speaks protocol 1: the daemon is older than its client, update and restart it","data":{"code":"unsupported_protocol","supported":[1]}}}"#,
    );
    check(
        Refusal::report_too_large("too large", 10, 20),
        r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"too large","data":{"code":"report_too_large","limit":10,"size":20}}}"#,
    );
    check(
        Refusal::unknown_project("not a project", Some("/p".to_owned())),
        r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"not a project","data":{"code":"unknown_project","nearest":"/p"}}}"#,
    );
    let problem = Problem { field: None, code: "queue_full".to_owned(), message: "no room".to_owned() };
    check(
        Refusal::with_problems(ErrorCode::InvalidTask, "invalid", vec![problem]),
        r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"invalid","data":{"code":"invalid_task","problems":[{"field":null,"code":"queue_full","message":"no room"}]}}}"#,
    );
}

#[test]
fn json_rpcs_own_errors_are_no_refusals() {
    assert_eq!(ErrorObject::unknown_method("m").refusal_code(), None);
    let odd = ErrorObject { code: -32000, message: "m".to_owned(), data: None };
    assert_eq!(odd.refusal_code(), None);
}

#[test]
fn an_unreadable_id_is_answered_with_null() {
    let line = error_line(None, &ErrorObject::parse_error("x"), DAEMON_LINE).unwrap();
    assert_eq!(
        String::from_utf8(line).unwrap(),
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"parse error: x\"}}\n"
    );
}

proptest! {
    #[test]
    fn no_bytes_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(Malformed::Unanswerable(why)) = parse(&line) {
            prop_assert!(!why.is_empty());
        }
    }

    /// Lines made of the pieces that matter.
    #[test]
    fn no_line_of_json_pieces_panics(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30)) {
        let line = pieces.concat();
        if let Ok(Incoming::Request(request)) = parse(line.as_bytes()) {
            let known = wire::calls::ClientRequest::decode(&request.method, &request.params);
            prop_assert_eq!(known.is_ok_and(|call| call.method() != request.method), false);
        }
    }
}

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"jsonrpc\"",
    "\"2.0\"",
    "\"id\"",
    "\"method\"",
    "\"params\"",
    "\"result\"",
    "\"error\"",
    "\"daemon.status\"",
    "1",
    "-1",
    "null",
    "1e400",
    "\"\\ud800\"",
    "\"code\"",
    "\"message\"",
    " ",
    "true",
];
