//! What a person does: the commands against the real daemon, from an empty folder to COMPLETE.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use handoffd_tests::binaries::binaries;
use handoffd_tests::{Control, Daemon, Project, World, report, wait, world};
use serde_json::Value;

/// A worker in the background; ended when dropped.
struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// `handoff attach --exec` with a shell script.
fn worker(world: &World, project: &Project, script: &str) -> Worker {
    let path = world.script("worker", script);
    let mut command = world.command(&binaries().handoff);
    command.current_dir(project.root()).args(["attach", "--exec"]).arg(&path);
    Worker(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

/// A worker that reports as a file says.
fn honest(world: &World, project: &Project, report: &Value) -> Worker {
    let answer: PathBuf = world.path("report.json");
    fs::write(&answer, report.to_string()).unwrap();
    worker(world, project, &format!("cat > {}; cat {}", world.path("message").display(), answer.display()))
}

/// A project made by `handoff init`, with the agents that the reports name, and a daemon.
fn initialised() -> (World, Project, Daemon) {
    let world = world!();
    let project = Project::bare(&world.path("app"));
    fs::create_dir(project.root()).unwrap();
    let daemon = world.start();
    let made = world.handoff_in(project.root(), &["init", "--yes"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for (name, role) in [("builder", "writer"), ("checker", "read-only")] {
        let profile = format!("---\nname: {name}\ndescription: d\nacceptanceRole: {role}\n---\n\nYou do the task.\n");
        fs::write(project.root().join(format!(".pi/agents/{name}.md")), profile).unwrap();
    }
    let control = daemon.control();
    wait::until_true("the running daemon notices the new project", || {
        control.project(&project)["lock"]["owner"] == "us"
    });
    (world, project, daemon)
}

fn run(world: &World, project: &Project, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = world.handoff_in(project.root(), arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const SUBMIT: [&str; 9] = [
    "submit",
    "--wait",
    "--instruction",
    "append one line",
    "--scope",
    "notes.txt",
    "--accept",
    "it is there",
    "--json",
];

fn wait_for_session(control: &Control, project: &Project) {
    wait::until_true("the worker is attached", || !control.project(project)["session"].is_null());
}

#[test]
fn from_an_empty_folder_to_complete() {
    let (world, project, daemon) = initialised();
    let _worker = honest(&world, &project, &report::complete());
    let (code, out, err) = run(&world, &project, &SUBMIT);
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!((project.status().as_str(), project.log_lines().len()), ("COMPLETE", 1));
    assert!(fs::read_to_string(world.path("message")).unwrap().contains("append one line"));
    let id = project.member("task_id").as_str().unwrap().to_owned();
    let (code, out, _) = run(&world, &project, &["wait", "--task", &id, "--json"]);
    let waited: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &waited["status"]), (Some(0), &"COMPLETE".into()));
    let (code, out, _) = run(&world, &project, &["show", &id]);
    assert!(code == Some(0) && out.contains("builder") && out.contains("r-1"), "{out}");
    let (code, out, _) = run(&world, &project, &["status", "--json"]);
    let status: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &status["projects"][0]["state"]), (Some(0), &"idle".into()));
    drop(daemon);
}

#[test]
fn a_worker_that_fails_is_an_error_with_its_last_words() {
    let (world, project, _daemon) = initialised();
    let _worker = worker(&world, &project, "cat > /dev/null; echo 'no compiler here' >&2; exit 3");
    let (code, out, err) = run(&world, &project, &SUBMIT);
    assert_eq!(code, Some(1), "{out}{err}");
    let document = project.document();
    assert_eq!(document["status"], "ERROR");
    assert!(document["error"].as_str().unwrap().contains("no compiler here"), "{document}");
}

#[test]
fn cancel_ends_the_worker_and_its_children() {
    let (world, project, daemon) = initialised();
    let pids = world.path("pids");
    let _worker = worker(&world, &project, &format!("sleep 300 & echo $! > {0}; echo $$ >> {0}; wait", pids.display()));
    let (code, out, err) = run(&world, &project, &[&SUBMIT[..1], &SUBMIT[2..]].concat());
    assert_eq!(code, Some(0), "{out}{err}");
    let pids =
        wait::until("the worker has begun", || fs::read_to_string(&pids).ok().filter(|text| text.lines().count() == 2));
    daemon.control().wait_state(&project, "running", "");
    let (code, out, err) = run(&world, &project, &["cancel", "--reason", "enough"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!(project.member("error"), "Cancelled: enough");
    let gone = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    };
    wait::until_true("both processes are gone", || pids.lines().all(gone));
}

#[test]
fn a_worker_that_is_killed_ends_its_task() {
    let (world, project, daemon) = initialised();
    let begun = world.path("begun");
    let attached = worker(&world, &project, &format!("touch {}; exec sleep 300", begun.display()));
    wait_for_session(&daemon.control(), &project);
    run(&world, &project, &[&SUBMIT[..1], &SUBMIT[2..]].concat());
    wait::until_true("the worker has begun", || begun.exists());
    drop(attached);
    project.wait_status("ERROR");
    let (code, ..) = run(&world, &project, &["wait"]);
    assert_eq!(code, Some(1));
}

#[test]
fn a_worker_outlives_a_restart_of_the_daemon() {
    let (world, project, daemon) = initialised();
    let (begun, go, answer) = (world.path("begun"), world.path("go"), world.path("report.json"));
    fs::write(&answer, report::complete().to_string()).unwrap();
    let script = format!(
        "cat > /dev/null; echo x >> {}; while [ ! -e {} ]; do sleep 0.05; done; cat {}",
        begun.display(),
        go.display(),
        answer.display()
    );
    let _worker = worker(&world, &project, &script);
    wait_for_session(&daemon.control(), &project);
    run(&world, &project, &[&SUBMIT[..1], &SUBMIT[2..]].concat());
    wait::until_true("the worker has begun", || begun.exists());
    daemon.kill();
    let daemon = world.start();
    let control = daemon.control();
    wait_for_session(&control, &project);
    fs::write(&go, "").unwrap();
    project.wait_status("COMPLETE");
    assert_eq!(fs::read_to_string(&begun).unwrap(), "x\n", "the command ran once");
    wait::until_true("one line in the work log", || project.log_lines().len() == 1);
}

#[test]
fn waiting_ends_when_the_time_is_over() {
    let (world, project, _daemon) = initialised();
    let (code, ..) = run(&world, &project, &[&SUBMIT[..1], &SUBMIT[2..]].concat());
    assert_eq!(code, Some(0));
    let (code, ..) = run(&world, &project, &["wait", "--timeout", "100ms"]);
    assert_eq!(code, Some(5));
    let (code, _, err) = run(&world, &project, &["wait", "--task", "nobody-knows"]);
    assert_eq!(code, Some(4), "{err}");
    let (code, _, err) = run(&world, &project, &[&SUBMIT[..1], &SUBMIT[2..]].concat());
    assert_eq!(code, Some(4), "a second one is refused: {err}");
}

#[test]
fn f117_a_reader_that_goes_away_is_no_fault() {
    let (world, project, _daemon) = initialised();
    let program = binaries().handoff.display().to_string();
    for verb in ["status", "history", "projects list", "status --json", "lint", "--help", "schema wire"] {
        let mut shell = world.command("/bin/sh".as_ref());
        let said = world.path("said");
        let line = format!("{program} {verb} 2>{} | head -n 1", said.display());
        let output = shell.current_dir(project.root()).args(["-c", &line]).output().unwrap();
        assert!(output.status.success());
        assert!(!fs::read_to_string(&said).unwrap().contains("panicked"), "{verb}");
    }
}

#[test]
fn without_a_daemon_it_says_which_command_starts_one() {
    let world = world!();
    let project = world.project("app");
    let (code, out, err) = run(&world, &project, &["status"]);
    assert_eq!(code, Some(3), "{out}");
    assert!(err.contains("handoffd") && err.contains(&world.socket().display().to_string()), "{err}");
}

#[test]
fn f117_a_stream_ends_with_its_reader_although_nothing_happens() {
    let world = world!();
    let project = world.project("app");
    let daemon = world.start();
    daemon.control().wait_state(&project, "idle", "");
    for arguments in [&["events"][..], &["watch"], &["logs", "-f"]] {
        let mut command = world.command(&binaries().handoff);
        let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        let status = wait::until("it ends", || child.try_wait().unwrap());
        assert!(status.success(), "{arguments:?}: {status}");
    }
}
