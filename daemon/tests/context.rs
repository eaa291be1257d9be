//! Context files on a real file system: what is read, what is missing, and each rule that stops a dispatch (D68).

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod repo;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use handoffd::config::{ContextFiles, NamedBy};
use handoffd::context::{Blocked, Content, ContextFile, collect};
use repo::{git_folder, put, scratch};
use store::sys::Sys;
use store::{PiFolder, ProjectDir};

/// A project in a folder of its own, with a file beside it that must never be read.
struct Place {
    _keep: tempfile::TempDir,
    root: PathBuf,
    project: ProjectDir,
}

fn place() -> Place {
    let (keep, top) = scratch();
    put(&top.join("outside.md"), "outside");
    let root = top.join("project");
    fs::create_dir(&root).unwrap();
    let project = ProjectDir::open(&root, &Sys::default(), PiFolder::Create).unwrap();
    Place { _keep: keep, root, project }
}

impl Place {
    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        put(&self.root.join(path), content);
    }

    fn link(&self, target: impl AsRef<Path>, name: &str) {
        symlink(target, self.root.join(name)).unwrap();
    }

    fn collect(&self, named_by: NamedBy, files: &[&str], plan: Option<&str>) -> Result<Vec<ContextFile>, Blocked> {
        let files = files.iter().map(|path| (*path).to_owned()).collect();
        collect(&self.project, &ContextFiles { files, named_by }, plan)
    }

    /// Both the user and the project may name these; `None` is a missing file.
    #[track_caller]
    fn check(&self, files: &[&str], plan: Option<&str>, expected: &[(&str, Option<&str>)]) {
        for named_by in [NamedBy::User, NamedBy::Project] {
            let found = self.collect(named_by, files, plan).unwrap();
            let found: Vec<_> = found.iter().map(|file| (file.path.as_str(), text(file))).collect();
            assert_eq!(found, expected, "{named_by:?}");
        }
    }

    #[track_caller]
    fn check_blocked(&self, named_by: NamedBy, files: &[&str], words: &str) {
        let blocked = self.collect(named_by, files, None).unwrap_err().to_string();
        assert!(blocked.contains(words), "{blocked}");
        let last = format!("{:?}", files.last().unwrap());
        assert!(blocked.contains(&last), "{blocked} names another file than {last}");
    }

    /// Refused whoever named it.
    #[track_caller]
    fn check_refused(&self, files: &[&str], words: &str) {
        for named_by in [NamedBy::User, NamedBy::Project] {
            self.check_blocked(named_by, files, words);
        }
    }

    /// Refused when the project's own file named it, read when the user did.
    #[track_caller]
    fn check_users_only(&self, path: &str, words: &str) {
        self.check_blocked(NamedBy::Project, &[path], words);
        assert_eq!(self.collect(NamedBy::User, &[path], None).unwrap().len(), 1, "{path}");
    }
}

fn text(file: &ContextFile) -> Option<&str> {
    match &file.content {
        Content::Text { text, .. } => Some(text),
        Content::Missing => None,
    }
}

#[test]
fn files_come_in_order_and_missing_ones_are_named() {
    let place = place();
    place.put("b.md", "bee\r\n");
    place.put("docs/a.md", "");
    place.check(
        &["docs/a.md", "none.md", "b.md", "docs/none/x"],
        None,
        &[("docs/a.md", Some("")), ("none.md", None), ("b.md", Some("bee\r\n")), ("docs/none/x", None)],
    );
    place.check(&[], None, &[]);
    let files = place.collect(NamedBy::User, &["docs/a.md"], None).unwrap();
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855".to_owned();
    assert_eq!(files[0].content, Content::Text { text: String::new(), sha256: empty });
    assert_eq!(files[0].bytes(), 0);
}

#[test]
fn files_are_read_fresh_each_time() {
    let place = place();
    for content in ["one", "two"] {
        place.put("a.md", content);
        place.check(&["a.md"], None, &[("a.md", Some(content))]);
    }
}

#[test]
fn links_are_followed_inside_and_refused_outside() {
    let place = place();
    place.put("real/a.md", "a");
    place.link("real", "folder");
    place.link("real/a.md", "file.md");
    place.link(place.root.join("real/a.md"), "absolute.md");
    place.link("nowhere.md", "broken.md");
    let a = Some("a");
    place.check(&["folder/a.md"], None, &[("folder/a.md", a)]);
    place.check(&["file.md"], None, &[("file.md", a)]);
    place.check(&["absolute.md"], None, &[("absolute.md", a)]);
    place.check(&["broken.md"], None, &[("broken.md", None)]);
    place.check(&["real/a.md", "file.md"], None, &[("real/a.md", a)]);

    place.link("../outside.md", "out.md");
    place.link("..", "up");
    place.link("loop.md", "loop.md");
    for path in ["out.md", "up/outside.md", "../outside.md", "/etc/hostname", "loop.md", "", "a\0b"] {
        place.check_refused(&[path], "does not lead to a place inside the project");
    }
}

