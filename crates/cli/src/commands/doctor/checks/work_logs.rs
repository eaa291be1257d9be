//! The work log of each project: whether the next task could be written down, without which none is started (D30, D67).

use std::sync::Arc;

use handoffd::config::WorkLogSettings;
use store::sys::Sys;
use store::{LogCheck, LogError, PiFolder, ProjectDir, WorkLog};

use super::super::repair::Repair;
use super::{Finding, Subject, World};
use crate::shell::quoted;

/// As the daemon checks it before each task.
pub(super) fn check(world: &World, subject: &Subject) -> Vec<Finding> {
    let (settings, own) = subject.settings(&world.config);
    let mut findings = Vec::new();
    match own {
        Ok(warnings) => findings
            .extend(warnings.iter().map(|warning| Finding::warning(warning.to_string(), "correct .pi/handoff.toml"))),
        Err(invalid) => {
            let problem = invalid.problems.first().map(ToString::to_string).unwrap_or_default();
            let what = format!("no task is started: {problem}");
            return vec![Finding::fault(what, "correct .pi/handoff.toml")];
        }
    }
    // What cannot be opened is told by `folders`.
    let Ok(project) = ProjectDir::open(&subject.path, &Sys::real(), PiFolder::Require).map(Arc::new) else {
        return findings;
    };
    findings.push(match WorkLog::new(&project, &settings.work_log.path, &settings.work_log.heading) {
        Ok(log) => match log.check() {
            Ok(checked) => fine(subject, &log, checked),
            Err(error) => judged(subject, &settings.work_log, &error, log.remedy(&error)),
        },
        Err(error) => judged(subject, &settings.work_log, &error, None),
    });
    findings
}

fn fine(subject: &Subject, log: &WorkLog, checked: LogCheck) -> Finding {
    match checked.warning {
        Some(warning) => {
            let remedy = checked.remedy.map(|command| located(subject, command));
            Finding::warning(warning, remedy.unwrap_or_else(|| edit(subject, &log.path())))
        }
        None => Finding::good(format!("{} takes the next line", log.path())),
    }
}

fn judged(subject: &Subject, log: &WorkLogSettings, error: &LogError, remedy: Option<String>) -> Finding {
    let remedy = match (remedy, error) {
        (Some(command), _) => located(subject, &command),
        (None, LogError::BadPlace { .. }) => {
            "correct `work_log` in .pi/handoff.toml or in your configuration".to_owned()
        }
        (None, LogError::Io(fault)) => fault.advice().unwrap_or("repair what the system says").to_owned(),
        (None, _) => edit(subject, &log.path),
    };
    let finding = Finding::fault(format!("no task is started: {error}"), remedy);
    match error {
        LogError::Missing(_) => {
            finding.repaired_by(Repair::MakeWorkLog { project: subject.path.clone(), log: log.clone() })
        }
        _ => finding,
    }
}

/// A command of ours as it works from anywhere.
fn located(subject: &Subject, command: &str) -> String {
    match command {
        "handoff init" | "handoff log rotate" => {
            format!("{command} {}", quoted(&subject.path.to_string_lossy()))
        }
        _ => command.to_owned(),
    }
}

fn edit(subject: &Subject, path: &str) -> String {
    format!("edit {}", quoted(&subject.path.join(path).to_string_lossy()))
}
