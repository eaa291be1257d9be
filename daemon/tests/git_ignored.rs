//! Which files git ignores, by the rules of a working tree (D68).

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod repo;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use handoffd::git::{CannotTell, Ignored, ignored};
use repo::{git_folder, put, real_repository, run_git, scratch};

#[track_caller]
fn check(root: &Path, relative: &str, rule: Option<&str>) {
    let found = ignored(root, relative).unwrap();
    let by = match &found {
        Ignored::No => None,
        Ignored::GitFolder => Some(".git"),
        Ignored::By { rule, .. } => Some(rule.as_str()),
    };
    assert_eq!(by, rule, "{relative}: {found:?}");
}

#[test]
fn rules_from_the_working_tree_down_to_the_file() {
    let (_keep, top) = scratch();
    git_folder(&top.join(".git"));
    put(&top.join(".git/info/exclude"), "private\n");
    put(&top.join(".gitignore"), "\u{feff}*.log\r\n/build/\n# comment\n!kept.log\n[broken\n");
    put(&top.join("sub/.gitignore"), "notes.md\n!deep.log\n");
    let root = top.join("sub");
    check(&root, "a.log", Some("*.log"));
    check(&root, "kept.log", None);
    check(&root, "x/deep.log", None);
    check(&root, "notes.md", Some("notes.md"));
    check(&root, "./x/notes.md", Some("notes.md"));
    check(&root, "readme.md", None);
    check(&root, "private/key", Some("private"));
    check(&root, "build/x", None);
    check(&top, "build/x", Some("/build/"));
    check(&top, "build", None);
    check(&top, "notes.md", None);
    check(&top, ".git/config", Some(".git"));
    check(&top, "sub/.GIT/config", Some(".git"));
    let Ignored::By { file, .. } = ignored(&root, "a.log").unwrap() else { panic!() };
    assert_eq!(file, top.join(".gitignore"));
}

#[test]
fn an_ignored_folder_cannot_be_opened_again_below() {
    let (_keep, top) = scratch();
    git_folder(&top.join(".git"));
    put(&top.join(".gitignore"), "secret/\n!secret/open.md\n");
    put(&top.join("secret/.gitignore"), "!*\n");
    check(&top, "secret/open.md", Some("secret/"));
}

#[test]
fn a_worktree_uses_the_shared_exclude_file() {
    let (_keep, top) = scratch();
    git_folder(&top.join("main/.git"));
    put(&top.join("main/.git/info/exclude"), "local.md\n");
    let own = top.join("main/.git/worktrees/tree");
    put(&own.join("HEAD"), "ref: refs/heads/x\n");
    put(&own.join("commondir"), "../..\n");
    put(&top.join("tree/.git"), format!("gitdir: {}\n", own.display()));
    check(&top.join("tree"), "local.md", Some("local.md"));
}

#[test]
fn without_a_repository_the_projects_own_rules_count() {
    let (_keep, top) = scratch();
    put(&top.join(".gitignore"), "above\n");
    put(&top.join("p/.gitignore"), "own\n");
    check(&top.join("p"), "own", Some("own"));
    check(&top.join("p"), "above", None);
}

#[test]
fn a_linked_ignore_file_counts_as_none_as_in_git() {
    let (_keep, top) = scratch();
    git_folder(&top.join(".git"));
    put(&top.join("rules"), "a\n");
    symlink("rules", top.join(".gitignore")).unwrap();
    check(&top, "a", None);
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let (_keep, top) = scratch();
    git_folder(&top.join(".git"));
    for path in ["../x", "a/../../x", "/etc/passwd", "", ".", &"d/".repeat(65)] {
        assert!(matches!(ignored(&top, path), Err(CannotTell::Path { .. })), "{path}");
    }
    put(&top.join(".gitignore"), "x\n".repeat(70_000));
    assert!(matches!(ignored(&top, "a"), Err(CannotTell::TooLarge { limit: 131_072, .. })));
    fs::remove_file(top.join(".gitignore")).unwrap();
    fs::create_dir(top.join(".gitignore")).unwrap();
    assert!(matches!(ignored(&top, "a"), Err(CannotTell::NotRegular { .. })));
}

/// Compares with `git check-ignore`, which fails when a path is not ignored.
#[test]
fn real_git_agrees() {
    let (_keep, top) = scratch();
    let Some(()) = real_repository(&top, &[]) else { return };
    put(
        &top.join(".gitignore"),
        "*.log\n/top\nsub/*\n!sub/keep/\n**/deep/x\nsp\\ ace\nq?\n[ab]c\ntrail  \n\\#hash\n\\!bang\n",
    );
    put(&top.join("sub/keep/.gitignore"), "!a.log\ninner/\n");
    put(&top.join(".git/info/exclude"), "excluded\n");
    let paths = [
        "a.log",
        "sub/a.log",
        "top",
        "x/top",
        "sub/f",
        "sub/keep/f",
        "sub/keep/a.log",
        "sub/keep/b.log",
        "sub/keep/inner/f",
        "deep/x",
        "a/b/deep/x",
        "sp ace",
        "q1",
        "q",
        "ac",
        "cc",
        "trail",
        "#hash",
        "!bang",
        "excluded/f",
        "plain",
    ];
    for path in paths {
        put(&top.join(path), "x");
        let ours = ignored(&top, path).unwrap() != Ignored::No;
        let theirs = run_git(&top, &["check-ignore", "-q", path]).unwrap().status.success();
        assert_eq!(ours, theirs, "{path}");
        let _was_made = fs::remove_file(top.join(path));
    }
}
