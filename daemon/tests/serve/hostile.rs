//! Clients that misbehave: none of them ends the daemon, grows its memory or slows another one down (field log §15).

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::client::Client;
use crate::world::{Daemon, SOON, World, is_alone};

const MIB: usize = 1024 * 1024;

/// The resident memory of this process, daemon included, in bytes; `None` where the system does not tell.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Another client is served as if nothing were.
async fn still_serves(daemon: &Daemon) {
    daemon.client().await.result("daemon.status", json!({})).await;
}

/// F120: a line without an end.
#[tokio::test]
async fn a_gigabyte_without_a_line_end_is_cut_off_at_one_mebibyte() {
    // Other tests need memory, too.
    if !is_alone("hostile::a_gigabyte_without_a_line_end_is_cut_off_at_one_mebibyte") {
        return;
    }
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    let before = resident();
    let block = vec![b'x'; 64 * 1024];
    let mut sent = 0;
    while sent < 1024 * MIB && client.send_bytes(&block).await {
        sent += block.len();
    }
    assert!(sent < 8 * MIB, "{sent} bytes were taken");
    let last = client.line().await.unwrap();
    assert_eq!((&last["id"], &last["error"]["code"]), (&json!(null), &json!(-32700)), "{last}");
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(after.saturating_sub(before) < 8 * MIB, "from {before} to {after} bytes");
    }
    still_serves(&daemon).await;
}

/// F120: a line of exactly the limit is read, one byte more is not.
#[tokio::test]
async fn the_limit_of_a_line_is_exact() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    for (length, code) in [(MIB, -32601), (MIB + 1, -32700)] {
        let mut client = daemon.client().await;
        let open = r#"{"jsonrpc":"2.0","id":1,"method":""#;
        let line = format!("{open}{}\"}}\n", "m".repeat(length - open.len() - 2));
        client.send_bytes(line.as_bytes()).await;
        assert_eq!(client.line().await.unwrap()["error"]["code"], code, "{length}");
    }
}

/// F120: nesting as deep as a line can hold it.
#[tokio::test]
async fn brackets_without_end_do_not_overflow_the_stack() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    for deep in ["[".repeat(100_000), "[".repeat(100_000) + &"]".repeat(100_000), "{\"a\":".repeat(100_000)] {
        let mut client = daemon.client().await;
        client.send(&deep).await;
        let code = client.line().await.unwrap()["error"]["code"].as_i64();
        assert!(matches!(code, Some(-32700 | -32600)), "{code:?}");
    }
    let mut client = daemon.client().await;
    let params = "[".repeat(100_000) + &"]".repeat(100_000);
    client.send(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"task.submit","params":{params}}}"#)).await;
    assert_eq!(client.line().await.unwrap()["error"]["code"], -32602);
    still_serves(&daemon).await;
}

/// F121: bytes that are no text, and text that is no message.
#[tokio::test]
async fn random_bytes_get_a_parse_error_or_nothing() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..50 {
        let mut bytes: Vec<u8> = (0..200 + round)
            .map(|_| {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                seed.to_le_bytes()[3]
            })
            .collect();
        bytes.push(b'\n');
        let mut client = daemon.connect().await;
        client.send_bytes(&bytes).await;
        let answer = client.line().await.unwrap();
        assert!(matches!(answer["error"]["code"].as_i64(), Some(-32700 | -32600)), "round {round}: {answer}");
    }
    let mut client = daemon.client().await;
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n").await;
    assert_eq!(client.line().await.unwrap()["error"]["code"], -32700);
    assert!(client.is_closed().await);
    still_serves(&daemon).await;
}

/// F115: clients that go away during their answer.
#[tokio::test]
async fn a_thousand_clients_that_close_before_reading_are_survived() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let mut clients = JoinSet::new();
    for _ in 0..1000 {
        let socket = daemon.socket().to_path_buf();
        clients.spawn(async move {
            let Some(mut client) = Client::try_connect(&socket) else { return };
            let hello = r#"{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1,"client":{"name":"a","version":"b"}}}"#;
            let status = r#"{"jsonrpc":"2.0","id":2,"method":"daemon.status"}"#;
            client.send_bytes(format!("{hello}\n{status}\n").as_bytes()).await;
        });
        if clients.len() > 100 {
            clients.join_next().await;
        }
    }
    clients.join_all().await;
    still_serves(&daemon).await;
    daemon.stop().await;
}

/// Whether another client gets twenty answers, none of them late, while one asks and does not read until it is dropped.
async fn serves_beside_a_deaf_client(daemon: &Daemon) -> bool {
    let mut deaf = daemon.client().await;
    let status = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"daemon.status\"}\n".repeat(100);
    // Far more answers than the sockets hold; the daemon may stop reading meanwhile.
    let asking = async { while deaf.send_bytes(status.as_bytes()).await {} };
    let serving = async {
        let (mut client, mut late) = (daemon.client().await, false);
        for _ in 0..20 {
            let asked = Instant::now();
            client.result("daemon.status", json!({})).await;
            late |= asked.elapsed() > Duration::from_secs(2);
        }
        !late
    };
    // The deaf one is dropped, or this takes too long.
    timeout(SOON, async { tokio::join!(asking, serving) }).await.unwrap().1
}

/// F118: a client that stops reading is dropped after five seconds, and nobody waits for it.
#[tokio::test]
async fn a_client_that_does_not_read_is_dropped_while_others_are_served() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let begun = Instant::now();
    // A busy machine may be late now and then; who waits for the deaf one always is.
    while !serves_beside_a_deaf_client(&daemon).await {
        assert!(begun.elapsed() < SOON, "another client has to wait");
    }
    still_serves(&daemon).await;
}

/// 256 at most: the oldest that has not said hello makes room, a session never does.
#[tokio::test]
async fn a_new_connection_takes_the_place_of_the_oldest_silent_one() {
    let world = World::new();
    let root = world.project("shop");
    let daemon = world.daemon(&[&root]).await;
    let mut session = daemon.client().await;
    session.attach(&root).await;
    let mut oldest = daemon.client().await;
    let mut rest = Vec::new();
    while rest.len() < 253 {
        rest.push(daemon.client().await);
    }
    // As the last, for it has five seconds to say hello.
    let mut silent = daemon.connect().await;
    let mut one_more = daemon.client().await;
    assert!(silent.is_closed().await);
    oldest.result("session.ping", json!({})).await;
    // Nobody is silent any more: the oldest that is neither session nor waiting goes.
    let mut another = daemon.client().await;
    assert!(oldest.is_closed().await);
    for client in [&mut session, &mut one_more, &mut another] {
        client.result("session.ping", json!({})).await;
    }
}
