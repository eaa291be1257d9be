//! `handoff attach --member --exec`: a program for each packet.

use std::fs::{self, File};
use std::process::{Child, Stdio};

use handoffd_tests::binaries::binaries;
use handoffd_tests::{Attach, wait};
use serde_json::{Value, json};

use crate::members::{PLANNED, Stage, done, stage};

/// The attached command, ended when it is dropped.
struct Attached(Child);

impl Drop for Attached {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn attach(stage: &Stage, script: &str) -> Attached {
    attach_as(stage, "exec", script)
}

fn attach_as(stage: &Stage, member: &str, script: &str) -> Attached {
    let said = File::create(stage.world.path("said")).unwrap();
    let mut command = stage.world.command(&binaries().handoff);
    command.current_dir(stage.project.root()).args(["attach", "--member", member, "--exec", script]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said).spawn().unwrap();
    wait::until_true("it is attached", || said_by(stage).contains("gets the packets of"));
    Attached(child)
}

fn said_by(stage: &Stage) -> String {
    fs::read_to_string(stage.world.path("said")).unwrap_or_default()
}

fn ends(stage: &Stage) -> Vec<Value> {
    let rows = stage.team.delivered("T-1", 1).into_iter();
    rows.filter(|row| row["state"] == "ended").map(|row| row["reason"].clone()).collect()
}

#[test]
fn the_program_runs_once_for_each_packet_with_its_message_and_names() {
    let stage = stage();
    for (slot, id) in [(0, "a"), (1, "b")] {
        stage.team.file("T-1", 1, PLANNED, slot, id);
    }
    let _attached = attach(
        &stage,
        "n=$(ls | grep -c got); cat > got-$n; echo \"$HANDOFF_TASK_ID $HANDOFF_AGENT_ID\" > names; \
         cp \"$HANDOFF_TASK_FILE\" file; echo anything",
    );
    wait::until_true("both are done", || ends(&stage) == [Value::Null, Value::Null]);
    let read = |name: &str| fs::read_to_string(stage.project.root().join(name)).unwrap();
    assert!(read("got-0").contains("objective of a") && read("got-1").contains("objective of b"));
    assert_eq!(read("names"), "T-1 exec\n");
    assert_eq!(serde_json::from_str::<Value>(&read("file")).unwrap()["packet"]["packet_id"], "b");
}

#[test]
fn a_program_that_fails_ends_its_packet_as_aborted_and_the_next_follows() {
    let stage = stage();
    for (slot, id) in [(0, "a"), (1, "b")] {
        stage.team.file("T-1", 1, PLANNED, slot, id);
    }
    let _attached = attach(&stage, "grep -q 'objective of b'");
    wait::until_true("both are over", || ends(&stage).len() == 2);
    assert_eq!(ends(&stage), ["The turn was aborted.".into(), Value::Null]);
    assert!(said_by(&stage).contains("exit status: 1; packet a of T-1 ("), "{}", said_by(&stage));
    assert!(said_by(&stage).contains(") ends as aborted"), "{}", said_by(&stage));
}

#[test]
fn the_program_outlives_the_daemon_and_its_packet_is_not_run_twice() {
    let mut stage = stage();
    stage.team.file("T-1", 1, PLANNED, 0, "a");
    let _attached = attach(&stage, "echo run >> runs; while [ ! -e go ]; do sleep 0.05; done");
    wait::until_true("it runs", || stage.project.root().join("runs").exists());
    stage.daemon.signal(nix::sys::signal::Signal::SIGKILL);
    stage.daemon.wait();
    wait::until_true("it saw that", || said_by(&stage).contains("the connection was lost"));
    // It ends while nobody hears it.
    fs::write(stage.project.root().join("go"), "").unwrap();
    stage.daemon = stage.world.start();
    wait::until_true("its end is known", || ends(&stage) == [Value::Null]);
    stage.team.file("T-1", 1, PLANNED, 1, "b");
    wait::until_true("the next one is done", || ends(&stage).len() == 2);
    assert_eq!(fs::read_to_string(stage.project.root().join("runs")).unwrap(), "run\nrun\n");
}

/// A shell line that files a packet to the next role through the tool, as whoever `HANDOFF_AGENT_ID` names.
fn filing(id: &str) -> String {
    let initialize =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let packet = json!({"packet_id": id, "objective": format!("objective of {id}"), "output_format": "markdown"});
    let call = json!({"name": "team_handoff", "arguments": {"packet": packet}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    ];
    let lines: String = lines.iter().map(|line| format!(" '{line}'")).collect();
    format!("printf '%s\\n'{lines} | '{}' mcp team | grep -q '\"ok\":true'", binaries().handoff.display())
}

#[test]
fn a_whole_team_hands_over_by_itself() {
    let stage = stage();
    let add = |role: &str| {
        let said =
            stage.world.handoff_in(stage.project.root(), &["team", "add", role, "--goal", "T-9", "--round", "1"]);
        String::from_utf8(said.stdout).unwrap().trim().to_owned()
    };
    let (planner, executor, verifier) = (add("planner"), add("executor"), add("verifier"));
    let _executor = attach_as(&stage, &executor, &format!("cat > task; {}", filing("product")));
    let checks = stage.attach(&Attach::idle("s-v").member(&verifier));
    assert_eq!(checks.ownership(), "member");
    let mut files = stage.world.command("/bin/sh".as_ref());
    let filed = files.env("HANDOFF_AGENT_ID", &planner).args(["-c", &filing("plan")]).status().unwrap();
    assert!(filed.success());
    let product = done(&checks, "product");
    assert_eq!(product.params["packet"]["from_role"], "executor");
    assert!(fs::read_to_string(stage.project.root().join("task")).unwrap().contains("objective of plan"));
    wait::until_true("both are on record", || {
        stage.team.delivered("T-9", 1).iter().filter(|row| row["state"] == "ended" && row["reason"].is_null()).count()
            == 2
    });
}
