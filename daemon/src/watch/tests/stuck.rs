//! A file system that does not answer stalls its own project only (D73).

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};

use store::sys::{Call, Gate, Pass, Sys};

use super::support::{FAST_SWEEP, World, until};

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
