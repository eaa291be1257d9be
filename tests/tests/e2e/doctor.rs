//! `handoff doctor` beside a real daemon: what the daemon sees counts, and its states lead to the same remedies as `handoff
//! next`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use handoffd_tests::binaries::binaries;
use handoffd_tests::mount::Mount;
use handoffd_tests::{Attach, Daemon, Project, Task, World, wait, world};
use nix::sys::signal::Signal;
use serde_json::Value;

struct Examined(i32, Value);

impl Examined {
    fn of(mut command: Command) -> Self {
        let output = command.args(["doctor", "--json"]).output().unwrap();
        let document = serde_json::from_slice(&output.stdout);
        let told = String::from_utf8_lossy(&output.stderr);
        Self(output.status.code().unwrap(), document.unwrap_or_else(|error| panic!("{error}: {told}")))
    }

    /// What a check says of the worst kind.
    #[track_caller]
    fn worst(&self, check: &str) -> String {
        let rank = |state: &Value| ["good", "note", "warning", "fault"].iter().position(|word| state == word);
        let of_check = self.1["findings"].as_array().unwrap().iter().filter(|finding| finding["check"] == check);
        let found = of_check.max_by_key(|finding| rank(&finding["state"])).unwrap_or_else(|| panic!("no {check}"));
        let text = |name: &str| found[name].as_str().unwrap_or("-").to_owned();
        format!("{}: {} | {}", text("state"), text("what"), text("remedy"))
    }

    #[track_caller]
    fn has(&self, check: &str, state: &str, parts: &[&str]) {
        let found = self.worst(check);
        assert!(found.starts_with(state), "{check}: {found}");
        for part in parts {
            assert!(found.contains(part), "{part}: {found}");
        }
    }
}

fn examine(world: &World, with: impl FnOnce(&mut Command)) -> Examined {
    let mut command = world.command(&binaries().handoff);
    with(&mut command);
    Examined::of(command)
}

/// A project made by `handoff init`, and a daemon that owns it.
fn well() -> (World, Project, Daemon) {
    let world = world!();
    let project = Project::bare(&world.path("app"));
    fs::create_dir(project.root()).unwrap();
    fs::create_dir(project.root().join("src")).unwrap();
    assert!(world.handoff_in(project.root(), &["init", "--yes"]).status.success());
    let daemon = world.start();
    let control = daemon.control();
    wait::until_true("the daemon owns the project", || control.project(&project)["lock"]["owner"] == "us");
    (world, project, daemon)
}

#[test]
fn doctor_finds_nothing_where_all_is_well_and_then_what_is_not() {
    let (world, project, daemon) = well();
    let found = examine(&world, |_| {});
    assert_eq!((found.0, &found.1["good"]), (0, &Value::Bool(true)), "{}", found.1);
    found.has("daemon", "good", &[&format!("pid {}", daemon.pid())]);
    found.has("locks", "good", &["the daemon (pid"]);
    found.has("projects", "good", &["idle"]);

    // The same remedy as `handoff next`, from wherever it is asked.
    let session = daemon.attach(&world.process(), &project, &Attach::idle("s-1"));
    project.plan(&Task::new("t-1"));
    session.wait_dispatch("t-1");
    project.plan(&Task::new("t-2"));
    let control = daemon.control();
    wait::until_true("the project is halted", || control.project(&project)["state"] == "halted");
    let found = examine(&world, |_| {});
    assert_eq!(found.0, 1);
    found.has("projects", "fault", &["halted", "handoff resume app"]);
}

#[test]
fn doctor_tells_once_what_the_daemon_warns_of() {
    let (world, project, daemon) = well();
    let session = daemon.attach(&world.process(), &project, &Attach::idle("s-1"));
    project.plan(&Task::new("t-1").with("mine", "x".repeat(240 << 10)));
    session.wait_dispatch("t-1");
    let control = daemon.control();
    wait::until_true("the daemon warns", || control.project(&project).to_string().contains("bytes are left"));
    let found = examine(&world, |_| {});
    found.has("queues", "warning", &["bytes are left"]);
    found.has("projects", "good", &["running"]);
    found.has("events", "good", &[]);
    assert_eq!(found.1.to_string().matches("bytes are left").count(), 1, "{}", found.1);
}

#[test]
fn doctor_reads_the_environment_of_the_daemon_itself() {
    let (world, _project, daemon) = well();
    let found = examine(&world, |command| {
        command.env("PI_CODING_AGENT_DIR", "/elsewhere").env("PATH", "/nowhere");
    });
    let pid = daemon.pid();
    found.has(
        "environment",
        "warning",
        &["PI_CODING_AGENT_DIR is /elsewhere in this shell and not set for the daemon"],
    );
    let all = found.1.to_string();
    assert!(all.contains(&format!("the daemon (pid {pid}) has PATH=/usr/bin:/bin")), "{all}");

    // A shell that looks elsewhere is told where the daemon listens.
    let found = examine(&world, |command| {
        command.env("HANDOFFD_SOCKET", world.path("run/other"));
    });
    found.has("daemon", "good", &[]);
    let export = format!("export HANDOFFD_SOCKET={}", world.socket().display());
    found.has("socket", "fault", &["this shell looks for the daemon at", &export]);
}

