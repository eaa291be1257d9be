//! The front matter of one file: what it says, and when it says nothing.

use profiles::Reason;
use queue::{Agent, Thinking};

use crate::tree::{READ_ONLY, Tree, WRITER, own};

const PATH: &str = "project/.pi/agents/a.md";

fn agent(content: &str) -> Option<Agent> {
    own(&Tree::new().file(PATH, content).load()).next().cloned()
}

#[track_caller]
fn check(content: &str, name: &str, aliases: &[&str]) {
    let agent = agent(content).unwrap_or_else(|| panic!("no agent from {content:?}"));
    assert_eq!(agent.full_name(), name);
    assert_eq!(agent.aliases, aliases);
}

#[track_caller]
fn check_reason(content: &str, expected: &Reason) {
    let tree = Tree::new().file(PATH, content);
    tree.check_names(&[]);
    assert_eq!(tree.reasons(PATH), std::slice::from_ref(expected), "{content:?}");
}

/// The fault begins with the key.
#[track_caller]
fn check_refused(key: &str, lines: &str) {
    let tree = Tree::new().file(PATH, format!("---\nname: a\ndescription: d\n{lines}\n---\n"));
    tree.check_names(&[]);
    match &tree.reasons(PATH)[..] {
        [Reason::Invalid { name, fault }] => assert!(name == "a" && fault.contains(key), "{name}: {fault}"),
        other => panic!("{lines:?}: {other:?}"),
    }
}

#[test]
fn values_stand_on_the_line_or_below() {
    check("---\nname: a\ndescription: d\n---", "a", &[]);
    check("---\r\nname:   'a'  \r\ndescription: \"d\"\r\n---\r\n", "a", &[]);
    check("---\nname:\n  a\ndescription: >-\n  one\n\n  two\n---\n", "a", &[]);
    check("---\nname: >\n  long\n  name\ndescription: |\n  d\n---\n", "long name", &[]);
    check("---\n# comment\nname: a\n  name: nested\ndescription: d\nname: b\n---\n", "b", &[]);
    check("---\nname: a: b # c\ndescription: d\nunknown-key_1: x\n---\n", "a: b # c", &[]);
}

#[test]
fn aliases_are_a_list_of_either_kind() {
    let with = |lines: &str| format!("---\nname: a\ndescription: d\n{lines}\n---\n");
    check(&with("aliases: x, y ,, x, a"), "a", &["x", "y"]);
    check(&with("aliases:\n  - x\n  - y, z\n  -w"), "a", &["x", "y", "z", "-w"]);
    check(&with("alias: x"), "a", &["x"]);
    check(&with("aliases:\n- x"), "a", &[]);
    check(&with("aliases: p.a\npackage: P"), "p.a", &[]);
}

