//! `handoff team` and the looking half of `handoff packet`, without a daemon.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::env::{Said, TestEnv, write};

const HOME: &str = ".local/share/handoffd";

fn packet(id: &str, parent: Option<&str>, from: &str, to: &str) -> Value {
    let mut packet = json!({
        "packet_id": id, "goal_id": "T-1", "round": 1, "from_role": from, "to_role": to,
        "objective": format!("objective of {id}"), "output_format": "diff",
    });
    if let Some(parent) = parent {
        packet["parent_packet"] = parent.into();
    }
    packet
}

/// Lays a file into its place in the home, as another tool that shares it would.
fn lay(env: &TestEnv, path: &str, text: &str) {
    write(&env.home().join(HOME).join("team_packets/T-1").join(path), text.as_bytes());
}

fn with_packets() -> TestEnv {
    let env = TestEnv::new();
    lay(&env, "r1/planner-to-executor.json", &packet("pk-1", None, "planner", "executor").to_string());
    lay(&env, "r1/planner-to-executor.01.json", "{");
    lay(&env, "r1/planner-to-executor.02.json", &packet("pk-2", Some("pk-9"), "planner", "executor").to_string());
    lay(&env, "r1/planner-to-executor.04.json", &packet("pk-4", None, "planner", "executor").to_string());
    lay(&env, "r1/executor-to-verifier.json", &packet("pk-5", Some("pk-1"), "executor", "verifier").to_string());
    env
}

/// The id that `team add` printed, which holds random digits.
fn id_of(said: &Said) -> String {
    assert_eq!(said.code, 0, "{said}");
    said.stdout.trim_end().to_owned()
}

