//! Limits of the kernel, lost events and storms of them; what is polled, and that it is said (F020, F023, F026, F037).

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use store::sys::{Call, Gate, Pass, Sys};
use wire::status::WatchMode;

use super::support::{FAST_SWEEP, NO_SWEEP, World};
use crate::config::{WatchConfig, WatchMode as Wanted};
use crate::watch::Watch;
use crate::watch::backend::Fault;

#[tokio::test]
async fn f020_the_second_of_three_projects_is_polled_when_the_limit_is_reached() {
    let (world, backend) = World::silent(FAST_SWEEP);
    let refused = std::fs::canonicalize(world.folder.path()).unwrap().join("two");
    *backend.refuses.lock().unwrap() = Some((refused.join(".pi"), Fault::Watches { limit: Some(8192) }));
    let mut projects = ["one", "two", "three"].map(|name| world.project(name));
    let modes = projects.each_ref().map(|project| project.watched.mode());
    assert_eq!([&modes[0].0, &modes[1].0, &modes[2].0], [&WatchMode::Events, &WatchMode::Poll, &WatchMode::Events]);
    let reason = modes[1].1.as_deref().unwrap();
    assert!(reason.contains("max_user_watches = 8192") && reason.contains("sysctl"), "{reason}");
    let status = world.watch.status();
    assert_eq!(status.mode, WatchMode::Events);
    assert!(status.reason.as_deref().unwrap().starts_with("1 of 3 projects polled: the kernel's limit"), "{status:?}");
    projects[1].replace("a");
    projects[1].sees("a").await;
    assert_eq!(backend.folders.lock().unwrap().len(), 4, "nothing half-watched is left");

    *backend.refuses.lock().unwrap() = None;
    world.watch.shared.arm_again();
    assert_eq!(projects[1].watched.mode(), (WatchMode::Events, None));
    assert_eq!(world.watch.status().reason, None);
}

#[tokio::test]
async fn no_backend_at_all_means_polling_with_its_reason() {
    let config = WatchConfig { mode: Wanted::Auto, sweep_interval: FAST_SWEEP };
    let world = World::run(Watch::with_backend(&config, Box::new(|_| Err(Fault::Instances { limit: Some(128) }))));
    let mut project = world.project("p");
    let (status, (mode, reason)) = (world.watch.status(), project.watched.mode());
    assert_eq!((status.mode, mode), (WatchMode::Poll, WatchMode::Poll));
    assert_eq!(status.reason, reason);
    assert!(reason.unwrap().contains("max_user_instances = 128"));
    project.write("a");
    project.sees("a").await;
}

#[tokio::test]
async fn events_can_be_turned_off() {
    let world = World::run(Watch::new(&WatchConfig { mode: Wanted::Poll, sweep_interval: FAST_SWEEP }));
    let mut project = world.project("p");
    let reason = Some("watch.mode = \"poll\" in the configuration".to_owned());
    assert_eq!(project.watched.mode(), (WatchMode::Poll, reason.clone()));
    assert_eq!(world.watch.status().reason, reason);
    project.write("a");
    project.sees("a").await;
}

#[tokio::test]
async fn f023_after_an_overflow_every_project_is_read_again() {
    let (world, backend) = World::silent(NO_SWEEP);
    let mut projects = ["one", "two", "three"].map(|name| world.project(name));
    projects[1].replace("a");
    backend.lost();
    for project in &mut projects {
        project.touched().await;
    }
    projects[1].sees("a").await;
    assert_eq!(world.watch.status().overflows, 1);
}

