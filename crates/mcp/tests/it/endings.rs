//! How a server ends.

use serde_json::json;

use crate::client::{Client, call};

#[test]
fn the_end_of_the_input_ends_the_server() {
    for mut client in [Client::connected(), Client::initialized()] {
        client.end_input();
        assert!(client.ended().is_empty());
    }
}

#[test]
fn calls_are_answered_that_came_just_before_the_end() {
    let mut client = Client::initialized();
    for at in 0..50 {
        client.send(&call(at, "echo", &json!({})));
    }
    client.end_input();
    assert_eq!(client.ended().len(), 50);
}

#[test]
fn a_call_that_waits_stops_waiting_at_the_end() {
    let mut client = Client::initialized();
    client.send(&call(1, "wait", &json!({})));
    client.end_input();
    assert_eq!(client.ended().len(), 1);
}

#[test]
fn a_call_that_hangs_does_not_keep_the_server() {
    let mut client = Client::initialized();
    client.send(&call(1, "hang", &json!({})));
    client.end_input();
    assert!(client.ended().is_empty());
}

#[test]
fn the_stop_signal_ends_the_server() {
    for mut client in [Client::connected(), Client::initialized()] {
        client.stop_server();
        assert!(client.ended().is_empty());
    }
}

#[test]
fn a_call_that_hangs_does_not_keep_the_server_from_stopping() {
    let mut client = Client::initialized();
    let mut hanging = call(1, "hang", &json!({}));
    hanging["params"]["_meta"] = json!({"progressToken": 1});
    client.send(&hanging);
    assert_eq!(client.next().unwrap()["method"], "notifications/progress");
    client.stop_server();
    assert!(client.ended().is_empty());
}

/// As many as may be in flight, so that no further line is read.
#[test]
fn calls_that_fill_every_place_do_not_keep_the_server() {
    for tool in ["hang", "wait"] {
        let mut client = Client::initialized();
        for at in 0..=mcp::REQUESTS {
            client.send(&call(at, tool, &json!({})));
        }
        client.end_input();
        let answered = client.ended().len();
        assert_eq!(answered, if tool == "wait" { mcp::REQUESTS + 1 } else { 0 });
    }
}

#[test]
fn answers_may_take_longer_than_the_end_as_long_as_they_come() {
    let mut client = Client::initialized();
    for at in 0..35 {
        client.send(&call(at, "slow", &json!({})));
    }
    client.end_input();
    assert_eq!(client.ended().len(), 35);
}

/// Half a megabyte of answers fits into no socket.
fn with_unread_answers() -> Client {
    let mut client = Client::initialized();
    let text = "x".repeat(100_000);
    for at in 0..8 {
        client.send(&call(at, "echo", &json!({"x": text})));
    }
    client
}

#[test]
fn a_client_that_does_not_read_does_not_keep_the_server() {
    let mut client = with_unread_answers();
    client.end_input();
    client.wait_for_end();
    let mut client = with_unread_answers();
    client.stop_server();
    client.wait_for_end();
}