#[test]
fn a_file_without_name_or_description_is_no_profile() {
    check_reason("---\nname: a\n---\n", &Reason::NoDescription);
    check_reason("---\nname: a\ndescription: \"\"\n---\n", &Reason::NoDescription);
    check_reason("---\ndescription: d\n---\n", &Reason::NoName);
    check_reason("\u{feff}---\nname: a\ndescription: d\n---\n", &Reason::ByteOrderMark);
    for document in ["", "---", "---\nname: a\ndescription: d\n", "\n---\nname: a\ndescription: d\n---\n", "---\n---\n"]
    {
        let loaded = Tree::new().file(PATH, document).load();
        assert_eq!((own(&loaded).count(), loaded.notes), (0, vec![]), "{document:?}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    let tree = Tree::new().file(PATH, b"---\nname: a\ndescription: \xff\n---\n\xfe");
    tree.check_names(&["a"]);
}

#[test]
fn roles_are_two_words() {
    let role = |line: &str| agent(&format!("---\nname: a\ndescription: d\n{line}\n---\n")).unwrap().role;
    assert_eq!(role("acceptanceRole: writer"), WRITER);
    assert_eq!(role("acceptanceRole: 'read-only'"), READ_ONLY);
    assert_eq!(role("acceptanceRole:"), None);
    assert_eq!(role("acceptanceRole: ' '"), None);
    check_refused("acceptanceRole", "acceptanceRole: Writer");
    check_refused("acceptanceRole", "acceptanceRole: false");
    check_refused("acceptanceRole", "acceptanceRole: ' writer'");
}

#[test]
fn other_keys_can_make_a_profile_invalid() {
    for (key, lines) in [
        ("package", "package: '!'"),
        ("async", "async: yes"),
        ("async", "async:"),
        ("fast", "fast: 1"),
        ("advertise", "advertise: no"),
        ("allowNestedSubagents", "allowNestedSubagents: maybe"),
        ("timeoutMs", "timeoutMs: 0"),
        ("timeoutMs", "timeoutMs: 1.5"),
        ("toolTimeoutMs", "toolTimeoutMs: 2147483648"),
        ("outputMode", "outputMode: file"),
        ("permission", "permission:\n  edit: deny\npermissions:\n  edit: deny"),
        ("toolBudget", "toolBudget: 5"),
        ("runner", "runner:\n  type: shell"),
        ("runner", "runner:\n  command: x"),
        ("bash", "permissions:\n  bash: deny"),
        ("edit", "permission:\n  edit: no"),
        ("options", "runner:\n  type: pi\n  options: 5"),
        ("command", "runner:\n  type: external-cli"),
        ("provider", "runner:\n  type: external-job"),
        ("shell", "runner:\n  type: external-cli\n  command: x\n  shell: y"),
        ("model", "runner:\n  type: external-cli\n  command: x\nmodel: a/b"),
        ("claude-code", "aliases: claude-code"),
    ] {
        check_refused(key, lines);
    }
}

#[test]
fn keys_of_the_right_form_are_fine() {
    check(
        "---\nname: a\ndescription: d\nasync: true\nfast: false\ntimeoutMs: 1e3\ntoolTimeoutMs: 5000\n\
         outputMode: inline\ntoolBudget: {\"soft\": 5}\nthinking: enormous\ndisabled: true\n\
         runner:\n  type: pi\n---\n",
        "a",
        &[],
    );
    let runner = "runner:\n  type: external-cli\n  adapter: claude-code\n  command: claude";
    let tree = Tree::new()
        .file(PATH, format!("---\nname: claude-code\ndescription: d\n{runner}\nacceptanceRole: read-only\n---\n"));
    tree.check_role("claude-code", READ_ONLY);
}

#[test]
fn what_takes_a_yaml_reader_is_not_refused() {
    for lines in [
        "runner: {type: pi}",
        "runner:\n  \"type\": pi",
        "runner:\n  # which\n  type: pi # the default",
        "permissions: {edit: deny}",
        "permissions:\n  \"mcp/x\": ask\n  edit: 'deny'",
        "acceptance:\n  level: full",
    ] {
        check(&format!("---\nname: a\ndescription: d\n{lines}\n---\n"), "a", &[]);
    }
}

#[test]
fn pins_come_from_model_suffix_and_thinking() {
    let pins = |lines: &str| {
        let agent = agent(&format!("---\nname: a\ndescription: d\n{lines}\n---\n")).unwrap();
        (agent.model_pin, agent.thinking_pin)
    };
    let model = |text: &str| Some(text.to_owned());
    assert_eq!(pins(""), (None, None));
    assert_eq!(pins("model: inherit\nthinking: low"), (None, Some(Thinking::Low)));
    assert_eq!(pins("model: p/m\nthinking: high"), (model("p/m"), Some(Thinking::High)));
    assert_eq!(pins("model: p/m:low\nthinking: high"), (model("p/m"), Some(Thinking::Low)));
    assert_eq!(pins("model: p/m:free"), (model("p/m:free"), None));
    assert_eq!(pins("thinking: enormous"), (None, None));
    assert_eq!(pins("thinking: High"), (None, None));
    assert_eq!(pins("thinking: false\nmodel:"), (None, None));
}
