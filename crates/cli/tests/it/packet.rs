//! `handoff packet check` beyond the vectors, and the printed schema.

use insta::assert_snapshot;
use serde_json::Value;

use crate::env::{TestEnv, write};

const PACKET: &str = r#"{"packet_id":"pk-1","goal_id":"T-1","round":2,"from_role":"planner","to_role":"executor",
    "objective":"list the contracts","output_format":" Markdown ","budget":{"max_cost_usd":1e16}}"#;

#[test]
fn a_packet_is_shown_as_it_would_be_filed() {
    let env = TestEnv::new();
    env.file("packet.json", PACKET);
    let from_file = env.run(&["packet", "check", "packet.json", "--json"]);
    let expected = r#"{"ok":true,"normalized":{"packet_id":"pk-1","goal_id":"T-1","round":2,"from_role":"planner","to_role":"executor","objective":"list the contracts","output_format":{"kind":"markdown"},"fidelity":"none","budget":{"max_cost_usd":1e+16},"irreversible":false},"bytes":229}"#;
    assert_eq!((from_file.stdout.trim_end(), from_file.code), (expected, 0));
    for arguments in [&["packet", "check", "--json"][..], &["packet", "check", "-", "--json"]] {
        assert_eq!(env.run_with_input(arguments, PACKET).stdout, from_file.stdout);
    }
}

#[test]
fn people_read_who_hands_to_whom_and_how_large_it_is() {
    assert_snapshot!(TestEnv::new().run_with_input(&["packet", "check"], PACKET), @r"
    valid: planner to executor, round 2, 229 of 16384 bytes
    --- exit 0
    ");
}

#[test]
fn a_refusal_of_the_shape_teaches_the_shape() {
    let packet = PACKET.replace("\"objective\"", "\"objectives\"");
    assert_snapshot!(TestEnv::new().run_with_input(&["packet", "check"], &packet), @r#"
    invalid_packet: unknown field `objectives`, expected one of `packet_id`, `goal_id`, `parent_packet`, `round`, `from_role`, `to_role`, `objective`, `output_format`, `tool_scope`, `boundaries`, `constraints`, `audience`, `acceptance`, `acceptance_baseline_ref`, `artifacts`, `wiki_refs`, `memory_refs`, `state_keys`, `evidence_index`, `findings`, `open_questions`, `blockers`, `next_steps`, `fidelity`, `budget`, `irreversible` at line 2 column 16
      This is enough: {"packet_id":"pk-1","goal_id":"<your task_id>","round":1,"from_role":"planner","to_role":"executor","objective":"one sentence: what the next role must do","output_format":"markdown"}
      Optional: parent_packet, tool_scope, boundaries, constraints, audience, acceptance, acceptance_baseline_ref, artifacts, wiki_refs, memory_refs, state_keys, evidence_index, findings, open_questions, blockers, next_steps, fidelity, budget, irreversible
    --- exit 1
    "#);
    let said = TestEnv::new().run_with_input(&["packet", "check", "--json"], &packet);
    assert_eq!((said.code, &said.json()["code"]), (1, &"invalid_packet".into()));
    let hint = said.json()["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains(packet::MINIMAL_PACKET_EXAMPLE), "{hint}");
}

#[test]
fn a_refusal_by_a_rule_names_the_item() {
    let packet = PACKET.replace("\"budget\"", "\"audience\":[\"verifier\",\" \"],\"budget\"");
    assert_snapshot!(TestEnv::new().run_with_input(&["packet", "check"], &packet), @r"
    blank_field: `audience[1]` must not be blank
    --- exit 1
    ");
    let said = TestEnv::new().run_with_input(&["packet", "check", "--json"], &packet);
    assert_eq!(
        said.stdout,
        "{\"ok\":false,\"code\":\"blank_field\",\"message\":\"`audience[1]` must not be blank\"}\n"
    );
}

#[test]
fn bytes_that_are_no_text_are_a_bad_packet_and_not_a_bad_command() {
    let env = TestEnv::new();
    env.file("packet.json", b"{\"packet_id\":\"\xff\"}");
    assert_snapshot!(env.run(&["packet", "check", "packet.json", "--json"]).json()["message"].as_str().unwrap(), @"packet is not UTF-8: invalid byte at offset 14");
    let packet = format!("\u{feff}{PACKET}");
    let said = env.run_with_input(&["packet", "check", "--json"], &packet);
    assert_snapshot!(said.json()["message"].as_str().unwrap(), @"expected value at line 1 column 1 (the text starts with a byte-order mark; leave it out)");
}

#[test]
fn what_is_read_has_an_end() {
    let env = TestEnv::new();
    let packet = format!("{}{PACKET}", " ".repeat(1024 * 1024 - PACKET.len()));
    env.file("packet.json", &packet);
    assert_eq!(env.run(&["packet", "check", "packet.json"]).code, 0);
    env.file("packet.json", packet + "\n");
    assert_snapshot!(env.run(&["packet", "check", "packet.json"]), @r"
    --- stderr
    Error: packet.json is larger than 1048576 bytes
    --- exit 2
    ");
    assert_eq!(env.run(&["packet", "check", "/dev/zero"]).code, 2);
    assert_eq!(env.run(&["packet", "check", "nowhere.json"]).code, 2);
}

#[test]
fn credentials_are_remarked_on_stderr() {
    let env = TestEnv::new();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let packet = PACKET.replace("\"budget\"", &format!("\"findings\":[{{\"text\":\"use {key}\"}}],\"budget\""));
    let said = env.run_with_input(&["packet", "check", "--json"], &packet);
    assert_eq!((said.code, &said.json()["ok"]), (0, &true.into()));
    assert_snapshot!(said.stderr, @"Warning: `findings[0].text` seems to hold a credential (GitHub token, line 1): agents and logs will see it");
    write(&env.home().join(".config/handoffd/config.toml"), b"[secrets]\ncheck = false\n");
    assert_eq!(env.run_with_input(&["packet", "check", "--json"], &packet).stderr, "");
}

#[test]
fn f277_a_packet_can_be_shown_without_its_credentials() {
    let env = TestEnv::new();
    env.file("packet.json", PACKET.replace("list the contracts", "use ghp_0123456789abcdefghijABCDEFGHIJ012345"));
    for form in [&[][..], &["--json"]] {
        let shown = env.run(&[&["packet", "show", "packet.json", "--redact"], form].concat());
        assert!(shown.stdout.contains("use [masked GitHub token]") && !shown.stdout.contains("ghp_"), "{shown}");
    }
}

#[test]
fn the_schema_of_packets_is_printed() {
    let said = TestEnv::new().run(&["schema", "packet"]);
    let printed: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((printed, said.code), (packet::schema(), 0));
}
