//! No daemon, a daemon that does not answer, and one of another version (F122, F140).

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::daemon::eventually;
use crate::env::{TestEnv, write};

const HOW_IT_IS: &str = "Hint: `handoff service status` says how the service is";

/// Verbs that need a daemon.
const VERBS: [&[&str]; 16] = [
    &["status"],
    &["watch"],
    &["next"],
    &["wait"],
    &["show"],
    &["history"],
    &["cancel"],
    &["retry"],
    &["pause"],
    &["resume"],
    &["enable"],
    &["disable"],
    &["take"],
    &["events"],
    &["attach"],
    &["attach", "--exec", "true"],
];

#[test]
fn without_a_daemon_every_verb_says_where_it_looked_and_what_to_do() {
    let world = TestEnv::new();
    assert_snapshot!(world.run(&["status"]), @r"
    --- stderr
    Error: no daemon answers at {ROOT}/run/handoffd/handoffd.sock (from XDG_RUNTIME_DIR) or at {HOME}/.local/state/handoffd/run-{HOST}/handoffd.sock (in the state folder)
    Hint: `handoff service install` makes it a service, once; or run `handoffd` in another terminal
    --- exit 3
    ");
    for verb in VERBS {
        let said = world.run(verb);
        assert!(said.code == 3 && said.stderr.contains("no daemon answers"), "{verb:?}: {said}");
    }
}

#[test]
fn a_service_that_is_installed_need_not_be_installed_again() {
    let world = TestEnv::new();
    write(&world.home().join(".config/systemd/user/handoffd.service"), b"");
    let said = world.run(&["status"]);
    assert!(said.code == 3 && said.stderr.contains(HOW_IT_IS) && !said.stderr.contains("service install"), "{said}");
    std::fs::create_dir(world.run_dir().join("handoffd")).unwrap();
    let _queue = UnixListener::bind(world.run_dir().join("handoffd/handoffd.sock")).unwrap();
    let said = world.run(&["status"]);
    assert!(said.code == 3 && said.stderr.contains(HOW_IT_IS) && !said.stderr.contains("restart"), "{said}");
}

#[test]
fn a_daemon_that_cannot_start_says_why() {
    let world = TestEnv::new();
    let data = json!({"code": "cannot_start", "problems": [{"field": null, "code": "x", "message": "a.toml:1: `y`"}]});
    let message = "handoffd cannot start: its configuration is invalid";
    answer_once(&world, json!({"error": {"code": -32000, "message": message, "data": data}}));
    assert_snapshot!(world.run(&["status"]), @r"
    --- stderr
    Error: handoffd cannot start: its configuration is invalid
      a.toml:1: `y`
    Hint: once that is repaired, the next command starts it; `handoff service status` says more
    --- exit 3
    ");
}

#[test]
fn a_daemon_that_does_not_answer_is_given_up_within_its_time() {
    let world = TestEnv::new();
    std::fs::create_dir(world.run_dir().join("handoffd")).unwrap();
    let silent = UnixListener::bind(world.run_dir().join("handoffd/handoffd.sock")).unwrap();
    std::thread::scope(|scope| {
        for verb in VERBS {
            let world = &world;
            scope.spawn(move || {
                let said = world.run(verb);
                let fits = said.stderr.contains("daemon not answering") && said.stderr.contains("within 5 s");
                assert!(said.code == 3 && fits, "{verb:?}: {said}");
            });
        }
    });
    // Nobody spends these seconds again and again. Counted, not measured: how long processes take is the machine's.
    silent.set_nonblocking(true).unwrap();
    let asked = std::iter::from_fn(|| silent.accept().ok()).count();
    assert!((VERBS.len()..=2 * VERBS.len()).contains(&asked), "{asked} connections");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test plays the daemon")]
fn f104_a_daemon_whose_socket_was_removed_is_not_said_to_be_missing() {
    let world = crate::doctor::world();
    let program = world.root().join("handoffd");
    std::fs::copy("/bin/sleep", &program).unwrap();
    let mut daemon = std::process::Command::new(&program);
    // The places are those of the daemon's own environment.
    daemon.env_clear().env("HOME", world.home()).env("XDG_RUNTIME_DIR", world.run_dir());
    let mut daemon = daemon.arg("600").spawn().unwrap();
    let lock = format!(".local/state/handoffd/handoffd-{}.lock", handoffd::places::host::host_part());
    let holder = serde_json::json!({"pid": daemon.id(), "socket": world.run_dir().join("handoffd/handoffd.sock")});
    write(&world.home().join(&lock), holder.to_string().as_bytes());
    let pid = format!("(pid {})", daemon.id());
    crate::doctor::check(&world, "daemon", "fault", &[&pid, "its socket is not there", "wait ten seconds"]);
    crate::doctor::check(&world, "socket", "fault", &["has vanished", "wait ten seconds"]);
    let (said, next) = (world.run(&["status"]), world.run(&["init"]));
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert_eq!(said.code, 3, "{said}");
    assert!(said.stderr.contains(&pid) && said.stderr.contains("is not there"), "{said}");
    // Another daemon could not start beside it.
    for said in [said, next] {
        assert!(said.stderr.contains(&pid) && !said.stderr.contains("service install"), "{said}");
    }
}

#[test]
fn another_version_is_named_in_both_directions() {
    let check = |supported: u32, hint: &str| {
        let world = TestEnv::new();
        let data = json!({"code": "unsupported_protocol", "supported": [supported]});
        answer_once(&world, json!({"error": {"code": -32000, "message": "no", "data": data}}));
        let said = world.run(&["status"]);
        let names_both = said.stderr.contains("speaks protocol 1") && said.stderr.contains(&supported.to_string());
        assert!(said.code == 4 && names_both && said.stderr.contains(hint), "{said}");
        assert!(said.stderr.contains(&format!("this is handoff {}", env!("CARGO_PKG_VERSION"))), "{said}");
        let doctor = run_doctor(supported, &data);
        assert!(doctor.contains(hint), "F140: the remedy of `doctor` is the same: {doctor}");
    };
    check(0, "the daemon is older: after an update");
    check(2, "this program is older");
}

#[test]
fn a_watch_outlives_a_daemon_that_is_stopping_when_it_is_asked() {
    let world = TestEnv::new();
    let stopping =
        json!({"error": {"code": -32000, "message": "the daemon is stopping", "data": {"code": "shutting_down"}}});
    answer_each(&world, [hello("0.0.9"), json!({"result": {"seq": 0}}), stopping]);
    let watch = world.start(&["watch"]);
    eventually("it waits for the next one", || watch.stderr().contains("not reachable; waiting for it"));
}

#[test]
fn a_daemon_that_lacks_a_method_is_told_apart_from_a_broken_one() {
    let world = TestEnv::new();
    answer_once_then(&world, hello("0.0.9"), json!({"error": {"code": -32601, "message": "unknown method"}}));
    let said = world.run(&["status"]);
    assert_snapshot!(said, @r"
    --- stderr
    Error: the daemon does not know `daemon.status` (this is handoff 0.1.0, the daemon is 0.0.9)
    Hint: the daemon is older: after an update, run `handoff service restart`, or start it again by hand
    --- exit 4
    ");
}

fn hello(version: &str) -> Value {
    json!({"result": {"protocol": 1, "daemon": {
        "version": version, "pid": 1, "instance": "0".repeat(32), "started_at": "2026-11-30T08:00:00Z",
    }}})
}

/// What `doctor` says of a daemon that runs and speaks another protocol.
fn run_doctor(supported: u32, data: &Value) -> String {
    let world = TestEnv::new();
    answer_once(&world, json!({"error": {"code": -32000, "message": "no", "data": data}}));
    let found = world.run(&["doctor", "--json"]).json();
    let of_daemon = |finding: &&Value| finding["check"] == "daemon";
    let finding = found["findings"].as_array().unwrap().iter().find(of_daemon).unwrap();
    assert!(finding["what"].as_str().unwrap().contains(&format!("the daemon speaks {supported}")), "{finding}");
    finding["remedy"].as_str().unwrap().to_owned()
}

#[test]
fn f140_an_answer_of_another_version_names_both_and_the_remedy() {
    let world = TestEnv::new();
    answer_once_then(&world, hello("0.2.0"), json!({"result": {"projects": 3}}));
    let said = world.run(&["status"]);
    assert!(said.code == 4 && said.stderr.contains("(this is handoff 0.1.0, the daemon is 0.2.0)"), "{said}");
    assert!(said.stderr.contains("Hint: install `handoff` and `handoffd` from one version"), "{said}");
}

fn answer_once(world: &TestEnv, answer: Value) {
    answer_once_then(world, answer, Value::Null);
}

/// A daemon of another version: on each connection it answers the first request with one thing and all others with another.
fn answer_once_then(world: &TestEnv, first: Value, others: Value) {
    answer_each(world, std::iter::once(first).chain(std::iter::repeat(others)));
}

/// One that ends a connection when it has given the last answer there.
fn answer_each(world: &TestEnv, answers: impl IntoIterator<Item = Value, IntoIter: Clone + Send + 'static>) {
    let answers = answers.into_iter();
    std::fs::create_dir(world.run_dir().join("handoffd")).unwrap();
    let listener = UnixListener::bind(world.run_dir().join("handoffd/handoffd.sock")).unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let reader = BufReader::new(stream.try_clone().unwrap());
            for (mut answer, line) in answers.clone().zip(reader.lines().map_while(Result::ok)) {
                let request: Value = serde_json::from_str(&line).unwrap();
                answer["jsonrpc"] = "2.0".into();
                answer["id"] = request["id"].clone();
                writeln!(stream, "{answer}").unwrap();
            }
        }
    });
}
