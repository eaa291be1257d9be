//! The check of a report against the queue, the profiles and what was observed (D26–D29, D39, D49–D59).
//!
//! `complete` holds the rules of COMPLETE, `form` those that every report obeys; `accepted` is what comes out. Nothing
//! here decides what happens to the task: a refused COMPLETE leaves it RUNNING.

mod accepted;
mod complete;
mod contradiction;
mod files;
mod form;
mod object;

pub use accepted::{Accepted, AsyncStatus, GateEvidence, ReportStatus, WorkerEvidence};

use crate::json::Raw;
use crate::text::{Shown, is_blank};
use crate::{Agent, Code, Document, Fingerprint, Observed, Planner, Problem, ProjectPaths, Status};
use crate::{document, planner_unresolved};
use object::Object;

/// What a report is checked against.
#[derive(Clone, Copy)]
pub struct ReportContext<'a> {
    /// The queue as it is now.
    pub queue: &'a Document,
    /// The dispatched task; `None` takes the queue's word for it.
    pub expected: Option<Fingerprint>,
    /// The project's folder.
    pub paths: &'a dyn ProjectPaths,
    /// The agents that pi-subagents would load.
    pub agents: &'a [Agent],
    /// What the client saw; `None` when it told nothing.
    pub observed: Option<&'a Observed>,
}

/// Checks a report (one JSON object; unknown members are ignored, of repeated ones the last counts).
///
/// # Errors
/// Every check that failed (D26), in the order `status worker gate_evidence async_status files_changed tests_run result
/// error`. A text that is no JSON object, and a queue that no longer holds the task (D59), is told alone.
pub fn check_report(json: &str, context: &ReportContext<'_>) -> Result<Accepted, Vec<Problem>> {
    let raw = Raw::parse(json).map_err(|error| vec![document::invalid_json(json, error)])?;
    let Some(report) = Object::read("", raw) else {
        let message = format!("the report is {} where one JSON object is needed", raw.kind().described());
        return Err(vec![Problem::whole(Code::NotAnObject, message)]);
    };
    let planner = current_task(context).map_err(|problem| vec![problem])?;
    let mut problems = Vec::new();
    let status = read_status(&report, &mut problems);
    match status {
        Some(ReportStatus::Complete) => complete::check(&report, &planner, context, &mut problems),
        Some(ReportStatus::Error) => {
            form::check(&report, &mut problems);
            require_error_text(&report, &mut problems);
        }
        None => form::check(&report, &mut problems),
    }
    match status {
        Some(status) if problems.is_empty() => Ok(Accepted::read(&report, status, context.observed)),
        _ => Err(problems),
    }
}

/// The task that the report is about, while the queue still holds it (D59).
fn current_task(context: &ReportContext<'_>) -> Result<Planner, Problem> {
    let changed = |rest: String| Err(Problem::at("status", Code::QueueChanged, rest));
    let queue = context.queue;
    if queue.status() != Status::Running {
        return changed(format!("cannot be reported: the queue is {}, no longer RUNNING", queue.status()));
    }
    if context.expected.is_some_and(|expected| expected != queue.fingerprint()) {
        return changed("cannot be reported: the queue holds another task now".into());
    }
    planner_unresolved(queue).or_else(|problems| {
        let first = problems.first().map_or("", |problem| &problem.message);
        changed(format!("cannot be reported: the queue's RUNNING task is not valid: {first}"))
    })
}

fn read_status(report: &Object<'_>, problems: &mut Vec<Problem>) -> Option<ReportStatus> {
    let text = report.required_string("status", problems)?;
    let status = ReportStatus::from_word(&text);
    if status.is_none() {
        let rest = format!("is {}; it must be `COMPLETE` or `ERROR`", Shown(&text));
        problems.push(report.problem("status", Code::UnknownValue, rest));
    }
    status
}

fn require_error_text(report: &Object<'_>, problems: &mut Vec<Problem>) {
    let is_missing = match report.given("error") {
        None => true,
        Some(raw) => raw.as_str().is_some_and(|text| is_blank(&text)),
    };
    if is_missing {
        let rest = "is missing or blank; say what went wrong";
        problems.push(report.problem("error", Code::ErrorRequired, rest));
    }
}
