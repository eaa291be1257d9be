//! A daemon that is not root, and files that belong to others. The tests start it through `setpriv` and need root.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use handoffd_tests::binaries::binaries;
use handoffd_tests::{Project, Task, World, report, wait, world};

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

/// Not "moved", not even for a moment: that is said for good once, and looks for another fault.
#[test]
fn f160_a_folder_that_is_closed_is_told_as_that_and_once() {
    let Some((world, project)) = users_world() else { return };
    let daemon = start(&world);
    let control = daemon.control();
    let session = daemon.idle_session(&world, &project, "s-1");
    fs::set_permissions(project.root(), fs::Permissions::from_mode(0o000)).unwrap();
    let row = control.wait_state(&project, "unreadable", "unreadable");
    assert!(row["why"].as_str().unwrap().contains("cannot open the folder"), "{row}");
    let said = said(&world, Path::new("/"), "doctor");
    assert_eq!(said.1.matches("Permission denied").count(), 2, "by the state, and by its cause: {}", said.1);
    fs::set_permissions(project.root(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(project.queue(), Task::new("t-1").text()).unwrap();
    session.wait_dispatch("t-1");
    let history = fs::read_dir(world.state_dir()).unwrap().map(|entry| entry.unwrap().path());
    let journal = history.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let rows: String = journal.map(|path| fs::read_to_string(path).unwrap()).collect();
    assert!(rows.contains("unreadable") && !rows.contains("moved"), "{rows}");
}

/// What `handoff` says to that user, and its exit code.
fn said(world: &World, folder: &Path, arguments: &str) -> (Option<i32>, String) {
    let program = world.copy_of(&binaries().handoff);
    let command = format!("cd {}; exec {} {arguments}", folder.display(), program.display());
    let mut shell = world.command(Path::new("setpriv"));
    shell.args([&format!("--reuid={USER}"), &format!("--regid={USER}"), "--clear-groups", "sh", "-c", &command]);
    let output = shell.output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_closed_folder_or_file_is_told_with_the_command_that_opens_it() {
    let Some((world, project)) = users_world() else { return };
    let daemon = start(&world);
    let control = daemon.control();
    let session = daemon.idle_session(&world, &project, "s-1");
    let root = project.root();
    let closed = [
        (root.join(".pi"), 0o000, "u+rwx"),
        (root.to_owned(), 0o555, "u+rwx"),
        (project.queue(), 0o000, "u+rw"),
        (project.work_log(), 0o400, "u+rw"),
    ];
    for (number, (path, mode, opened)) in closed.into_iter().enumerate() {
        let id = format!("t-{number}");
        wait::until_true("the project is well", || control.project(&project)["state"] == "idle");
        let old = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        // A daemon that holds its lock notices what it needs next: the queue at once, a folder with the next task.
        fs::write(project.queue(), Task::new(&id).text()).unwrap();
        let command = format!("chmod {opened} {}\n", path.display());
        wait::until_true(&format!("{} is told", path.display()), || {
            said(&world, root, "next --yes") == (Some(1), command.clone())
        });
        let (code, table) = said(&world, root, "doctor");
        assert!(code == Some(1) && table.contains(&format!("remedy: {command}")), "{table}");
        fs::set_permissions(&path, old).unwrap();
        let dispatch = session.wait_dispatch(&id);
        session.finish(&dispatch, report::complete());
    }
}

#[test]
fn a_state_folder_without_permission_is_told_with_the_command_that_opens_it() {
    let Some((world, project)) = users_world() else { return };
    fs::create_dir_all(world.state_dir()).unwrap();
    give(&world.path("state"));
    for mode in [0o000, 0o500] {
        fs::set_permissions(world.state_dir(), fs::Permissions::from_mode(mode)).unwrap();
        let (code, table) = said(&world, project.root(), "doctor");
        let command = format!("remedy: chmod u+rwx {}\n", world.state_dir().display());
        assert!(code == Some(1) && table.contains(&command), "{table}");
    }
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

/// What it left behind, the user's own runs could not write any more.
#[test]
fn f159_a_run_with_sudo_in_the_users_home_makes_nothing() {
    let Some((world, project)) = users_world() else { return };
    let bare = Project::bare(&world.path("bare"));
    fs::create_dir(bare.root()).unwrap();
    give(bare.root());
    for arguments in [
        &["init", "--yes"][..],
        &["submit", "--instruction", "x", "--scope", ".", "--accept", "y"],
        &["team", "add", "planner", "--goal", "t-1", "--round", "1"],
        &["mcp", "planner"],
        &["log", "rotate"],
    ] {
        let said = world.handoff_in(bare.root(), arguments);
        let told = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.code() == Some(2) && told.contains("without sudo"), "{arguments:?}: {told}");
    }
    assert_eq!(fs::read_dir(bare.root()).unwrap().count(), 0);
    // A root's remedy takes nothing from the user; and the owner of a queue is nothing that root could not keep.
    project.plan(&Task::new("t-1"));
    fs::create_dir_all(world.state_dir()).unwrap();
    give(&world.path(""));
    let said = world.handoff_in(project.root(), &["doctor"]);
    let told = String::from_utf8_lossy(&said.stdout);
    assert!(told.contains("without sudo") && !told.contains("chown"), "{told}");
}
