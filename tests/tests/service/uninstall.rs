//! What an uninstall leaves: nothing but the logs, and beside them what cannot be made again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use handoffd_tests::{Control, report, wait};

use crate::Test;
use crate::fixture::{Home, SERVICE, SOCKET};

pub(crate) const TESTS: &[Test] = &[
    ("a_service_that_did_nothing_leaves_nothing", a_service_that_did_nothing_leaves_nothing),
    ("uninstall_leaves_nothing_but_the_logs", uninstall_leaves_nothing_but_the_logs),
    (
        "a_daemon_in_a_terminal_keeps_its_state_and_takes_back_what_is_kept",
        a_daemon_in_a_terminal_keeps_its_state_and_takes_back_what_is_kept,
    ),
    (
        "an_uninstall_that_cannot_know_where_the_state_is_says_so",
        an_uninstall_that_cannot_know_where_the_state_is_says_so,
    ),
    ("uninstall_says_what_becomes_of_a_task_at_work", uninstall_says_what_becomes_of_a_task_at_work),
];

/// Names of all files below the home: links and sockets, too; not the programs and projects.
fn files(home: &Home) -> Vec<String> {
    fn gather(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() { gather(&path, found) } else { found.push(path) }
        }
    }
    let (root, mut found) = (home.path(""), Vec::new());
    gather(&root, &mut found);
    let names = found.iter().map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with("app/") && !name.starts_with("shop/")).collect();
    names.sort();
    names
}

fn a_service_that_did_nothing_leaves_nothing() {
    let home = Home::installed();
    let said = home.handoff(&["service", "uninstall"]).good();
    assert!(said.out.contains("left: the logs in the journal of systemd"), "{said:?}");
    assert!(!said.out.contains("kept: ") && !said.out.contains("/log-"), "{said:?}");
    assert_eq!(files(&home), [""; 0]);
    assert!(!home.path(".local/state/handoffd").exists());
    for unit in [SERVICE, SOCKET] {
        assert_eq!(home.show(unit, "LoadState"), "not-found");
    }
    assert!(!home.socket().parent().unwrap().exists(), "the socket and its folder are gone");
    assert!(Control::try_open(&home.socket()).is_none());
    let said = home.handoff(&["service", "uninstall"]).good();
    assert!(said.err.contains("the service is not installed"), "{said:?}");
    home.handoff(&["service", "restart"]).failed_with(1, "not installed");
}

fn uninstall_leaves_nothing_but_the_logs() {
    let home = Home::installed();
    home.configure("[log]\nlevel = \"info\"\n");
    let work = home.at_work();
    work.session.finish(&work.dispatch, report::complete());
    let history = || home.handoff(&["history", "--json"]).good().out;
    wait::until_true("its end is in the journal", || history().contains("COMPLETE"));
    let before = history();
    let said = home.handoff(&["service", "uninstall"]).good();
    let state = home.path(".local/state/handoffd");
    let stays = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let [log] = &stays[..] else { panic!("{stays:?}") };
    assert!(log.file_name().unwrap().to_str().unwrap().starts_with("log-"), "{stays:?}");
    let words = format!("kept: the list of 1 project and the journal, in {}", log.join("kept").display());
    assert!(said.out.contains(&words) && said.out.contains("`handoff service install` takes it back"), "{said:?}");
    assert!(said.out.contains("left: your configuration "), "{said:?}");
    let below = log.strip_prefix(home.path("")).unwrap().to_str().unwrap();
    let stays = files(&home);
    assert!(stays.iter().all(|name| name.starts_with(below) || name == ".config/handoffd/config.toml"), "{stays:?}");
    let said = home.handoff(&["service", "install"]).good();
    assert!(said.out.contains("took back the list of 1 project and the journal"), "{said:?}");
    assert!(history().ends_with(&before), "newest first: {before}\n---\n{}", history());
    assert_eq!(home.connect().project(&work.project)["name"], "shop");
    assert!(!log.join("kept").exists());
    let said = home.handoff(&["service", "uninstall", "--purge"]).good();
    let list = format!("removed {}", state.join("projects.json").display());
    assert!(said.out.contains(&list) && !said.out.contains("kept: "), "{said:?}");
    assert_eq!(files(&home), [".config/handoffd/config.toml"]);
    home.handoff(&["service", "uninstall", "--purge"]).good();
    assert_eq!(files(&home), [".config/handoffd/config.toml"]);
}

fn a_daemon_in_a_terminal_keeps_its_state_and_takes_back_what_is_kept() {
    let home = Home::installed();
    let project = home.project("shop");
    home.connect().wait_state(&project, "idle", "");
    home.handoff(&["service", "uninstall"]).good();
    let mut by_hand = Command::new(home.program("handoffd")).spawn().unwrap();
    wait::until_true("it has the project", || {
        Control::try_open(&home.socket()).is_some_and(|control| control.status()["projects"][0]["state"] == "idle")
    });
    let before = files(&home);
    let said = home.handoff(&["service", "uninstall", "--purge"]).good();
    let words = format!("stays as it is: another handoffd is running (pid {}", by_hand.id());
    assert!(said.err.contains(&words), "{said:?}");
    assert_eq!(files(&home), before);
    assert!(Control::try_open(&home.socket()).is_some());
    by_hand.kill().unwrap();
    by_hand.wait().unwrap();
}

fn an_uninstall_that_cannot_know_where_the_state_is_says_so() {
    let home = Home::installed();
    home.project("shop");
    home.configure("[log]\nlevel = \"loud\"\n");
    let said =
        home.handoff(&["service", "uninstall"]).failed_with(1, "not all of its state: the configuration is invalid");
    assert!(said.err.contains("`log.level`") && said.err.contains("uninstall` again"), "{said:?}");
    assert!(home.path(".local/state/handoffd/projects.json").exists());
    assert!(!files(&home).iter().any(|name| name.contains("systemd/user")));
    home.configure("");
    let said = home.handoff(&["service", "uninstall"]).good();
    assert!(said.out.contains("kept: the list of 1 project"), "{said:?}");
}

fn uninstall_says_what_becomes_of_a_task_at_work() {
    let home = Home::installed();
    let work = home.at_work();
    let said = home.handoff(&["service", "uninstall"]).good();
    let task = format!("t-1 of {} is at work", work.project.root().display());
    assert!(said.err.contains(&task) && said.err.contains("handoff service install"), "{said:?}");
    assert_eq!(work.project.status(), "RUNNING");
    home.handoff(&["service", "install"]).good();
    work.ends_well_at(&home.socket());
    let idle = home.handoff(&["service", "uninstall"]).good();
    assert!(!idle.err.contains("at work"), "{idle:?}");
}
