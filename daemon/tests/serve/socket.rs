//! The socket and the instance lock: where they lie, who may connect, who starts second (field log §12–14).

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use handoffd::config::Config;
use handoffd::instance::InstanceError;
use handoffd::places::Places;
use handoffd::run::{RunError, Startup, run};
use handoffd::server::socket::{Listener, SocketError};
use nix::sys::stat::{Mode, umask};
use serde_json::json;

use crate::client::Client;
use crate::world::{Daemon, World, is_alone, until};

fn inode(path: &Path) -> u64 {
    path.symlink_metadata().unwrap().ino()
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o777
}

async fn start_second(startup: Startup) -> RunError {
    run(startup, Listener::Bind, std::future::pending()).await.unwrap_err()
}

/// F090, F091: the second one changes nothing.
#[tokio::test]
async fn a_second_daemon_says_which_one_runs_and_leaves_its_socket_alone() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let before = inode(daemon.socket());
    let error = start_second(world.startup("")).await;
    assert!(matches!(error, RunError::Instance(InstanceError::Held { .. })), "{error}");
    let named = format!("pid {}, socket {}", std::process::id(), daemon.socket().display());
    assert!(error.to_string().contains(&named), "{error}");
    assert_eq!(inode(daemon.socket()), before);
    daemon.client().await.result("daemon.status", json!({})).await;
}

/// F110: nobody else can connect, whatever the umask is.
#[tokio::test]
async fn folder_and_socket_are_private_under_every_umask() {
    if !is_alone("socket::folder_and_socket_are_private_under_every_umask") {
        return;
    }
    let world = World::new();
    umask(Mode::empty());
    let daemon = world.daemon(&[]).await;
    assert_eq!(mode(daemon.socket()), 0o600);
    assert_eq!(mode(daemon.socket().parent().unwrap()), 0o700);
    assert_eq!(mode(&world.path("state/handoffd")), 0o700);
}

/// F105: what a killed daemon left behind.
#[tokio::test]
async fn a_dead_socket_is_replaced_and_a_stopped_daemon_leaves_none() {
    let world = World::new();
    world.places().prepare().unwrap();
    let path = world.places().socket.path;
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let daemon = world.daemon(&[]).await;
    daemon.client().await.result("daemon.status", json!({})).await;
    daemon.stop().await;
    assert!(!path.exists());
}

/// F091: somebody who listens there without our lock.
#[tokio::test]
async fn a_live_socket_of_another_program_is_left_alone() {
    let world = World::new();
    world.places().prepare().unwrap();
    let path = world.places().socket.path;
    let _other = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let before = inode(&path);
    let error = start_second(world.startup("")).await;
    assert!(matches!(error, RunError::Socket(SocketError::InUse(_))), "{error}");
    assert_eq!(inode(&path), before);
}

#[tokio::test]
async fn a_file_in_place_of_the_socket_is_left_alone() {
    let world = World::new();
    world.places().prepare().unwrap();
    let path = world.write("run/handoffd/handoffd.sock", "precious");
    let error = start_second(world.startup("")).await;
    assert!(matches!(error, RunError::Socket(SocketError::NotASocket(_))), "{error}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "precious");
}

/// F104: a cleaner of old files.
#[tokio::test]
async fn a_socket_that_vanishes_is_bound_again_and_connections_stay() {
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let mut before = daemon.client().await;
    std::fs::remove_file(daemon.socket()).unwrap();
    until("the socket is back", || Client::try_connect(daemon.socket())).await.hello().await;
    assert_eq!(mode(daemon.socket()), 0o600);
    std::fs::remove_dir_all(daemon.socket().parent().unwrap()).unwrap();
    until("its folder is back, too", || Client::try_connect(daemon.socket())).await.hello().await;
    assert_eq!(mode(daemon.socket().parent().unwrap()), 0o700);
    before.result("session.ping", json!({})).await;
    let path = daemon.socket().to_path_buf();
    daemon.stop().await;
    assert!(!path.exists());
}

/// F104, D77: what was passed is deaf once its file is gone. Also the next daemon, which is passed the same, is found, and also
/// where the one before was killed and left its file.
#[tokio::test]
async fn f104_a_passed_socket_that_vanishes_is_bound_by_the_daemon() {
    let world = World::new();
    world.places().prepare().unwrap();
    let path = world.places().socket.path;
    let passed = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let daemon = Daemon::start_with(world.startup(""), Listener::Activated(passed.try_clone().unwrap())).await;
    let mut before = daemon.client().await;
    std::fs::remove_file(&path).unwrap();
    until("the socket is back", || Client::try_connect(&path)).await.hello().await;
    assert_eq!(mode(&path), 0o600);
    before.result("session.ping", json!({})).await;
    daemon.stop().await;
    assert!(!path.exists(), "it was the daemon's own");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let next = Daemon::start_with(world.startup(""), Listener::Activated(passed)).await;
    until("the socket is back", || Client::try_connect(&path)).await.hello().await;
    next.stop().await;
}

/// D77: under socket activation the file is the service manager's.
#[tokio::test]
async fn a_passed_socket_is_served_and_never_touched() {
    let world = World::new();
    world.places().prepare().unwrap();
    let path = world.places().socket.path;
    let passed = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let before = inode(&path);
    let daemon = Daemon::start_with(world.startup(""), Listener::Activated(passed)).await;
    let status = daemon.client().await.result("daemon.status", json!({})).await;
    assert_eq!(status["daemon"]["socket"], path.to_str().unwrap());
    daemon.stop().await;
    assert_eq!(inode(&path), before);
}

/// F100: the limit and the length are named before anything is made.
#[test]
fn a_socket_path_that_is_too_long_is_refused() {
    let world = World::new();
    let mut env = world.env();
    env.xdg_runtime_dir = Some(world.path(&"r".repeat(120)));
    let error = Places::find(&env, &Config::default()).unwrap_err().to_string();
    assert!(error.contains("bytes long, the limit is"), "{error}");
}

/// F112: another user is refused by the credentials even where the folder lets him in. Needs root.
#[tokio::test]
async fn another_user_is_not_permitted() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let world = World::new();
    let daemon = world.daemon(&[]).await;
    let open = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    open(&world.path(""), 0o755);
    open(&world.path("run"), 0o755);
    open(daemon.socket().parent().unwrap(), 0o755);
    open(daemon.socket(), 0o777);
    let socket = daemon.socket().to_path_buf();
    // Credentials are those of the thread that connects; only that one becomes another user.
    let connect = std::thread::spawn(move || {
        rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(65_534)).unwrap();
        std::os::unix::net::UnixStream::connect(socket).unwrap()
    });
    let mut client = Client::from_std(connect.join().unwrap());
    let answer = client.line().await.unwrap();
    assert_eq!(answer["error"]["data"]["code"], "not_permitted", "{answer}");
    assert!(client.is_closed().await);
}
