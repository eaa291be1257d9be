//! The process: what it tells about itself, what it survives, and how it ends.

use std::time::Duration;

use handoffd_tests::mcp::{Era, Mcp};
use handoffd_tests::wait::{until, until_within};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::world::{Home, packet};
use crate::support::slow;

/// As the packet format gives it.
const MINIMAL_PACKET: &str = r#"{"packet_id":"pk-1","goal_id":"<your task_id>","round":1,"from_role":"planner","to_role":"executor","objective":"one sentence: what the next role must do","output_format":"markdown"}"#;

#[test]
fn the_one_tool_shows_the_minimal_packet_with_its_parameter() {
    for era in [Era::Handshake, Era::Stateless] {
        let home = Home::with_planner();
        let listed = home.planner(era).ask("1", "tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        assert_eq!((tools.len(), &tools[0]["name"]), (1, &json!("team_handoff")));
        let schema = &tools[0]["inputSchema"];
        assert_eq!((&schema["type"], &schema["required"]), (&json!("object"), &json!(["packet"])));
        assert_eq!(schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["packet"]);
        let words = schema["properties"]["packet"]["description"].as_str().unwrap();
        assert!(words.contains(MINIMAL_PACKET), "{words}");
        assert!(!tools[0]["description"].as_str().unwrap().contains(MINIMAL_PACKET));
    }
}

#[test]
fn the_minimal_packet_is_taken_as_it_is_shown() {
    let home = Home::new();
    home.write("agents/p/agent.toml", "[agent]\nrole = \"planner\"\n");
    let text = MINIMAL_PACKET.replace("<your task_id>", "task-1");
    let mut server = Mcp::start(Era::Handshake, home.root(), &["team", "--agent-id", "p"], &[]);
    let filed = server.handoff("1", &json!({"packet": text}));
    assert_eq!(
        filed["result"]["structuredContent"]["path"], "team_packets/task-1/r1/planner-to-executor.json",
        "{filed}"
    );
}

#[test]
fn hostile_lines_are_answered_and_the_next_call_works() {
    let home = Home::with_planner();
    let mut server = home.planner(Era::Handshake);
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":"deep","method":"x","params":{}{}}}"#, "[".repeat(300), "]".repeat(300));
    for (line, id, code) in [
        ("garbage", Value::Null, -32_700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1", Value::Null, -32_700),
        ("\0\u{1}", Value::Null, -32_700),
        ("[{}]", Value::Null, -32_600),
        (deep.as_str(), json!("deep"), -32_700),
        (r#"{"jsonrpc":"2.0","id":"m","method":"no/such"}"#, json!("m"), -32_601),
        (r#"{"jsonrpc":"2.0","id":"t","method":"tools/call","params":{"name":"rm"}}"#, json!("t"), -32_602),
    ] {
        server.write(line.as_bytes());
        server.write(b"\n");
        let answer = server.answer();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{line}: {answer}");
    }
    server.write(b"\xff\xfe\n");
    assert_eq!(server.answer()["error"]["code"], -32_700);
    let huge = json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"x": "x".repeat(100 << 20)}, "id": "huge"});
    server.write(format!("{huge}\n").as_bytes());
    let answer = server.answer();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("huge"), &json!(-32_700)));
    assert_eq!(server.handoff("last", &packet("pk-1"))["result"]["isError"], false);
}

#[test]
fn the_end_of_the_input_and_a_signal_end_the_process_quietly() {
    for era in [Era::Handshake, Era::Stateless] {
        let home = Home::with_planner();
        let mut server = home.planner(era);
        server.end_input();
        let (status, errors, rest) = server.ended();
        assert_eq!((status.code(), errors.as_str(), rest.len()), (Some(0), "", 0));
        for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
            let mut server = home.planner(era);
            assert!(server.ask("1", "tools/list", json!({})).get("result").is_some());
            server.signal(signal);
            let (status, errors, _) = server.ended();
            assert_eq!((status.code(), errors.as_str()), (Some(0), ""), "{signal}");
        }
    }
}

#[test]
fn a_client_that_never_reads_does_not_keep_the_process() {
    let home = Home::with_planner();
    let mut child = Mcp::command(home.root(), &["team", "--agent-id", "planner-1"], &[]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }}});
    // Its answers are many times what a pipe holds; ids differ, so that each is one.
    for id in 0..100 {
        let mut list = list.clone();
        list["id"] = json!(id);
        std::io::Write::write_all(&mut input, format!("{list}\n").as_bytes()).unwrap();
    }
    drop(input);
    let status = until("the process ends", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
}

/// Its end of the input lies behind lines that are not read any more, so that only its silence can tell.
#[test]
fn a_client_that_asks_on_and_on_and_never_reads_is_given_up() {
    if !slow() {
        return;
    }
    let home = Home::with_planner();
    for line in [
        &b"garbage\n"[..],
        br#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    ] {
        let mut child = Mcp::command(home.root(), &["team", "--agent-id", "planner-1"], &[]).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let line = [line, b"\n"].concat();
        std::thread::spawn(move || {
            for _ in 0..100_000 {
                if std::io::Write::write_all(&mut input, &line).is_err() {
                    return;
                }
            }
        });
        let status = until_within(Duration::from_secs(90), "the process ends", || child.try_wait().unwrap());
        assert_eq!(status.code(), Some(0));
    }
}
