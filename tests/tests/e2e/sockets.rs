//! The socket: where it lies, who may come, and clients that misbehave.

use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;

use handoffd_tests::peer::Peer;
use handoffd_tests::{Control, SessionProcess, Task, report, wait, world};
use serde_json::json;

use crate::support::{Stage, stage};

fn check_alive(stage: &Stage, id: &str) {
    stage.project.plan(&Task::new(id));
    let dispatch = stage.session.wait_dispatch(id);
    stage.session.finish(&dispatch, report::complete());
}

fn raw(stage: &Stage) -> UnixStream {
    let stream = UnixStream::connect(stage.daemon.socket()).unwrap();
    stream.set_read_timeout(Some(wait::PATIENCE)).unwrap();
    stream
}

/// Everything until the daemon closes.
fn read_all(mut stream: &UnixStream) -> String {
    let mut text = Vec::new();
    // A reset after a refused flood is an end, too.
    drop(stream.read_to_end(&mut text));
    String::from_utf8(text).unwrap()
}

#[test]
fn f104_a_removed_socket_comes_back_with_the_same_mode() {
    let stage = stage();
    std::fs::remove_file(stage.world.socket()).unwrap();
    wait::until("the socket is back", || Control::try_open(&stage.world.socket()));
    let mode = std::fs::metadata(stage.world.socket()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    check_alive(&stage, "t-1");
}

#[test]
fn f104_a_removed_runtime_folder_comes_back_too() {
    let stage = stage();
    std::fs::remove_dir_all(stage.world.path("run")).unwrap();
    wait::until("the socket is back", || Control::try_open(&stage.world.socket()));
    check_alive(&stage, "t-1");
}

#[test]
fn f105_a_dead_socket_file_is_replaced() {
    let stage = stage();
    stage.daemon.kill();
    assert!(stage.world.socket().exists());
    let daemon = stage.world.start();
    assert_eq!(daemon.control().hello["protocol"], 1);
}

#[test]
fn f100_a_path_that_is_too_long_is_named_with_limit_and_length() {
    let world = world!();
    let long = world.path(&"d".repeat(120)).join("s");
    let mut daemon = world.spawn_in_shell(&format!("export HANDOFFD_SOCKET={}; exec \"$@\"", long.display()));
    assert!(!daemon.wait().success());
    let said = std::fs::read_to_string(world.path("daemon-1.err")).unwrap();
    let length = long.as_os_str().len().to_string();
    assert!(said.contains(&length) && (said.contains("107") || said.contains("108")), "{said}");
}

#[test]
fn f110_nobody_else_may_connect() {
    let stage = stage();
    if !nix::unistd::getuid().is_root() || !stage.world.has_tool("setpriv") {
        return;
    }
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(&stage.world.path(""), 0o755);
    let stranger = || {
        let mut command = stage.world.command("setpriv".as_ref());
        command.args(["--reuid=12345", "--clear-groups"]).arg(stage.world.copy_of(stage.world.relay()));
        SessionProcess::start_with(command)
    };
    open(&stage.world.socket(), 0o777);
    let folder = stage.world.path("run");
    open(&folder, 0o700);
    let refused = stranger().connect(stage.daemon.socket(), &folder, Box::new(|_, _| ()));
    assert!(refused.is_err_and(|why| why.contains("denied")), "the folder alone keeps others out");
    open(&folder, 0o755);
    let peer = stranger().connect(stage.daemon.socket(), &folder, Box::new(|_, _| ()));
    if let Ok(peer) = peer {
        let hello = json!({"protocol": 1, "client": {"name": "x", "version": "0"}});
        let refused = peer.call("hello", hello).unwrap_err();
        assert!(["not_permitted", "closed"].contains(&refused.name()), "{refused:?}");
    }
    check_alive(&stage, "t-1");
}

#[test]
fn f115_a_thousand_clients_that_do_not_wait_for_the_answer() {
    let stage = stage();
    for _ in 0..1000 {
        let mut stream = UnixStream::connect(stage.daemon.socket()).unwrap();
        drop(stream.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"protocol\":1,\"client\":{\"name\":\"x\",\"version\":\"0\"}}}\n"));
    }
    check_alive(&stage, "t-1");
    assert!(!stage.daemon.log().contains("ERROR "), "no error for each client");
}

