//! `handoff attach --exec`: a program does the work.

use crate::daemon::{COMPLETE, TestDaemon, attach, eventually, state, submit, world};
use crate::env::{Running, TestEnv};

/// A session that works on T-1 and has lost its daemon. The work is over when there is a file `go`; then it says `done`.
fn without_daemon() -> (TestEnv, Running) {
    let (world, daemon) = world();
    let script = format!("cat > /dev/null; while [ ! -e go ]; do sleep 0.05; done; echo done >&2; echo '{COMPLETE}'");
    let session = attach(&world, &script);
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    eventually("the program runs", || session.stderr().contains("started T-1"));
    drop(daemon);
    eventually("the session saw it", || session.stderr().contains("the connection was lost"));
    (world, session)
}

#[test]
fn the_program_gets_the_message_the_file_and_the_names() {
    let (world, _daemon) = world();
    let script = format!(
        "cat > message; cp \"$HANDOFF_TASK_FILE\" dispatch; stat -c %a \"$HANDOFF_TASK_FILE\" > mode; \
         echo \"$HANDOFF_TASK_FILE\" > name; echo \"$HANDOFF_TASK_ID $HANDOFF_DISPATCH_ID\" > ids; echo '{COMPLETE}'"
    );
    let _session = attach(&world, &script);
    let said = submit(&world, "T-1", &["--wait"]);
    assert_eq!(said.code, 0, "{said}");
    assert!(world.read("message").contains("Add a flag"), "the message is on standard input");
    let dispatch: serde_json::Value = serde_json::from_str(&world.read("dispatch")).unwrap();
    assert_eq!(world.read("mode"), "600\n");
    assert_eq!(world.read("ids"), format!("T-1 {}\n", dispatch["dispatch_id"].as_str().unwrap()));
    assert_eq!(dispatch["planner"]["instruction"], "Add a flag");
    assert!(!std::path::Path::new(world.read("name").trim()).exists(), "the file is removed");
}

#[test]
fn what_is_no_report_becomes_an_error_with_the_end_of_stderr() {
    let check = |script: &str, expected: &str| {
        let (world, _daemon) = world();
        let _session = attach(&world, script);
        let said = submit(&world, "T-1", &["--wait", "--json"]);
        let error = said.json()["task"]["error"].as_str().unwrap_or_default().to_owned();
        assert!(said.code == 1 && error.contains(expected), "{script}: {said}");
    };
    check("echo oh no >&2; exit 3", "exit status: 3: oh no");
    check("echo done; echo why >&2", "no JSON object as its report: why");
    // The shell between us says it in its way.
    check("kill -KILL $$", "137");
    // COMPLETE without a worker is refused by the daemon.
    check(r#"echo '{"status":"COMPLETE"}'"#, "the command's report was refused");
}

#[test]
fn a_cancelled_program_is_ended_and_the_session_is_free_again() {
    let (world, _daemon) = world();
    let session = attach(&world, "trap 'echo ended >&2; exit 0' TERM; echo begun >&2; while :; do sleep 0.05; done");
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    eventually("the program runs", || session.stderr().contains("begun"));
    let said = world.run(&["cancel", "--json"]);
    assert_eq!(said.json()["session"], "aborted", "{said}");
    eventually("it was asked to end", || session.stderr().contains("ended"));
    eventually("the session is free", || state(&world) == "idle");
    assert_eq!(submit(&world, "T-2", &[]).code, 0);
    eventually("the next task is started", || state(&world) == "running");
}

#[test]
fn a_report_outlives_the_daemon() {
    let (world, session) = without_daemon();
    world.file("go", "");
    let _daemon = TestDaemon::start(&world);
    let said = world.run(&["wait", "--task", "T-1", "--timeout", "60s"]);
    assert_eq!(said.code, 0, "{said}\n{}", session.stderr());
}

#[test]
fn a_report_for_a_task_that_is_gone_leaves_the_session_free() {
    let (world, session) = without_daemon();
    world.file("go", "");
    eventually("the program has ended", || session.stderr().contains("done"));
    let next = world.read("tasks.json").replace("T-1", "T-2").replace("RUNNING", "PENDING");
    world.file("tasks.json", &next);
    let _daemon = TestDaemon::start(&world);
    let said = world.run(&["wait", "--task", "T-2", "--timeout", "60s"]);
    assert_eq!(said.code, 0, "{said}\n{}", session.stderr());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "somebody moves the folder away")]
