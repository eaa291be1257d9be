//! Many calls at once, progress, and calls that are taken back.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::client::{Client, call, stateless};

fn cancel(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "test"}})
}

fn watched(id: &str) -> Value {
    let mut call = call(id, "wait", &json!({}));
    call["params"]["_meta"] = json!({"progressToken": format!("of {id}")});
    call
}

#[test]
fn every_call_of_thousands_is_answered() {
    let mut client = Client::initialized();
    let mut asked = HashSet::new();
    for round in 0..20 {
        let ids: Vec<String> = (0..200).map(|at| format!("{round}-{at}")).collect();
        let lines: String =
            ids.iter().map(|id| format!("{}\n", call(id.as_str(), "echo", &json!({"id": id})))).collect();
        client.write(lines.as_bytes());
        asked.extend(ids);
        for _ in 0..200 {
            let answer = client.next().unwrap();
            assert_eq!(answer["id"], answer["result"]["structuredContent"]["id"], "{answer}");
            assert!(asked.remove(answer["id"].as_str().unwrap()), "{answer}");
        }
    }
    assert!(asked.is_empty());
}

#[test]
fn a_waiting_call_tells_how_far_it_is_and_keeps_nobody_waiting() {
    let mut client = Client::initialized();
    client.send(&watched("w"));
    let progress = client.next().unwrap();
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    assert_eq!(
        progress["params"],
        json!({"progressToken": "of w", "progress": 1.0, "total": 2.0, "message": "waiting"})
    );
    client.check_alive();
}

#[test]
fn a_call_that_is_taken_back_has_no_answer_and_its_id_no_second_use() {
    let same = |request: Value| request;
    for (mut client, style) in [(Client::initialized(), same as fn(Value) -> Value), (Client::connected(), stateless)] {
        for id in ["a", "b", "c"] {
            let mut waiting = style(call(id, "wait", &json!({})));
            waiting["params"]["_meta"]["progressToken"] = json!(id);
            client.send(&waiting);
            assert_eq!(client.next().unwrap()["params"]["progressToken"], id);
            client.send(&cancel(&json!(id)));
            let refused = client.ask(&style(call(id, "echo", &json!({}))));
            assert_eq!(refused["error"]["code"], -32_600, "{refused}");
        }
        client.send(&cancel(&json!("unknown")));
        let answer = client.ask(&style(call("unknown", "echo", &json!({"a": 1}))));
        assert_eq!(answer["result"]["structuredContent"], json!({"a": 1}), "{answer}");
    }
}

#[test]
fn an_id_in_flight_is_refused_and_the_first_call_goes_on() {
    let mut client = Client::initialized();
    client.send(&watched("w"));
    assert_eq!(client.next().unwrap()["method"], "notifications/progress");
    let refused = client.ask(&call("w", "echo", &json!({})));
    assert_eq!(refused["error"]["code"], -32_600, "{refused}");
    client.stop_server();
    let rest = client.ended();
    assert_eq!(rest.len(), 1, "the first call ends with the server: {rest:?}");
    assert_eq!((&rest[0]["id"], &rest[0]["result"]["isError"]), (&json!("w"), &json!(false)));
}

#[test]
fn more_calls_than_fit_wait_for_their_turn() {
    let mut client = Client::initialized();
    for at in 0..mcp::REQUESTS {
        client.send(&watched(&at.to_string()));
        assert_eq!(client.next().unwrap()["method"], "notifications/progress");
    }
    client.send(&call("late", "echo", &json!({})));
    client.stop_server();
    let answered = client.ended();
    assert_eq!(answered.len(), mcp::REQUESTS);
    assert!(answered.iter().all(|answer| answer["id"] != "late"));
}

#[test]
fn a_fault_of_a_tool_is_an_error_and_not_the_end() {
    let mut client = Client::initialized();
    let answer = client.ask(&call(1, "panic", &json!({})));
    assert_eq!(answer["error"]["code"], -32_603, "{answer}");
    client.check_alive();
}
