//! A team from its making to its end, by the commands that `docs/packets.md` shows.

use std::process::Stdio;

use handoffd_tests::binaries::binaries;
use handoffd_tests::mcp::{Era, Mcp};
use serde_json::{Value, json};

use super::world::Home;

/// Runs `handoff`; its exit code and standard output.
fn handoff(home: &Home, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(&binaries().handoff);
    command.env_clear().env("HOME", home.path("nobody")).env("HANDOFF_HOME", home.root());
    let output = command.args(arguments).stdin(Stdio::null()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

fn document(home: &Home, arguments: &[&str]) -> Value {
    let (code, text) = handoff(home, arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {text}");
    serde_json::from_str(&text).unwrap()
}

fn member(home: &Home, role: &str) -> String {
    let (code, id) = handoff(home, &["team", "add", role, "--goal", "T-1", "--round", "1"]);
    assert_eq!(code, Some(0));
    id.trim_end().to_owned()
}

/// Files a packet as the member, and says its path.
fn file(home: &Home, member: &str, packet: &Value) -> String {
    let mut server = Mcp::start(Era::Handshake, home.root(), &["team", "--agent-id", member], &[]);
    let answer = server.handoff("1", &json!({"packet": packet}))["result"].take();
    assert_eq!(answer["isError"], false, "{answer}");
    answer["structuredContent"]["path"].as_str().unwrap().to_owned()
}

#[test]
fn a_team_from_its_making_to_its_end() {
    let home = Home::new();
    let [planner, executor, verifier] = ["planner", "executor", "verifier"].map(|role| member(&home, role));
    let packet = |id: &str, parent: Option<&str>| json!({"packet_id": id, "parent_packet": parent, "objective": format!("do {id}"), "output_format": "diff"});
    let plan = file(&home, &planner, &packet("plan-a", None));
    file(&home, &planner, &packet("plan-b", None));
    file(&home, &executor, &packet("work-a", Some("plan-a")));
    file(&home, &verifier, &packet("repair-a", Some("work-a")));

    let listed = document(&home, &["packet", "list", "T-1", "--json"]);
    let legs: Vec<(&Value, usize)> = listed["legs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|leg| (&leg["from_role"], leg["packets"].as_array().unwrap().len()))
        .collect();
    assert_eq!(legs, [(&json!("planner"), 2), (&json!("executor"), 1), (&json!("verifier"), 1)]);
    let threads = document(&home, &["packet", "thread", "T-1", "--json"]);
    let depths: Vec<(&Value, &Value)> =
        threads["packets"].as_array().unwrap().iter().map(|packet| (&packet["packet_id"], &packet["depth"])).collect();
    let expected =
        [("plan-a", 0), ("work-a", 1), ("repair-a", 2), ("plan-b", 0)].map(|(id, depth)| (json!(id), json!(depth)));
    assert!(depths.into_iter().eq(expected.iter().map(|(id, depth)| (id, depth))), "{threads}");
    let (code, shown) = handoff(&home, &["packet", "show", &plan]);
    assert!(code == Some(0) && shown.contains("do plan-a") && shown.contains("You are the executor"), "{shown}");

    for id in [&planner, &executor, &verifier] {
        assert_eq!(handoff(&home, &["team", "remove", id]).0, Some(0));
    }
    assert_eq!(document(&home, &["team", "list", "--json"])["members"], json!([]));
    let mut server = Mcp::start(Era::Stateless, home.root(), &["team", "--agent-id", &planner], &[]);
    let refused = server.handoff("1", &json!({"packet": packet("late", None)}))["result"].take();
    assert!(refused["content"][0]["text"].as_str().unwrap().starts_with("not_a_team_member: "), "{refused}");
    assert!(home.path(&plan).is_file(), "packets outlive their members");
}
