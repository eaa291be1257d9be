//! What `settings.json` of user and project does to profiles and builtins (D27, D56).

use profiles::Reason;
use queue::Thinking;
use serde_json::{Value, json};

use crate::tree::{READ_ONLY, Tree, WRITER};

const USER: &str = "home/.pi/agent/settings.json";
const PROJECT: &str = "project/.pi/settings.json";

fn tree(user: &Value, project: &Value) -> Tree {
    let subagents = |value: &Value| json!({ "subagents": value }).to_string();
    let agent =
        "---\nname: own\ndescription: d\nmodel: p/m\nthinking: high\nacceptanceRole: writer\npackage: kit\n---\n";
    Tree::new().file(USER, subagents(user)).file(PROJECT, subagents(project)).file("project/.pi/agents/a.md", agent)
}

fn overriding(name: &str, entry: &Value) -> Value {
    json!({ "agentOverrides": { name: entry } })
}

#[test]
fn overrides_of_a_profile_are_merged_key_by_key() {
    let user = overriding("kit.own", &json!({"acceptanceRole": "read-only", "model": "u/m", "disabled": true}));
    let project = overriding("kit.own", &json!({"model": "q/m:low", "disabled": false}));
    let agent = tree(&user, &project).agent("kit.own");
    assert_eq!(agent.role, READ_ONLY);
    assert_eq!(agent.model_pin.as_deref(), Some("q/m"));
    assert_eq!(agent.thinking_pin, Some(Thinking::Low));
}

#[test]
fn false_takes_a_property_away() {
    let project = overriding("kit.own", &json!({"acceptanceRole": false, "model": false, "thinking": false}));
    let agent = tree(&json!({}), &project).agent("kit.own");
    assert_eq!((agent.role, agent.model_pin, agent.thinking_pin), (None, None, None));
}

#[test]
fn overrides_go_by_full_name() {
    tree(&json!({}), &overriding("own", &json!({"acceptanceRole": "read-only"}))).check_role("kit.own", WRITER);
}

#[test]
fn a_disabled_profile_is_gone_and_noted() {
    let tree = tree(&json!({}), &overriding("kit.own", &json!({"disabled": true})));
    tree.check_names(&[]);
    assert_eq!(tree.reasons("project/.pi/agents/a.md"), [Reason::Disabled { name: "kit.own".to_owned() }]);
}

#[test]
fn an_override_of_a_builtin_is_the_projects_or_the_users_whole() {
    let user = overriding("worker", &json!({"acceptanceRole": "writer", "thinking": "low"}));
    tree(&user, &json!({})).check_role("worker", WRITER);
    let agent = tree(&user, &overriding("worker", &json!({"model": "p/m"}))).agent("worker");
    assert_eq!((agent.role, agent.model_pin.as_deref()), (None, Some("p/m")));
    assert_eq!(agent.thinking_pin, Some(Thinking::High));
    // An entry without a known key is none.
    tree(&user, &overriding("worker", &json!({"colour": "red"}))).check_role("worker", WRITER);
}

#[track_caller]
fn check_builtins(user: &Value, project: &Value, expected: usize) {
    let builtins = tree(user, project).load().agents.len() - 1;
    assert_eq!(builtins, expected, "user {user}, project {project}");
}

#[test]
fn builtins_are_disabled_at_once_or_one_by_one() {
    let all = || json!({"disableBuiltins": true});
    check_builtins(&json!({}), &json!({}), 13);
    check_builtins(&all(), &json!({}), 0);
    check_builtins(&all(), &json!({"disableBuiltins": false}), 13);
    check_builtins(&json!({"disableBuiltins": false}), &all(), 0);
    let scout = || overriding("scout", &json!({"acceptanceRole": "read-only"}));
    let mut all_but_scout = scout();
    all_but_scout["disableBuiltins"] = json!(true);
    check_builtins(&all_but_scout, &json!({}), 1);
    check_builtins(&json!({}), &all_but_scout, 1);
    check_builtins(&scout(), &all(), 0);
    check_builtins(&json!({}), &overriding("scout", &json!({"disabled": true})), 12);
}

#[test]
fn thinking_of_builtins_can_be_switched_off() {
    let off = || json!({"disableThinking": true});
    assert_eq!(tree(&off(), &json!({})).agent("worker").thinking_pin, None);
    assert_eq!(tree(&off(), &json!({})).agent("kit.own").thinking_pin, Some(Thinking::High));
    assert_eq!(tree(&off(), &json!({"disableThinking": false})).agent("worker").thinking_pin, Some(Thinking::High));
    let low = overriding("worker", &json!({"thinking": "low"}));
    assert_eq!(tree(&off(), &low).agent("worker").thinking_pin, Some(Thinking::Low));
    assert_eq!(tree(&low, &off()).agent("worker").thinking_pin, None);
}

#[test]
fn no_pin_is_above_max_thinking() {
    let tree = tree(&json!({"maxThinking": "low"}), &json!({"maxThinking": "medium"}));
    assert_eq!(tree.agent("kit.own").thinking_pin, Some(Thinking::Medium));
    assert_eq!(tree.agent("scout").thinking_pin, Some(Thinking::Low));
    assert_eq!(tree.agent("delegate").thinking_pin, None);
}

#[track_caller]
fn check_unusable(path: &str, content: &str) {
    let tree = tree(&json!({}), &json!({})).file(path, content);
    assert_eq!(tree.load().agents, [], "{content}");
    assert!(matches!(tree.reasons(path)[..], [Reason::SettingsUnusable(_)]), "{content}");
}

#[test]
fn a_settings_file_that_cannot_be_used_leaves_no_agent() {
    for content in [
        "{",
        "[]",
        "\u{feff}{}",
        r#"{"subagents": {"disableBuiltins": "yes"}}"#,
        r#"{"subagents": {"maxThinking": "huge"}}"#,
        r#"{"subagents": {"agentScanDirs": "x"}}"#,
        r#"{"subagents": {"agentOverrides": {"own": 5}}}"#,
        r#"{"subagents": {"agentOverrides": {"own": {"acceptanceRole": "editor"}}}}"#,
        r#"{"subagents": {"agentOverrides": {"own": {"model": null}}}}"#,
        r#"{"subagents": {"agentOverrides": {"own": {"tools": "all"}}}}"#,
        r#"{"subagents": {"agentOverridesByProvider": {"p": {"own": {"disabled": 1}}}}}"#,
    ] {
        check_unusable(USER, content);
        check_unusable(PROJECT, content);
    }
    check_unusable(PROJECT, r#"{"subagents": {"projectRootResolution": "top"}}"#);
}

#[test]
fn what_is_not_for_subagents_is_not_checked() {
    for content in ["{}", r#"{"subagents": []}"#, r#"{"theme": 5, "subagents": {"agentOverrides": [], "other": 1}}"#] {
        tree(&json!({}), &json!({})).file(USER, content).file(PROJECT, content).check_names(&["kit.own"]);
    }
    let dangling = Tree::new().link(USER, "nowhere.json").profile("project/.pi/agents/a.md", "a", "");
    dangling.check_names(&["a"]);
}

#[test]
fn overrides_by_provider_are_noted_and_not_applied() {
    let by_provider = json!({"agentOverridesByProvider": {"p": {"kit.own": {"acceptanceRole": "read-only"}}}});
    let tree = tree(&by_provider, &json!({}));
    tree.check_role("kit.own", WRITER);
    assert_eq!(tree.reasons(USER), [Reason::ProviderOverrides]);
}
