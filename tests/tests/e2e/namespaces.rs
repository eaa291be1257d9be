//! Containers: daemons with the same pid, other host names, the same folders. They need root and `unshare`.

use std::fs;

use handoffd_tests::{Project, Task, World, report, wait, world};

use crate::support::parse;

fn possible(world: &World) -> bool {
    nix::unistd::getuid().is_root()
        && world.has_tool("unshare")
        && world
            .command("unshare".as_ref())
            .args(["--pid", "--fork", "--mount-proc", "true"])
            .status()
            .unwrap()
            .success()
}

/// Ends the first process of the namespace, and with it everything inside, however this test ends.
fn start_inside(world: &World) -> handoffd_tests::Daemon {
    world.spawn_in_shell("exec unshare --pid --fork --kill-child --mount-proc \"$@\"")
}

fn owner(world: &World, project: &Project) -> Option<String> {
    let control = handoffd_tests::Control::try_open(&world.socket())?;
    let row = control.project(project);
    if row["lock"]["owner"] == "us" { Some("us".to_owned()) } else { row["reason"].as_str().map(str::to_owned) }
}

#[test]
fn f083_two_daemons_that_are_both_process_one_have_one_owner() {
    let home = world!();
    if !possible(&home) {
        return;
    }
    let project = Project::create(&home.path("app"));
    let worlds = [world!(), world!()];
    worlds.iter().for_each(|world| world.configure(&project, ""));
    let first = start_inside(&worlds[0]);
    wait::until_true("the first has it", || owner(&worlds[0], &project).as_deref() == Some("us"));
    assert_eq!(parse(&fs::read(project.lock()).unwrap())["pid"], 1);
    let second = start_inside(&worlds[1]);
    wait::until_true("the second is blocked by a live one", || {
        owner(&worlds[1], &project).as_deref() == Some("lock_live")
    });
    assert_eq!(owner(&worlds[0], &project).as_deref(), Some("us"));
    first.kill();
    wait::until_true("the second takes over", || owner(&worlds[1], &project).as_deref() == Some("us"));
    drop(second);
}

#[test]
fn f084_two_hosts_share_a_state_folder_and_run_a_daemon_each() {
    let world = world!();
    if !possible(&world) {
        return;
    }
    let project = world.project("app");
    let daemon = world.start();
    let other = Project::create(&world.path("other"));
    let socket = world.path("run/s2");
    let line = format!(
        "exec unshare --uts --fork --kill-child sh -c 'hostname pod-2; HANDOFFD_SOCKET={} exec \"$@\" --project {}' sh \"$@\"",
        socket.display(),
        other.root().display()
    );
    let second = world.spawn_in_shell(&line);
    let control = wait::until("the other host's daemon answers", || handoffd_tests::Control::try_open(&socket));
    wait::until_true("each has its own", || {
        control.project(&other)["lock"]["owner"] == "us" && owner(&world, &project).as_deref() == Some("us")
    });
    let session = daemon.idle_session(&world, &project, "s-1");
    project.plan(&Task::new("t-1"));
    let dispatch = session.wait_dispatch("t-1");
    session.finish(&dispatch, report::complete());
    let names: Vec<_> = fs::read_dir(world.state_dir()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let locks = names
        .iter()
        .filter(|name| name.to_string_lossy().ends_with(".lock") && name.to_string_lossy().starts_with("handoffd-"));
    assert_eq!(locks.count(), 2, "{names:?}");
    drop(second);
}
