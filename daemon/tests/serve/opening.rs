//! The opening of a connection, and the errors of the envelope (wire protocol, "Opening").

use serde_json::{Value, json};

use crate::client::Client;
use crate::world::World;

#[tokio::test]
async fn hello_names_the_daemon() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let answer = daemon.connect().await.hello().await;
    assert_eq!(answer["protocol"], 1);
    assert_eq!(answer["daemon"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(answer["daemon"]["pid"], std::process::id());
    let instance = answer["daemon"]["instance"].as_str().unwrap();
    assert!(instance.len() == 32 && instance.bytes().all(|byte| byte.is_ascii_hexdigit()), "{instance}");
    daemon.stop().await;
}

#[tokio::test]
async fn a_request_before_hello_is_refused_and_the_connection_stays() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.connect().await;
    for method in ["daemon.status", "session.ping", "no.such.method"] {
        assert_eq!(client.refusal(method, json!({})).await, "hello_required", "{method}");
    }
    client.hello().await;
    client.result("session.ping", json!({})).await;
}

#[tokio::test]
async fn another_protocol_is_told_which_one_is_spoken() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.connect().await;
    let answer = client.ask("hello", json!({"protocol": 99, "client": {"name": "n", "version": "v"}})).await;
    assert_eq!(answer["error"]["code"], -32000);
    assert_eq!(answer["error"]["data"], json!({"code": "unsupported_protocol", "supported": [1]}));
    assert_eq!(client.refusal("session.ping", json!({})).await, "hello_required");
    client.hello().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_says_nothing_is_closed_after_five_seconds() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let before = tokio::time::Instant::now();
    let mut client = daemon.connect().await;
    let last = client.line().await.unwrap();
    assert_eq!(last["error"]["data"]["code"], "hello_required");
    assert!(client.is_closed().await);
    let after = before.elapsed().as_secs_f32();
    assert!((4.9..7.0).contains(&after), "{after}");
}

#[track_caller]
fn code(answer: &Value, id: &Value, expected: i64) {
    assert_eq!((&answer["id"], &answer["error"]["code"]), (id, &json!(expected)), "{answer}");
}

/// One line, and its answer.
async fn check(client: &mut Client, line: &str, id: Value, expected: i64) {
    client.send(line).await;
    code(&client.line().await.unwrap(), &id, expected);
}

#[tokio::test]
async fn wrong_messages_get_the_codes_of_json_rpc() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    check(&mut client, r#"[{"jsonrpc":"2.0","id":1,"method":"session.ping"}]"#, json!(null), -32600).await;
    check(&mut client, r#"{"id":1,"method":"session.ping"}"#, json!(1), -32600).await;
    check(&mut client, r#"{"jsonrpc":"2.0","id":1.5,"method":"session.ping"}"#, json!(null), -32600).await;
    check(&mut client, r#"{"jsonrpc":"2.0","id":"a","method":"no.such"}"#, json!("a"), -32601).await;
    check(&mut client, r#"{"jsonrpc":"2.0","id":2,"method":"task.wait","params":[]}"#, json!(2), -32602).await;
    check(&mut client, r#"{"jsonrpc":"2.0","id":2,"method":"task.wait","params":{}}"#, json!(2), -32602).await;
    // The connection has stayed.
    client.result("session.ping", json!({})).await;
    check(&mut client, "nonsense", json!(null), -32700).await;
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn notifications_never_get_an_answer() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    for line in [
        r#"{"jsonrpc":"2.0","method":"no.such"}"#,
        r#"{"jsonrpc":"2.0","method":"session.state","params":{"state":7}}"#,
        r#"{"jsonrpc":"2.0","method":"session.state","params":{"state":"idle"}}"#,
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
        r#"{"method":"session.state"}"#,
    ] {
        client.send(line).await;
    }
    client.send(r#"{"jsonrpc":"2.0","id":"last","method":"session.ping"}"#).await;
    assert_eq!(client.line().await.unwrap(), json!({"jsonrpc": "2.0", "id": "last", "result": {}}));
}

#[tokio::test]
async fn unknown_members_are_ignored_and_an_id_comes_back_as_it_was() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.client().await;
    client.send(r#"{"jsonrpc":"2.0","trace":1,"id":"\u0041","method":"session.ping","params":{"new":[]}}"#).await;
    assert_eq!(client.line().await.unwrap()["id"], "A");
}

#[tokio::test]
async fn a_client_that_only_pipes_its_questions_in_gets_its_answers() {
    use tokio::io::AsyncWriteExt as _;
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let mut client = daemon.connect().await;
    client
        .send(
            r#"{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1,"client":{"name":"a","version":"b"}}}"#,
        )
        .await;
    client.send(r#"{"jsonrpc":"2.0","id":2,"method":"daemon.status"}"#).await;
    client.writer.shutdown().await.unwrap();
    assert_eq!(client.line().await.unwrap()["id"], 1);
    assert_eq!(client.line().await.unwrap()["result"]["daemon"]["pid"], std::process::id());
    assert!(client.is_closed().await);
}
