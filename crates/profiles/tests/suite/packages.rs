//! Agents of installed packages.

use profiles::Reason;

use crate::tree::{READ_ONLY, Tree, WRITER};

const MANIFEST: &str = r#"{"name": "kit", "pi": {"subagents": {"agents": ["./agents"]}}}"#;

#[test]
fn packages_are_found_where_pi_installs_them() {
    Tree::new()
        .file("home/.pi/agent/npm/node_modules/kit/package.json", MANIFEST)
        .profile("home/.pi/agent/npm/node_modules/kit/agents/a.md", "of-user", "writer")
        .file("home/.pi/agent/npm/node_modules/@acme/kit/package.json", MANIFEST)
        .profile("home/.pi/agent/npm/node_modules/@acme/kit/agents/a.md", "scoped", "writer")
        .file("project/.pi/npm/node_modules/kit/package.json", r#"{"pi-subagents": {"agents": ["agents"]}}"#)
        .profile("project/.pi/npm/node_modules/kit/agents/a.md", "of-project", "writer")
        .file("project/package.json", r#"{"pi": {"subagents": {"agents": ["own"]}}}"#)
        .profile("project/own/a.md", "root", "writer")
        .file("home/.pi/agent/settings.json", r#"{"packages": ["git:host.test/acme/kit", {"source": "~/local"}, 5]}"#)
        .file("home/.pi/agent/git/host.test/acme/kit/package.json", MANIFEST)
        .profile("home/.pi/agent/git/host.test/acme/kit/agents/a.md", "from-git", "writer")
        .file("home/local/package.json", MANIFEST)
        .profile("home/local/agents/a.md", "local", "writer")
        .check_names(&["from-git", "local", "of-project", "of-user", "root", "scoped"]);
}

#[test]
fn a_package_wins_over_builtins_and_loses_to_the_user() {
    let tree = Tree::new()
        .file("home/.pi/agent/npm/node_modules/kit/package.json", MANIFEST)
        .profile("home/.pi/agent/npm/node_modules/kit/agents/a.md", "worker", "writer")
        .profile("home/.pi/agent/npm/node_modules/kit/agents/b.md", "same", "read-only")
        .profile("home/.agents/c.md", "same", "writer");
    tree.check_role("worker", WRITER);
    tree.check_role("same", WRITER);
}

#[test]
fn the_first_package_and_the_first_file_win() {
    let tree = Tree::new()
        .file("project/.pi/npm/node_modules/kit/package.json", MANIFEST)
        .profile("project/.pi/npm/node_modules/kit/agents/a.md", "same", "writer")
        .profile("project/.pi/npm/node_modules/kit/agents/b.md", "same", "read-only")
        .file("home/.pi/agent/npm/node_modules/kit/package.json", MANIFEST)
        .profile("home/.pi/agent/npm/node_modules/kit/agents/a.md", "same", "read-only");
    tree.check_role("same", WRITER);
}

#[test]
fn an_override_reaches_agents_of_packages() {
    Tree::new()
        .file("home/.pi/agent/npm/node_modules/kit/package.json", MANIFEST)
        .profile("home/.pi/agent/npm/node_modules/kit/agents/a.md", "packed", "writer")
        .file(
            "project/.pi/settings.json",
            r#"{"subagents": {"agentOverrides": {"packed": {"acceptanceRole": "read-only"}}}}"#,
        )
        .check_role("packed", READ_ONLY);
}

#[test]
fn a_manifest_cannot_lead_out_of_its_origin() {
    let tree = Tree::new()
        .file("project/package.json", r#"{"pi": {"subagents": {"agents": ["../elsewhere", "agents/a.md", ""]}}}"#)
        .profile("elsewhere/a.md", "out", "writer")
        .profile("project/agents/a.md", "file", "writer");
    tree.check_names(&[]);
    assert_eq!(tree.reasons("project/../elsewhere"), [Reason::OutsidePlace]);
    assert_eq!(tree.reasons("project/agents/a.md"), [Reason::NotAFolder]);
}

#[test]
fn a_linked_package_must_stay_inside_too() {
    let tree = Tree::new()
        .file("elsewhere/kit/package.json", MANIFEST)
        .profile("elsewhere/kit/agents/a.md", "out", "writer")
        .link("project/.pi/npm/node_modules/kit", "../../../../elsewhere/kit")
        .file("home/src/kit/package.json", MANIFEST)
        .profile("home/src/kit/agents/a.md", "in", "writer")
        .link("home/.pi/agent/npm/node_modules/kit", "../../../../src/kit");
    tree.check_names(&["in"]);
    assert_eq!(tree.reasons("project/.pi/npm/node_modules/kit/package.json"), [Reason::OutsidePlace]);
}

#[test]
fn a_manifest_that_is_none_names_nothing() {
    for manifest in ["", "[]", "{", r#"{"pi": 5}"#, r#"{"pi": {"subagents": {"agents": "agents"}}}"#] {
        let tree = Tree::new().file("project/package.json", manifest).profile("project/agents/a.md", "a", "");
        tree.check_names(&[]);
        assert_eq!(tree.load().notes, [], "{manifest}");
    }
}
