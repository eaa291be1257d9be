//! Our own doings: what we write ourselves is hardly read again, and our files inside a project not at all (F050).

#![expect(clippy::disallowed_methods, reason = "tests play the daemon's other parts")]

use std::fs;

use super::support::{FAST_SWEEP, NO_SWEEP, World};

#[tokio::test]
async fn f050_our_own_writes_cause_at_most_one_read_each() {
    let world = World::native(FAST_SWEEP);
    let mut project = world.project("p");
    project.write("a");
    project.sees("a").await;
    project.settle(&world).await;
    for number in 0..5 {
        project.replace(&format!("ours {number}"));
        let dir = project.dir.clone().unwrap();
        project.watched.note_write(dir.stamp(store::Watched::Queue).unwrap());
        let mut extra = 0;
        for _ in 0..3 {
            world.sweeps(3).await;
            if project.letters() > 0 {
                extra += 1;
                project.read();
            }
        }
        assert!(extra <= 1, "{extra} reads after one write");
        project.settle(&world).await;
    }
}

#[tokio::test]
async fn f050_logs_and_state_inside_the_project_wake_nobody() {
    let world = World::native(FAST_SWEEP);
    let mut project = world.project("p");
    project.write("a");
    project.sees("a").await;
    project.settle(&world).await;
    for number in 0..50 {
        for name in ["handoffd.log", ".pi/handoff-log.md", ".pi/pi-claude-handoff.lock.guard", ".pi/settings.json"] {
            fs::write(project.root.join(name), number.to_string()).unwrap();
        }
    }
    world.sweeps(5).await;
    assert_eq!(project.letters(), 0);
}

#[tokio::test]
async fn f050_our_own_lock_is_no_news() {
    let world = World::native(FAST_SWEEP);
    let mut project = world.project("p");
    project.settle(&world).await;
    fs::write(project.root.join(".pi/pi-claude-handoff.lock"), "{}").unwrap();
    let dir = project.dir.clone().unwrap();
    project.watched.note_lock(&dir);
    world.sweeps(5).await;
    assert!(project.letters() <= 1, "an event may have come between the write and the note");
}

#[tokio::test]
async fn reading_makes_no_events_for_us() {
    let world = World::native(FAST_SWEEP);
    let mut project = world.project("p");
    project.write("a");
    project.sees("a").await;
    project.settle(&world).await;
    for _ in 0..100 {
        fs::read(project.queue()).unwrap();
        fs::read_dir(&project.root).unwrap().for_each(drop);
    }
    world.sweeps(5).await;
    assert_eq!(project.letters(), 0);
}

#[tokio::test]
async fn f050_while_we_write_nobody_is_told_and_afterwards_what_others_wrote() {
    let world = World::native(FAST_SWEEP);
    let mut project = world.project("p");
    project.settle(&world).await;
    let dir = project.dir.clone().unwrap();
    let writing = project.watched.begin_write();
    project.replace("ours");
    project.watched.note_write(dir.stamp(store::Watched::Queue).unwrap());
    project.replace("theirs");
    world.sweeps(5).await;
    assert_eq!(project.letters(), 0);
    drop(writing);
    project.sees("theirs").await;
}

#[tokio::test]
async fn what_was_missed_during_a_write_needs_no_sweep() {
    let (world, backend) = World::silent(NO_SWEEP);
    let mut project = world.project("p");
    project.settle(&world).await;
    let writing = project.watched.begin_write();
    project.replace("theirs");
    backend.hint(&project.queue());
    drop(writing);
    project.sees("theirs").await;
}
