//! Clients of both eras.

use serde_json::{Value, json};

use crate::client::{Client, call, initialize, stateless};

fn discover() -> Value {
    stateless(json!({"jsonrpc": "2.0", "id": "probe-1", "method": "server/discover"}))
}

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list"})
}

#[test]
fn a_client_of_2025_opens_with_initialize() {
    let mut client = Client::connected();
    let hello = client.ask(&initialize("2025-11-25"));
    assert_eq!(
        hello["result"],
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "toys", "version": "1.2.3"},
            "instructions": "Play with them.",
        })
    );
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let tools = client.ask(&list());
    assert_eq!(
        tools["result"]["tools"][0],
        json!({
            "name": "echo",
            "title": "A toy",
            "description": "Echo",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object"},
            "annotations": {
                "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
            },
        })
    );
    assert_eq!(tools["result"].get("resultType"), None);
    assert_eq!(
        client.call("echo", &json!({"a": [1.10, "ä"]})),
        json!({
            "content": [{"type": "text", "text": r#"{"a":[1.1,"ä"]}"#}],
            "structuredContent": {"a": [1.1, "ä"]},
            "isError": false,
        })
    );
    assert_eq!(
        client.call("refuse", &json!({})),
        json!({
            "content": [{"type": "text", "text": "not_today: come tomorrow"}],
            "structuredContent": {"ok": false, "code": "not_today", "message": "come tomorrow"},
            "isError": true,
        })
    );
    for (tool, text, is_error) in [("tell", "as you see", false), ("object", "- one\n- two", true)] {
        let content = json!([{"type": "text", "text": text}]);
        let expected = json!({"content": content, "structuredContent": {"a": 1}, "isError": is_error});
        assert_eq!(client.call(tool, &json!({"a": 1})), expected, "both forms reach the client");
    }
    assert_eq!(client.ask(&json!({"jsonrpc": "2.0", "id": 9, "method": "ping"}))["result"], json!({}));
}

#[test]
fn older_and_unknown_versions_are_negotiated() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        assert_eq!(Client::connected().ask(&initialize(version))["result"]["protocolVersion"], version);
    }
    for version in ["2026-07-28", "1999-01-01", ""] {
        assert_eq!(
            Client::connected().ask(&initialize(version))["result"]["protocolVersion"],
            "2025-11-25",
            "{version}"
        );
    }
}

#[test]
fn a_client_of_2026_needs_no_handshake() {
    let mut client = Client::connected();
    let found = client.ask(&discover());
    let versions: Vec<&str> =
        found["result"]["supportedVersions"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(versions.contains(&"2026-07-28") && versions.contains(&"2025-11-25"), "{found}");
    assert_eq!(found["result"]["instructions"], "Play with them.");
    let tools = client.ask(&stateless(list()));
    assert_eq!(
        (&tools["result"]["resultType"], tools["result"]["tools"].as_array().unwrap().len()),
        (&json!("complete"), 9)
    );
    let answer = client.ask(&stateless(call(1, "refuse", &json!({}))));
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["content"][0]["text"], "not_today: come tomorrow");
    assert_eq!(answer["result"]["structuredContent"]["code"], "not_today");

    let mut unknown = stateless(list());
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2027-01-01");
    let refused = client.ask(&unknown);
    assert_eq!(refused["error"]["code"], -32_022, "{refused}");
    assert_eq!(refused["error"]["data"]["requested"], "2027-01-01");
}

#[test]
fn a_client_may_call_without_discovery() {
    let mut client = Client::connected();
    let answer = client.ask(&stateless(call(1, "echo", &json!({"a": 1}))));
    assert_eq!(answer["result"]["structuredContent"], json!({"a": 1}), "{answer}");
}

#[test]
fn a_client_may_probe_and_then_use_the_handshake() {
    let mut client = Client::connected();
    assert!(client.ask(&discover()).get("result").is_some());
    assert!(client.ask(&initialize("2025-11-25")).get("result").is_some());
    client.check_alive();
}

#[test]
fn a_missing_scope_is_an_error_of_the_protocol() {
    let mut client = Client::initialized();
    let answer = client.ask(&call(1, "scoped", &json!({})));
    assert_eq!(answer["error"]["code"], -32_003);
    assert_eq!(answer["error"]["data"], json!({"code": "insufficient_scope", "scope": "team:handoff"}));
}
