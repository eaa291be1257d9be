//! `handoff logs` with a real journal: what was, what comes, and the files beside it.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};

use handoffd_tests::{Task, report, wait};
use nix::sys::signal::Signal;

use crate::Test;
use crate::fixture::{Home, SERVICE};

pub(crate) const TESTS: &[Test] = &[
    ("the_log_of_a_service_is_read_from_the_journal", the_log_of_a_service_is_read_from_the_journal),
    ("a_log_is_followed_from_the_journal_into_files", a_log_is_followed_from_the_journal_into_files),
];

fn the_log_of_a_service_is_read_from_the_journal() {
    let home = Home::installed();
    assert!(
        !home
            .path(".local/state/handoffd")
            .read_dir()
            .unwrap()
            .any(|entry| { entry.unwrap().path().join("handoffd.log").exists() })
    );
    let work = home.at_work();
    work.session.finish(&work.dispatch, report::complete());
    let pid = home.pid();
    let all = wait::until("the end is in the journal", || {
        let said = home.handoff(&["logs", "-n", "1000"]).good().out;
        said.contains("the task has ended").then_some(said)
    });
    let started =
        all.lines().find(|line| line.contains("handoffd has started") && line.contains(&format!("pid={pid}")));
    assert!(started.is_some_and(|line| line.starts_with("20") && line.contains("Z INFO  handoffd")), "{all}");
    assert!(all.contains("Started handoffd.service"), "what systemd says of it, too: {all}");
    let root = work.project.root().to_str().unwrap().to_owned();
    let shop = home.handoff(&["logs", "--project", &root]).good().out;
    assert!(!shop.is_empty() && shop.lines().all(|line| line.contains(&format!("project={root}"))), "{shop}");
    let task = home.handoff(&["logs", "--task", "t-1", "-n", "2"]).good().out;
    assert!(task.lines().count() == 2 && task.lines().all(|line| line.contains("task=t-1 ")), "{task}");
    assert_eq!(home.handoff(&["logs", "--task", "t-none"]).good().out, "");
    home.signal(Signal::SIGKILL);
    wait::until_true("the log says that it was killed", || home.handoff(&["logs"]).out.contains("status=9/KILL"));
}

struct Followed(Child);

impl Drop for Followed {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn a_log_is_followed_from_the_journal_into_files() {
    let home = Home::installed();
    let told = home.path("told");
    let mut command = Command::new(home.program("handoff"));
    command.args(["logs", "-f", "-n", "0"]).stdin(Stdio::null()).stdout(File::create(&told).unwrap());
    let _follower = Followed(command.spawn().unwrap());
    let text = || fs::read_to_string(&told).unwrap();
    // It follows from the moment in which it looked.
    wait::until_true("it follows", || {
        home.systemctl(&["reload", SERVICE]).good();
        text().contains("the configuration was read again")
    });
    let work = home.at_work();
    wait::until_true("the task is told", || text().contains("the session accepted the task"));
    let dir = home.path(".local/state/handoffd").join(format!("log-{}", host()));
    home.configure(&format!("[log]\ndir = \"{}\"\n", dir.display()));
    home.handoff(&["service", "restart"]).good();
    work.ends_well_at(&home.socket());
    wait::until_true("files are followed, too", || text().contains("the task has ended"));
    wait::until_true("the journal's end, too", || text().contains("handoffd has stopped"));
    let all = home.handoff(&["logs", "-n", "1000"]).good().out;
    let at = |words: &str| all.find(words).unwrap_or_else(|| panic!("no {words} in {all}"));
    assert!(at("the session accepted the task") < at("the task has ended"), "in the order of time: {all}");
    work.project.plan(&Task::new("t-2"));
    wait::until_true("and go on", || text().contains("task=t-2"));
}

fn host() -> String {
    nix::unistd::gethostname().unwrap().to_string_lossy().to_lowercase()
}
