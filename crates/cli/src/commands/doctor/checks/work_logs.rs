//! The work log of each project: whether the next task could be written down, without which none is started (D30, D67).

use std::sync::Arc;

use handoffd::config::WorkLogSettings;
use store::sys::Sys;
use store::{LogError, PiFolder, ProjectDir, WorkLog};

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
    let Ok(project) = ProjectDir::open(&subject.path, &Sys::real(), PiFolder::Require).map(Arc::new) else {
        let remedy = format!("handoff init {}", quoted(&subject.path.to_string_lossy()));
        findings.push(Finding::fault("there is no .pi folder, so no task can be started", remedy));
        return findings;
    };
    let log = WorkLog::new(&project, &settings.work_log.path, &settings.work_log.heading);
    findings.push(match log.and_then(|log| log.check()) {
        Ok(checked) => match checked.warning {
            Some(warning) => Finding::warning(warning, rotate(subject)),
            None => Finding::good(format!("{} takes the next line", settings.work_log.path)),
        },
        Err(error) => judged(subject, &settings.work_log, &error),
    });
    findings
}

fn rotate(subject: &Subject) -> String {
    format!("handoff log rotate {}", quoted(&subject.path.to_string_lossy()))
}

fn judged(subject: &Subject, log: &WorkLogSettings, error: &LogError) -> Finding {
    let what = format!("no task is started: {error}");
    match error {
        LogError::Missing(_) => {
            let remedy = format!("handoff init {}", quoted(&subject.path.to_string_lossy()));
            Finding::fault(what, remedy)
                .repaired_by(Repair::MakeWorkLog { project: subject.path.clone(), log: log.clone() })
        }
        LogError::Full(_) => Finding::fault(what, rotate(subject)),
        LogError::HeadingMissing(heading) => {
            Finding::fault(what, format!("add the line `{heading}` as the last heading of the log"))
        }
        LogError::HeadingRepeated { heading, .. } => {
            Finding::fault(what, format!("keep one line `{heading}`, the last heading of the log"))
        }
        LogError::HeadingNotLast { heading, .. } => {
            Finding::fault(what, format!("move `{heading}` with its lines to the end of the log"))
        }
        LogError::HardLinked { path, .. } => {
            Finding::fault(what, format!("cp {path} {path}.own && mv {path}.own {path}"))
        }
        LogError::Io(fault) => Finding::fault(what, fault.advice().unwrap_or("repair what the system says")),
        _ => Finding::fault(what, "put a plain text file in its place; `handoff init` makes one"),
    }
}
