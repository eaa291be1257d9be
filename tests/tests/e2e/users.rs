//! A daemon that is not root, and files that belong to others. The tests start it through `setpriv` and need root.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use handoffd_tests::binaries::binaries;
use handoffd_tests::{Project, Task, World, report, world};

const USER: u32 = 12345;

/// Gives a whole tree to the user.
fn give(path: &Path) {
    std::os::unix::fs::lchown(path, Some(USER), Some(USER)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        fs::read_dir(path).unwrap().for_each(|entry| give(&entry.unwrap().path()));
    }
}

/// A world of that user; `None` without root.
fn users_world() -> Option<(World, Project)> {
    if !nix::unistd::getuid().is_root() || !world!().has_tool("setpriv") {
        return None;
    }
    let world = world!();
    let project = world.project("app");
    give(&world.path(""));
    Some((world, project))
}

fn start(world: &World) -> handoffd_tests::Daemon {
    let program = world.copy_of(&binaries().handoffd);
    let program = program.display();
    world.spawn_in_shell(&format!("exec setpriv --reuid={USER} --regid={USER} --clear-groups {program}"))
}

#[test]
fn a_file_whose_owner_cannot_be_kept_is_not_written() {
    let Some((world, project)) = users_world() else { return };
    let daemon = start(&world);
    let control = daemon.control();
    let session = daemon.idle_session(&world, &project, "s-1");
    let task = Task::new("t-1");
    project.plan(&task);
    let row = control.wait_state(&project, "blocked", "foreign_owner");
    assert!(row["why"].as_str().unwrap().contains("user 0"), "{row}");
    assert_eq!(project.bytes(), task.text().as_bytes());
    assert_eq!(session.count("t-1"), 0);
    chown(project.queue(), Some(USER), Some(USER)).unwrap();
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
    assert_eq!(fs::metadata(project.queue()).unwrap().uid(), USER);
}

#[test]
fn f160_a_folder_that_may_not_be_written_blocks_its_project_only() {
    let Some((world, project)) = users_world() else { return };
    let other = world.project("other");
    give(other.root());
    let daemon = start(&world);
    let control = daemon.control();
    let session = daemon.idle_session(&world, &project, "s-1");
    fs::write(project.queue(), Task::new("t-1").with("status", "IDLE").text()).unwrap();
    chown(project.root(), Some(0), Some(0)).unwrap();
    fs::write(project.queue(), Task::new("t-1").text()).unwrap();
    control.wait_state(&project, "blocked", "cannot_write");
    assert_eq!((project.status().as_str(), session.count("t-1")), ("PENDING", 0));
    let elsewhere = daemon.idle_session(&world, &other, "s-1");
    fs::write(other.queue(), Task::new("t-2").text()).unwrap();
    let dispatch = elsewhere.wait_dispatch("t-2");
    elsewhere.finish(&dispatch, report::complete());
    chown(project.root(), Some(USER), Some(USER)).unwrap();
    assert_eq!(session.wait_dispatch("t-1").task_id, "t-1");
}

#[test]
fn f159_a_state_folder_of_root_is_named_with_its_owner_and_the_remedy() {
    let Some((world, _)) = users_world() else { return };
    fs::create_dir_all(world.state_dir()).unwrap();
    chown(world.state_dir(), Some(0), Some(0)).unwrap();
    let mut daemon = start(&world);
    assert_eq!(daemon.wait().code(), Some(1));
    let said = fs::read_to_string(world.path("daemon-1.err")).unwrap();
    assert!(said.contains("root") && said.contains("chown"), "{said}");
}
