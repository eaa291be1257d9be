//! A real daemon for the binary to speak with, on a thread of the test. No assertions here.

use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use handoffd::config::{Config, WatchConfig, WatchMode};
use handoffd::env::Env;
use handoffd::places::Places;
use handoffd::run::{Startup, run};
use handoffd::server::socket::Listener;
use tokio::sync::oneshot;

use crate::env::{Running, TestEnv};

/// A daemon that is stopped when it is dropped.
pub(crate) struct TestDaemon {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TestDaemon {
    /// Starts a daemon for the world and waits until it listens.
    pub(crate) fn start(world: &TestEnv) -> Self {
        Self::start_with(world, Config::default())
    }

    fn start_with(world: &TestEnv, config: Config) -> Self {
        let env = Env { home: Some(world.home()), xdg_runtime_dir: Some(world.run_dir()), ..Env::default() };
        let places = Places::find(&env, &config).unwrap();
        let socket = places.socket.path.clone();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let until = async {
                stopped.await.ok();
            };
            runtime.block_on(run(Startup::new(env, places, config), Listener::Bind, until)).unwrap();
        });
        eventually("the daemon listens", || UnixStream::connect(&socket).is_ok());
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for TestDaemon {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()).ok());
        self.thread.take().map(|thread| thread.join().ok());
    }
}

/// A world with a project that was made by `handoff init`, and a daemon.
pub(crate) fn world() -> (TestEnv, TestDaemon) {
    world_with(Config::default())
}

/// One whose daemon looks at files once an hour, and hears of nothing meanwhile.
pub(crate) fn slow_world() -> (TestEnv, TestDaemon) {
    let watch = WatchConfig { mode: WatchMode::Poll, sweep_interval: Duration::from_secs(3_600) };
    world_with(Config { watch, ..Config::default() })
}

fn world_with(config: Config) -> (TestEnv, TestDaemon) {
    let world = TestEnv::new();
    std::fs::create_dir(world.project().join("src")).unwrap();
    assert_eq!(world.run(&["init"]).code, 0);
    let daemon = TestDaemon::start_with(&world, config);
    eventually("the project is looked at", || state(&world) == "idle");
    (world, daemon)
}

/// The state of the world's project.
pub(crate) fn state(world: &TestEnv) -> String {
    let status = world.run(&["status", "--json"]).json();
    status["projects"][0]["state"].as_str().unwrap_or("none").to_owned()
}

/// Submits a small task.
pub(crate) fn submit(world: &TestEnv, id: &str, more: &[&str]) -> crate::env::Said {
    let task = ["submit", "--instruction", "Add a flag", "--scope", "src", "--accept", "it works", "--id", id];
    world.run(&[&task[..], more].concat())
}

/// A session whose tasks are done by a shell script, attached.
pub(crate) fn attach(world: &TestEnv, script: &str) -> Running {
    attach_with(world, &[], script)
}

/// A session whose packets are done by a shell script, attached as a member.
pub(crate) fn attach_as(world: &TestEnv, member: &str, script: &str) -> Running {
    attach_with(world, &["--member", member], script)
}

fn attach_with(world: &TestEnv, more: &[&str], script: &str) -> Running {
    let file = crate::env::write(&world.root().join("work.sh"), script.as_bytes());
    let session = world.start(&[&["attach", "--exec", &format!("sh '{}'", file.display())], more].concat());
    eventually("the session is attached", || session.stderr().contains("attached"));
    session
}

/// Waits for a condition, never for a time.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "not within 60 s: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A report that is accepted for the tasks of `submit`.
pub(crate) const COMPLETE: &str = r#"{"status":"COMPLETE","worker":{"agent":"handoff-writer","run_id":"r-1","status":"COMPLETE","result":"did it","model":"p/m","thinking":"off"},"gate_evidence":[],"async_status":{"checked":true,"pending_run_ids":[],"failed_run_ids":[]},"files_changed":["src/a.rs"],"tests_run":["cargo test"],"result":"Added","error":null}"#;
