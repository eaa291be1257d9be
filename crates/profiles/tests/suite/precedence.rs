//! Which of several profiles of one name counts, and where the project is.

use std::ffi::OsStr;

use profiles::{Reason, load};

use crate::tree::{READ_ONLY, Tree, WRITER};

/// The places from the lowest precedence to the highest, without packages.
const PLACES: [&str; 7] = [
    "elsewhere/extra",
    "elsewhere/user-scan",
    "home/.pi/agent/agents",
    "home/.agents",
    "elsewhere/project-scan",
    "project/.agents",
    "project/.pi/agents",
];

fn with_scan_dirs(tree: Tree) -> Tree {
    let scan = |dir: &str| format!(r#"{{"subagents": {{"agentScanDirs": ["{}"]}}}}"#, tree.path(dir).display());
    let (user, project) = (scan("elsewhere/user-scan"), scan("elsewhere/project-scan"));
    tree.file("home/.pi/agent/settings.json", user).file("project/.pi/settings.json", project)
}

#[test]
fn each_place_is_found_and_wins_over_all_before_it() {
    for (index, winner) in PLACES.iter().enumerate() {
        let mut tree = with_scan_dirs(Tree::new());
        for place in &PLACES[..index] {
            tree = tree.profile(&format!("{place}/a.md"), "same", "read-only");
        }
        let tree = tree.profile(&format!("{winner}/b.md"), "same", "writer");
        let places = tree.places().with_extra_dirs(OsStr::new(&tree.path("elsewhere/extra")));
        let agents = load(&places).agents;
        let same: Vec<_> = agents.iter().filter(|agent| agent.name == "same").collect();
        assert_eq!(same.len(), 1, "{winner}");
        assert_eq!(same[0].role, WRITER, "{winner}");
    }
}

#[test]
fn within_a_place_the_last_path_wins() {
    let tree = Tree::new()
        .profile("project/.pi/agents/a/z.md", "same", "read-only")
        .profile("project/.pi/agents/a-b.md", "same", "read-only")
        .profile("project/.pi/agents/b.md", "same", "writer");
    tree.check_role("same", WRITER);
}

#[test]
fn a_profile_replaces_a_builtin() {
    let tree = Tree::new().profile("home/.agents/w.md", "worker", "writer");
    tree.check_role("worker", WRITER);
    assert_eq!(tree.agent("worker").thinking_pin, None);
    assert!(tree.agent("worker").aliases.is_empty());
}

#[test]
fn a_refused_profile_hides_one_from_an_earlier_place_only() {
    let tree = Tree::new()
        .profile("home/.agents/a.md", "same", "writer")
        .profile("project/.agents/b.md", "same", "editor")
        .profile("project/.agents/c.md", "builder", "editor")
        .profile("project/.pi/agents/d.md", "builder", "writer");
    tree.check_names(&["builder"]);
    assert!(matches!(&tree.reasons("project/.agents/b.md")[..], [Reason::Invalid { name, .. }] if name == "same"));
}

#[test]
fn a_refused_profile_does_not_hide_one_of_its_own_place() {
    Tree::new()
        .profile("project/.pi/agents/a.md", "same", "writer")
        .profile("project/.pi/agents/b.md", "same", "editor")
        .check_role("same", WRITER);
}

#[test]
fn a_refused_profile_hides_a_builtin() {
    let tree = Tree::new().profile("home/.agents/a.md", "scout", "editor");
    assert!(!tree.load().agents.iter().any(|agent| agent.name == "scout"));
}

#[test]
fn packages_make_different_full_names() {
    let profile = |package: &str| format!("---\nname: fixer\ndescription: d\npackage: {package}\n---\n");
    let tree = Tree::new()
        .file("project/.pi/agents/a.md", profile("acme"))
        .file("project/.pi/agents/b.md", profile("\"Zeta  Tools!\""));
    tree.check_names(&["acme.fixer", "zeta-tools.fixer"]);
    let ambiguous = Reason::Ambiguous {
        text: "fixer".to_owned(),
        agents: vec!["acme.fixer".to_owned(), "zeta-tools.fixer".to_owned()],
    };
    assert_eq!(tree.reasons("project/.pi/agents/a.md"), [ambiguous]);
}

#[test]
fn the_nearest_folder_upward_is_the_project() {
    let tree = Tree::new().dir("project/sub/deep").profile("project/.pi/agents/a.md", "above", "writer").profile(
        "project/sub/.agents/b.md",
        "near",
        "writer",
    );
    let names = |root: &str| {
        let agents = load(&profiles::Places::new(tree.path(root), tree.path("home"))).agents;
        let own = agents.into_iter().map(|agent| agent.name).filter(|name| name == "above" || name == "near");
        own.collect::<Vec<_>>()
    };
    assert_eq!(names("project/sub/deep"), ["near"]);
    assert_eq!(names("project"), ["above"]);
}

#[test]
fn the_settings_can_make_the_git_root_the_project() {
    let tree = Tree::new()
        .dir("project/.git")
        .profile("project/.pi/agents/a.md", "above", "writer")
        .profile("project/sub/.pi/agents/b.md", "near", "read-only")
        .file("project/.pi/settings.json", r#"{"subagents": {"projectRootResolution": "git-root"}}"#);
    let places = profiles::Places::new(tree.path("project/sub"), tree.path("home"));
    assert!(load(&places).agents.iter().any(|agent| agent.name == "above" && agent.role == WRITER));
    assert!(!load(&places).agents.iter().any(|agent| agent.name == "near" && agent.role == READ_ONLY));
    let tree = tree.file("project/sub/.pi/settings.json", r#"{"subagents": {"projectRootResolution": "nearest"}}"#);
    let places = profiles::Places::new(tree.path("project/sub"), tree.path("home"));
    assert!(load(&places).agents.iter().any(|agent| agent.name == "near"));
}
