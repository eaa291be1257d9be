//! Every file of the state folder, out and back, interrupted, shared and foreign.

use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::config::Config;
use crate::env::Env;

const TWO: &str = r#"{"version":1,"projects":[{"path":"/one"},{"path":"/two","name":"two","paused":true}]}"#;
const LOG: &str = "handoffd.2026-11-30.log";

/// A state folder of the host `h`.
struct World {
    home: tempfile::TempDir,
    places: Places,
}

impl World {
    fn new(config: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let config = config.replace("HOME", home.path().to_str().unwrap());
        let env = Env { home: Some(home.path().to_owned()), ..Env::default() };
        let (config, _) = Config::parse(&config, Path::new("c"), &env).unwrap();
        let places = Places::find_on("h".to_owned(), &env, &config).unwrap();
        Self { home, places }
    }

    fn with_everything(config: &str) -> Self {
        let world = Self::new(config);
        world.put("projects.json", TWO);
        world.put("journal-h.jsonl", "new\n");
        world.put("journal-h.jsonl.1", "old\n");
        world.put("journal-h.jsonl.2", "older\n");
        world.put("owned-h.json", r#"{"version":1,"projects":[]}"#);
        world.put("doctor-backup/20261130T080000Z-a/tasks.json", "{}");
        world
    }

    fn state(&self, name: &str) -> PathBuf {
        self.places.state_dir.join(name)
    }

    fn put(&self, name: &str, text: &str) {
        put(&self.state(name), text);
    }

    fn lock(&self) -> Instance {
        crate::places::folder::make_private(&self.places.state_dir).unwrap();
        Instance::acquire(&self.places.instance_lock(), Path::new("/s")).unwrap()
    }

    fn leave(&self, fate: Fate) -> Left {
        leave(&self.places, self.lock(), fate).unwrap()
    }

    fn take_back(&self) -> Back {
        take_back(&self.places, &self.lock()).unwrap()
    }

    /// Files below the home, locks left out: names and texts.
    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        gather(self.home.path(), self.home.path(), &mut files);
        files.retain(|name, _| !name.ends_with(".lock") && !name.ends_with('/'));
        files
    }

