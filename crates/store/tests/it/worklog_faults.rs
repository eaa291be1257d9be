//! Every system call around the work log failing once: the old lines stay whole, and no half line stays (D67, D70).

use std::fs;

use store::sys::Sys;
use store::{LogError, Rotated};

use crate::support::{EINTR, EIO, ENOSPC, EROFS, EXDEV, Project, each_fault, names};
use crate::worklog::{log, log_path, with_log};

const ERRNOS: [i32; 5] = [EIO, ENOSPC, EROFS, EXDEV, EINTR];
const START: &str = "text\n\n## Work log\n- old\n";

fn date() -> jiff::civil::Date {
    jiff::civil::date(2026, 11, 30)
}

fn all_names(project: &Project) -> Vec<String> {
    names(&project.root.join(".pi"))
}

#[test]
fn creating() {
    each_fault(
        &ERRNOS,
        Project::new,
        |project, sys| log(project, sys).and_then(|log| log.create()).is_ok(),
        |project, _, succeeded, label| {
            assert_eq!(log_path(project).exists(), succeeded, "{label}");
            let again = log(project, &Sys::real()).unwrap();
            assert_eq!(again.create().unwrap(), !succeeded, "{label}");
            again.open().unwrap().append("- line").unwrap();
            again.rotate(date()).unwrap();
            assert_eq!(all_names(project), ["handoff-log-2026-11-30.md", "handoff-log.md"], "{label}");
        },
    );
}

#[test]
fn appending() {
    each_fault(
        &ERRNOS,
        || with_log(START),
        |project, sys| {
            let append = || log(project, sys)?.open()?.append("- new");
            match append() {
                Err(LogError::NotCutBack { append, cut }) => panic!("one fault is always undone: {append}, {cut}"),
                outcome => outcome.is_ok(),
            }
        },
        |project, _, succeeded, label| {
            let expected = if succeeded { format!("{START}- new\n") } else { START.to_owned() };
            assert_eq!(fs::read_to_string(log_path(project)).unwrap(), expected, "{label}");
            assert_eq!(all_names(project), ["handoff-log.md"], "{label}");
        },
    );
}

#[test]
fn rotating() {
    each_fault(
        &ERRNOS,
        || with_log(START),
        |project, sys| log(project, sys).and_then(|log| log.rotate(date())).is_ok(),
        |project, _, succeeded, label| {
            let text = || fs::read_to_string(log_path(project)).unwrap();
            let expected = if succeeded { "text\n\n## Work log\n" } else { START };
            assert_eq!(text(), expected, "{label}");
            let log = log(project, &Sys::real()).unwrap();
            log.open().unwrap().append("- next").unwrap();
            assert!(matches!(log.rotate(date()), Ok(Rotated::Moved(_))), "{label}");
            assert_eq!(text(), "text\n\n## Work log\n", "{label}");
            let leftovers = all_names(project).into_iter().filter(|name| name.starts_with('.')).count();
            assert_eq!(leftovers, 0, "{label}");
        },
    );
}