#[test]
fn f120_a_line_without_an_end_is_cut_off() {
    let stage = stage();
    let mut stream = raw(&stage);
    let chunk = vec![b'x'; 64 * 1024];
    let mut sent = 0_usize;
    while sent < 64 * 1024 * 1024 && stream.write_all(&chunk).is_ok() {
        sent += chunk.len();
    }
    assert!(sent < 16 * 1024 * 1024, "{sent} bytes were taken");
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", stage.daemon.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap().to_owned();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    assert!(resident() < 64 * 1024, "{} KiB", resident());
    check_alive(&stage, "t-1");
}

#[test]
fn f121_garbage_gets_stable_codes() {
    let stage = stage();
    let check = |line: &[u8], code: &str| {
        let mut stream = raw(&stage);
        stream.write_all(line).unwrap();
        stream.write_all(b"\n").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let answer = read_all(&stream);
        assert!(answer.contains(code), "{}: {answer}", String::from_utf8_lossy(line));
    };
    check(b"\x00\xff\xfe", "-32700");
    check(b"{\"jsonrpc\":\"2.0\"", "-32700");
    check("[".repeat(100_000).as_bytes(), "-32700");
    check(b"[]", "-32600");
    check(b"7", "-32600");
    check(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":[]}", "-32602");
    check(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"protocol\":99,\"client\":{\"name\":\"x\",\"version\":\"0\"}}}", "unsupported_protocol");
    check(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.status\"}", "hello_required");
    let control = stage.daemon.control();
    assert_eq!(control.call("no.such", json!({})).unwrap_err().code, -32601);
    assert_eq!(control.call("task.wait", json!({"project": 7})).unwrap_err().code, -32602);
    check_alive(&stage, "t-1");
}

#[test]
fn f012_a_request_in_three_pieces_is_one_request() {
    let stage = stage();
    let line = "{\"jsonrpc\":\"2.0\",\"id\":12345,\"method\":\"hello\",\"params\":{\"protocol\":1,\"client\":{\"name\":\"\u{e9}\",\"version\":\"0\"}}}\n";
    let inside = line.find('\u{e9}').unwrap() + 1;
    let number = line.find("345").unwrap();
    let mut stream = raw(&stage);
    for piece in [&line.as_bytes()[..number], &line.as_bytes()[number..inside], &line.as_bytes()[inside..]] {
        stream.write_all(piece).unwrap();
        // The daemon has read it before the next piece comes: another client was served meanwhile.
        drop(stage.control.status());
    }
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let answer = read_all(&stream);
    assert_eq!(answer.lines().count(), 1);
    assert!(answer.contains("\"id\":12345") && answer.contains("\"result\""), "{answer}");
}

#[test]
fn f118_a_subscriber_that_stops_reading_holds_nobody_up() {
    let stage = stage();
    let mut deaf = raw(&stage);
    deaf.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"protocol\":1,\"client\":{\"name\":\"x\",\"version\":\"0\"}}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"events.subscribe\",\"params\":{}}\n").unwrap();
    let filler = "y".repeat(8000);
    for number in 0..15 {
        let id = format!("t-{number}");
        stage.project.plan(&Task::new(&id).with("instruction", filler.as_str()));
        let dispatch = stage.session.wait_dispatch(&id);
        for run in 0..40 {
            let mut told = report::run(&format!("r-{run}"), "complete");
            told["result"] = json!("z".repeat(4000));
            stage.session.run_finished(&dispatch, told);
        }
        stage.session.finish(&dispatch, report::complete());
    }
    drop(deaf);
}

#[test]
fn f122_a_client_is_not_kept_waiting_by_a_stopped_daemon() {
    let stage = stage();
    stage.daemon.signal(nix::sys::signal::Signal::SIGSTOP);
    // It gives up by itself, or this never ends.
    let output = stage.world.handoff_in(stage.project.root(), &["status"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("within 5 s"), "{output:?}");
    stage.daemon.signal(nix::sys::signal::Signal::SIGCONT);
    check_alive(&stage, "t-1");
}

#[test]
fn a_connection_without_hello_is_closed() {
    let stage = stage();
    let peer = Peer::connect(stage.daemon.socket(), Box::new(|_, _| ())).unwrap();
    peer.wait_closed();
}

#[test]
fn the_socket_and_its_folder_are_private_from_birth() {
    let world = world!();
    std::fs::remove_dir_all(world.path("run")).unwrap();
    let daemon = world.spawn_in_shell("umask 000; exec \"$@\"");
    drop(daemon.control());
    assert_eq!(std::fs::metadata(world.socket()).unwrap().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(world.path("run")).unwrap().mode() & 0o777, 0o700);
}
