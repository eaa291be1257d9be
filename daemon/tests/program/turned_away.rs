//! A start that fails under socket activation: clients that wait are told why, so that systemd does not start it again for
//! them until it closes the socket.

#![expect(clippy::disallowed_methods, reason = "a shell hands the socket over, as a service manager does")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::world::{SOON, World, until};

/// Gives what is its standard input to the program as the one passed descriptor.
const HAND_OVER: &str = r#"LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@" 3<&0 </dev/null"#;

/// A socket as systemd has it: it listens before the program runs, and after.
struct Passed {
    world: World,
    listener: UnixListener,
}

/// A client that says hello and something else before it reads, as a shell's pipe does.
struct Client(UnixStream);

impl Passed {
    fn new() -> Self {
        let world = World::new();
        let listener = UnixListener::bind(world.path("passed")).unwrap();
        Self { world, listener }
    }

    fn client(&self) -> Client {
        let mut stream = UnixStream::connect(self.world.path("passed")).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        let hello = r#""method":"hello","params":{"protocol":1,"client":{"name":"a","version":"b"}}"#;
        let status = r#""method":"daemon.status""#;
        writeln!(stream, r#"{{"jsonrpc":"2.0","id":1,{hello}}}"#).unwrap();
        writeln!(stream, r#"{{"jsonrpc":"2.0","id":2,{status}}}"#).unwrap();
        Client(stream)
    }

    fn start(&self, args: &[&str]) -> Child {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", HAND_OVER, env!("CARGO_BIN_EXE_handoffd")]).args(args);
        command.env_clear().env("HOME", self.world.path("home")).current_dir(self.world.path(""));
        command.stdin(Stdio::from(OwnedFd::from(self.listener.try_clone().unwrap()))).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    #[track_caller]
    fn check(&self, args: &[&str], code: i32, words: &str) {
        let waiting = [self.client(), self.client()];
        let begun = Instant::now();
        let mut program = self.start(args);
        waiting.into_iter().for_each(|client| client.told(words));
        assert_eq!(program.wait().unwrap().code(), Some(code));
        // More starts than twenty in two seconds, and systemd gives the socket up.
        assert!(begun.elapsed() > Duration::from_millis(450), "it lasted {:?}", begun.elapsed());
        self.listener.set_nonblocking(true).unwrap();
        assert!(self.listener.accept().is_err(), "somebody is left in the queue");
        self.listener.set_nonblocking(false).unwrap();
    }
}

impl Client {
    /// The next two answers, in order.
    fn answers(&self) -> [Value; 2] {
        let mut lines = BufReader::new(&self.0).lines();
        [1, 2].map(|id| {
            let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
            assert_eq!(answer["id"], id, "{answer}");
            answer
        })
    }

    #[track_caller]
    fn told(self, words: &str) {
        for answer in self.answers() {
            let error = &answer["error"];
            assert_eq!(error["data"]["code"], "cannot_start", "{answer}");
            assert!(error.to_string().contains(words), "no {words:?} in {answer}");
        }
    }
}

#[test]
fn clients_are_told_of_an_invalid_configuration() {
    let passed = Passed::new();
    passed.world.write("one.toml", "log.level = 'loud'\n");
    passed.check(&["--config", "one.toml"], 2, "handoffd cannot start: its configuration is invalid: ");
    passed.world.write("two.toml", "log.level = 'loud'\ntask.accept_timeout = 'soon'\n");
    passed.check(&["--config", "two.toml"], 2, "two.toml:2: `task.accept_timeout`");
}

#[test]
fn clients_are_told_of_wrong_arguments() {
    Passed::new().check(&["--detach"], 2, "--detach");
}

#[test]
fn clients_are_told_of_another_daemon() {
    let passed = Passed::new();
    let other = passed.world.start(&[]);
    passed.check(&[], 3, &format!("another handoffd is running (pid {}", other.pid()));
}

#[test]
fn clients_are_told_of_a_folder_that_cannot_be_used() {
    let passed = Passed::new();
    passed.world.write("home/.local/state/handoffd", "");
    passed.check(&[], 1, "is not a folder");
}

/// The next start is another one's to judge.
#[test]
fn whoever_comes_after_the_repair_is_left_for_the_next_start() {
    let passed = Passed::new();
    passed.world.write("own.toml", "log.level = 'loud'\n");
    let told = passed.client();
    let mut program = passed.start(&["--config", "own.toml"]);
    told.told("`log.level`");
    passed.world.write("own.toml", "");
    let after = passed.client();
    assert_eq!(program.wait().unwrap().code(), Some(2));
    let mut program = passed.start(&["--config", "own.toml"]);
    for answer in after.answers() {
        assert!(answer["result"].is_object(), "{answer}");
    }
    kill_process(Pid::from_child(&program), Signal::TERM).unwrap();
    assert_eq!(program.wait().unwrap().code(), Some(0));
}

/// Else a start by hand, whose reason a person waits for, would take as long.
#[test]
fn nobody_is_waited_for() {
    let passed = Passed::new();
    // On a busy machine most starts take long, but not all; who waits always does.
    until("a start that is quick", || {
        let begun = Instant::now();
        assert_eq!(passed.start(&["--detach"]).wait().unwrap().code(), Some(2));
        (begun.elapsed() < Duration::from_millis(450)).then_some(())
    });
}
