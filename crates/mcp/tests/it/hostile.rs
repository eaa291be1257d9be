//! Lines that no client should send.

use std::io::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::{Client, call, initialize, stateless};

#[track_caller]
fn check(line: impl AsRef<[u8]>, id: &Value, code: i64) {
    for mut client in [Client::connected(), Client::initialized()] {
        client.write(line.as_ref());
        client.write(b"\n");
        let answer = client.next().unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (id, &json!(code)), "{answer}");
        client.send(&initialize("2025-11-25"));
        assert!(client.next().unwrap().get("result").is_some());
        client.check_alive();
    }
}

#[test]
fn garbage_is_answered_and_survived() {
    check("garbage", &Value::Null, -32_700);
    check(b"\xff\x00\xfe", &Value::Null, -32_700);
    check("{\"jsonrpc\":\"2.0\",\"id\":1,", &Value::Null, -32_700);
    check("[]", &Value::Null, -32_600);
    check(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, &Value::Null, -32_600);
    check(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, &Value::Null, -32_600);
    check(
        format!(r#"{{"jsonrpc":"2.0","id":4,"method":"x","params":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000)),
        &json!(4),
        -32_700,
    );
}

#[test]
fn a_line_of_a_hundred_megabytes_is_answered_and_forgotten() {
    let mut client = Client::initialized();
    client.write(br#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"x":""#);
    for _ in 0..100 {
        client.write(&vec![b'x'; 1 << 20]);
    }
    client.write(b"\"}},\"id\":\"big\"}\n");
    let answer = client.next().unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("big"), &json!(-32_700)), "{answer}");
    client.check_alive();
}

#[test]
fn a_line_of_the_largest_size_is_served() {
    let mut client = Client::initialized();
    let empty = call("call", "echo", &json!({"x": ""})).to_string().len();
    let text = "x".repeat(mcp::LINE - empty);
    assert_eq!(client.call("echo", &json!({"x": text}))["structuredContent"]["x"], json!(text));
}

#[test]
fn half_a_line_at_the_end_is_answered() {
    let mut client = Client::initialized();
    client.write(br#"{"jsonrpc":"2.0","id":1,"method":"pi"#);
    client.end_input();
    let rest = client.ended();
    assert_eq!((rest.len(), &rest[0]["error"]["code"]), (1, &json!(-32_700)), "{rest:?}");
}

#[test]
fn a_last_line_without_its_end_is_served() {
    let mut client = Client::initialized();
    client.write(call(1, "echo", &json!({"a": 1})).to_string().as_bytes());
    client.end_input();
    assert_eq!(client.ended()[0]["result"]["structuredContent"], json!({"a": 1}));
}

#[test]
fn calls_before_the_handshake_are_refused() {
    let mut client = Client::connected();
    for request in [call(1, "echo", &json!({})), json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})] {
        let answer = client.ask(&request);
        assert_eq!(answer["error"]["code"], -32_602, "{answer}");
    }
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    client.send(&json!({"jsonrpc": "2.0", "id": 8, "result": {}}));
    client.ask(&initialize("2025-11-25"));
    client.check_alive();
}

#[test]
fn unknown_methods_and_tools_and_bad_parameters_are_told_apart() {
    let mut client = Client::initialized();
    let mut check = |method: &str, params: Value, code: i64| {
        let answer = client.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        assert_eq!(answer["error"]["code"], code, "{method} {answer}");
    };
    for method in ["nothing/here", "", "prompts/list", "resources/list", "logging/setLevel", "tools"] {
        check(method, json!({}), -32_601);
    }
    check(&"m".repeat(10_000), json!({}), -32_601);
    check("tools/call", json!({"name": "nobody"}), -32_602);
    check("tools/call", json!({}), -32_602);
    check("tools/call", json!({"name": 7}), -32_602);
    check("tools/call", json!([]), -32_602);
    check("initialize", json!({}), -32_602);
    client.check_alive();
}

#[test]
fn arguments_that_are_no_object_are_an_empty_one() {
    let mut client = Client::initialized();
    for arguments in [json!(null), json!([1]), json!("x"), json!(7)] {
        assert_eq!(client.call("echo", &arguments)["structuredContent"], json!({}), "{arguments}");
    }
    let answer = client.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo"}}));
    assert_eq!(answer["result"]["structuredContent"], json!({}));
}

#[test]
fn repeated_keys_are_folded_and_the_last_one_wins() {
    let mut client = Client::initialized();
    client.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"a\":1,\"a\":2}}}\n");
    let answer = client.next().unwrap();
    assert_eq!((&answer["id"], &answer["result"]["structuredContent"]), (&json!(2), &json!({"a": 2})));
}

/// A valid request with a piece cut out, doubled or replaced.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let requests = [
        call(1, "echo", &json!({"a": [1, {"b": "c"}], "d": "\u{7f}é\""})),
        stateless(call("x", "refuse", &json!({}))),
        stateless(json!({"jsonrpc": "2.0", "id": 3, "method": "server/discover"})),
        json!({"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params": {"cursor": "x"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}),
        initialize("2025-11-25"),
    ];
    let request = prop::sample::select(requests.map(|request| request.to_string().into_bytes()).to_vec());
    (request, any::<prop::sample::Index>(), 0_usize..20, prop::collection::vec(any::<u8>(), 0..6)).prop_map(
        |(mut line, at, length, new)| {
            let start = at.index(line.len());
            line.splice(start..line.len().min(start + length), new);
            line
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Nothing that stands before it keeps a request from its answer.
    #[test]
    fn whatever_comes_the_next_request_is_answered(
        lines in prop::collection::vec(prop_oneof![mutated(), prop::collection::vec(any::<u8>(), 0..40)], 1..30),
        initialized in any::<bool>(),
    ) {
        let mut client = if initialized { Client::initialized() } else { Client::connected() };
        let mut batch = Vec::new();
        for line in &lines {
            batch.write_all(line).unwrap();
            batch.push(b'\n');
        }
        client.write(&batch);
        client.send(&stateless(json!({"jsonrpc": "2.0", "id": "the last one", "method": "server/discover"})));
        let answer = std::iter::from_fn(|| client.next()).find(|answer| answer["id"] == "the last one");
        prop_assert!(answer.is_some_and(|answer| answer.get("result").is_some()));
    }
}