#[tokio::test]
async fn f026_a_storm_of_overflows_is_not_obeyed() {
    let (world, backend) = World::silent(Duration::from_millis(100));
    let mut project = world.project("p");
    let (start, seen) = (Instant::now(), Arc::new(AtomicBool::new(false)));
    let over = seen.clone();
    let storm = tokio::task::spawn_blocking(move || {
        let mut lost = 0;
        // It goes on until the change was seen, which so is seen in the midst of it.
        while lost < 1500 || !over.load(Ordering::Relaxed) {
            backend.lost();
            lost += 1;
            std::thread::park_timeout(Duration::from_millis(1));
        }
    });
    project.replace("a");
    project.sees("a").await;
    seen.store(true, Ordering::Relaxed);
    storm.await.unwrap();
    let (seconds, obeyed) = (start.elapsed().as_secs(), world.watch.status().overflows);
    assert!((1..=2 + seconds).contains(&obeyed), "{obeyed} in {seconds} s");
    let letters = u64::try_from(project.letters()).unwrap();
    assert!(letters <= obeyed + 1, "{letters} letters, {obeyed} overflows obeyed");
}

#[derive(Default)]
struct Count(Mutex<HashMap<String, u64>>);

impl Gate for Count {
    fn pass(&self, call: Call, name: &Path) -> Pass {
        if call == Call::StatAt {
            *self.0.lock().unwrap().entry(name.display().to_string()).or_default() += 1;
        }
        Pass::Go
    }
}

/// How often 80 sweeps look at the queue, at the lock, and at the folder `.pi` of one project with a lock.
async fn looks_of_80_sweeps(world: World) -> [u64; 3] {
    let count = Arc::new(Count::default());
    let mut project = world.project_on("p", &Sys::gated(count.clone()));
    std::fs::File::create(project.root.join(".pi/pi-claude-handoff.lock")).unwrap();
    project.write("a");
    project.sees("a").await;
    project.settle(&world).await;
    count.0.lock().unwrap().clear();
    world.sweeps(80).await;
    let counts = count.0.lock().unwrap().clone();
    // The lock is looked at in its folder and by its whole name.
    ["tasks.json", "pi-claude-handoff.lock", ".pi"]
        .map(|file| counts.iter().filter(|(name, _)| Path::new(name).ends_with(file)).map(|(_, count)| count).sum())
}

#[tokio::test]
async fn f037_with_a_lock_two_files_are_looked_at_each_sweep_and_the_folders_now_and_then() {
    let world = World::run(Watch::new(&WatchConfig { mode: Wanted::Poll, sweep_interval: FAST_SWEEP }));
    let [queue, lock, pi] = looks_of_80_sweeps(world).await;
    assert!(queue >= 80 && lock >= 80, "{queue} {lock}");
    assert!((5..=queue / 4).contains(&pi), "{queue} {pi}");
}

#[tokio::test]
async fn f037_with_events_only_the_queue_is_looked_at_each_sweep_and_the_lock_now_and_then() {
    let (world, _) = World::silent(FAST_SWEEP);
    let [queue, lock, pi] = looks_of_80_sweeps(world).await;
    assert!(queue >= 80, "{queue}");
    assert!((10..=queue / 2).contains(&lock), "{queue} {lock}");
    assert!((5..=queue / 4).contains(&pi), "{queue} {pi}");
}

#[tokio::test]
async fn f037_one_stat_of_each_file_and_sweep_and_nobody_is_woken() {
    let world = World::run(Watch::new(&WatchConfig { mode: Wanted::Poll, sweep_interval: FAST_SWEEP }));
    let count = Arc::new(Count::default());
    let mut projects: Vec<_> =
        (0..50).map(|number| world.project_on(&number.to_string(), &Sys::gated(count.clone()))).collect();
    for project in &mut projects {
        project.write("a");
        project.sees("a").await;
    }
    for project in &mut projects {
        project.settle(&world).await;
    }
    count.0.lock().unwrap().clear();
    world.sweeps(10).await;
    let counts = count.0.lock().unwrap().clone();
    let of = |name: &str| counts.get(name).copied().unwrap_or_default();
    assert!(of("tasks.json") >= 500, "{counts:?}");
    for name in ["pi-claude-handoff.lock", ".pi"] {
        assert!(of(name).abs_diff(of("tasks.json")) <= 1, "{counts:?}");
    }
    assert_eq!(projects.iter_mut().map(super::support::Project::letters).sum::<usize>(), 0);
}
