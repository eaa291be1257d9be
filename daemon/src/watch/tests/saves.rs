//! How files are saved, and what a file system or backend keeps from us: every save is noticed (F001–F006, F025, F035).

#![expect(clippy::disallowed_methods, reason = "tests play the planner and its editors, which know no `store`")]

use std::fs;

use super::support::{DEADLINE, FAST_SWEEP, NO_SWEEP, Project, World};

/// `save` is noticed each time, by events alone and by the sweep alone (F035: a backend that accepts and never delivers).
async fn check(save: fn(&Project, &str)) {
    for world in [World::native(NO_SWEEP), World::silent(FAST_SWEEP).0] {
        let mut project = world.project("p");
        for text in ["aaaa", "bbbb", "cccc", "dd"] {
            project.letters();
            save(&project, text);
            project.sees(text).await;
        }
    }
}

#[tokio::test]
async fn f001_rename_away_and_create() {
    check(|project, text| {
        let backup = project.root.join("tasks.json~");
        fs::rename(project.queue(), &backup).ok();
        project.write(text);
        fs::remove_file(backup).ok();
    })
    .await;
}

#[tokio::test]
async fn f003_f006_in_place_and_by_rename() {
    check(|project, text| project.replace(text)).await;
    check(|project, text| project.write(text)).await;
    check(|project, text| {
        project.replace("between");
        project.write(text);
    })
    .await;
}

#[tokio::test]
async fn f004_an_editors_lock_is_nobodys_business() {
    let world = World::native(FAST_SWEEP);
    let mut project = world.project("p");
    project.settle(&world).await;
    let link = project.root.join(".#tasks.json");
    std::os::unix::fs::symlink("someone@host.4242:1700000000", &link).unwrap();
    world.sweeps(5).await;
    assert_eq!(project.letters(), 0);
    project.replace("a");
    fs::remove_file(link).unwrap();
    project.sees("a").await;
}

#[tokio::test]
async fn a_file_that_goes_and_comes_back_is_told_of() {
    check(|project, text| {
        fs::remove_file(project.queue()).ok();
        project.write(text);
    })
    .await;
    for world in [World::native(NO_SWEEP), World::silent(FAST_SWEEP).0] {
        let mut project = world.project("p");
        project.write("a");
        project.sees("a").await;
        fs::remove_file(project.queue()).unwrap();
        while project.read().is_some() {
            project.touched().await;
        }
    }
}

#[tokio::test]
async fn f025_thirty_projects_at_once() {
    let world = World::native(NO_SWEEP);
    let mut projects: Vec<_> = (0..30).map(|number| world.project(&number.to_string())).collect();
    for (number, project) in projects.iter().enumerate() {
        project.replace(&number.to_string());
    }
    let all = async {
        for (number, project) in projects.iter_mut().enumerate() {
            project.sees(&number.to_string()).await;
        }
    };
    tokio::time::timeout(DEADLINE, all).await.unwrap();
}

/// The stamp alone is not believed when it is as young as the read: F040 on file systems whose clock is too coarse.
#[tokio::test]
async fn f040_two_changes_of_one_length_in_a_row() {
    let world = World::silent(FAST_SWEEP).0;
    let mut project = world.project("p");
    for text in ["1111", "2222", "3333", "4444", "5555"] {
        project.write(text);
        project.read();
        project.write(&text.replace(|_: char| true, "x"));
        project.sees("xxxx").await;
    }
}
