//! Disks that refuse: full, read-only, one file mounted alone, foreign owners (D3, D70). They need root and mounts.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use handoffd_tests::mount::Mount;
use handoffd_tests::{Project, Task, report, wait, world};

use crate::support::stage;

#[test]
fn f150_a_full_disk_blocks_and_recovers() {
    if !Mount::possible() {
        return;
    }
    let world = world!();
    let root = world.path("app");
    fs::create_dir(&root).unwrap();
    let mount = Mount::tmpfs(&root, 256).unwrap();
    let project = Project::create(&root);
    world.configure(&project, "");
    let daemon = world.start();
    let control = daemon.control();
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("t-1").with("status", "IDLE"));
    let ballast = root.join("ballast");
    let mut size = 256 * 1024;
    while size > 0 && fs::write(&ballast, vec![0; size]).is_err() {
        size -= 4096;
    }
    let text = Task::new("t-1").text();
    project.overwrite(text.replace("\"PENDING\"", "\"IDLE\"").as_bytes());
    project.write_in_place(text.as_bytes());
    control.wait_state(&project, "blocked", "cannot_write");
    assert_eq!(project.bytes(), text.as_bytes());
    assert_eq!(session.count("t-1"), 0);
    let notices = session.peer.told("session.notice").len();
    assert!(notices <= 1, "one notice, then counted");
    fs::remove_file(ballast).unwrap();
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
    drop(daemon);
    drop(mount);
}

/// Of a network file system whose server is gone. One project on it kept the daemon from starting, and held up every command
/// that looked for another project, `handoff init` with the lock of the list in its hand.
#[test]
fn d73_a_dead_mount_holds_up_its_own_projects_only() {
    if !Mount::possible() {
        return;
    }
    let world = world!();
    let (named, listed, shop) = (world.project("named"), Project::create(&world.path("listed")), world.project("shop"));
    assert!(world.handoff_in(listed.root(), &["init"]).status.success());
    let (Some(mut one), Some(mut two)) = (Mount::silent(named.root()), Mount::silent(listed.root())) else { return };
    let daemon = world.start();
    let session = daemon.idle_session(&world, &shop, "s-1");
    let bakery = Project::create(&world.path("bakery"));
    for (folder, arguments) in [
        (shop.root(), ["submit", "--instruction", "x", "--scope", "notes.txt", "--accept", "y"].as_slice()),
        (bakery.root(), &["init"]),
        (shop.root(), &["projects", "list"]),
        (shop.root(), &["pause", "bakery"]),
    ] {
        let done = world.handoff_in(folder, arguments);
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    let dispatch = session.wait_dispatch(shop.member("task_id").as_str().unwrap());
    session.finish(&dispatch, report::complete());
    shop.wait_status("COMPLETE");
    daemon.control().wait_state(&bakery, "paused", "");
    assert!(one.is_silent() && two.is_silent(), "nobody waited for an end of it");
}

#[test]
fn f150_a_full_disk_at_the_report_can_be_answered_later() {
    if !Mount::possible() {
        return;
    }
    let world = world!();
    let root = world.path("app");
    fs::create_dir(&root).unwrap();
    let mount = Mount::tmpfs(&root, 256).unwrap();
    let project = Project::create(&root);
    world.configure(&project, "");
    let daemon = world.start();
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("t-1"));
    let dispatch = session.wait_dispatch("t-1");
    wait::until_true("the displaced file is gone", || project.remains().is_empty());
    let ballast = root.join("ballast");
    let mut size = 256 * 1024;
    while size > 0 && fs::write(&ballast, vec![0; size]).is_err() {
        size -= 4096;
    }
    let refused = session.report(&dispatch, report::complete()).unwrap_err();
    assert_eq!(refused.name(), "cannot_write");
    assert_eq!(project.status(), "RUNNING");
    fs::remove_file(ballast).unwrap();
    session.finish(&dispatch, report::complete());
    assert_eq!((project.status().as_str(), project.log_lines().len()), ("COMPLETE", 1));
    drop(daemon);
    drop(mount);
}

#[test]
fn f157_a_file_that_is_mounted_alone_is_not_overwritten() {
    if !Mount::possible() {
        return;
    }
    let stage = stage();
    let outside = stage.world.path("outside.json");
    fs::write(&outside, Task::new("t-1").with("status", "IDLE").text()).unwrap();
    let mount = Mount::bind(&outside, &stage.project.queue()).unwrap();
    fs::write(&outside, Task::new("t-1").text()).unwrap();
    let row = stage.control.wait_state(&stage.project, "blocked", "cannot_write");
    assert!(row["why"].as_str().unwrap().contains("mount"), "{row}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), Task::new("t-1").text());
    assert_eq!(stage.session.count("t-1"), 0);
    drop(mount);
    stage.project.plan(&Task::new("t-2"));
    assert_eq!(stage.session.wait_dispatch("t-2").task_id, "t-2");
}

#[test]
fn f160_a_read_only_file_system_blocks_its_project_only() {
    if !Mount::possible() {
        return;
    }
    let world = world!();
    let root = world.path("app");
    fs::create_dir(&root).unwrap();
    let mount = Mount::tmpfs(&root, 1024).unwrap();
    let project = Project::create(&root);
    world.configure(&project, "");
    let other = world.project("other");
    project.plan(&Task::new("t-1"));
    mount.remount("ro");
    let daemon = world.start();
    let control = daemon.control();
    let row = control.wait_state(&project, "blocked", "cannot_write");
    assert!(row["why"].as_str().unwrap().to_lowercase().contains("read-only"), "{row}");
    let session = daemon.idle_session(&world, &project, "s-1");
    let elsewhere = daemon.idle_session(&world, &other, "s-1");
    other.plan(&Task::new("t-2"));
    let dispatch = elsewhere.wait_dispatch("t-2");
    elsewhere.finish(&dispatch, report::complete());
    assert_eq!((project.status().as_str(), session.count("t-1")), ("PENDING", 0));
    mount.remount("rw");
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
    drop(daemon);
    drop(mount);
}

#[test]
fn an_owner_that_can_be_kept_is_kept() {
    if !nix::unistd::getuid().is_root() {
        return;
    }
    let stage = stage();
    let file = stage.project.root().join("mine");
    fs::write(&file, Task::new("t-1").text()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::chown(&file, Some(12345), Some(12346)).unwrap();
    fs::rename(&file, stage.project.queue()).unwrap();
    let dispatch = stage.session.wait_dispatch("t-1");
    let owner =
        || fs::metadata(stage.project.queue()).map(|meta| (meta.uid(), meta.gid(), meta.mode() & 0o777)).unwrap();
    assert_eq!(owner(), (12345, 12346, 0o640));
    stage.session.finish(&dispatch, report::complete());
    assert_eq!(owner(), (12345, 12346, 0o640));
}
