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
    for (mut client, call) in [
        (Client::connected(), None),
        (Client::initialized(), None),
        (Client::initialized(), Some(call(1, "hang", &json!({})))),
    ] {
        call.iter().for_each(|call| client.send(call));
        client.stop_server();
        assert!(client.ended().is_empty());
    }
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