    /// Names of the files and empty folders in the state folder, locks as well.
    fn names(&self) -> Vec<String> {
        let mut files = BTreeMap::new();
        gather(&self.places.state_dir, &self.places.state_dir, &mut files);
        files.into_keys().collect()
    }
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn gather(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    let entries: Vec<_> = folder.read_dir().into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    let name = |path: &Path| path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
    if entries.is_empty() && folder != root {
        files.insert(format!("{}/", name(folder)), String::new());
    }
    for path in entries {
        match path.is_dir() {
            true => gather(root, &path, files),
            false => drop(files.insert(name(&path), fs::read_to_string(&path).unwrap_or_default())),
        }
    }
}

#[test]
fn nothing_but_the_logs_is_left_and_all_comes_back() {
    let world = World::with_everything("");
    let before = world.files();
    put(&world.places.log_dir.join(LOG), "line\n");
    fs::create_dir(world.state("run-h")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(world.state("run-h/handoffd.sock")).unwrap());
    world.put(".projects.json.Ab12.new", "half");
    let left = world.leave(Fate::Keep);
    assert!(left.hosts.is_empty() && left.unknown.is_empty() && left.gone.len() == 6, "{left:?}");
    let kept = world.names();
    assert!(kept.iter().all(|name| name.starts_with("log-h/")) && kept.len() == 7, "{kept:?}");
    assert_eq!(fs::metadata(folder(&world.places)).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(waiting(&world.places).len(), 6);
    let back = world.take_back();
    assert_eq!((back.projects, back.things.len(), back.stays.len()), (2, 5, 0), "{back:?}");
    fs::remove_file(world.places.log_dir.join(LOG)).unwrap();
    assert_eq!(world.files(), before);
}

#[test]
fn with_logs_elsewhere_the_state_folder_is_gone() {
    let world = World::with_everything("log.dir = 'HOME/elsewhere'");
    world.leave(Fate::Keep);
    assert!(!world.places.state_dir.exists());
    assert_eq!(waiting(&world.places).len(), 6);
    assert_eq!(world.take_back().projects, 2);
    assert!(world.home.path().join("elsewhere").exists(), "a person's folder stays");
}

#[test]
fn a_state_without_anything_leaves_nothing() {
    let world = World::new("");
    world.put("journal-h.jsonl", "");
    world.leave(Fate::Keep);
    assert!(!world.places.state_dir.exists());
    assert_eq!(world.take_back(), Back::default());
}

/// An end after each step, and then on or back.
#[test]
fn what_was_interrupted_can_be_gone_on_with_and_undone() {
    for (done, goes_on) in (0..=6).flat_map(|done| [(done, true), (done, false)]) {
        let world = World::with_everything("log.dir = 'HOME/logs'");
        let before = world.files();
        let names = belongings(&world.places.state_dir, &world.places).unwrap();
        close(&folder(&world.places)).unwrap();
        for name in &names[..done] {
            let to = folder(&world.places).join(name);
            Mover::of("h").move_to(&world.state(name.to_str().unwrap()), &to).unwrap();
        }
        if goes_on {
            world.leave(Fate::Keep);
        }
        assert!(world.take_back().stays.is_empty(), "{done}");
        assert_eq!(world.files(), before, "after {done}");
    }
}

#[test]
fn a_copy_that_was_whole_before_the_end_is_no_second_one() {
    let world = World::with_everything("");
    close(&folder(&world.places)).unwrap();
    put(&folder(&world.places).join("journal-h.jsonl.1"), "old\n");
    put(&folder(&world.places).join("projects.json"), TWO);
    put(&folder(&world.places).join("doctor-backup/20261130T080000Z-a/tasks.json"), "{}");
    world.leave(Fate::Keep);
    assert!(world.names().iter().all(|name| !name.contains("before")), "{:?}", world.names());
    world.put("journal-h.jsonl.1", "old\n");
    assert!(world.take_back().stays.is_empty());
}

/// As between two file systems: a copy was under way, or its original was being removed.
#[test]
fn nothing_is_left_of_a_move_that_was_killed() {
    let world = World::with_everything("log.dir = 'HOME/logs'");
    let before = world.files();
    world.leave(Fate::Keep);
    let kept = folder(&world.places);
    for private in [world.state(".moving-h.Ab12Cd.new/copy"), kept.join(".moving-h.Ab12Cd.new/gone/a")] {
        put(&private, "half");
    }
    world.take_back();
    assert_eq!(world.files(), before);
    assert!(!kept.exists());
}

/// As without room on another file system: what cannot be copied there is a pipe.
#[test]
fn a_backup_that_cannot_come_back_keeps_no_daemon_from_starting() {
    let Ok(shm) = tempfile::tempdir_in("/dev/shm") else { return };
    let world = World::with_everything(&format!("log.dir = '{}'", shm.path().display()));
    if fs::metadata(shm.path()).unwrap().dev() == fs::metadata(world.home.path()).unwrap().dev() {
        return;
    }
    world.leave(Fate::Keep);
    let kept = folder(&world.places);
    nix::unistd::mkfifo(&kept.join("doctor-backup/z"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let back = world.take_back();
    assert_eq!((back.projects, back.things.len()), (2, 4), "{back:?}");
    assert_eq!(waiting(&world.places), ["doctor-backup"]);
    fs::remove_file(kept.join("doctor-backup/z")).unwrap();
    assert_eq!(world.take_back().things, [world.state("doctor-backup")]);
    assert!(!kept.exists());
}

#[test]
fn what_was_kept_before_is_not_lost_to_the_next_uninstall() {
    let world = World::new("");
    for text in ["first", "second"] {
        world.put("journal-h.jsonl", text);
        world.leave(Fate::Keep);
    }
    let names = ["log-h/kept/journal-h.jsonl", "log-h/kept/journal-h.jsonl.before-1"];
    assert_eq!(world.names(), names);
    assert_eq!(names.map(|name| fs::read_to_string(world.state(name)).unwrap()), ["second", "first"]);
    world.take_back();
    assert_eq!(fs::read_to_string(world.state("journal-h.jsonl")).unwrap(), "second");
}

/// `handoff init` writes a list without a daemon, and is often typed before `handoff service install`.
#[test]
fn a_list_that_was_begun_meanwhile_gets_the_projects_that_were_kept() {
    let world = World::with_everything("");
    world.leave(Fate::Keep);
    let list = r#"{"version":1,"projects":[{"path":"/three","name":"two"},{"path":"/one","enabled":false}]}"#;
    world.put("projects.json", list);
    let back = world.take_back();
    assert_eq!((back.projects, back.stays.len()), (1, 0), "{back:?}");
    let list = Registry::new(&world.places.state_dir).read().unwrap();
    let told: Vec<_> =
        list.projects.iter().map(|entry| (entry.path.to_str().unwrap(), entry.name.as_deref())).collect();
    assert_eq!(told, [("/three", Some("two")), ("/one", None), ("/two", None)], "a name is not given twice");
    assert!(!list.projects[1].enabled && list.projects[2].paused);
}

#[test]
fn what_the_state_folder_has_stays_and_so_does_what_was_kept() {
    let world = World::with_everything("");
    world.put("projects.json", "damaged");
    world.leave(Fate::Keep);
    world.put("projects.json", TWO);
    world.put("journal-h.jsonl", "newest\n");
    let names: Vec<String> = world.take_back().stays.iter().map(|path| file_name(path)).collect();
    assert_eq!(names, ["projects.json", "journal-h.jsonl.2", "journal-h.jsonl.1", "journal-h.jsonl"]);
    assert_eq!(fs::read_to_string(world.state("journal-h.jsonl")).unwrap(), "newest\n");
    assert_eq!(Registry::new(&world.places.state_dir).read().unwrap().projects.len(), 2);
}

/// A home on the network that several hosts share (F084).
#[test]
fn what_is_of_another_host_or_of_all_stays() {
    let world = World::with_everything("");
    for name in ["handoffd-other.lock", "journal-other.jsonl", "owned-other.json", "projects.lock"] {
        world.put(name, "");
    }
    let left = world.leave(Fate::Remove);
    assert_eq!((left.hosts, left.unknown), (vec!["other".to_owned()], Vec::new()));
    let stays = [
        "doctor-backup/20261130T080000Z-a/tasks.json",
        "handoffd-other.lock",
        "journal-other.jsonl",
        "owned-other.json",
        "projects.json",
        "projects.lock",
    ];
    assert_eq!(world.names(), stays);
}

#[test]
fn what_is_removed_for_good_is_ours_and_is_named() {
    let world = World::with_everything("");
    world.leave(Fate::Keep);
    put(&world.places.log_dir.join(LOG), "line\n");
    world.put("journal-h.jsonl", "again\n");
    world.put("notes.txt", "mine");
    put(&world.places.log_dir.join("mine.log"), "mine");
    let left = world.leave(Fate::Remove);
    let gone: Vec<String> = left.gone.iter().map(|path| file_name(path)).collect();
    assert_eq!(gone, ["journal-h.jsonl", LOG, "kept"]);
    assert_eq!(left.unknown, ["notes.txt"]);
    assert_eq!(world.names(), ["log-h/mine.log", "notes.txt"]);
}

/// Whoever could write there could make projects of this user's.
#[test]
fn a_folder_that_others_can_write_is_not_believed() {
    let world = World::with_everything("log.dir = 'HOME/logs'");
    world.leave(Fate::Keep);
    fs::set_permissions(folder(&world.places), Permissions::from_mode(0o777)).unwrap();
    assert_eq!((waiting(&world.places).len(), world.take_back()), (0, Back::default()));
    fs::set_permissions(folder(&world.places), Permissions::from_mode(0o700)).unwrap();
    assert_eq!(world.take_back().projects, 2);
}

/// Nobody would take back what an uninstall moves through it.
#[test]
fn a_link_in_place_of_the_folder_of_kept_things_is_refused() {
    let world = World::with_everything("log.dir = 'HOME/logs'");
    let elsewhere = world.home.path().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir(&world.places.log_dir).unwrap();
    std::os::unix::fs::symlink(&elsewhere, folder(&world.places)).unwrap();
    let before = world.files();
    let error = leave(&world.places, world.lock(), Fate::Keep).unwrap_err().to_string();
    assert_eq!(error, format!("{} is not a folder", folder(&world.places).display()));
    assert_eq!(world.files(), before);
}

#[test]
fn what_another_host_has_kept_in_a_log_folder_of_both_is_not_removed() {
    let world = World::with_everything("log.dir = 'HOME/logs'");
    world.leave(Fate::Keep);
    for name in ["journal-other.jsonl", "owned-other.json"] {
        put(&folder(&world.places).join(name), "theirs");
    }
    let left = world.leave(Fate::Remove);
    assert_eq!(names(&folder(&world.places), |_| true).unwrap(), ["journal-other.jsonl", "owned-other.json"]);
    assert!(left.gone.contains(&folder(&world.places).join("journal-h.jsonl")), "{left:?}");
}

/// `log.dir` may be what makes the one folder the other, or a folder around it: nothing is then its own copy.
#[test]
fn a_state_folder_that_is_the_folder_of_kept_things_keeps_all() {
    for state in ["kept", "kept/below"] {
        let config = format!("[daemon]\nstate_dir = \"HOME/x/{state}\"\n[log]\ndir = \"HOME/x\"\n");
        let world = World::with_everything(&config);
        fs::set_permissions(folder(&world.places), Permissions::from_mode(0o700)).unwrap();
        let before = world.files();
        assert_eq!(world.take_back(), Back::default(), "{state}");
        assert_eq!(world.files(), before, "{state}");
        assert!(waiting(&world.places).is_empty(), "{state}");
        assert!(world.leave(Fate::Keep).gone.is_empty(), "{state}");
        assert_eq!(world.files(), before, "{state}");
        world.leave(Fate::Remove);
        assert!(world.files().is_empty(), "{state}");
    }
}
