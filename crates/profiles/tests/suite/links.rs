//! Links: followed while they stay inside the place or the home, never out of them (D27).

use profiles::Reason;

use crate::tree::{Tree, WRITER};

#[test]
fn links_may_stay_in_the_project_or_lead_home() {
    Tree::new()
        .profile("project/profiles/a.md", "inside", "writer")
        .profile("home/shared/b.md", "home", "writer")
        .profile("home/kit/sub/c.md", "folder", "writer")
        .link("project/.pi/agents/a.md", "../../profiles/a.md")
        .link("project/.pi/agents/b.md", "../../../home/shared/b.md")
        .link("project/.pi/agents/kit", "../../../home/kit")
        .check_names(&["folder", "home", "inside"]);
}

#[test]
fn links_that_lead_out_do_not_exist_and_are_noted() {
    let tree = Tree::new()
        .profile("elsewhere/a.md", "out", "writer")
        .profile("elsewhere/kit/b.md", "out-too", "writer")
        .link("project/.pi/agents/a.md", "../../../elsewhere/a.md")
        .link("project/.pi/agents/kit", "../../../elsewhere/kit")
        .link("project/.agents", "../elsewhere");
    tree.check_names(&[]);
    for path in ["project/.pi/agents/a.md", "project/.pi/agents/kit", "project/.agents"] {
        assert_eq!(tree.reasons(path), [Reason::OutsidePlace], "{path}");
    }
}

#[test]
fn a_link_out_hides_nothing() {
    Tree::new()
        .profile("elsewhere/a.md", "same", "read-only")
        .link("project/.pi/agents/a.md", "../../../elsewhere/a.md")
        .profile("home/.agents/b.md", "same", "writer")
        .check_role("same", WRITER);
}

#[test]
fn loops_are_cut() {
    Tree::new()
        .profile("project/.pi/agents/one/a.md", "once", "writer")
        .link("project/.pi/agents/one/up", "..")
        .link("project/.pi/agents/self", ".")
        .link("project/.pi/agents/x.md", "x.md")
        .link("project/.pi/agents/gone.md", "nowhere.md")
        .check_names(&["once"]);
}

// macOS cannot make a pipe this way.
#[cfg(not(target_vendor = "apple"))]
#[test]
fn a_pipe_is_never_waited_for() {
    let tree = Tree::new().dir("project/.pi/agents").dir("project/pipes");
    let pipe = tree.path("project/pipes/p");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    let tree = tree.link("project/.pi/agents/p.md", "../../pipes/p");
    let (done, waiting) = std::sync::mpsc::channel();
    let places = tree.places();
    std::thread::spawn(move || done.send(profiles::load(&places)));
    let loaded = waiting.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    assert!(
        loaded.notes.iter().any(|note| note.path == pipe.canonicalize().unwrap() && note.reason == Reason::NotRegular)
    );
}