#[test]
fn members_are_added_listed_and_removed() {
    let env = TestEnv::new();
    assert_snapshot!(env.run(&["team", "list"]), @r"
    --- stderr
    no member in {HOME}/.local/share/handoffd: `handoff team add ROLE --goal ID --round N`
    --- exit 0
    ");
    let said = env.run(&["team", "add", "planner", "--goal", "T-1", "--round", "2"]);
    let id = id_of(&said);
    assert!(id.starts_with("eph-handoff-r2-planner-"), "{said}");
    let config = json!({"command": "handoff", "args": ["mcp", "team", "--agent-id", &id]});
    let config = json!({"mcpServers": {"handoff-team": config}});
    assert!(said.stderr.contains(&format!("claude --mcp-config '{config}'")), "{said}");
    assert!(said.stderr.contains(&format!("pi mcp add -l handoff-team -- handoff mcp team --agent-id {id}")), "{said}");
    assert!(said.stderr.contains(&format!(" HANDOFF_AGENT_ID={id} pi\n")), "{said}");
    let listed = env.run(&["team", "list"]).stdout;
    assert_eq!(listed.trim_end(), format!("{id}  planner, task T-1, round 2"));
    let listed = env.run(&["team", "list", "--json"]).json();
    let expected = json!({
        "id": id, "ephemeral": true, "role": "planner", "task_id": "T-1", "round": 2, "parent": "handoff", "problem": null,
    });
    assert_eq!(listed["members"], json!([expected]));
    assert_eq!(env.run(&["team", "remove", &id]).stdout.trim_end(), format!("removed {id}"));
    assert_snapshot!(env.run(&["team", "remove", "eph-gone"]), @r"
    --- stderr
    Error: there is no member `eph-gone` in agents/.ephemeral
    Hint: `handoff team list` lists the members
    --- exit 2
    ");
    assert_eq!(env.run(&["team", "list", "--json"]).json()["members"], json!([]));
}

#[test]
fn a_home_by_variable_reaches_the_server() {
    let env = TestEnv::new();
    let home = env.root().join("shared home");
    let env = env.with("HANDOFF_HOME", home.as_os_str());
    let said = env.run(&["team", "add", "executor", "--goal", "T-1", "--round", "1", "--parent", "agnes", "--json"]);
    let added = said.json();
    let id = added["id"].as_str().unwrap();
    let variable = added["server"][1].as_str().unwrap();
    assert!(variable.starts_with("HANDOFF_HOME=") && variable.ends_with("/shared home"), "{added}");
    assert_eq!(added["server"][5], "--agent-id");
    assert!(home.join("agents/.ephemeral").join(id).join("agent.toml").is_file());
    let told = env.run(&["team", "add", "executor", "--goal", "T-1", "--round", "1"]).stderr;
    assert!(told.contains("-- env 'HANDOFF_HOME="), "{told}");
}

#[test]
fn what_can_have_no_packets_is_refused() {
    let env = TestEnv::new();
    assert_snapshot!(env.run(&["team", "add", "planner", "--goal", "a/b", "--round", "1"]), @r"
    --- stderr
    error: invalid value 'a/b' for '--goal <ID>': an id here is 1 to 64 of `A-Z a-z 0-9 _ -`

    For more information, try '--help'.
    --- exit 2
    ");
    assert_snapshot!(env.run(&["team", "add", "planer", "--goal", "a", "--round", "1"]), @r"
    --- stderr
    error: invalid value 'planer' for '<ROLE>'
      [possible values: planner, executor, verifier, utility]

      tip: a similar value exists: 'planner'

    For more information, try '--help'.
    --- exit 2
    ");
    assert_eq!(env.run(&["team", "add", "planner", "--goal", "a", "--round", "0"]).code, 2);
    assert_eq!(env.run(&["team", "add", "planner", "--goal", "a", "--round", "10001"]).code, 2);
    assert_snapshot!(env.run(&["packet", "list", "../x"]), @r"
    --- stderr
    Error: `../x` cannot have packets: a goal's id is 1 to 64 of `A-Z a-z 0-9 _ -`
    --- exit 2
    ");
}

#[test]
fn legs_are_listed_with_slots_skipped_files_and_gaps() {
    let env = with_packets();
    assert_snapshot!(env.run(&["packet", "list", "T-1"]), @r"
    round 1, planner → executor
      00  pk-1  objective of pk-1
          team_packets/T-1/r1/planner-to-executor.json
      01  skipped, unparseable: EOF while parsing an object at line 1 column 1
          team_packets/T-1/r1/planner-to-executor.01.json
      02  pk-2  objective of pk-2
          team_packets/T-1/r1/planner-to-executor.02.json
      03  missing; the composer stops here and does not read 04
    round 1, executor → verifier
      00  pk-5  objective of pk-5
          team_packets/T-1/r1/executor-to-verifier.json
    --- exit 0
    ");
    let listed = env.run(&["packet", "list", "T-1", "--json"]).json();
    let planner = &listed["legs"][0];
    assert_eq!(planner["gap"], json!({"missing": 3, "behind": [4]}));
    assert_eq!(planner["skipped"][0]["code"], "unparseable");
    assert!(planner["stage_failed"].is_null());
    assert_eq!(planner["packets"][1]["path"], "team_packets/T-1/r1/planner-to-executor.02.json");
    assert_snapshot!(env.run(&["packet", "list"]), @r"
    T-1  rounds 1
    --- exit 0
    ");
    assert_snapshot!(env.run(&["packet", "list", "T-2"]), @r"
    --- stderr
    T-2 has no packets in {HOME}/.local/share/handoffd; `handoff packet list` lists the goals that have some
    --- exit 0
    ");
    assert!(!env.home().join(HOME).join("security_audit.jsonl").exists(), "looking writes nothing");
}

#[test]
fn a_leg_without_a_valid_packet_fails_its_stage() {
    let env = TestEnv::new();
    lay(&env, "r1/executor-to-verifier.json", "{");
    assert_snapshot!(env.run(&["packet", "list", "T-1"]), @r"
    round 1, executor → verifier
      00  skipped, unparseable: EOF while parsing an object at line 1 column 1
          team_packets/T-1/r1/executor-to-verifier.json
      no_executor_packets: no valid packet is read here, so the stage of the executor fails
    --- exit 0
    ");
    let listed = env.run(&["packet", "list", "T-1", "--json"]).json();
    assert_eq!(listed["legs"][0]["stage_failed"], "no_executor_packets");
}

#[test]
fn a_packet_is_shown_as_its_receiver_reads_it() {
    let env = with_packets();
    let said = env.run(&["packet", "show", "team_packets/T-1/r1/planner-to-executor.json"]);
    assert!(said.stdout.contains("objective of pk-1") && said.stdout.contains("You are the executor"), "{said}");
    assert!(said.stdout.contains("you owe the verifier a packet"), "{said}");
    // A verifier is told nothing of a repair that may not be needed, here as by the daemon.
    let product = env.run(&["packet", "show", "team_packets/T-1/r1/executor-to-verifier.json"]);
    assert!(product.stdout.contains("You are the verifier") && !product.stdout.contains("you owe"), "{product}");
    let place = env.home().join(HOME).join("team_packets/T-1/r1/planner-to-executor.json");
    assert_eq!(env.run(&["packet", "show", place.to_str().unwrap()]).stdout, said.stdout);
    let shown = env.run(&["packet", "show", "team_packets/T-1/r1/planner-to-executor.json", "--json"]).json();
    assert_eq!((&shown["slot"], &shown["packet"]["packet_id"]), (&json!(0), &json!("pk-1")));
    assert_eq!(shown["rendered"].as_str().unwrap(), said.stdout);
    let behind = env.run(&["packet", "show", "team_packets/T-1/r1/planner-to-executor.04.json"]);
    assert!(behind.code == 0 && behind.stderr.contains("a slot before this one is missing"), "{behind}");
    assert_snapshot!(env.run(&["packet", "show", "team_packets/T-1/r1/planner-to-executor.01.json"]), @r"
    --- stderr
    Error: team_packets/T-1/r1/planner-to-executor.01.json is passed over: unparseable: EOF while parsing an object at line 1 column 1
    --- exit 1
    ");
    assert_snapshot!(env.run(&["packet", "show", "team_packets/T-1/r1/planner-to-executor.07.json"]), @r"
    --- stderr
    Error: there is no team_packets/T-1/r1/planner-to-executor.07.json in {HOME}/.local/share/handoffd
    Hint: `handoff packet list T-1` lists what there is
    --- exit 1
    ");
    assert_snapshot!(env.run(&["packet", "show", "pk-1"]), @r"
    --- stderr
    Error: cannot read pk-1: No such file or directory (os error 2)
    Hint: PATH is a file; `handoff packet list GOAL` shows the path of each packet
    --- exit 2
    ");
    env.file("own.json", packet("pk-7", None, "verifier", "executor").to_string());
    assert!(env.run(&["packet", "show", "own.json"]).stdout.contains("objective of pk-7"));
    env.file("own.json", "{}");
    assert_snapshot!(env.run(&["packet", "show", "own.json"]), @r"
    --- stderr
    Error: invalid_packet: missing field `packet_id` at line 1 column 2
    Hint: `handoff packet check own.json` says how to write one
    --- exit 1
    ");
}

#[test]
fn answers_stand_below_what_they_answer() {
    let env = with_packets();
    assert_snapshot!(env.run(&["packet", "thread", "T-1"]), @r"
    pk-1  round 1, planner → executor  objective of pk-1
      pk-5  round 1, executor → verifier  objective of pk-5
    pk-2  round 1, planner → executor  (answers pk-9, which is not here)  objective of pk-2
    --- exit 0
    ");
    let packets = env.run(&["packet", "thread", "T-1", "--json"]).json()["packets"].clone();
    assert_eq!((&packets[1]["packet_id"], &packets[1]["depth"]), (&json!("pk-5"), &json!(1)));
    assert_eq!(packets[2]["loose"], true);
}

#[test]
fn foreign_text_cannot_command_the_terminal() {
    let env = TestEnv::new();
    let mut evil = packet("pk\u{1b}[2J\u{202e}", Some("\u{200b}x\u{7}"), "planner", "executor");
    evil["objective"] = "a\u{1b}]0;x\u{7}\u{202e}b\u{200b}\nc".into();
    lay(&env, "r1/planner-to-executor.json", &evil.to_string());
    lay(&env, "r1/planner-to-executor.01.json", "{\"\u{1b}[2J\u{202e}\":1}");
    write(&env.home().join(HOME).join("agents/.ephemeral/eph-x/agent.toml"), b"team_member = \"\\u001b[2J\"");
    for arguments in [&["packet", "list", "T-1"][..], &["packet", "thread", "T-1"], &["team", "list"]] {
        let said = env.run(arguments);
        assert_eq!(said.code, 0, "{said}");
        assert!(!said.stdout.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\u{7}']), "{arguments:?}: {said:?}");
    }
}

#[test]
fn a_link_below_the_home_is_not_followed_and_told() {
    let env = TestEnv::new();
    let place = env.home().join(HOME).join("team_packets");
    write(&env.root().join("elsewhere/T-1/r1/planner-to-executor.json"), b"{}");
    std::fs::create_dir_all(env.home().join(HOME)).unwrap();
    std::os::unix::fs::symlink(env.root().join("elsewhere"), &place).unwrap();
    assert_snapshot!(env.run(&["packet", "list", "T-1"]), @r"
    --- stderr
    Error: cannot open the folder `{HOME}/.local/share/handoffd/team_packets`: Not a directory (os error 20)
    Hint: a file or a symbolic link stands where a folder should; links are not followed here: move it away
    --- exit 1
    ");
}

#[test]
fn a_round_that_cannot_be_read_does_not_hide_the_others() {
    let env = TestEnv::new();
    lay(&env, "r1/planner-to-executor.json", &packet("pk-1", None, "planner", "executor").to_string());
    lay(&env, "r2", "a file where a folder should be");
    assert_snapshot!(env.run(&["packet", "list", "T-1"]), @r"
    round 1, planner → executor
      00  pk-1  objective of pk-1
          team_packets/T-1/r1/planner-to-executor.json
    --- stderr
    Error: cannot open the folder `{HOME}/.local/share/handoffd/team_packets/T-1/r2`: Not a directory (os error 20)
    Hint: a file or a symbolic link stands where a folder should; links are not followed here: move it away
    --- exit 1
    ");
    let legs = env.run(&["packet", "list", "T-1", "--json"]).json()["legs"].clone();
    assert_eq!((&legs[0]["packets"][0]["packet_id"], &legs[1]["round"]), (&"pk-1".into(), &2.into()));
    assert!(legs[1]["error"].as_str().unwrap().contains("/r2`"), "{legs}");
    let thread = env.run(&["packet", "thread", "T-1"]);
    assert!(thread.stdout.contains("pk-1") && thread.stderr.contains("/r2`") && thread.code == 1, "{thread}");
}

#[test]
fn the_same_home_as_the_daemon() {
    let env = TestEnv::new();
    let config = format!("[team]\nhome = \"{}\"\nlanguage = \"en\"\n", env.root().join("team").display());
    write(&env.home().join(".config/handoffd/config.toml"), config.as_bytes());
    id_of(&env.run(&["team", "add", "planner", "--goal", "T-1", "--round", "2"]));
    assert!(env.root().join("team/agents/.ephemeral").is_dir());
    let mut constrained = packet("pk-1", None, "planner", "executor");
    constrained["constraints"] = json!([{"id": "c1", "text": "only read"}]);
    env.file("own.json", constrained.to_string());
    let shown = env.run(&["packet", "show", "own.json"]).stdout;
    assert!(shown.lines().any(|line| line == "## Constraints"), "{shown}");
}
