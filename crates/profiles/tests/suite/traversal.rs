//! Which files of a place are looked at.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use profiles::Reason;

use crate::tree::{Tree, profile};

#[test]
fn places_are_searched_to_the_bottom() {
    Tree::new()
        .profile("project/.pi/agents/one/two/a.md", "deep", "writer")
        .profile("home/.agents/one/b.md", "mine", "")
        .check_names(&["deep", "mine"]);
}

#[test]
fn other_files_are_no_profiles() {
    Tree::new()
        .profile("project/.pi/agents/a.chain.md", "chain", "writer")
        .profile("project/.pi/agents/b.txt", "text", "writer")
        .profile("project/.pi/agents/c.MD", "case", "writer")
        .profile("project/.pi/d.md", "beside", "writer")
        .file("project/.pi/agents/README.md", "# Our agents\n")
        .check_names(&[]);
}

#[test]
fn some_folders_are_never_entered() {
    let mut tree = Tree::new().dir("project/.agents/nested/.pi").dir("project/.agents/other/.agents");
    tree = tree.file("project/.agents/tree/.git", "gitdir: elsewhere\n").dir("project/.agents/repo/.git");
    for dir in ["nested", "other", "tree", "repo", "node_modules", ".pi", ".git", "sync-backups", "skills", "Skills/x"]
    {
        tree = tree.profile(&format!("project/.agents/{dir}/a.md"), dir.trim_end_matches("/x"), "writer");
    }
    tree.check_names(&[]);
}

#[test]
fn skills_are_a_folder_of_dot_agents_only() {
    Tree::new()
        .profile("project/.pi/agents/skills/a.md", "kept", "writer")
        .profile("project/.agents/one/skills/b.md", "kept-too", "writer")
        .check_names(&["kept", "kept-too"]);
}

#[test]
fn scan_dirs_may_hold_one_wildcard() {
    let tree = Tree::new()
        .profile("home/kits/one/agents/a.md", "one", "writer")
        .profile("home/kits/two/agents/b.md", "two", "writer")
        .profile("home/kits/three/c.md", "three", "writer")
        .profile("project/local/d.md", "local", "writer");
    let dirs = r#"{"subagents": {"agentScanDirs": ["~/kits/*/agents", "local", "~/k*/three", "~/*/*"]}}"#;
    tree.file("home/.pi/agent/settings.json", dirs).check_names(&["local", "one", "two"]);
}

#[test]
fn a_name_that_is_not_utf8_is_noted() {
    let tree = Tree::new().dir("project/.pi/agents");
    let path = tree.path("project/.pi/agents").join(OsStr::from_bytes(b"\xff.md"));
    // Some file systems refuse such names; then there is nothing to see.
    if std::fs::write(&path, profile("odd", "writer")).is_ok() {
        let loaded = tree.load();
        tree.check_names(&[]);
        assert!(loaded.notes.iter().any(|note| note.path == path && note.reason == Reason::NotUtf8));
    }
}

#[test]
fn a_place_that_is_no_folder_is_noted() {
    let tree = Tree::new().file("project/.pi/agents", "x");
    tree.check_names(&[]);
    assert_eq!(tree.reasons("project/.pi/agents"), [Reason::NotAFolder]);
}

#[test]
fn an_empty_world_has_the_builtins_and_nothing_to_say() {
    let loaded = Tree::new().load();
    assert_eq!(loaded.agents.len(), 13);
    assert!(loaded.agents.iter().all(|agent| agent.role.is_none() && agent.model_pin.is_none()));
    assert_eq!(loaded.notes, []);
}
