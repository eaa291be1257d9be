//! Folders that go away and come back, and stale events (F030, F032, F045, F047).

#![expect(clippy::disallowed_methods, reason = "tests play people who move folders about")]

use std::fs;

use store::sys::Sys;

use super::support::{FAST_SWEEP, NO_SWEEP, World, until};

#[tokio::test]
async fn f030_a_recreated_project_is_watched_again() {
    let world = World::native(FAST_SWEEP);
    let mut project = world.project("p");
    project.settle(&world).await;
    fs::remove_dir_all(&project.root).unwrap();
    project.touched().await;
    world.sweeps(5).await;
    assert!(project.letters() <= 1, "its absence is told of once; events and the sweep may both have been on the way");
    fs::create_dir(&project.root).unwrap();
    project.open(&Sys::real());
    project.write("a");
    project.sees("a").await;
}

#[tokio::test]
async fn f030_events_follow_to_the_new_folder() {
    let world = World::native(NO_SWEEP);
    let mut project = world.project("p");
    for text in ["a", "b"] {
        fs::remove_dir_all(&project.root).unwrap();
        fs::create_dir(&project.root).unwrap();
        project.open(&Sys::real());
        project.letters();
        project.write(text);
        project.sees(text).await;
    }
}

#[tokio::test]
async fn f032_a_replaced_pi_folder_is_told_of() {
    for world in [World::native(NO_SWEEP), World::silent(FAST_SWEEP).0] {
        let mut project = world.project("p");
        let (pi, aside) = (project.root.join(".pi"), project.root.join("pi-aside"));
        fs::rename(&pi, &aside).unwrap();
        fs::create_dir(&pi).unwrap();
        while project.dir.as_ref().is_some_and(|dir| dir.still_named().is_ok()) {
            project.touched().await;
        }
        project.touched().await;
        project.open(&Sys::real());
        fs::write(pi.join("pi-claude-handoff.lock"), "{}").unwrap();
        project.touched().await;
    }
}

#[tokio::test]
async fn a_lock_that_changes_is_told_of() {
    for world in [World::native(NO_SWEEP), World::silent(FAST_SWEEP).0] {
        let mut project = world.project("p");
        let lock = project.root.join(".pi/pi-claude-handoff.lock");
        fs::write(&lock, "{}").unwrap();
        project.touched().await;
        until(|| project.letters() == 0).await;
        fs::remove_file(&lock).unwrap();
        project.touched().await;
    }
}

#[tokio::test]
async fn f047_stale_events_touch_nobody() {
    let (world, backend) = World::silent(FAST_SWEEP);
    let mut project = world.project("p");
    project.write("a");
    project.sees("a").await;
    project.settle(&world).await;
    let root = fs::canonicalize(&project.root).unwrap();
    for name in ["tasks.json", ".pi", ".pi/pi-claude-handoff.lock", ""] {
        for _ in 0..100 {
            backend.hint(&root.join(name));
        }
    }
    world.sweeps(5).await;
    assert_eq!(project.letters(), 0);
}

#[tokio::test]
async fn what_the_actor_lets_go_of_is_not_kept_open() {
    let world = World::native(FAST_SWEEP);
    let mut project = world.project("p");
    let weak = std::sync::Arc::downgrade(project.dir.as_ref().unwrap());
    project.dir = None;
    until(|| weak.upgrade().is_none()).await;
    project.letters();
    project.write("a");
    world.sweeps(3).await;
    assert_eq!(project.letters(), 0, "a disabled project is not looked at");
}

#[tokio::test]
async fn f022_two_folders_a_project_and_one_that_left_is_forgotten_by_the_kernel_too() {
    let (world, backend) = World::silent(NO_SWEEP);
    fs::create_dir_all(world.folder.path().join("p/a/tree/of/folders")).unwrap();
    let project = world.project("p");
    let path = project.root.clone();
    assert_eq!(backend.folders.lock().unwrap().len(), 2, "the root and `.pi`, whatever is below (F022)");
    world.watch.unregister(&path);
    assert_eq!(backend.folders.lock().unwrap().len(), 2, "its actor is still there");
    drop(project);
    world.watch.unregister(&path);
    until(|| backend.folders.lock().unwrap().is_empty()).await;
}

#[tokio::test]
async fn an_actor_that_ended_without_a_word_is_found_by_the_sweep() {
    let (world, backend) = World::silent(FAST_SWEEP);
    drop(world.project("p"));
    until(|| backend.folders.lock().unwrap().is_empty()).await;
    assert!(world.watch.shared.projects.lock().unwrap().is_empty());
}

/// With a lock the sweep glances; what a glance does not see, a closer look finds soon.
#[tokio::test]
async fn a_folder_with_a_lock_that_loses_its_name_is_told_of() {
    let moves: [fn(&std::path::Path); 4] = [
        |root| fs::rename(root, root.with_extension("aside")).unwrap(),
        |root| fs::rename(root.join(".pi"), root.join("pi-aside")).unwrap(),
        |root| {
            fs::rename(root.join(".pi"), root.join("pi-aside")).unwrap();
            std::os::unix::fs::symlink("pi-aside", root.join(".pi")).unwrap();
        },
        |root| {
            fs::rename(root, root.with_extension("aside")).unwrap();
            fs::create_dir_all(root.join(".pi")).unwrap();
            fs::write(root.join(".pi/pi-claude-handoff.lock"), "{}").unwrap();
        },
    ];
    for (number, change) in moves.into_iter().enumerate() {
        let (world, _) = World::silent(FAST_SWEEP);
        let mut project = world.project("p");
        fs::write(project.root.join(".pi/pi-claude-handoff.lock"), "{}").unwrap();
        project.write("a");
        project.sees("a").await;
        project.settle(&world).await;
        world.sweeps(10).await;
        assert_eq!(project.letters(), 0, "{number}");
        change(&project.root);
        project.touched().await;
        assert!(project.dir.as_ref().is_some_and(|dir| dir.still_named().is_err()), "{number}");
    }
}
