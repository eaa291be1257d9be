//! Every size and number has an end, and what is cut is noted.

use profiles::{MAX_PROFILE, MAX_PROFILES, MAX_SETTINGS, Reason};

use crate::tree::{READ_ONLY, Tree, own, profile};

/// A profile of exactly `size` bytes.
fn padded(name: &str, size: usize) -> String {
    let mut text = profile(name, "writer");
    text.extend(std::iter::repeat_n('x', size - text.len()));
    text
}

#[test]
fn a_profile_has_64_kib() {
    let tree = Tree::new()
        .file("project/.pi/agents/a.md", padded("fits", MAX_PROFILE))
        .file("project/.pi/agents/b.md", padded("big", MAX_PROFILE + 1));
    tree.check_names(&["fits"]);
    assert_eq!(tree.reasons("project/.pi/agents/b.md"), [Reason::TooLarge]);
}

#[test]
fn a_profile_that_is_too_large_still_hides() {
    Tree::new()
        .file("project/.pi/agents/b.md", padded("same", MAX_PROFILE + 1))
        .profile("home/.agents/a.md", "same", "writer")
        .check_names(&[]);
}

#[test]
fn a_large_document_is_no_profile() {
    let tree = Tree::new().file("project/.agents/notes.md", "x".repeat(MAX_PROFILE + 1));
    assert_eq!(tree.load().notes, []);
}

#[test]
fn the_first_256_profiles_count_the_project_before_the_user() {
    let mut tree = Tree::new().profile("home/.agents/u.md", "zz-user", "writer");
    for index in 0..MAX_PROFILES {
        tree = tree.profile(&format!("project/.pi/agents/{index:03}.md"), &format!("agent-{index:03}"), "read-only");
    }
    let tree = tree.file("project/.pi/agents/0-document.md", "# no profile\n");
    let loaded = tree.load();
    assert_eq!(own(&loaded).count(), MAX_PROFILES);
    assert!(own(&loaded).all(|agent| agent.role == READ_ONLY));
    assert_eq!(tree.reasons("home/.agents/u.md"), [Reason::PastLimit]);
}

#[test]
fn many_aliases_are_loaded_and_a_few_of_their_clashes_noted() {
    let aliases: Vec<_> = (0..12_000).map(|index| format!("{index}")).collect();
    let aliases = aliases.join(",");
    let mut tree = Tree::new();
    for index in 0..64 {
        let text = format!("---\nname: a{index:02}\ndescription: d\naliases: {aliases}\n---\n");
        tree = tree.file(&format!("project/.pi/agents/{index:02}.md"), text);
    }
    let loaded = tree.load();
    assert_eq!(own(&loaded).map(|agent| agent.aliases.len()).max(), Some(12_000));
    let ambiguous = |note: &&profiles::Note| matches!(note.reason, Reason::Ambiguous { .. });
    assert_eq!(loaded.notes.iter().filter(ambiguous).count(), 16);
}

#[test]
fn settings_that_name_places_without_end_are_cut() {
    let dirs: Vec<_> = (0..2000).map(|index| format!("{}kits/*", "./".repeat(index % 7))).collect();
    let packages: Vec<_> = (0..2000).map(|index| format!("./p{index}")).collect();
    let settings = serde_json::json!({"packages": packages, "subagents": {"agentScanDirs": dirs}});
    let folders: Vec<_> = (0..2000).map(|index| format!("agents{index}")).collect();
    let manifest = serde_json::json!({"pi": {"subagents": {"agents": folders}}});
    let tree = Tree::new()
        .profile("project/kits/one/a.md", "scanned", "writer")
        .file("project/.pi/settings.json", settings.to_string())
        .file("project/package.json", manifest.to_string());
    tree.check_names(&["scanned"]);
    let places = Reason::Cut { what: "places", limit: 256 };
    assert!(tree.load().notes.iter().any(|note| note.reason == places));
}

#[test]
fn all_places_together_have_16384_entries() {
    let mut tree = Tree::new().profile("home/.agents/u.md", "user", "writer");
    for index in 0..4096 {
        tree = tree.file(&format!("project/.agents/{index}.txt"), "");
    }
    // The same folder under four names: with `.agents` itself more than all entries.
    let dirs: Vec<_> = (0..4).map(|index| format!(".agents/{}", "../.agents/".repeat(index))).collect();
    let settings = serde_json::json!({"subagents": {"agentScanDirs": dirs}});
    let tree = tree.file("project/.pi/settings.json", settings.to_string());
    let cut = Reason::Cut { what: "entries", limit: 16_384 };
    assert!(tree.load().notes.iter().any(|note| note.reason == cut));
    tree.check_names(&[]);
}

#[test]
fn settings_have_1_mib() {
    let settings = |size: usize| {
        let text = r#"{"subagents": {"disableBuiltins": true}}"#;
        format!("{text}{}", " ".repeat(size - text.len()))
    };
    let tree = Tree::new().profile("project/.pi/agents/a.md", "own", "writer");
    let tree = tree.file("project/.pi/settings.json", settings(MAX_SETTINGS));
    assert_eq!(tree.load().agents.len(), 1);
    let tree = tree.file("project/.pi/settings.json", settings(MAX_SETTINGS + 1));
    assert_eq!(tree.load().agents, []);
    assert!(matches!(tree.reasons("project/.pi/settings.json")[..], [Reason::SettingsUnusable(_)]));
}

#[test]
fn a_place_has_16_levels() {
    let levels = |count: usize| format!("project/.pi/agents/{}", "d/".repeat(count));
    let tree = Tree::new().profile(&format!("{}a.md", levels(16)), "reached", "writer").profile(
        &format!("{}b.md", levels(17)),
        "below",
        "writer",
    );
    tree.check_names(&["reached"]);
    assert_eq!(tree.reasons(levels(17).trim_end_matches('/')), [Reason::Cut { what: "levels", limit: 16 }]);
}

#[test]
fn a_place_has_4096_entries_and_another_place_its_own() {
    let mut tree = Tree::new().profile("home/.agents/u.md", "user", "writer");
    for index in 0..4096 {
        tree = tree.file(&format!("project/.agents/{index}.txt"), "");
    }
    tree.check_names(&["user"]);
    assert_eq!(tree.load().notes, []);
    let tree = tree.file("project/.agents/one-more.txt", "");
    assert_eq!(tree.reasons("project/.agents"), [Reason::Cut { what: "entries", limit: 4096 }]);
    tree.check_names(&["user"]);
}
