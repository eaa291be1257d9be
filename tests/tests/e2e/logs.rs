//! The daemon's own log.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoffd_tests::mount::Mount;
use handoffd_tests::{Daemon, Project, Session, Task, World, report, wait, world};
use serde_json::json;

use crate::support::stage_with;

fn log_text(folder: &PathBuf) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok()).collect()
}

/// One task from end to end in a world whose log is set so.
fn run_one(world: &World) {
    let project = world.project("app");
    let daemon = world.start();
    let session = daemon.idle_session(world, &project, "s-1");
    project.plan(&Task::new("t-1"));
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
    assert!(daemon.terminate().success());
}

#[test]
fn f276_each_setting_alone_does_what_it_says() {
    let world = world!();
    let folder = world.path("my-logs");
    world.settings(&format!("[log]\ndir = \"{}\"\n", folder.display()));
    run_one(&world);
    assert!(log_text(&folder).contains("t-1"), "a folder that is missing is made");

    let world = world!();
    let folder = world.path("json-logs");
    world.settings(&format!("[log]\ndir = \"{}\"\nformat = \"json\"\n", folder.display()));
    run_one(&world);
    let text = log_text(&folder);
    assert!(
        text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok_and(|line| line.is_object())),
        "{text}"
    );
    assert!(text.contains("t-1"));
}

#[test]
fn f276_a_log_that_is_renamed_or_deleted_is_opened_again() {
    let world = world!();
    let folder = world.path("logs");
    world.settings(&format!("[log]\ndir = \"{}\"\n", folder.display()));
    let project = world.project("app");
    let daemon = world.start();
    let session = daemon.idle_session(&world, &project, "s-1");
    for entry in fs::read_dir(&folder).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    for number in 0..3 {
        let id = format!("t-{number}");
        project.plan(&Task::new(&id));
        let dispatch = session.wait_dispatch(&id);
        session.finish(&dispatch, report::complete());
    }
    assert!(daemon.terminate().success());
    assert!(log_text(&folder).contains("t-2"), "{}", log_text(&folder));
}

#[test]
fn f276_a_log_folder_that_is_none_is_told_and_nothing_starts() {
    let world = world!();
    let folder = world.path("file-in-the-way");
    fs::write(&folder, "").unwrap();
    world.settings(&format!("[log]\ndir = \"{}\"\n", folder.display()));
    let mut daemon = world.spawn(&[]);
    let said = wait::until("it says so", || {
        let said = fs::read_to_string(world.path("daemon-1.err")).unwrap();
        said.contains("file-in-the-way").then_some(said)
    });
    assert!(!said.contains("panicked"), "{said}");
    assert_eq!(daemon.wait().code(), Some(1), "{said}");
}

