//! Under a service manager: readiness, reload, watchdog, stop, and a socket that was passed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixDatagram, UnixStream};

use rustix::process::Signal;

use crate::world::{SOON, World};

/// The service manager's end: what the daemon tells it, in order.
struct Manager {
    socket: UnixDatagram,
    heard: Vec<String>,
}

impl Manager {
    fn listen(world: &World) -> Self {
        let socket = UnixDatagram::bind(world.path("notify")).unwrap();
        socket.set_read_timeout(Some(SOON)).unwrap();
        Self { socket, heard: Vec::new() }
    }

    /// Waits until the daemon has told this.
    #[track_caller]
    fn wait_for(&mut self, wanted: &str) -> String {
        let mut buffer = [0; 1024];
        loop {
            let size = self.socket.recv(&mut buffer).unwrap_or_else(|_| panic!("{wanted} after {:?}", self.heard));
            let told = String::from_utf8(buffer[..size].to_vec()).unwrap();
            self.heard.push(told.clone());
            if told.lines().any(|line| line == wanted) {
                return told;
            }
        }
    }
}

fn ask(world: &World, line: &str) -> String {
    let stream = UnixStream::connect(world.socket().unwrap()).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let hello =
        r#"{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1,"client":{"name":"a","version":"b"}}}"#;
    (&stream).write_all(format!("{hello}\n{line}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    reader.read_line(&mut answer).unwrap();
    answer.clear();
    reader.read_line(&mut answer).unwrap();
    answer
}

#[test]
fn the_service_manager_is_told_of_every_step() {
    let world = World::new();
    let config = world.write("config.toml", "");
    let mut manager = Manager::listen(&world);
    let mut command = world.command(&["--config", config.to_str().unwrap()]);
    command.env("NOTIFY_SOCKET", world.path("notify")).env("WATCHDOG_USEC", "30000000");
    let running = world.start_command(&mut command);
    manager.wait_for("READY=1");
    manager.wait_for("WATCHDOG=1");

    running.signal(Signal::HUP);
    let told = manager.wait_for("RELOADING=1");
    assert!(told.lines().any(|line| line.starts_with("MONOTONIC_USEC=")), "{told}");
    manager.wait_for("READY=1");

    running.signal(Signal::TERM);
    manager.wait_for("STOPPING=1");
    assert_eq!(running.end().status.code(), Some(0));
}

/// F280
#[test]
fn a_broken_configuration_does_not_end_a_running_daemon() {
    let world = World::new();
    world.write("config.toml", "");
    let mut manager = Manager::listen(&world);
    let mut command = world.command(&["--config", "config.toml"]);
    command.env("NOTIFY_SOCKET", world.path("notify"));
    let running = world.start_command(&mut command);
    manager.wait_for("READY=1");
    world.write("config.toml", "[log]\nlevel = 'loud'\n");
    running.signal(Signal::HUP);
    manager.wait_for("READY=1");
    let status = ask(&world, r#"{"jsonrpc":"2.0","id":2,"method":"daemon.status"}"#);
    assert!(status.contains("config.toml:2: `log.level`"), "{status}");
    running.signal(Signal::TERM);
    assert_eq!(running.end().status.code(), Some(0));
}

/// The level of the log follows the configuration without a restart.
#[test]
fn a_reload_changes_the_level_of_the_log() {
    let world = World::new();
    world.write("config.toml", "log.level = 'error'\n");
    let running = world.start(&["--config", "config.toml"]);
    world.write("config.toml", "log.level = 'debug'\n");
    let reloaded = ask(&world, r#"{"jsonrpc":"2.0","id":2,"method":"daemon.reload"}"#);
    assert!(reloaded.contains("loaded_at"), "{reloaded}");
    running.signal(Signal::TERM);
    assert_eq!(running.end().status.code(), Some(0));
    assert!(world.log().contains("the configuration was read again"), "{}", world.log());
}