fn a_report_waits_until_the_daemon_knows_of_its_task() {
    let (world, session) = without_daemon();
    let (folder, away) = (world.project().join(".pi"), world.project().join("away"));
    std::fs::rename(&folder, &away).unwrap();
    world.file(".pi", "in the way");
    let _daemon = TestDaemon::start(&world);
    eventually("the session is back", || session.stderr().contains("(blocked"));
    world.file("go", "");
    eventually("the report is kept", || session.stderr().contains("the report is sent again"));
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&away, &folder).unwrap();
    let said = world.run(&["wait", "--task", "T-1", "--timeout", "60s"]);
    assert_eq!(said.code, 0, "{said}\n{}", session.stderr());
}

#[test]
fn a_session_that_is_told_to_leave_ends_its_program() {
    let (world, _daemon) = world();
    let session = attach(&world, "cat > /dev/null; echo $$ > pid; while :; do sleep 0.05; done");
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    eventually("the program runs", || world.project().join("pid").exists() && !world.read("pid").is_empty());
    let pid = world.read("pid").trim().to_owned();
    assert_eq!(session.terminate(), Some(0));
    eventually("its program is gone", || !std::path::Path::new(&format!("/proc/{pid}")).exists());
    assert_eq!(world.run(&["wait", "--task", "T-1", "--timeout", "60s"]).code, 1, "its task ended in ERROR");
}

#[test]
fn the_file_of_a_session_that_was_killed_is_removed_by_the_next() {
    let (world, _daemon) = world();
    let script = "cat > /dev/null; echo \"$HANDOFF_TASK_FILE\" > name; while [ -e name ]; do sleep 0.05; done";
    let session = attach(&world, script);
    assert_eq!(submit(&world, "T-1", &[]).code, 0);
    let name = || std::path::PathBuf::from(world.read("name").trim());
    eventually("the program runs", || world.project().join("name").exists() && name().is_absolute());
    assert_eq!(name().parent().unwrap(), world.run_dir().join("handoffd"));
    let _other = attach(&world, "true");
    assert!(name().exists(), "a session that lives has its file");
    session.kill();
    assert!(name().exists());
    let _next = attach(&world, "true");
    assert!(!name().exists());
}

#[test]
fn a_folder_that_is_no_project_is_refused() {
    let (world, _daemon) = world();
    let said = world.said(world.command().current_dir(world.home()).args(["attach", "--exec", "true"]));
    assert_eq!(said.code, 4, "{said}");
}

#[test]
fn a_command_that_cannot_be_run_is_not_attached() {
    let check = |command: &str, expected: &str| {
        let world = TestEnv::new();
        world.file("work.sh", "exit 0");
        let said = world.run(&["attach", "--exec", command]);
        assert!(said.code == 2 && said.stderr.contains(expected), "{command}: {said}");
    };
    check("no-such-agent --json", "there is no program `no-such-agent` in PATH");
    check("./no-such-agent --json", "`./no-such-agent` does not exist");
    check("./work.sh", "`./work.sh` is not executable");
    check("./work.sh", "run `chmod +x ./work.sh`");
    check("work.sh", "the file in this folder is `./work.sh`");
    check("/tmp/", "`/tmp/` is a folder");
    check("agent 'a b", "the shell cannot read the command of --exec: 1: Syntax error: Unterminated quoted string");
    check(" ", "the command of --exec is empty");
}

#[test]
fn a_program_that_turns_out_to_be_missing_costs_one_task() {
    let check = |script: &str, expected: &str| {
        let (world, _daemon) = world();
        let mut session = attach(&world, script);
        let said = submit(&world, "T-1", &["--wait", "--json"]);
        let error = said.json()["task"]["error"].as_str().unwrap_or_default().to_owned();
        assert!(said.code == 1 && error.contains(expected), "{script}: {said}");
        assert_eq!(submit(&world, "T-2", &[]).code, 0);
        eventually("the session ends by itself", || session.ended() == Some(2));
        let told = session.stderr();
        assert!(told.contains("this session has ended") && !told.contains("started T-2"), "{told}");
        assert!(world.read("tasks.json").contains("PENDING"), "the next task waits");
    };
    let ended = "its session has ended and takes no other";
    check("no-such-agent", &format!("was not found (exit status: 127); {ended}: "));
    check("./tasks.json", &format!("could not be executed (exit status: 126); {ended}: "));
}
