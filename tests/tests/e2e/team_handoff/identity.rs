//! Who calls is fixed before the first line; a client key opens nothing.

use handoffd_tests::mcp::{Era, Mcp};
use serde_json::json;

use super::world::{Home, packet};

#[test]
fn the_caller_comes_from_the_process_and_never_from_a_call() {
    let home = Home::with_planner();
    home.write("agents/verifier-1/agent.toml", "[team_member]\nrole = \"verifier\"\ntask_id = \"goal-7\"\nround = 2\n");
    let mut arguments = packet("pk-1");
    for key in ["agent_id", "agent-id", "caller", "HANDOFF_AGENT_ID"] {
        arguments[key] = json!("verifier-1");
    }
    let filed = home.planner(Era::Handshake).handoff("1", &arguments);
    let path = "team_packets/goal-7/r2/planner-to-executor.json";
    assert_eq!(filed["result"]["structuredContent"]["path"], path, "{filed}");
    assert_eq!(home.rows("security_audit.jsonl")[0]["agent_id"], "planner-1");
}

#[test]
fn the_option_comes_before_the_variable_and_one_of_them_is_needed() {
    let home = Home::with_planner();
    let variable = [("HANDOFF_AGENT_ID", "planner-1")];
    let mut server = Mcp::start(Era::Stateless, home.root(), &["team"], &variable);
    assert_eq!(server.handoff("1", &packet("pk-1"))["result"]["isError"], false);
    let mut server = Mcp::start(Era::Stateless, home.root(), &["team", "--agent-id", "nobody"], &variable);
    let refused = server.handoff("1", &packet("pk-1"));
    assert_eq!(refused["result"]["structuredContent"]["code"], "not_a_team_member", "{refused}");
    let mut server = Mcp::start(Era::Stateless, home.root(), &["team", "--agent-id", ""], &variable);
    let refused = server.handoff("1", &packet("pk-1"));
    assert_eq!(refused["result"]["structuredContent"]["code"], "invalid_agent_id", "{refused}");

    let output = Mcp::command(home.root(), &["team"], &[]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("--agent-id") && said.contains("HANDOFF_AGENT_ID"), "{said}");
}

#[test]
fn f294_a_packet_cannot_claim_more_than_its_sender_is() {
    let home = Home::with_planner();
    let mut server = home.planner(Era::Handshake);
    let mut check = |key: &str, value: serde_json::Value, code: &str| {
        let mut arguments = packet("pk-1");
        arguments["packet"][key] = value;
        let refused = server.handoff(key, &arguments);
        assert_eq!(refused["result"]["structuredContent"]["code"], code, "{refused}");
    };
    check("goal_id", json!("goal-8"), "task_id_mismatch");
    check("round", json!(3), "round_mismatch");
    check("audience", json!(vec!["verifier"; 17]), "too_many_items");
    let mut arguments = packet("pk-1");
    arguments["packet"]["from_role"] = json!("executor");
    arguments["packet"]["to_role"] = json!("verifier");
    let refused = server.handoff("role", &arguments);
    assert_eq!(refused["result"]["structuredContent"]["code"], "from_role_mismatch", "{refused}");
    assert!(!home.path("team_packets").exists());
}

#[test]
fn a_client_key_opens_nothing() {
    for era in [Era::Handshake, Era::Stateless] {
        let home = Home::with_planner();
        let key = [("HANDOFF_MCP_KEY", "sk-anything")];
        let mut server = Mcp::start(era, home.root(), &["team", "--agent-id", "planner-1"], &key);
        let denied = server.handoff("1", &packet("pk-1"));
        assert_eq!(denied["error"]["code"], -32_003, "{denied}");
        assert_eq!(denied["error"]["data"], json!({"code": "insufficient_scope", "scope": "team:handoff"}));
        assert!(!home.path("team_packets").exists());
        let rows = home.rows("tool_calls.jsonl");
        assert_eq!((rows.len(), &rows[0]["error_class"]), (1, &json!("insufficient_scope")), "{rows:?}");
        assert!(!home.read("tool_calls.jsonl").contains("sk-anything"));
    }
}

#[test]
fn a_record_that_changes_counts_from_the_next_call() {
    let home = Home::with_planner();
    let mut server = home.planner(Era::Handshake);
    assert_eq!(server.handoff("1", &packet("pk-1"))["result"]["isError"], false);
    std::fs::remove_file(home.path("agents/planner-1/agent.toml")).unwrap();
    let refused = server.handoff("2", &packet("pk-2"));
    assert_eq!(refused["result"]["structuredContent"]["code"], "not_a_team_member", "{refused}");
}
