//! Commands that end at once, fail, hang, are missing or leave others behind (F262, R12).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use store::{Presence, Processes as _, SystemProcesses};
use tempfile::TempDir;
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use super::queue::Order;
use super::run::Ended;
use super::{Kind, Notice, Notifier};
use crate::env::Env;

const LONG: Duration = Duration::from_secs(60);

/// Remembers what is logged, one line a fact.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl<S: tracing::Subscriber> Layer<S> for Log {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, "{}={value:?} ", field.name()).unwrap();
    }
}

struct World {
    folder: TempDir,
    notifier: Notifier,
    log: Log,
    _logging: tracing::subscriber::DefaultGuard,
}

impl World {
    fn new() -> Self {
        let env = Env {
            home: Some("/home/you".into()),
            path: Some("/usr/bin:/bin".into()),
            lang: Some("C.UTF-8".into()),
            xdg_runtime_dir: Some("/run/user/1000".into()),
            ..Env::default()
        };
        let log = Log::default();
        let logging = tracing::subscriber::set_default(tracing_subscriber::registry().with(log.clone()));
        Self { folder: tempfile::tempdir().unwrap(), notifier: Notifier::new(&env), log, _logging: logging }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn send(&self, script: &str, timeout: Duration, text: &str) {
        let folder = self.folder.path().display().to_string();
        self.send_to(&["sh", "-c", script, "sh", &folder], timeout, text);
    }

    fn send_to(&self, command: &[&str], timeout: Duration, text: &str) {
        let command: Vec<_> = command.iter().map(|&part| part.to_owned()).collect();
        self.notifier.send(&command, timeout, about(text));
    }

    async fn idle(&self) {
        tokio::time::timeout(LONG, self.notifier.idle()).await.expect("commands end in time");
    }

    fn logged(&self, wanted: &str) -> Vec<String> {
        self.log.0.lock().unwrap().iter().filter(|line| line.contains(wanted)).cloned().collect()
    }

    /// No zombie of ours stays. Other tests of this process have children too, which are zombies for a moment; one that
    /// nobody reaps is one for ever.
    #[track_caller]
    fn check_no_zombies() {
        let deadline = Instant::now() + LONG;
        while !zombies().is_empty() {
            assert!(Instant::now() < deadline, "zombies are left: {:?}", zombies());
            std::thread::yield_now();
        }
    }
}

/// It and what it started run for long; the file `pid` says who that is.
const HANGS: &str = r#"sleep 600 & echo $! > "$1/pid.new"; mv "$1/pid.new" "$1/pid"; sleep 600"#;

fn about(text: &str) -> Notice {
    Notice {
        kind: Kind::Failed,
        project: "/home/you/P".into(),
        task_id: Some("T-1".into()),
        dispatch_id: None,
        state: "idle",
        reason: None,
        why: Some(text.into()),
        next: Some("handoff show T-1".into()),
        verdict: None,
    }
}

fn pid_in(file: &Path) -> i32 {
    fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

async fn dead(pid: i32) {
    wait_until("the process is gone", || matches!(SystemProcesses.look(pid), Presence::Gone | Presence::Zombie)).await;
}

async fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < LONG, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Children of this process that have ended and wait to be reaped.
fn zombies() -> Vec<i32> {
    let me = std::process::id().to_string();
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_ours = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        fields.next() == Some("Z") && fields.next() == Some(me.as_str())
    };
    numbers.filter(is_ours).collect()
}

#[tokio::test]
async fn r12_the_command_gets_one_json_document() {
    let world = World::new();
    world.send(r#"cat > "$1/told""#, LONG, "line 1\nline \"2\"");
    world.idle().await;
    let told = fs::read_to_string(world.path("told")).unwrap();
    assert_eq!(told.matches('\n').count(), 1);
    let mut told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let at = told.as_object_mut().unwrap().remove("at").unwrap();
    assert!(crate::clock::Wall::parse(at.as_str().unwrap()).is_some());
    let expected = serde_json::json!({
        "version": 1, "kind": "failed", "project": "/home/you/P", "task_id": "T-1", "state": "idle", "reason": null,
        "why": "line 1\nline \"2\"", "next": "handoff show T-1",
    });
    assert_eq!(told, expected);
    assert_eq!(world.logged("the notice command ended").len(), 1);
}

#[tokio::test]
async fn r12_its_environment_is_explicit() {
    let world = World::new();
    world.send(r#"/usr/bin/env > "$1/env""#, LONG, "a");
    world.idle().await;
    let env = fs::read_to_string(world.path("env")).unwrap();
    let mut env: BTreeMap<_, _> = env.lines().filter_map(|line| line.split_once('=')).collect();
    for of_the_shell in ["PWD", "OLDPWD", "SHLVL", "_"] {
        env.remove(of_the_shell);
    }
    let expected =
        [("HOME", "/home/you"), ("LANG", "C.UTF-8"), ("PATH", "/usr/bin:/bin"), ("XDG_RUNTIME_DIR", "/run/user/1000")];
    assert_eq!(env, BTreeMap::from(expected));
}

#[tokio::test]
async fn f262_a_thousand_notices_leave_no_child() {
    let world = World::new();
    for number in 0..1000 {
        world.send_to(&["true", &number.to_string()], LONG, "a");
    }
    world.idle().await;
    World::check_no_zombies();
    let ran = world.logged("the notice command ended").len();
    assert_eq!(ran + world.logged("one notice was left out").len(), 1000, "each ran or was counted");
    assert!((1..=100).contains(&ran), "{ran}: few wait");
}

#[tokio::test]
async fn fifty_failures_at_once_are_six_notices() {
    let world = World::new();
    for number in 0..50 {
        world.send(r#"cat >> "$1/told""#, LONG, &number.to_string());
    }
    world.idle().await;
    let told = fs::read_to_string(world.path("told")).unwrap();
    let told: Vec<serde_json::Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut others: Vec<_> = told.iter().map(|notice| notice["others"].as_u64()).collect();
    others.sort_unstable();
    assert_eq!(others, [None, None, None, None, None, Some(44)]);
    let named = world.logged("the notice command ended");
    assert!(
        named.iter().all(|line| line.contains("kind=\"failed\"") && line.contains("project=\"/home/you/P\"")),
        "{named:?}"
    );
}

#[tokio::test]
async fn f262_one_that_hangs_is_killed_with_all_it_started() {
    let world = World::new();
    let started = Instant::now();
    // It has to come to its second sleep in that time.
    world.send(HANGS, Duration::from_secs(5), "a");
    world.idle().await;
    assert!(started.elapsed() < LONG);
    World::check_no_zombies();
    assert_eq!(world.logged("took too long").len(), 1);
    dead(pid_in(&world.path("pid"))).await;
}

#[tokio::test]
async fn a_daemon_that_stops_ends_what_still_runs_and_says_so() {
    let world = World::new();
    world.send(HANGS, LONG * 10, "a");
    world.send("sleep 600", LONG * 10, "b");
    world.send(r#": > "$1/ran""#, LONG * 10, "c");
    wait_until("the command runs", || world.path("pid").exists()).await;
    let started = Instant::now();
    world.notifier.stop(Duration::from_millis(50)).await;
    assert!(started.elapsed() < LONG);
    World::check_no_zombies();
    dead(pid_in(&world.path("pid"))).await;
    assert_eq!(world.logged("still ran and was killed").len(), 2);
    assert_eq!(world.logged("one notice was left out").len(), 1);
    assert!(!world.path("ran").exists(), "what waited was not begun");
}

#[tokio::test]
async fn a_daemon_that_stops_lets_a_quick_command_end() {
    let world = World::new();
    world.send(r#"cat > "$1/told""#, LONG, "a");
    world.notifier.stop(LONG).await;
    assert!(world.path("told").exists() && world.logged("was killed").is_empty());
}

#[tokio::test]
async fn a_start_that_hangs_keeps_no_place_and_what_starts_late_is_ended() {
    let (go_on, hangs) = std::sync::mpsc::channel::<()>();
    let (tell, told) = std::sync::mpsc::channel();
    let starting = tokio::task::spawn_blocking(move || {
        hangs.recv().ok();
        let child = tokio::process::Command::new("sleep").arg("600").process_group(0).spawn()?;
        tell.send(child.id().unwrap()).ok();
        Ok(child)
    });
    let order = Order::new(vec!["sleep".to_owned()], Duration::from_millis(20), about("a"));
    let ended = super::run::follow(starting, &order, std::future::pending()).await;
    let Ended::NotStarted(why) = ended else { panic!("{ended:?}") };
    assert!(why.contains("does not answer"), "{why}");
    go_on.send(()).unwrap();
    let pid = tokio::task::spawn_blocking(move || told.recv_timeout(LONG).unwrap()).await.unwrap();
    dead(i32::try_from(pid).unwrap()).await;
}

#[tokio::test]
async fn f262_a_missing_one_is_reported_once_with_the_path() {
    let world = World::new();
    for number in 0..20 {
        world.send_to(&["no-such-command-here"], LONG, &number.to_string());
    }
    world.idle().await;
    let logged = world.logged("cannot be started");
    assert_eq!(logged.len(), 1, "{logged:?}");
    assert!(logged[0].contains("/usr/bin:/bin") && logged[0].contains("no-such-command-here"), "{logged:?}");
}

#[tokio::test]
async fn r12_the_exit_code_is_recorded_with_the_commands_own_words() {
    let world = World::new();
    world.send("echo 'no display' >&2; exit 3", LONG, "a");
    world.send("kill -9 $$", LONG, "b");
    world.idle().await;
    let failed = world.logged("the notice command failed");
    assert!(failed.len() == 1 && failed[0].contains("code=3") && failed[0].contains("no display"), "{failed:?}");
    let killed = world.logged("ended by a signal");
    assert!(killed.len() == 1 && killed[0].contains("signal=9"), "{killed:?}");
}

#[tokio::test]
async fn one_that_reads_nothing_or_says_too_much_harms_nobody() {
    let world = World::new();
    let large = "x".repeat(300_000);
    world.send_to(&["true"], LONG, &large);
    world.send("head -c 3000000 /dev/zero | tr '\\0' y >&2; exit 4", LONG, "b");
    world.idle().await;
    World::check_no_zombies();
    let failed = world.logged("code=4");
    assert!(failed.len() == 1 && failed[0].len() < 2000, "{}", failed.len());
}

#[tokio::test]
async fn one_that_leaves_a_child_behind_is_not_waited_for() {
    let world = World::new();
    world.send(r#"sleep 600 & echo $! > "$1/pid""#, LONG, "a");
    world.idle().await;
    let pid = pid_in(&world.path("pid"));
    assert!(matches!(SystemProcesses.look(pid), Presence::Alive { .. }), "what it started is its own business");
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn an_empty_command_is_off() {
    let world = World::new();
    world.send_to(&[], LONG, "a");
    world.idle().await;
    assert!(world.log.0.lock().unwrap().is_empty());
}
