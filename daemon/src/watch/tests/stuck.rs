//! A file system that does not answer stalls its own project only (D73).

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use store::sys::{Call, Gate, Pass, Sys};

use super::support::{FAST_SWEEP, NO_SWEEP, World, until};

/// Lets calls hang while it is shut.
#[derive(Default)]
struct Door {
    shut: Mutex<bool>,
    opened: Condvar,
}

impl Door {
    fn set(&self, shut: bool) {
        *self.shut.lock().unwrap() = shut;
        self.opened.notify_all();
    }
}

/// Opens the door when the test ends, however it ends.
struct Opens(Arc<Door>);

impl Drop for Opens {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl Gate for Door {
    fn pass(&self, call: Call, _: &Path) -> Pass {
        if call == Call::StatAt {
            let guard = self.shut.lock().unwrap();
            drop(self.opened.wait_while(guard, |shut| *shut).unwrap());
        }
        Pass::Go
    }
}

#[tokio::test]
async fn d73_a_local_disk_that_hangs_stalls_nobody_else() {
    let (world, _backend) = World::silent(FAST_SWEEP);
    let door = Arc::new(Door::default());
    let mut hanging = world.project_on("hanging", &Sys::gated(door.clone()));
    let mut other = world.project("other");
    door.set(true);
    until(|| hanging.watched.is_looking()).await;
    until(|| hanging.watched.can_hang()).await;
    other.write("a");
    other.sees("a").await;
    hanging.write("b");
    other.write("c");
    other.sees("c").await;
    assert!(hanging.watched.is_looking(), "one look at it is out, and only one");
    door.set(false);
    hanging.sees("b").await;
    hanging.write("d");
    hanging.sees("d").await;
}

#[tokio::test]
async fn d73_events_do_not_hide_a_loop_that_hangs() {
    let (world, backend) = World::silent(FAST_SWEEP);
    let door = Arc::new(Door::default());
    let hanging = world.project_on("hanging", &Sys::gated(door.clone()));
    let mut busy = world.project("busy");
    let mut quiet = world.project("quiet");
    let (path, over) = (std::fs::canonicalize(&busy.root).unwrap(), Arc::new(AtomicBool::new(false)));
    until(|| hanging.watched.is_unmarked()).await;
    let _opens = Opens(door.clone());
    door.set(true);
    until(|| hanging.watched.is_looking()).await;
    let is_over = over.clone();
    let events = std::thread::spawn(move || {
        while !is_over.load(Ordering::Relaxed) {
            backend.look(&path);
        }
    });
    busy.write("a");
    busy.sees("a").await;
    quiet.write("b");
    quiet.sees("b").await;
    over.store(true, Ordering::Relaxed);
    events.join().unwrap();
}

#[tokio::test]
async fn d73_two_threads_that_hang_on_one_disk_stall_nobody_else() {
    let (world, backend) = World::silent(NO_SWEEP);
    let door = Arc::new(Door::default());
    let gated = Sys::gated(door.clone());
    let (one, two) = (world.project_on("one", &gated), world.project_on("two", &gated));
    let mut other = world.project("other");
    until(|| [&one, &two, &other].iter().all(|project| project.watched.is_unmarked())).await;
    let opens = Opens(door.clone());
    door.set(true);
    let (by_events, path) = (backend.clone(), std::fs::canonicalize(&one.root).unwrap());
    let events = std::thread::spawn(move || by_events.look(&path));
    until(|| one.watched.is_looking()).await;
    backend.hint(&std::fs::canonicalize(&two.root).unwrap());
    until(|| two.watched.is_looking()).await;
    other.write("a");
    backend.hint(&std::fs::canonicalize(&other.root).unwrap());
    other.sees("a").await;
    assert!(one.watched.is_looking() && two.watched.is_looking());
    drop(opens);
    events.join().unwrap();
}

#[tokio::test]
async fn a_full_mailbox_loses_nothing() {
    let (world, backend) = World::silent(FAST_SWEEP);
    let mut project = world.project("p");
    for number in 0..100 {
        project.write(&number.to_string());
        backend.hint(&std::fs::canonicalize(project.queue()).unwrap());
        world.sweeps(1).await;
    }
    project.write("last");
    world.sweeps(3).await;
    assert!(project.letters() > 0);
    project.sees("last").await;
}

/// For the service manager's watchdog.
#[tokio::test]
async fn a_disk_that_hangs_does_not_make_the_sweep_stand_still() {
    let (world, _backend) = World::silent(FAST_SWEEP);
    let turns = async |more: u64| {
        let seen = world.watch.turns();
        until(|| world.watch.turns() >= seen + more).await;
    };
    turns(3).await;
    let door = Arc::new(Door::default());
    let hanging = world.project_on("hanging", &Sys::gated(door.clone()));
    let _opens = Opens(door.clone());
    door.set(true);
    until(|| hanging.watched.can_hang()).await;
    turns(3).await;
    assert!(hanging.watched.is_looking());
}
