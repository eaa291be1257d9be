//! The registry on real folders.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::env::Env;

/// A state folder and some project folders that vanish with it.
struct World {
    dir: tempfile::TempDir,
    registry: Registry,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let registry = Registry::new(&dir.path().join("state/handoffd"));
        Self { dir, registry }
    }

    fn folder(&self, name: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path.canonicalize().unwrap()
    }

    fn file(&self) -> PathBuf {
        self.registry.file()
    }

    fn put(&self, text: &str) {
        std::fs::create_dir_all(&self.registry.state_dir).unwrap();
        File::create(self.file()).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap()
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.registry.read().unwrap().projects.into_iter().map(|entry| entry.path).collect()
    }

    fn change(&self, path: &Path, change: Change) -> Entry {
        self.registry.change(&Config::default(), &at(path), change).unwrap()
    }
}

fn at(path: &Path) -> Selector {
    Selector::Path(path.to_path_buf())
}

fn config(text: &str) -> Config {
    Config::parse(text, Path::new("c.toml"), &Env::default()).unwrap().0
}

#[test]
fn a_registered_project_is_there_for_the_next_reader() {
    let world = World::new();
    assert_eq!(world.registry.read().unwrap(), ProjectList::default());
    assert!(world.registry.stamp().is_none());
    let shop = world.folder("shop");
    let added = world.registry.add(&shop, Some("s")).unwrap();
    assert_eq!(added, Added::New(Entry::new(shop.clone(), Some("s".to_owned()))));
    let expected = json!({"version": 1, "projects": [{"path": shop, "name": "s", "enabled": true, "paused": false}]});
    assert_eq!(serde_json::from_str::<Value>(&world.text()).unwrap(), expected);
    assert_eq!(std::fs::metadata(world.file()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_folder_named_twice_is_one_project() {
    let world = World::new();
    let shop = world.folder("shop");
    world.registry.add(&shop, None).unwrap();
    let link = world.dir.path().join("link");
    symlink(&shop, &link).unwrap();
    for path in [link, shop.join("../shop"), shop.join(".")] {
        assert!(matches!(world.registry.add(&path, None).unwrap(), Added::Known(entry) if entry.path == shop));
    }
    assert_eq!(world.paths(), [shop]);
}

#[test]
fn what_is_no_folder_is_refused() {
    let world = World::new();
    let file = world.dir.path().join("file");
    File::create(&file).unwrap();
    for path in [world.dir.path().join("none"), file] {
        let error = world.registry.add(&path, None).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot register {}: ", path.display())), "{error}");
    }
    assert!(!world.file().exists());
}

#[test]
fn a_path_that_is_not_utf8_is_refused_in_words() {
    let world = World::new();
    let path = world.dir.path().join(OsStr::from_bytes(b"caf\xe9"));
    if std::fs::create_dir(&path).is_err() {
        return; // this file system has UTF-8 names only
    }
    let error = world.registry.add(&path, None).unwrap_err().to_string();
    assert!(error.ends_with("is not UTF-8: such a folder cannot be a project, rename it"), "{error}");
    assert!(!world.file().exists());
}

#[test]
fn names_are_checked_and_belong_to_one_project() {
    let world = World::new();
    let (a, b) = (world.folder("a"), world.folder("b"));
    world.registry.add(&a, Some("x")).unwrap();
    let error = world.registry.add(&b, Some("x")).unwrap_err().to_string();
    assert_eq!(error, format!("the name x belongs to {}", a.display()));
    assert!(matches!(world.registry.add(&b, Some("a/b")), Err(RegistryError::BadName { .. })));
    world.registry.add(&a, Some("y")).unwrap();
    world.registry.add(&b, Some("x")).unwrap();
    let names: Vec<_> = world.registry.read().unwrap().projects.into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, [Some("y".to_owned()), Some("x".to_owned())]);
}

#[test]
fn every_change_is_kept_and_can_be_taken_back() {
    let world = World::new();
    let shop = world.folder("shop");
    world.registry.add(&shop, None).unwrap();
    let check = |change: Change, enabled, paused, lifted: Option<&str>| {
        let entry = world.change(&shop, change);
        assert_eq!(world.registry.read().unwrap().projects, std::slice::from_ref(&entry));
        assert_eq!((entry.enabled, entry.paused, entry.held_lifted.as_deref()), (enabled, paused, lifted));
    };
    check(Change::Disable, false, false, None);
    check(Change::Pause, false, true, None);
    check(Change::Enable, true, true, None);
    check(Change::LiftHold("f0".to_owned()), true, true, Some("f0"));
    check(Change::Resume, true, false, Some("f0"));
    check(Change::ForgetLiftedHold, true, false, None);
}

#[test]
fn a_change_that_changes_nothing_writes_nothing() {
    let world = World::new();
    let shop = world.folder("shop");
    world.registry.add(&shop, None).unwrap();
    let stamp = world.registry.stamp();
    world.change(&shop, Change::Resume);
    world.registry.add(&shop, None).unwrap();
    assert_eq!(world.registry.stamp(), stamp);
    world.change(&shop, Change::Pause);
    assert_ne!(world.registry.stamp(), stamp);
}

#[test]
fn a_project_whose_folder_is_gone_can_still_be_named() {
    let world = World::new();
    let shop = world.folder("shop");
    world.registry.add(&shop, None).unwrap();
    std::fs::remove_dir(&shop).unwrap();
    assert!(!world.change(&shop, Change::Disable).enabled);
    let by_name = Selector::new(Some(OsStr::new("shop")), Path::new("/"));
    let removed = world.registry.remove(&Config::default(), &by_name).unwrap();
    assert_eq!((removed.entry.path, removed.still_configured), (shop, None));
    assert!(world.paths().is_empty());
}

#[test]
fn a_damaged_file_is_never_overwritten() {
    let shop = World::new();
    let folder = shop.folder("shop");
    for text in [
        "",
        "{",
        "[]",
        "[1,[]]",
        "{\"version\":1}",
        "{\"projects\":[]}",
        "{\"version\":1,\"projects\":[[\"/a\"]]}",
        "\0\0",
    ] {
        shop.put(text);
        let error = shop.registry.add(&folder, None).unwrap_err().to_string();
        let words = ["is damaged (", "was left alone: repair it, or move it away and register the projects again"];
        assert!(words.iter().all(|word| error.contains(word)), "{text:?}: {error}");
        assert_eq!(shop.text(), text);
    }
}

#[test]
fn a_file_of_a_newer_version_is_never_overwritten() {
    let world = World::new();
    let text = r#"{"version":2,"projects":{"new":"shape"}}"#;
    world.put(text);
    let error = world.registry.add(&world.folder("a"), None).unwrap_err().to_string();
    assert!(
        error.ends_with("was written by a newer handoffd (version 2, this one knows 1): update this one"),
        "{error}"
    );
    assert_eq!(world.text(), text);
}

/// A file as the first release wrote it, with members of a later one. Restoring it may never break.
#[test]
fn members_that_are_not_known_come_back() {
    let world = World::new();
    let old = json!({
        "version": 1,
        "theme": {"dark": true},
        "projects": [{"path": "/a", "colour": "red", "enabled": false, "paused": true}, {"path": "/b"}],
    });
    world.put(&old.to_string());
    let list = world.registry.read().unwrap();
    assert_eq!((list.projects[0].enabled, list.projects[1].enabled), (false, true));
    world.change(Path::new("/a"), Change::Enable);
    let text: Value = serde_json::from_str(&world.text()).unwrap();
    assert_eq!(text["theme"], old["theme"]);
    assert_eq!(text["projects"][0], json!({"path": "/a", "enabled": true, "paused": true, "colour": "red"}));
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let world = World::new();
    let folders: Vec<PathBuf> = (0..40).map(|n| world.folder(&format!("p{n}"))).collect();
    thread::scope(|scope| {
        for part in folders.chunks(5) {
            let registry = world.registry.clone();
            scope.spawn(move || {
                for folder in part {
                    registry.add(folder, None).unwrap();
                }
            });
        }
    });
    let mut paths = world.paths();
    paths.sort();
    let mut expected = folders;
    expected.sort();
    assert_eq!(paths, expected);
}

#[test]
fn a_project_of_the_configuration_gets_an_entry_only_for_its_state() {
    let world = World::new();
    let shop = world.folder("shop");
    let config = config(&format!("[[project]]\npath = '{}'\nname = 'till'\n", shop.display()));
    let till = Selector::new(Some(OsStr::new("till")), Path::new("/"));
    let error = world.registry.remove(&config, &till).unwrap_err().to_string();
    assert!(error.ends_with("is not registered: line 1 of the configuration names it, remove it there"), "{error}");
    let entry = world.registry.change(&config, &till, Change::Disable).unwrap();
    assert_eq!((entry.path, entry.enabled), (shop, false));
    assert_eq!(world.registry.remove(&config, &till).unwrap().still_configured, Some(1));
}

#[test]
fn a_folder_named_in_all_places_is_one_project() {
    let world = World::new();
    let (shop, other) = (world.folder("shop"), world.folder("other"));
    let link = world.dir.path().join("link");
    symlink(&shop, &link).unwrap();
    world.registry.add(&shop, Some("registered")).unwrap();
    let config = config(&format!("[[project]]\npath = '{}'\nname = 'configured'\n", link.display()));
    let list = world.registry.read().unwrap();
    let projects = all_projects(&list, &config, &[link, other.clone(), PathBuf::from("/gone/p")]);
    let shown: Vec<_> = projects.iter().map(|p| (p.path.clone(), p.name(), p.by_option)).collect();
    let expected = [
        (shop, "configured".to_owned(), ByOption::Named),
        (other, "other".to_owned(), ByOption::Named),
        ("/gone/p".into(), "p".to_owned(), ByOption::Named),
    ];
    assert_eq!(shown, expected);
    assert_eq!(projects.iter().map(|p| p.id.is_some()).collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn a_project_is_enabled_only_if_no_place_says_otherwise() {
    let check = |registered: Option<bool>, configured: Option<bool>, expected| {
        let entry = registered.map(|enabled| {
            let mut entry = Entry::new("/p".into(), None);
            entry.enabled = enabled;
            entry
        });
        let config = configured.map(|enabled| config(&format!("[[project]]\npath = '/p'\nenabled = {enabled}")));
        let mut list = ProjectList::default();
        list.projects.extend(entry);
        let projects = all_projects(&list, &config.unwrap_or_default(), &["/p".into()]);
        assert_eq!(projects.iter().map(Project::enabled).collect::<Vec<_>>(), [expected]);
    };
    check(None, None, true);
    check(Some(false), None, false);
    check(Some(true), Some(false), false);
    check(Some(false), Some(true), false);
    check(Some(true), Some(true), true);
}

#[test]
fn a_lock_that_is_not_given_back_is_named() {
    let world = World::new();
    let shop = world.folder("shop");
    make_private(&world.registry.state_dir).unwrap();
    let held = world.registry.lock(Duration::ZERO).unwrap();
    let error = world.registry.lock(Duration::from_millis(20)).unwrap_err().to_string();
    assert!(error.contains("projects.lock has been locked by another process for 5 s"), "{error}");
    drop(held);
    assert!(world.registry.add(&shop, None).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Whatever is done in whatever order, the file holds exactly what a list in memory holds.
    #[test]
    fn the_file_follows_the_model(steps in proptest::collection::vec((0..3_usize, 0..4_u8), 1..20)) {
        let world = World::new();
        let folders = ["a", "b", "c"].map(|name| world.folder(name));
        let mut model: Vec<(PathBuf, bool)> = Vec::new();
        for (which, action) in steps {
            let folder = &folders[which];
            let known = model.iter().position(|(path, _)| path == folder);
            match (action, known) {
                (0, None) => {
                    world.registry.add(folder, None).unwrap();
                    model.push((folder.clone(), true));
                }
                (1, Some(index)) => {
                    world.registry.remove(&Config::default(), &at(folder)).unwrap();
                    model.remove(index);
                }
                (2 | 3, Some(index)) => {
                    let change = if action == 2 { Change::Enable } else { Change::Disable };
                    model[index].1 = world.change(folder, change).enabled;
                    prop_assert_eq!(model[index].1, action == 2);
                }
                (0, Some(_)) => prop_assert!(matches!(world.registry.add(folder, None), Ok(Added::Known(_)))),
                _ => prop_assert!(world.registry.change(&Config::default(), &at(folder), Change::Pause).is_err()),
            }
        }
        let read: Vec<_> = world.registry.read().unwrap().projects.into_iter().map(|e| (e.path, e.enabled)).collect();
        prop_assert_eq!(read, model);
    }
}
