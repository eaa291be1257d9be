//! `handoff prompt fit`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::env::TestEnv;

const PACKET: &str = "objective: list the contracts\n\n## Constraints\n- [c1] read only\n\n## 受眾\n- verifier\n";

fn conversation() -> String {
    let turn = |role: &str, content: &str| json!({"role": role, "content": content}).to_string() + "\n";
    let noise = "a line of the log\n".repeat(400);
    turn("system", "be brief") + &turn("user", PACKET) + &turn("tool", &noise).repeat(8) + &turn("user", "go on")
}

#[test]
fn a_conversation_is_fitted_and_its_sections_are_whole() {
    let env = TestEnv::new();
    let said = env.run_with_input(&["prompt", "fit", "--budget", "1000"], &conversation());
    assert_eq!(said.code, 0, "{said}");
    assert!(said.stderr.starts_with("Shortened from about 16"), "{said}");
    let lines: Vec<Value> = said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0], json!({"role": "system", "content": "be brief"}));
    assert_eq!(lines[1], json!({"role": "user", "content": PACKET}));
    assert_eq!(*lines.last().unwrap(), json!({"role": "user", "content": "go on"}));

    let file = env.file("talk.jsonl", conversation());
    let said = env.run(&["prompt", "fit", "--budget", "1000", "--json", file.to_str().unwrap()]);
    let document = said.json();
    assert_eq!((said.code, document["messages"].as_array().unwrap()), (0, &lines), "{said}");
    assert_eq!(document["stages"], json!(["turn_trim", "drop_oldest_tool_echoes"]));
    assert!(document["tokens"].as_u64().unwrap() <= 1_000);
}

#[test]
fn what_fits_goes_through() {
    let said = TestEnv::new().run_with_input(&["prompt", "fit", "--budget", "100000"], &conversation());
    assert_eq!((said.code, said.stdout.as_str()), (0, conversation().as_str()), "{said}");
}

#[test]
fn a_budget_that_cannot_be_met_is_refused() {
    let env = TestEnv::new();
    let said = env.run_with_input(&["prompt", "fit", "--budget", "20"], &conversation());
    assert_snapshot!(said, @r"
    --- stderr
    Error: budget_exceeded: the conversation is about 16074 tokens and cannot be brought within 20: 16 of them are in protected sections, which are never shortened
    Hint: instructions and protected sections alone are more than the budget
    Hint: send the conversation as it is, or allow more tokens with `--budget`
    --- exit 1
    ");
    let said = env.run_with_input(&["prompt", "fit", "--budget", "20", "--json"], &conversation());
    let document = said.json();
    assert_eq!(
        (said.code, &document["ok"], &document["code"]),
        (1, &json!(false), &json!("budget_exceeded")),
        "{said}"
    );
    assert!(document["protected_section_tokens"].as_u64().unwrap() > 0 && document.get("messages").is_none());
}

#[test]
fn bad_lines_are_named() {
    let env = TestEnv::new();
    let said =
        env.run_with_input(&["prompt", "fit", "--budget", "9"], "{\"role\":\"user\",\"content\":\"\"}\n{}\nnull\n");
    assert_snapshot!(said, @r#"
    --- stderr
    Error: the conversation cannot be read
      line 2: missing field `role` (column 2)
      line 3: this is not a JSON object
    Hint: each line is one message: {"role": "user", "content": "…"}, both of them texts
    --- exit 2
    "#);
    assert_eq!(env.run(&["prompt", "fit"]).code, 2);
    let file = env.file("bytes", [0xff, 0xfe]);
    assert_eq!(env.run(&["prompt", "fit", "--budget", "9", file.to_str().unwrap()]).code, 2);
}