#[test]
fn what_is_no_text_file_is_refused() {
    let place = place();
    place.put("latin.txt", b"caf\xe9");
    place.check_refused(&["latin.txt"], "is not UTF-8");
    fs::create_dir(place.root.join("folder")).unwrap();
    place.check_refused(&["folder"], "is not a regular file");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    let pipe = place.root.join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    place.check_refused(&["pipe"], "is not a regular file");
}

#[test]
fn limits_of_number_and_size() {
    let place = place();
    let kib = |count: usize| "x".repeat(count * 1024);
    place.put("full.md", kib(128));
    place.check(&["full.md"], None, &[("full.md", Some(&kib(128)))]);
    place.put("over.md", kib(128) + "x");
    place.check_refused(&["full.md", "over.md"], "is larger than 128 KiB");

    for name in ["1", "2", "3", "4"] {
        place.put(name, kib(128));
    }
    place.put("one-more", "x");
    assert_eq!(place.collect(NamedBy::User, &["1", "2", "3", "4"], None).unwrap().len(), 4);
    place.check_refused(&["1", "2", "3", "4", "one-more"], "together larger than 512 KiB");
    let blocked = place.collect(NamedBy::User, &["1", "2", "3", "4"], Some("one-more")).unwrap_err();
    assert_eq!(blocked.path, "one-more");

    let names: Vec<String> = (0..17).map(|number| format!("n{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(place.collect(NamedBy::User, &names[..16], Some("1")).unwrap().len(), 17);
    place.check_refused(&names, "is number 17 of the list, which may have 16");
}

#[test]
fn a_plan_is_added_when_it_is_a_file_inside() {
    let place = place();
    place.put("plan.md", "plan");
    place.put("a.md", "a");
    place.put("odd#name.md", "odd");
    let plan = Some("plan");
    place.check(&["a.md"], Some("plan.md"), &[("a.md", Some("a")), ("plan.md", plan)]);
    place.check(&[], Some("plan.md#step-2"), &[("plan.md", plan)]);
    place.check(&[], Some("odd#name.md"), &[("odd#name.md", Some("odd"))]);
    place.check(&["plan.md"], Some("./plan.md"), &[("plan.md", plan)]);
    let absolute = place.root.join("plan.md");
    place.check(&[], absolute.to_str(), &[(absolute.to_str().unwrap(), plan)]);
    for text in ["", "see the wiki", "https://example.org/plan.md", "../outside.md", "/etc/hostname", ".", "a\0b", "#"]
    {
        place.check(&[], Some(text), &[]);
    }
}

#[test]
fn a_plan_with_the_name_of_a_secret_is_not_added() {
    let place = place();
    place.put(".env", "TOKEN=x");
    place.link(".env", "plan.md");
    place.check(&[], Some(".env"), &[]);
    place.check(&[], Some("plan.md"), &[]);
}

#[test]
fn a_plan_that_breaks_a_limit_stops_the_dispatch() {
    let place = place();
    place.put("plan.md", b"\xff");
    let blocked = place.collect(NamedBy::User, &[], Some("plan.md")).unwrap_err();
    assert_eq!(blocked.to_string(), "the context file \"plan.md\" is not UTF-8");
}

#[test]
fn the_project_may_not_choose_the_users_secrets() {
    let place = place();
    git_folder(&place.root.join(".git"));
    place.put(".git/config", "[remote]");
    place.put(".git/info/exclude", "/notes/\n");
    place.put(".gitignore", "local.md\n*.log\n!kept.log\n");
    for path in
        [".env.local", "certs/tls.pem", "tls.key", "id_rsa", "local.md", "notes/x.md", "a.log", "kept.log", "ok.md"]
    {
        place.put(path, "x");
    }
    place.link(".env.local", "innocent.md");
    place.link("notes", "public");
    place.link("ok.md", "local-link.log");
    place.check_users_only(".env.local", "usually holds secrets (.env*)");
    place.check_users_only("certs/tls.pem", "(*.pem)");
    place.check_users_only("tls.key", "(*.key)");
    place.check_users_only("id_rsa", "(id_*)");
    place.check_users_only("innocent.md", "(.env*)");
    place.check_users_only("local.md", "is ignored by git (by \"local.md\" in ");
    place.check_users_only("notes/x.md", "is ignored by git (by \"/notes/\" in ");
    place.check_users_only("public/x.md", "is ignored by git (by \"/notes/\" in ");
    place.check_users_only("a.log", "is ignored by git (by \"*.log\" in ");
    place.check_users_only("local-link.log", "is ignored by git");
    place.check_users_only("certs/../a.log", "is ignored by git");
    place.check_users_only(".git/config", "is ignored by git (it is git's own)");
    place.check_users_only(".env", "usually holds secrets");
    place.check(&["ok.md", "kept.log"], None, &[("ok.md", Some("x")), ("kept.log", Some("x"))]);

    place.put(".gitignore", "x\n".repeat(70_000));
    place.check_users_only("ok.md", "may be ignored by git: ");
}