#[test]
fn doctor_tells_a_daemon_that_stands_still_from_none() {
    let (world, project, daemon) = well();
    daemon.signal(Signal::SIGSTOP);
    let found = examine(&world, |_| {});
    let unlock = world.handoff_in(project.root(), &["unlock", "--yes"]);
    daemon.signal(Signal::SIGCONT);
    let pid = daemon.pid();
    found.has("daemon", "fault", &[&format!("the daemon (pid {pid}) is stopped"), &format!("| kill -CONT {pid}")]);
    // What it holds is its own, and no trace of a daemon that was killed.
    found.has("locks", "good", &[&format!("the daemon (pid {pid}) holds the lock")]);
    found.has("socket", "good", &[]);
    let told = String::from_utf8_lossy(&unlock.stderr);
    assert!(unlock.status.code() == Some(4) && told.contains("your own daemon, which does not answer"), "{told}");
    assert!(daemon.terminate().success());
    examine(&world, |_| {}).has("daemon", "fault", &["no daemon answers"]);
}

#[test]
fn doctor_says_which_project_is_looked_at_without_events() {
    let world = world!();
    world.settings("[watch]\nmode = \"poll\"\n");
    let project = world.project("app");
    let daemon = world.start();
    daemon.control().wait_state(&project, "idle", "");
    examine(&world, |_| {}).has("events", "note", &["no events: "]);
}

#[test]
fn doctor_says_that_the_program_on_disk_is_newer() {
    let world = world!();
    let program = world.copy_of(&binaries().handoffd);
    let daemon = Daemon::start(world.command(&program), &world.socket(), vec![world.state_dir()]);
    drop(daemon.control());
    examine(&world, |_| {}).has("versions", "good", &[]);
    let newer = world.path("newer");
    world.copy_program(&binaries().handoffd, &newer);
    fs::rename(newer, program).unwrap();
    // F142: to run another one beside it is no remedy.
    examine(&world, |_| {}).has("versions", "warning", &["older build", "| end the daemon that runs"]);
}

#[test]
fn doctor_sees_a_disk_that_is_about_to_be_full() {
    if !Mount::possible() {
        return;
    }
    let world = world!();
    fs::create_dir(world.path("small")).unwrap();
    let mount = Mount::tmpfs(&world.path("small"), 8 << 10).unwrap();
    let project = Project::bare(&world.path("small"));
    assert!(world.handoff_in(project.root(), &["init", "--yes"]).status.success());
    examine(&world, |_| {}).has("disk", "fault", &["(the project) has", "MiB left"]);
    mount.remount("ro");
    examine(&world, |_| {}).has("disk", "fault", &["mounted read-only"]);
}

#[test]
fn doctor_tells_of_one_full_disk_once() {
    if !Mount::possible() {
        return;
    }
    let world = world!();
    let state = world.path("state");
    fs::create_dir_all(&state).unwrap();
    let disk = Mount::tmpfs(&state, 8 << 10).unwrap();
    let project = Project::bare(&state.join("app"));
    fs::create_dir(project.root()).unwrap();
    assert!(world.handoff_in(project.root(), &["init", "--yes"]).status.success());
    let found = examine(&world, |_| {});
    found.has("disk", "fault", &["(the state folder, the log) has", "MiB left"]);
    let all = found.1["findings"].as_array().unwrap();
    let faults = all.iter().filter(|finding| finding["check"] == "disk" && finding["state"] == "fault");
    assert_eq!(faults.count(), 1, "{}", found.1);
    disk.remount("ro");
    let found = examine(&world, |_| {});
    found.has("disk", "fault", &["mounted read-only"]);
    assert!(!found.1.to_string().contains("chmod"), "a mode changes nothing there: {}", found.1);
}

#[test]
fn next_offers_the_doctors_remedy_where_the_daemon_knows_none() {
    let (world, project, _daemon) = well();
    let next = || {
        let output = world.handoff_in(project.root(), &["next"]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(next().1.contains("nothing to do"));
    fs::create_dir_all(world.path("data/handoffd/artifacts.jsonl")).unwrap();
    let (code, told) = next();
    assert!(
        code == Some(1) && told.contains("rows about packets are lost") && told.contains("to be done by hand"),
        "{told}"
    );
}

#[test]
fn doctor_never_writes_without_fix() {
    let (world, project, daemon) = well();
    assert!(daemon.terminate().success());
    fs::remove_file(project.work_log()).unwrap();
    fs::set_permissions(world.state_dir(), fs::Permissions::from_mode(0o777)).unwrap();
    let before = [tree(project.root()), tree(&world.state_dir())];
    assert_eq!(examine(&world, |_| {}).0, 1);
    assert_eq!([tree(project.root()), tree(&world.state_dir())], before);
    assert!(!project.work_log().exists());
    let said = world.handoff_in(project.root(), &["doctor", "--fix"]);
    let told = String::from_utf8_lossy(&said.stderr);
    assert!(project.work_log().exists(), "{told}");
    let (will, done) = (told.rfind("Will ").unwrap(), told.find("Done: ").unwrap());
    assert!(will < done, "each is listed before the first is done: {told}");
}

/// Names, sizes and modes below a folder.
fn tree(folder: &Path) -> Vec<(String, u64, u32)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap().flatten() {
            let meta = entry.metadata().unwrap();
            found.push((entry.path().display().to_string(), meta.len(), meta.permissions().mode()));
            if meta.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found.sort();
    found
}