#[test]
fn each_matter_is_one_line_at_its_level_and_a_stop_tells_of_no_state() {
    let stage = stage_with("");
    stage.project.replace(b"{");
    stage.control.wait_state(&stage.project, "unreadable", "invalid_json");
    stage.project.plan(&Task::new("t-1"));
    let dispatch = stage.session.wait_dispatch("t-1");
    stage.session.finish(&dispatch, report::error("a text that no log may have"));
    stage.project.replace(br#"{"schema_version": 3, "status": "PENDING", "task_id": "t-2"}"#);
    wait::until_true("it is rejected", || stage.project.status() == "ERROR" && stage.daemon.log().contains("task=t-2"));
    let (world, daemon) = (stage.world, stage.daemon);
    assert!(daemon.terminate().success());
    let log = log_of(&world);
    let at = |level: &str| log.lines().filter(|line| line.contains(level)).collect::<Vec<_>>();
    let warned = at(" WARN ");
    let expected = [
        "state=unreadable reason=invalid_json why=",
        "task=t-1 the task has ended status=ERROR",
        "task=t-2 a task was rejected why=",
    ];
    assert_eq!(warned.len(), expected.len(), "{warned:#?}");
    assert!(
        warned.iter().zip(expected).all(|(line, words)| line.contains(words) && line.contains(" project=")),
        "{warned:#?}"
    );
    assert!(at(" ERROR ").is_empty() && !log.contains("a text that no log may have"), "{log}");
    let behind = log.split("handoffd is stopping").nth(1).unwrap();
    assert!(!behind.contains("state="), "{behind}");
}

fn log_of(world: &World) -> String {
    let folders = fs::read_dir(world.state_dir()).unwrap().map(|entry| entry.unwrap().path());
    folders.filter(|path| path.to_string_lossy().contains("/log-")).map(|path| log_text(&path)).collect()
}

#[test]
fn f274_an_idle_daemon_says_nothing() {
    let stage = stage_with("[watch]\nsweep_interval = \"100ms\"\n");
    stage.session.ping();
    wait::until_rests(Duration::from_secs(2), "twenty sweeps, no line", || {
        drop(stage.control.status());
        stage.daemon.log().len()
    });
}

/// A daemon whose log has a small disk of its own. Dropped in this order.
struct SmallDisk {
    session: Session,
    daemon: Daemon,
    project: Project,
    folder: PathBuf,
    _disk: Mount,
    _world: World,
}

/// `None` where nothing can be mounted.
fn on_a_small_disk() -> Option<SmallDisk> {
    if !Mount::possible() {
        return None;
    }
    let world = world!();
    let folder = world.path("log-disk");
    fs::create_dir(&folder).unwrap();
    let disk = Mount::tmpfs(&folder, 256).unwrap();
    // What is debugged is never folded.
    world.settings(&format!("[log]\ndir = \"{}\"\nlevel = \"debug\"\n", folder.display()));
    let project = world.project("app");
    let daemon = world.start();
    let session = daemon.idle_session(&world, &project, "s-1");
    Some(SmallDisk { session, daemon, project, folder, _disk: disk, _world: world })
}

impl SmallDisk {
    /// A file that takes all the room there is.
    fn fill(&self, name: &str) -> PathBuf {
        let filler = self.folder.join(name);
        drop(fs::write(&filler, vec![b'x'; 512 * 1024]));
        filler
    }

    fn run(&self, id: &str) {
        self.project.plan(&Task::new(id));
        let dispatch = self.session.wait_dispatch(id);
        self.session.finish(&dispatch, report::complete());
    }

    /// Whether the status says that lines are lost.
    fn loses(&self) -> bool {
        self.daemon.control().status()["daemon"]["warnings"].to_string().contains("lines were lost")
    }
}

#[test]
fn a_full_disk_stops_the_log_and_not_the_daemon_and_is_told_when_there_is_room_again() {
    let Some(stage) = on_a_small_disk() else { return };
    let filler = stage.fill("filler");
    // A page of the log may still have room; the lines of some tasks are more than that.
    (0..12).for_each(|number| stage.run(&format!("t-{number}")));
    let text = || log_text(&stage.folder);
    assert!(!text().contains("t-11"), "the disk was full: {}", text());
    fs::remove_file(&filler).unwrap();
    stage.daemon.control().call("daemon.reload", json!({})).unwrap();
    wait::until_true("the log goes on and says what it lost", || {
        let text = text();
        text.contains("log lines were lost") && text.contains("the configuration was read again")
    });
    assert!(stage.daemon.terminate().success());
    let text = log_text(&stage.folder);
    assert!(text.ends_with('\n') && text.lines().all(|line| line.starts_with("20")), "only whole lines: {text}");
}

#[test]
fn a_log_that_is_emptied_while_the_disk_is_full_begins_with_a_line() {
    let Some(stage) = on_a_small_disk() else { return };
    (0..4).for_each(|number| stage.run(&format!("before-{number}")));
    let log = only_log(&stage.folder);
    let filler = stage.fill("filler");
    fs::write(&log, "").unwrap();
    stage.fill("more");
    let mut number = 0;
    wait::until_true("the status says that lines are lost", || {
        stage.run(&format!("meanwhile-{number}"));
        number += 1;
        stage.loses()
    });
    fs::remove_file(&filler).unwrap();
    stage.daemon.control().call("daemon.reload", json!({})).unwrap();
    wait::until_true("the log goes on, and so says the status", || {
        fs::read_to_string(&log).unwrap().contains("the configuration was read again") && !stage.loses()
    });
    assert!(stage.daemon.terminate().success());
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.lines().all(|line| line.starts_with("20")), "no NUL, no half line: {text:?}");
}

#[test]
fn a_pipe_in_place_of_todays_log_is_passed_over_and_told() {
    let world = world!();
    let folder = world.path("logs");
    fs::create_dir(&folder).unwrap();
    world.settings(&format!("[log]\ndir = \"{}\"\n", folder.display()));
    assert!(world.start().terminate().success());
    let first = only_log(&folder);
    fs::remove_file(&first).unwrap();
    nix::unistd::mkfifo(&first, nix::sys::stat::Mode::S_IRWXU).unwrap();
    run_one(&world);
    let next = first.with_extension("1.log");
    let text = fs::read_to_string(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display()));
    assert!(text.contains("t-1") && text.contains("is a named pipe and no log file"), "{text}");
}

/// The log's only file.
fn only_log(folder: &Path) -> PathBuf {
    let logs = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut logs = logs.filter(|path| path.extension().is_some_and(|end| end == "log"));
    logs.next().filter(|_| logs.next().is_none()).unwrap()
}
