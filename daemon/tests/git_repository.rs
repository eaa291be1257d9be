//! Which repository a project belongs to, by hand and as `git` lays it out: subfolders, worktrees, submodules, nested
//! checkouts, sparse and split indexes (D65).

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod repo;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use handoffd::git::{TrackedCache, Tracking};
use repo::{git, git_folder, put, real_repository, scratch};

/// An index of version 2 with one name.
fn index(name: &str) -> Vec<u8> {
    let length = u16::try_from(name.len()).unwrap();
    let mut out = [b"DIRC".as_slice(), &2_u32.to_be_bytes(), &1_u32.to_be_bytes(), &[0; 60]].concat();
    out.extend(length.to_be_bytes());
    out.extend(name.as_bytes());
    out.resize(12 + (62 + name.len() + 8) / 8 * 8, 0);
    out.extend([0; 20]);
    out
}

#[track_caller]
fn check(root: &Path, expected: &Tracking) {
    assert_eq!(TrackedCache::default().look_up(root, "tasks.json"), *expected, "{}", root.display());
}

#[track_caller]
fn check_unknown(root: &Path, words: &str) {
    let found = TrackedCache::default().look_up(root, "tasks.json");
    assert!(matches!(&found, Tracking::Unknown(why) if why.to_string().contains(words)), "{found:?}");
}

#[test]
fn a_subfolder_belongs_to_the_repository_above_it() {
    let (_keep, top) = scratch();
    git_folder(&top.join(".git"));
    fs::create_dir_all(top.join("a/b")).unwrap();
    put(&top.join(".git/index"), index("a/b/tasks.json"));
    check(&top.join("a/b"), &Tracking::Tracked);
    check(&top.join("a"), &Tracking::NotTracked);
    check(&top, &Tracking::NotTracked);

    let (_elsewhere, other) = scratch();
    symlink(top.join("a/b"), other.join("link")).unwrap();
    check(&other.join("link"), &Tracking::Tracked);
}

#[test]
fn without_a_repository_nothing_is_tracked() {
    let (_keep, top) = scratch();
    check(&top, &Tracking::NotTracked);
    check_unknown(&top.join("missing"), "cannot resolve");
}

#[test]
fn the_nearest_checkout_decides_and_a_mere_name_does_not() {
    let (_keep, top) = scratch();
    git_folder(&top.join(".git"));
    put(&top.join(".git/index"), index("nested/tasks.json"));
    fs::create_dir_all(top.join("nested/.git")).unwrap();
    check(&top.join("nested"), &Tracking::Tracked);
    git_folder(&top.join("nested/.git"));
    check(&top.join("nested"), &Tracking::NotTracked);
    put(&top.join("nested/.git/index"), index("tasks.json"));
    check(&top.join("nested"), &Tracking::Tracked);
    check(&top, &Tracking::NotTracked);
}

#[test]
fn a_linked_worktree_has_its_own_index() {
    let (_keep, top) = scratch();
    git_folder(&top.join("main/.git"));
    put(&top.join("main/.git/index"), index("other"));
    let own = top.join("main/.git/worktrees/tree");
    put(&own.join("HEAD"), "ref: refs/heads/x\n");
    put(&own.join("commondir"), "../..\n");
    put(&own.join("index"), index("tasks.json"));
    put(&top.join("tree/.git"), format!("gitdir: {}\n", own.display()));
    check(&top.join("tree"), &Tracking::Tracked);
    check(&top.join("main"), &Tracking::NotTracked);
}

#[test]
fn a_submodule_points_to_its_folder_by_a_relative_path() {
    let (_keep, top) = scratch();
    git_folder(&top.join(".git"));
    put(&top.join(".git/index"), index("sub"));
    git_folder(&top.join(".git/modules/sub"));
    put(&top.join(".git/modules/sub/index"), index("tasks.json"));
    put(&top.join("sub/.git"), "gitdir: ../.git/modules/sub\r\n");
    check(&top.join("sub"), &Tracking::Tracked);
}

