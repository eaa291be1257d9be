//! How editors and tools save, and when a change is seen.

use std::time::{Duration, Instant};

use handoffd_tests::{Task, report, wait};
use serde_json::json;

use crate::support::{Stage, stage, stage_with};

fn check_seen(stage: &Stage, id: &str, save: impl FnOnce(&[u8])) {
    save(Task::new(id).text().as_bytes());
    let dispatch = stage.session.wait_dispatch(id);
    stage.session.finish(&dispatch, report::complete());
    assert_eq!(stage.session.count(id), 1);
}

#[test]
fn f001_saves_with_a_backup_are_seen_again_and_again() {
    let stage = stage();
    for id in ["a", "b", "c"] {
        check_seen(&stage, id, |bytes| stage.project.save_with_backup(bytes));
    }
}

#[test]
fn f003_sed_and_then_an_edit_in_place_are_seen() {
    let stage = stage();
    stage.project.plan(&Task::new("a").with("status", "IDLE"));
    let mut sed = stage.world.command("sed".as_ref());
    let status = sed.args(["-i", "s/IDLE/PENDING/"]).arg(stage.project.queue()).status().unwrap();
    assert!(status.success());
    let dispatch = stage.session.wait_dispatch("a");
    stage.session.finish(&dispatch, report::complete());
    check_seen(&stage, "b", |bytes| stage.project.write_in_place(bytes));
}

#[test]
fn f004_an_emacs_lock_is_no_fault() {
    let stage = stage();
    let lock = stage.project.root().join(".#tasks.json");
    std::os::unix::fs::symlink("someone@host.4242:1700000000", &lock).unwrap();
    check_seen(&stage, "a", |bytes| stage.project.replace(bytes));
    std::fs::remove_file(lock).unwrap();
    assert!(!stage.daemon.log().contains(".#tasks.json"));
}

#[test]
fn f006_in_place_and_by_rename_are_each_seen_once() {
    let stage = stage();
    check_seen(&stage, "a", |bytes| stage.project.write_in_place(bytes));
    check_seen(&stage, "b", |bytes| stage.project.replace(bytes));
}

#[test]
fn f010_a_file_that_grows_slowly_is_seen_when_it_is_whole() {
    let stage = stage();
    let task = Task::new("a").with("filler", "f".repeat(200 * 1024));
    stage.project.write_in_chunks(task.text().as_bytes(), 8 * 1024, || {
        wait::stays(Duration::from_millis(20), "nobody writes", || stage.session.count("a") == 0);
    });
    let dispatch = stage.session.wait_dispatch("a");
    stage.session.finish(&dispatch, report::complete());
    assert!(stage.session.peer.told("session.notice").is_empty());
    assert_eq!(stage.project.document()["filler"].as_str().unwrap().len(), 200 * 1024);
}

#[test]
fn f035_without_events_the_sweep_sees_everything() {
    let stage = stage_with("[watch]\nmode = \"poll\"\nsweep_interval = \"100ms\"\n");
    assert_eq!(stage.control.status()["daemon"]["watch"]["mode"], "poll");
    for id in ["a", "b", "c"] {
        check_seen(&stage, id, |bytes| stage.project.replace(bytes));
    }
}

#[test]
fn f040_two_changes_of_the_same_length_within_a_second_are_seen() {
    let stage = stage_with("[watch]\nmode = \"poll\"\nsweep_interval = \"100ms\"\n");
    for id in ["a", "b", "c", "d"] {
        check_seen(&stage, id, |bytes| stage.project.write_in_place(bytes));
    }
}

