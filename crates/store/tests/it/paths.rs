//! Resolving paths as the kernel would (D7, D47).

use std::fs;
use std::os::unix::fs::symlink;

use queue::{Kind, ProjectPaths as _, Resolution};

use crate::support::Project;

fn project() -> Project {
    let project = Project::with_queue(b"{}");
    let root = &project.root;
    fs::create_dir_all(root.join("crates/a/src")).unwrap();
    fs::write(root.join("notes.txt"), b"").unwrap();
    fs::create_dir_all(root.with_file_name("app-evil")).unwrap();
    symlink("crates/a", root.join("in")).unwrap();
    symlink("..", root.join("out")).unwrap();
    symlink("/tmp", root.join("tmp")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    symlink("../nowhere", root.join("gone")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink(root.join("crates"), root.join("absolute")).unwrap();
    symlink("../app/crates", root.join("around")).unwrap();
    symlink("../../notes.txt", root.join("crates/a/up")).unwrap();
    for number in 0..41 {
        symlink(format!("chain{}", number + 1), root.join(format!("chain{number}"))).unwrap();
    }
    project
}

#[test]
fn every_kind_of_path_is_resolved() {
    let project = project();
    let dir = project.open();
    let check = |path: &str, (relative, kind): (&str, Kind)| {
        assert_eq!(dir.resolve(path), Resolution::Inside { relative: relative.to_owned(), kind }, "{path}");
    };
    let root = project.root.to_str().unwrap();
    check(".", (".", Kind::Directory));
    check("", (".", Kind::Directory));
    check("./crates//a/.", ("crates/a", Kind::Directory));
    check("crates/a/", ("crates/a", Kind::Directory));
    check("crates/../notes.txt", ("notes.txt", Kind::Other));
    check("new/mod.rs", ("new/mod.rs", Kind::Missing));
    check("notes.txt/x", ("notes.txt/x", Kind::Missing));
    check("in/src", ("crates/a/src", Kind::Directory));
    check("in/..", ("crates", Kind::Directory));
    check("in/up", ("notes.txt", Kind::Other));
    check("absolute/a", ("crates/a", Kind::Directory));
    check("around/a", ("crates/a", Kind::Directory));
    check("dangling/x", ("nowhere/x", Kind::Missing));
    check("chain2", ("chain41", Kind::Missing));
    check("missing/../crates", ("crates", Kind::Missing));
    check(&format!("{root}/crates"), ("crates", Kind::Directory));
    check(root, (".", Kind::Directory));
    for (outside, exists) in [
        ("..", true),
        ("out", true),
        ("out/app-evil", true),
        ("out/x", false),
        ("out/app-evil/x/..", false),
        ("gone", false),
        ("gone/x", false),
        ("missing/../out/app-evil", false),
        ("missing/../../x", false),
        ("../app-evil", true),
        ("../app-evil2", false),
        ("/", true),
        ("/etc/passwd", true),
        ("/nowhere/x", false),
    ] {
        assert_eq!(dir.resolve(outside), Resolution::Outside { exists }, "{outside}");
    }
    for endless in ["loop", "loop/x", "chain0"] {
        assert_eq!(dir.resolve(endless), Resolution::Loop, "{endless}");
    }
    assert_eq!(dir.resolve(&format!("{root}-evil/x")), Resolution::Outside { exists: false });
    check(&"x/".repeat(2500), (("x/".repeat(2500)).trim_end_matches('/'), Kind::Missing));
}

#[test]
fn a_project_opened_through_a_link_answers_for_both_names() {
    let project = project();
    let link = project.root.with_file_name("link");
    symlink(&project.root, &link).unwrap();
    let dir = store::ProjectDir::open(&link, &store::sys::Sys::real(), store::PiFolder::Require).unwrap();
    assert_eq!(dir.root(), link.to_str().unwrap());
    assert_eq!(dir.identity(), project.open().identity());
    let expected = Resolution::Inside { relative: "crates".to_owned(), kind: Kind::Directory };
    for path in [link.join("crates"), project.root.join("crates")] {
        assert_eq!(dir.resolve(path.to_str().unwrap()), expected);
    }
    assert!(dir.still_named().is_ok());
    fs::remove_file(&link).unwrap();
    symlink("app-evil", &link).unwrap();
    assert!(dir.still_named().is_err(), "the link leads elsewhere");
}
