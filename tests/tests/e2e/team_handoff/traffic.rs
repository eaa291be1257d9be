//! Many packets at once, from one server and from many, and a server that is killed over them.

use std::collections::BTreeSet;

use handoffd_tests::mcp::Era;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::world::{Home, packet};

/// What lies on the leg, by slot.
fn filed(home: &Home) -> Vec<String> {
    let name = |slot: usize| match slot {
        0 => "planner-to-executor.json".to_owned(),
        slot => format!("planner-to-executor.{slot:02}.json"),
    };
    let texts =
        (0..100).map_while(|slot| std::fs::read_to_string(home.path("team_packets/goal-7/r2").join(name(slot))).ok());
    texts.map(|text| serde_json::from_str::<Value>(&text).unwrap()["packet_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn packets_that_are_filed_at_once_lie_in_the_order_of_their_calls() {
    let home = Home::with_planner();
    let mut server = home.planner(Era::Stateless);
    let ids: Vec<String> = (0..50).map(|at| format!("pk-{at}")).collect();
    for id in &ids {
        server.send(id, "tools/call", json!({"name": "team_handoff", "arguments": packet(id)}));
    }
    for _ in &ids {
        assert_eq!(server.answer()["result"]["isError"], false);
    }
    assert_eq!(filed(&home), ids);
}

#[test]
fn f290_an_object_and_a_string_of_it_are_the_same_packet() {
    let home = Home::with_planner();
    let mut server = home.planner(Era::Handshake);
    let object = packet("pk-ä");
    let filed = server.handoff("object", &object)["result"]["structuredContent"].take();
    let path = filed["path"].as_str().unwrap();
    let written = home.read(path);
    let string = json!({"packet": object["packet"].to_string()});
    assert_eq!(server.handoff("string", &string)["result"]["structuredContent"], filed);
    assert_eq!(home.read(path), written);
}

#[test]
fn many_servers_file_on_one_leg_and_nothing_is_lost() {
    let home = Home::with_planner();
    let mut servers: Vec<_> = (0..12).map(|_| home.planner(Era::Handshake)).collect();
    let mut expected = BTreeSet::new();
    for (at, server) in servers.iter_mut().enumerate() {
        for turn in 0..8 {
            let id = format!("pk-{at}-{turn}");
            server.send(&id, "tools/call", json!({"name": "team_handoff", "arguments": packet(&id)}));
            expected.insert(id);
        }
    }
    for server in &mut servers {
        for _ in 0..8 {
            let answer = server.answer();
            assert_eq!(answer["result"]["isError"], false, "{answer}");
        }
    }
    let lying = filed(&home);
    assert_eq!((lying.len(), lying.into_iter().collect::<BTreeSet<_>>()), (96, expected));
    assert_eq!((home.rows("artifacts.jsonl").len(), home.rows("security_audit.jsonl").len()), (96, 96));
}

#[test]
fn a_killed_server_leaves_whole_packets_and_a_retry_files_each_once() {
    let home = Home::with_planner();
    let ids: Vec<String> = (0..20).map(|at| format!("pk-{at}")).collect();
    for answers in [0, 1, 3, 7] {
        let mut server = home.planner(Era::Handshake);
        for id in &ids {
            server.send(id, "tools/call", json!({"name": "team_handoff", "arguments": packet(id)}));
        }
        for _ in 0..answers {
            assert_eq!(server.answer()["result"]["isError"], false);
        }
        server.signal(Signal::SIGKILL);
        let (status, ..) = server.ended();
        assert_eq!(status.code(), None);
    }
    let mut server = home.planner(Era::Handshake);
    for id in &ids {
        assert_eq!(server.handoff(id, &packet(id))["result"]["isError"], false);
    }
    assert_eq!(filed(&home), ids);
    let strays = home.files().into_iter().filter(|name| name.starts_with("team_packets") && !name.ends_with(".json"));
    assert_eq!(strays.collect::<Vec<_>>(), ["team_packets/goal-7/r2/planner-to-executor.json.lock"]);
}
