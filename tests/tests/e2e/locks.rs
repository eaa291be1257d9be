//! The ownership lock against every content that D16 tells apart, with the real daemon.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};

use handoffd_tests::{Attach, Project, Task, World, report, wait, world};
use nix::fcntl::{Flock, FlockArg};
use serde_json::{Value, json};

use crate::support::parse;

/// A process that does nothing until dropped.
struct Stranger(Child);

impl Stranger {
    fn start() -> Self {
        Self(Command::new("/bin/sleep").arg("600").stdin(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn dead() -> u32 {
        let mut child = Command::new("/bin/true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Field 22 of `/proc/PID/stat`.
fn started(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().parse().unwrap()
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim().to_owned()
}

fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim().to_owned()
}

/// A complete lock of another daemon of this boot and this process table.
fn content(pid: u32, started: u64) -> Value {
    json!({
        "version": 1, "pid": pid, "started": started, "boot_id": boot_id(),
        "pid_ns": fs::metadata("/proc/self/ns/pid").unwrap().ino(), "host": host(), "uid": 0,
        "instance": "0".repeat(32), "acquired_at": "2026-09-01T10:00:00.000Z", "session": null
    })
}

fn with(mut content: Value, key: &str, value: Value) -> Value {
    content[key] = value;
    content
}

/// The daemon takes the lock over, and a task travels.
fn check_recovered(what: &str, prepare: impl FnOnce(&Project)) {
    let world = world!();
    let project = world.project("app");
    prepare(&project);
    let daemon = world.start();
    let control = daemon.control();
    wait::until_true(&format!("{what}: ours"), || control.project(&project)["lock"]["owner"] == "us");
    let lock = parse(&fs::read(project.lock()).unwrap());
    assert_eq!(lock["instance"], control.hello["daemon"]["instance"], "{what}");
    assert_eq!(lock["pid"], control.hello["daemon"]["pid"], "{what}");
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("t-1"));
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
}

/// The daemon leaves the lock alone, says why, and serves other projects.
fn check_blocked(what: &str, reason: &str, prepare: impl FnOnce(&Project)) {
    let world = world!();
    let project = world.project("app");
    let other = world.project("other");
    prepare(&project);
    let before = fs::read(project.lock()).ok();
    project.plan(&Task::new("t-1"));
    let daemon = world.start();
    let control = daemon.control();
    let row = control.wait_state(&project, "blocked", reason);
    assert!(row["why"].is_string() && row["next"].is_string(), "{what}: {row}");
    wait::until_true(&format!("{what}: waiting work is not hidden"), || {
        control.project(&project)["queue"]["task_id"] == "t-1"
    });
    let session = daemon.idle_session(&world, &project, "s-1");
    assert_eq!((project.status().as_str(), session.count("t-1")), ("PENDING", 0), "{what}");
    let elsewhere = daemon.idle_session(&world, &other, "s-1");
    other.plan(&Task::new("t-2"));
    let dispatch = elsewhere.wait_dispatch("t-2");
    elsewhere.finish(&dispatch, report::complete());
    assert!(daemon.terminate().success());
    assert_eq!(fs::read(project.lock()).ok(), before, "{what}: left in place");
}

fn put(bytes: impl AsRef<[u8]>) -> impl FnOnce(&Project) {
    move |project: &Project| fs::write(project.lock(), bytes).unwrap()
}

fn put_json(content: &Value) -> impl FnOnce(&Project) {
    put(content.to_string())
}

#[test]
fn no_lock() {
    check_recovered("none", |_| ());
}

#[test]
fn f060_a_dead_owner() {
    check_recovered("dead pid", put_json(&content(Stranger::dead(), 1)));
    check_recovered("dead pid alone", put_json(&json!({"pid": Stranger::dead()})));
}

#[test]
fn f060_one_line_says_whose_the_lock_was_and_how_old_it_is() {
    let world = world!();
    let project = world.project("app");
    let dead = Stranger::dead();
    fs::write(project.lock(), content(dead, 1).to_string()).unwrap();
    let daemon = world.start();
    let log = wait::until("the line", || Some(daemon.log()).filter(|log| log.contains("was recovered")));
    let line = log.lines().find(|line| line.contains("was recovered")).unwrap();
    let owner = format!("owner=\"pid {dead} on {} since 2026-09-01T10:00:00Z, ", host());
    assert!(line.contains(&owner) && line.contains(" ago"), "{line}");
}

#[test]
fn a_zombie_is_dead() {
    let mut child = Command::new("/bin/true").spawn().unwrap();
    let stat = format!("/proc/{}/stat", child.id());
    wait::until_true("a zombie", || fs::read_to_string(&stat).unwrap().contains(") Z "));
    check_recovered("zombie", put_json(&content(child.id(), started(child.id()))));
    child.wait().unwrap();
}

#[test]
fn a_live_owner_is_never_robbed() {
    let stranger = Stranger::start();
    check_blocked("live", "lock_live", put_json(&content(stranger.pid(), started(stranger.pid()))));
    check_blocked("live pid alone", "lock_live", put_json(&json!({"pid": stranger.pid()})));
}

#[test]
fn a_stopped_owner_is_live() {
    let stranger = Stranger::start();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(stranger.pid()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).unwrap();
    check_blocked("stopped", "lock_live", put_json(&content(stranger.pid(), started(stranger.pid()))));
}

#[test]
fn f061_a_reused_pid_is_dead() {
    let mut stranger = Stranger::start();
    let other = started(stranger.pid()) + 1;
    check_recovered("reused pid", put_json(&content(stranger.pid(), other)));
    check_recovered("reused, little known", put_json(&json!({"pid": stranger.pid(), "started": other})));
    assert!(stranger.0.try_wait().unwrap().is_none(), "no signal was sent to the stranger");
}

#[test]
fn another_boot_is_dead() {
    let stranger = Stranger::start();
    let before = with(
        content(stranger.pid(), started(stranger.pid())),
        "boot_id",
        json!("00000000-aaaa-4bbb-8ccc-000000000000"),
    );
    check_recovered("other boot", put_json(&before));
}

#[test]
fn f080_another_host_cannot_be_told() {
    let elsewhere = with(content(Stranger::dead(), 1), "host", json!("another-host"));
    let elsewhere = with(elsewhere, "boot_id", json!("00000000-aaaa-4bbb-8ccc-000000000000"));
    check_blocked("other host", "lock_unknown", put_json(&elsewhere));
}

#[test]
fn f081_another_host_is_not_judged_by_a_local_pid() {
    let stranger = Stranger::start();
    let pod = json!({"pid": stranger.pid(), "host": "pod-1"});
    check_blocked("other host, pid in use", "lock_unknown", put_json(&pod));
}

#[test]
fn another_pid_namespace_whose_guard_is_free_is_dead() {
    let stranger = Stranger::start();
    let inside = with(content(stranger.pid(), started(stranger.pid())), "pid_ns", json!(1));
    check_recovered("other namespace", put_json(&inside));
    let old = with(inside, "version", json!(0));
    check_blocked("other namespace, other version", "lock_unknown", put_json(&old));
}

#[test]
fn whoever_holds_the_guard_lives() {
    let mut held = None;
    check_blocked("guard", "lock_live", |project| {
        fs::write(project.lock(), content(Stranger::dead(), 1).to_string()).unwrap();
        let guard = fs::File::create(project.root().join(".pi/pi-claude-handoff.lock.guard")).unwrap();
        held = Some(Flock::lock(guard, FlockArg::LockExclusive).unwrap());
    });
    drop(held);
}

#[test]
fn our_own_pid_under_another_instance_is_dead() {
    let world = world!();
    let project = world.project("app");
    let template =
        content(1, 1).to_string().replace("\"pid\":1,", "\"pid\":PID,").replace("\"started\":1,", "\"started\":TICKS,");
    assert!(template.contains("PID") && template.contains("TICKS"), "{template}");
    fs::write(world.path("template"), template).unwrap();
    // The shell becomes the daemon: the same process, the same start.
    let daemon = world.spawn_in_shell(&format!(
        "ticks=$(cut -d' ' -f22 /proc/$$/stat); sed \"s/PID/$$/; s/TICKS/$ticks/\" template > {}; exec \"$@\"",
        project.lock().display()
    ));
    let control = daemon.control();
    wait::until_true("ours", || control.project(&project)["lock"]["owner"] == "us");
    assert_eq!(parse(&fs::read(project.lock()).unwrap())["instance"], control.hello["daemon"]["instance"]);
}

#[test]
fn another_users_lock_cannot_be_told() {
    if !nix::unistd::getuid().is_root() {
        return;
    }
    check_blocked("foreign owner", "lock_unknown", |project| {
        fs::write(project.lock(), content(Stranger::dead(), 1).to_string()).unwrap();
        std::os::unix::fs::chown(project.lock(), Some(12345), None).unwrap();
    });
}

#[test]
fn f070_malformed_locks_are_left_for_people() {
    let cases: [(&str, &[u8]); 12] = [
        ("empty", b""),
        ("NUL bytes", &[0; 64]),
        ("not JSON", b"1234\n{"),
        ("a list", b"[1234]"),
        ("no pid", b"{\"host\": \"h\"}"),
        ("null pid", b"{\"pid\": null}"),
        ("a fraction", b"{\"pid\": 4.0}"),
        ("an exponent", b"{\"pid\": 1e10}"),
        ("zero", b"{\"pid\": 0}"),
        ("negative", b"{\"pid\": -4}"),
        ("too large a number", b"{\"pid\": 2147483648}"),
        ("null", b"null"),
    ];
    for (what, bytes) in cases {
        check_blocked(what, "lock_malformed", put(bytes));
    }
    check_blocked("too big", "lock_malformed", put(format!("{{\"pid\": 1}}{}", " ".repeat(4096))));
}

#[test]
fn f070_one_line_names_the_file_the_reason_and_the_command() {
    let world = world!();
    let project = world.project("app");
    fs::write(project.lock(), "").unwrap();
    let daemon = world.start();
    daemon.control().wait_state(&project, "blocked", "lock_malformed");
    let find = |log: &str| {
        log.lines().find(|line| line.contains(" WARN ") && line.contains("lock_malformed")).map(str::to_owned)
    };
    let line = wait::until("the line", || find(&daemon.log()));
    let command = format!("next=\"handoff unlock {}\"", project.root().display());
    assert!(line.contains("it is empty (.pi/pi-claude-handoff.lock)") && line.contains(&command), "{line}");
}

#[test]
fn f070_a_folder_or_a_link_in_place_of_the_lock() {
    check_blocked("folder", "lock_malformed", |project| fs::create_dir(project.lock()).unwrap());
    check_blocked("link", "lock_malformed", |project| {
        fs::write(project.root().join("target"), json!({"pid": Stranger::dead()}).to_string()).unwrap();
        std::os::unix::fs::symlink("../target", project.lock()).unwrap();
    });
}

#[test]
fn f071_unlock_moves_a_malformed_lock_aside_and_never_a_live_one() {
    let world = world!();
    let project = world.project("app");
    fs::write(project.lock(), "").unwrap();
    project.plan(&Task::new("t-1"));
    let daemon = world.start();
    let control = daemon.control();
    control.wait_state(&project, "blocked", "lock_malformed");
    let explained = control.ask("project.unlock", &project, json!({})).unwrap();
    assert!(explained["why"].is_string() && explained["moved_to"].is_null(), "{explained}");
    assert!(project.lock().exists());
    let moved = control.ask("project.unlock", &project, json!({"confirm": true})).unwrap();
    let aside = moved["moved_to"].as_str().unwrap();
    assert!(aside.contains("lock.removed-") && fs::metadata(aside).unwrap().len() == 0, "{moved}");
    let session = daemon.attach(&world.process(), &project, &Attach::idle("s-1"));
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
    assert!(daemon.terminate().success());
    let stranger = Stranger::start();
    fs::write(project.lock(), content(stranger.pid(), started(stranger.pid())).to_string()).unwrap();
    let daemon = world.start();
    let control = daemon.control();
    control.wait_state(&project, "blocked", "lock_live");
    let refused = control.ask("project.unlock", &project, json!({"confirm": true})).unwrap_err();
    assert_eq!(refused.name(), "lock_live");
    assert!(refused.message.contains(&stranger.pid().to_string()), "{}", refused.message);
    drop(stranger);
    control.wait_state(&project, "idle", "");
}

/// Two users' worth of daemons that name the same folder.
fn rivals(project: &Project, count: usize) -> Vec<World> {
    (0..count)
        .map(|_| {
            let world = world!();
            world.configure(project, "");
            world
        })
        .collect()
}

#[test]
fn f065_of_several_daemons_recovering_at_once_one_wins() {
    let home = world!();
    for round in 0..3 {
        let project = Project::create(&home.path(&format!("app-{round}")));
        fs::write(project.lock(), content(Stranger::dead(), 1).to_string()).unwrap();
        let worlds = rivals(&project, 4);
        let daemons: Vec<_> = worlds.iter().map(|world| world.spawn(&[])).collect();
        let controls: Vec<_> = daemons.iter().map(handoffd_tests::Daemon::control).collect();
        let owners = || controls.iter().filter(|control| control.project(&project)["lock"]["owner"] == "us").count();
        let blocked = || controls.iter().filter(|control| control.project(&project)["reason"] == "lock_live").count();
        wait::until_true("one owner, the others blocked", || owners() == 1 && blocked() == 3);
        let instance = parse(&fs::read(project.lock()).unwrap())["instance"].clone();
        let winner = controls.iter().position(|control| control.hello["daemon"]["instance"] == instance).unwrap();
        assert_eq!(controls[winner].project(&project)["lock"]["owner"], "us");
    }
}

#[test]
fn f085_a_lock_with_our_pid_of_another_host_is_not_ours_to_remove() {
    let world = world!();
    let project = world.project("app");
    let daemon = world.start();
    let control = daemon.control();
    control.wait_state(&project, "idle", "");
    let foreign = json!({"pid": control.hello["daemon"]["pid"], "host": "another-host"}).to_string();
    fs::write(project.root().join(".pi/new"), &foreign).unwrap();
    fs::rename(project.root().join(".pi/new"), project.lock()).unwrap();
    control.wait_state(&project, "blocked", "");
    assert!(daemon.terminate().success());
    assert_eq!(fs::read_to_string(project.lock()).unwrap(), foreign);
}