#[test]
fn d001_an_unreadable_file_is_left_alone_and_shown_with_its_code() {
    let stage = stage();
    let cases: [(&[u8], &str); 6] = [
        (b"{\"schema_version\":3,\"status\":\"IDLE\",\"status\":\"PENDING\"}", "duplicate_key"),
        (b"[1]", "not_an_object"),
        (b"{\"status\":\"PENDING\",\"n\":NaN}", "invalid_json"),
        (b"\xff\xfe", "not_utf8"),
        (b"{\"status\":\"DONE\"}", "unknown_value"),
        (b"", "invalid_json"),
    ];
    for (bytes, code) in cases {
        stage.project.replace(bytes);
        let row = stage.control.wait_state(&stage.project, "unreadable", code);
        assert_eq!(stage.project.bytes(), bytes, "{code}");
        assert!(row["why"].is_string() && row["next"].is_string(), "{row}");
    }
    stage.project.replace(&vec![b' '; 256 * 1024 + 1]);
    stage.control.wait_state(&stage.project, "unreadable", "too_large");
    check_seen(&stage, "a", |bytes| stage.project.replace(bytes));
}

#[test]
fn d001_a_link_in_place_of_the_file_is_left_alone() {
    let stage = stage();
    let elsewhere = stage.world.path("elsewhere.json");
    std::fs::write(&elsewhere, Task::new("a").text()).unwrap();
    std::fs::remove_file(stage.project.queue()).unwrap();
    std::os::unix::fs::symlink(&elsewhere, stage.project.queue()).unwrap();
    stage.control.wait_state(&stage.project, "unreadable", "not_regular_file");
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), Task::new("a").text());
    check_seen(&stage, "b", |bytes| stage.project.replace(bytes));
}

#[test]
fn f030_a_project_that_is_deleted_and_made_again_works() {
    let stage = stage();
    std::fs::remove_dir_all(stage.project.root()).unwrap();
    stage.control.wait_state(&stage.project, "missing", "");
    let again = handoffd_tests::Project::create(stage.project.root());
    let row = wait::until("the project is back", || {
        Some(stage.control.project(&again)).filter(|row| row["state"] == "idle" && row["lock"]["owner"] == "us")
    });
    assert_eq!(row["path"], json!(again.root()));
    let session = stage.daemon.idle_session(&stage.world, &again, "s-2");
    again.plan(&Task::new("a"));
    let old = &stage.session;
    wait::until_true("a is seen once", || session.count("a") + old.count("a") == 1);
}

#[test]
fn f032_a_deleted_pi_folder_is_noticed_and_the_lock_taken_anew() {
    let stage = stage();
    let pi = stage.project.root().join(".pi");
    std::fs::rename(&pi, stage.project.root().join("old-pi")).unwrap();
    wait::until_true("the loss is noticed", || {
        let row = stage.control.project(&stage.project);
        row["state"] == "blocked" || !row["lock"].is_null() && row["lock"]["owner"] != "us" || pi.exists()
    });
    if !pi.exists() {
        std::fs::create_dir(&pi).unwrap();
    }
    std::fs::create_dir_all(pi.join("agents")).unwrap();
    for name in ["agents/builder.md", "agents/checker.md", "handoff-log.md"] {
        std::fs::copy(stage.project.root().join("old-pi").join(name), pi.join(name)).unwrap();
    }
    wait::until_true("the lock is ours again", || stage.project.lock().exists());
    stage.control.wait_state(&stage.project, "idle", "");
    check_seen(&stage, "a", |bytes| stage.project.replace(bytes));
}

#[test]
fn f050_a_log_inside_the_project_does_not_feed_itself() {
    let world = handoffd_tests::world!();
    let project = world.project("app");
    let logs = project.root().join("logs");
    world.settings(&format!("[log]\ndir = \"{}\"\nlevel = \"debug\"\n", logs.display()));
    let daemon = world.start();
    let control = daemon.control();
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("a"));
    let dispatch = session.wait_dispatch("a");
    session.finish(&dispatch, report::complete());
    control.wait_state(&project, "idle", "");
    let size =
        || -> u64 { std::fs::read_dir(&logs).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum() };
    // It grows for a while on a busy machine; one that feeds itself grows for ever.
    wait::until("the log rests", || {
        let (before, end) = (size(), Instant::now() + Duration::from_secs(3));
        while Instant::now() < end && size() <= before + 4096 {
            std::thread::sleep(Duration::from_millis(20));
        }
        (before > 0 && size() <= before + 4096).then_some(())
    });
}
