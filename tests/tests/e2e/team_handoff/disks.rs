//! Disks that are full, under the packets and under a ledger. They need root and mounts.

use std::fs;
use std::path::Path;

use handoffd_tests::mcp::{Era, Mcp};
use handoffd_tests::mount::Mount;

use super::world::{Home, packet};

/// Takes all that is left, down to the last page.
fn fill(ballast: &Path) {
    let mut size = 256 * 1024;
    while size > 0 && fs::write(ballast, vec![b'x'; size]).is_err() {
        size -= 4096;
    }
}

#[test]
fn a_full_disk_refuses_the_packet_and_the_same_call_succeeds_later() {
    if !Mount::possible() {
        return;
    }
    let home = Home::new();
    let mount = Mount::tmpfs(home.root(), 256).unwrap();
    home.write("agents/planner-1/agent.toml", "[team_member]\nrole = \"planner\"\ntask_id = \"goal-7\"\nround = 2\n");
    let mut server = home.planner(Era::Stateless);
    assert_eq!(server.handoff("first", &packet("pk-1"))["result"]["isError"], false);
    let old = home.read("team_packets/goal-7/r2/planner-to-executor.json");
    fill(&home.path("ballast"));
    for id in ["pk-1", "pk-2"] {
        let text = server.handoff("full", &packet(id))["result"]["content"][0]["text"].take();
        let text = text.as_str().unwrap();
        assert!(
            text.starts_with("write_failed: could not file the packet: ") && text.contains("free some space"),
            "{text}"
        );
    }
    assert_eq!(home.read("team_packets/goal-7/r2/planner-to-executor.json"), old);
    assert!(home.files().iter().all(|name| !name.ends_with(".new")), "{:?}", home.files());
    fs::remove_file(home.path("ballast")).unwrap();
    let answer = server.handoff("later", &packet("pk-2"))["result"].take();
    assert_eq!(answer["structuredContent"]["path"], "team_packets/goal-7/r2/planner-to-executor.01.json", "{answer}");
    home.rows("tool_calls.jsonl");
    drop((server, mount));
}

#[test]
fn a_full_disk_under_a_ledger_undoes_nothing_and_is_told() {
    if !Mount::possible() {
        return;
    }
    let home = Home::with_planner();
    let small = tempfile::tempdir().unwrap();
    let disk = Mount::tmpfs(small.path(), 64).unwrap();
    // So long that the next line needs a page that is not there.
    let row = format!("{{\"old\":\"{}\"}}\n", "x".repeat(4096 - 11));
    fs::write(small.path().join("ledger"), &row).unwrap();
    fill(&small.path().join("ballast"));
    home.write("artifacts.jsonl", "");
    let bound = Mount::bind(&small.path().join("ledger"), &home.path("artifacts.jsonl")).unwrap();
    let mut server = Mcp::start(Era::Handshake, home.root(), &["team", "--agent-id", "planner-1"], &[]);
    let answer = server.handoff("1", &packet("pk-1"))["result"].take();
    assert_eq!(answer["isError"], false, "{answer}");
    assert!(home.path("team_packets/goal-7/r2/planner-to-executor.json").is_file());
    assert_eq!(home.read("artifacts.jsonl"), row, "no part of a row is left");
    assert_eq!(home.rows("security_audit.jsonl").len(), 1);
    server.end_input();
    let (_, errors, _) = server.ended();
    assert!(errors.contains("artifacts.jsonl") && errors.contains("No space"), "{errors}");
    drop((bound, disk));
}
