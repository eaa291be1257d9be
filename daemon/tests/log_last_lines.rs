//! The last lines of the log survive every way in which the daemon can end (F275).
//!
//! Each test starts itself again as a child that logs a marker as its last act, and then looks for the marker.
#![expect(clippy::disallowed_methods, reason = "the child is the program under test")]
#![expect(clippy::unwrap_used, reason = "a test may panic anywhere")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, process, thread};

use handoffd::config::LogFormat;
use handoffd::logging::{self, Colour, FileSettings, LogGuard, LogSettings, Target};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

/// Set for the child: the folder of its log.
const CHILD: &str = "HANDOFFD_TEST_LOG_DIR";
const LONG: Duration = Duration::from_secs(60);

fn start(dir: &Path) -> LogGuard {
    let files = FileSettings { dir: dir.to_owned(), max_size: 1 << 20, max_total: 1 << 24, keep: 5 };
    let settings = LogSettings {
        target: Target::Files(files),
        level: "info".to_owned(),
        format: LogFormat::Auto,
        colour: Colour::Never,
        journal_stream: None,
    };
    logging::init(&settings).unwrap()
}

/// In the child runs `child` and never returns. In the parent starts that child.
fn in_child(test: &str, child: impl FnOnce(LogGuard) -> i32) -> (TempDir, Child) {
    if let Some(dir) = std::env::var_os(CHILD) {
        let code = child(start(&PathBuf::from(dir)));
        process::exit(code);
    }
    let dir = TempDir::new().unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    (dir, child)
}

fn log(dir: &TempDir) -> String {
    let files = logging::files(dir.path()).unwrap();
    files.iter().rev().map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[track_caller]
fn wait_for(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < deadline, "the condition did not come true in time");
        thread::sleep(Duration::from_millis(5));
    }
}

fn wait(child: &mut Child) -> ExitStatus {
    let mut status = None;
    wait_for(|| {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap()
}

#[test]
fn a_normal_stop() {
    let (dir, mut child) = in_child("a_normal_stop", |guard| {
        for number in 0..500 {
            tracing::info!(number, "busy");
        }
        tracing::warn!("marker");
        drop(guard);
        0
    });
    assert!(wait(&mut child).success());
    assert!(log(&dir).contains(" WARN  marker\n"), "{}", log(&dir));
}

#[test]
fn a_terminate_signal() {
    let (dir, mut child) = in_child("a_terminate_signal", |guard| {
        let stop = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(Signal::SIGTERM as i32, Arc::clone(&stop)).unwrap();
        tracing::info!("ready");
        wait_for(|| stop.load(Ordering::Relaxed));
        tracing::info!("marker");
        drop(guard);
        0
    });
    wait_for(|| log(&dir).contains("ready"));
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGTERM).unwrap();
    assert!(wait(&mut child).success());
    assert!(log(&dir).contains("marker"));
}

#[test]
fn a_panic_in_a_worker_thread() {
    let secret = format!("ghp{}{}", "_", "x1".repeat(20));
    let (dir, mut child) = in_child("a_panic_in_a_worker_thread", |_guard| {
        let work = move || {
            tracing::info!("marker");
            panic!("worker with {secret}\nbroke");
        };
        let worker = thread::Builder::new().name("worker-7".to_owned()).spawn(work).unwrap();
        assert!(worker.join().is_err());
        // Not even the guard is dropped: the hook alone must have done it.
        process::abort();
    });
    assert!(!wait(&mut child).success());
    let log = log(&dir);
    let panic = log.lines().last().unwrap();
    assert!(log.contains("marker"), "{log}");
    assert!(
        panic.contains("ERROR panicked: worker with [masked GitHub token] broke thread=worker-7 place="),
        "{panic}"
    );
}

#[test]
fn a_panic_of_the_main_thread() {
    let (dir, mut child) = in_child("a_panic_of_the_main_thread", |_guard| panic!("marker"));
    assert!(!wait(&mut child).success());
    assert!(log(&dir).contains("panicked: marker"));
}

#[test]
fn a_fatal_error_at_the_start() {
    let (dir, mut child) = in_child("a_fatal_error_at_the_start", |guard| {
        let failed: Result<(), &str> = Err("marker");
        let code = failed.map_or_else(
            |error| {
                tracing::error!(error, "cannot start");
                1
            },
            |()| 0,
        );
        drop(guard);
        code
    });
    assert_eq!(wait(&mut child).code(), Some(1));
    assert!(log(&dir).contains("cannot start error=marker"));
}

#[test]
fn counts_that_were_held_back() {
    let (dir, mut child) = in_child("counts_that_were_held_back", |guard| {
        for _ in 0..1000 {
            tracing::warn!(project = "alpha", "again");
        }
        drop(guard);
        0
    });
    assert!(wait(&mut child).success());
    let log = log(&dir);
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(log.contains("again (999 more in "), "{log}");
}

#[test]
fn a_second_log_in_one_process_is_refused() {
    let (dir, mut child) = in_child("a_second_log_in_one_process_is_refused", |guard| {
        let other = TempDir::new().unwrap();
        let files = FileSettings { dir: other.path().to_owned(), max_size: 1, max_total: 1, keep: 1 };
        let settings = LogSettings {
            target: Target::Files(files),
            level: "info".to_owned(),
            format: LogFormat::Json,
            colour: Colour::Never,
            journal_stream: None,
        };
        let refused = logging::init(&settings).err().unwrap();
        tracing::error!("{refused}");
        drop(guard);
        0
    });
    assert!(wait(&mut child).success());
    assert!(log(&dir).contains("this process has a log already"));
}