#[test]
fn a_pointer_that_leads_nowhere_is_unknown() {
    let (_keep, top) = scratch();
    put(&top.join(".git"), "gitdir: /nonexistent/place\n");
    check_unknown(&top, "is no git folder");
    for content in ["", "gitdir: ", "gitdir:x", "somewhere", "gitdir: a\0b"] {
        put(&top.join(".git"), content);
        check_unknown(&top, "does not begin with `gitdir: `");
    }
    put(&top.join(".git"), "gitdir: ".to_owned() + &"x".repeat(9000));
    check_unknown(&top, "over the limit of 8192");
}

#[test]
fn real_indexes_of_every_version() {
    let (_keep, top) = scratch();
    for (number, version) in ["2", "3", "4"].into_iter().enumerate() {
        for (format, options) in [("sha1", [].as_slice()), ("sha256", &["--object-format=sha256"])] {
            let root = top.join(format!("{number}-{format}"));
            let Some(()) = real_repository(&root, options) else { return };
            for name in ["a", "sub/b", "tasks.json", "z"] {
                put(&root.join(name), "x");
            }
            git(&root, &["add", "a", "sub", "z"]);
            check(&root, &Tracking::NotTracked);
            // "Intent to add" needs version 3 at least.
            git(&root, if version == "3" { &["add", "-N", "tasks.json"] } else { &["add", "tasks.json"] });
            git(&root, &["update-index", "--force-write-index", "--index-version", version]);
            check(&root, &Tracking::Tracked);
            check(&root.join("sub"), &Tracking::NotTracked);
            git(&root, &["rm", "-q", "--cached", "tasks.json"]);
            check(&root, &Tracking::NotTracked);
        }
    }
}

#[test]
fn a_real_split_index() {
    let (_keep, top) = scratch();
    let Some(()) = real_repository(&top, &[]) else { return };
    for name in ["a", "tasks.json", "z"] {
        put(&top.join(name), "x");
    }
    git(&top, &["add", "."]);
    git(&top, &["update-index", "--split-index"]);
    check(&top, &Tracking::Tracked);
    put(&top.join("tasks.json"), "changed");
    git(&top, &["add", "tasks.json"]);
    check(&top, &Tracking::Tracked);
    git(&top, &["-c", "splitIndex.maxPercentChange=100", "rm", "-q", "--cached", "tasks.json"]);
    let own = fs::read(top.join(".git/index")).unwrap();
    assert!(own.windows(4).any(|word| word == b"link"), "the index is no longer split");
    check(&top, &Tracking::NotTracked);
}

#[test]
fn a_real_sparse_index() {
    let (_keep, top) = scratch();
    let Some(()) = real_repository(&top, &[]) else { return };
    for name in ["in/tasks.json", "out/deep/file", "tasks.json"] {
        put(&top.join(name), "x");
    }
    git(&top, &["add", "."]);
    git(&top, &["commit", "-q", "-m", "x"]);
    git(&top, &["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
    check(&top, &Tracking::Tracked);
    check(&top.join("in"), &Tracking::Tracked);
    fs::create_dir_all(top.join("out")).unwrap();
    check(&top.join("out"), &Tracking::NotTracked);
}

#[test]
fn a_real_worktree_and_a_real_submodule() {
    let (_keep, top) = scratch();
    let (main, library) = (top.join("main"), top.join("library"));
    let Some(()) = real_repository(&main, &[]) else { return };
    real_repository(&library, &[]).unwrap();
    for root in [&main, &library] {
        put(&root.join("tasks.json"), "x");
        git(root, &["add", "."]);
        git(root, &["commit", "-q", "-m", "x"]);
    }
    git(&main, &["worktree", "add", "-q", "../tree"]);
    git(&main, &["submodule", "--quiet", "add", "../library", "library"]);
    for root in [main.clone(), top.join("tree"), main.join("library")] {
        check(&root, &Tracking::Tracked);
        git(&root, &["rm", "-q", "--cached", "tasks.json"]);
        check(&root, &Tracking::NotTracked);
    }
}
