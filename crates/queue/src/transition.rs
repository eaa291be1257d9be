//! Our writes to the document, one function each: which fields change at each step of a task (D13, D63).
//!
//! When a write may happen is the lifecycle's business; how bytes are kept is the edit's.

use jiff::Timestamp;

use crate::edit::Edit;
use crate::json::quote;
use crate::{Accepted, Code, DispatchId, Document, Field, Problem, QueueFull, Status, limits, text};

/// What a finished task says about the task, apart from `status`, `completed_at` and `error`.
const OUTCOME: [Field; 7] = [
    Field::AssignedAgent,
    Field::AssignedModel,
    Field::Thinking,
    Field::Result,
    Field::FilesChanged,
    Field::TestsRun,
    Field::Report,
];

/// A document with a report in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The bytes to write.
    pub text: String,
    /// Observed runs that found no room (D63).
    pub omitted: usize,
}

/// A time as every file of ours has it: RFC 3339, UTC, milliseconds (D13).
#[must_use]
pub fn format_time(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// RUNNING for a new dispatch; the outcome of an earlier task is cleared (D13).
///
/// # Errors
/// [`QueueFull`] when RUNNING does not fit (D12).
pub fn start(document: &Document, dispatch: DispatchId, at: Timestamp) -> Result<String, QueueFull> {
    let edit = status(document, Status::Running)
        .set(Field::StartedAt, quote(&format_time(at)))
        .set(Field::UpdatedBy, quote(&dispatch.updated_by()))
        .clear(Field::CompletedAt)
        .clear(Field::Error);
    clear_outcome(edit).apply()
}

/// COMPLETE or ERROR from an accepted report. Observed runs are left out from the end until the document fits (D63).
///
/// # Errors
/// [`QueueFull`] with the size without any run, when that does not fit either; the task stays RUNNING.
pub fn finish_from_report(document: &Document, report: &Accepted, at: Timestamp) -> Result<Finished, QueueFull> {
    let captured_at = format_time(at);
    let write = |runs: usize| {
        let json = |text: Option<&str>| text.map_or_else(|| "null".to_owned(), quote);
        let worker = report.worker.as_ref();
        ended(document, report.status.into(), at)
            .set(Field::AssignedAgent, json(worker.and_then(|worker| worker.agent.as_deref())))
            .set(Field::AssignedModel, json(worker.and_then(|worker| worker.model.as_deref())))
            .set(Field::Thinking, json(worker.and_then(|worker| worker.thinking.as_deref())))
            .set(Field::Result, json(report.result.as_deref()))
            .set(Field::FilesChanged, string_list(&report.files_changed))
            .set(Field::TestsRun, string_list(&report.tests_run))
            .set(Field::Error, json(report.error.as_deref()))
            .set(Field::Report, report.stored(&captured_at, runs))
            .apply()
    };
    let seen = report.observed.as_ref().map_or(0, |observed| observed.runs.len());
    let most = seen.min(limits::STORED_RUNS);
    let mut full = match write(most) {
        Ok(text) => return Ok(Finished { text, omitted: seen - most }),
        Err(full) => full,
    };
    // The size grows with the number of runs: search for the largest that fits instead of trying each.
    let (mut best, mut fits, mut too_many) = (None, 0, most);
    while fits < too_many {
        let runs = (fits + too_many) / 2;
        match write(runs) {
            Ok(text) => {
                best = Some(Finished { text, omitted: seen - runs });
                fits = runs + 1;
            }
            Err(still_full) => {
                full = still_full;
                too_many = runs;
            }
        }
    }
    best.ok_or(full)
}

/// ERROR that we decided: an orphan, a limit, a cancel, a lost session. Who started the task and when stays (D63).
///
/// # Errors
/// [`QueueFull`]: the ERROR is owed (D70).
pub fn finish_by_us(document: &Document, error: &str, at: Timestamp) -> Result<String, QueueFull> {
    clear_outcome(ended(document, Status::Error, at).set(Field::Error, quote(error))).apply()
}

/// ERROR over a COMPLETE whose line the work log could not take; the evidence and everything else stay (D67).
///
/// # Errors
/// [`QueueFull`]: the ERROR is owed (D70).
pub fn demote(document: &Document, error: &str) -> Result<String, QueueFull> {
    status(document, Status::Error).set(Field::Error, quote(error)).apply()
}

/// ERROR for a PENDING task that is not valid (D4). Where the full text finds no room and the reason is that very lack
/// of room, the code alone is written (D12).
///
/// # Errors
/// [`QueueFull`]: the document is left alone.
pub fn reject(document: &Document, problems: &[Problem], at: Timestamp) -> Result<String, QueueFull> {
    let full = end_pending(document, &rejection_text(problems), at);
    match problems {
        [Problem { code: Code::QueueFull, .. }] => {
            full.or_else(|_| end_pending(document, &format!("{}{}", limits::REJECTED_PREFIX, Code::QueueFull), at))
        }
        _ => full,
    }
}

/// ERROR for a PENDING task that a person cancelled (D76).
///
/// # Errors
/// [`QueueFull`]: the document is left alone.
pub fn cancel_pending(document: &Document, reason: &str, at: Timestamp) -> Result<String, QueueFull> {
    end_pending(document, &cancellation_text(reason), at)
}

/// ERROR over a PENDING task with a text that was made before ([`rejection_text`], [`cancellation_text`]). Where it finds
/// no room, the bare code of that lack is written (D12).
///
/// # Errors
/// [`QueueFull`]: the document is left alone.
pub fn reject_with(document: &Document, error: &str, at: Timestamp) -> Result<String, QueueFull> {
    end_pending(document, error, at)
        .or_else(|_| end_pending(document, &format!("{}{}", limits::REJECTED_PREFIX, Code::QueueFull), at))
}

/// The `error` of a rejection: all messages, cut at 4,000 characters (D4).
#[must_use]
pub fn rejection_text(problems: &[Problem]) -> String {
    let messages: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
    let all = format!("{}{}", limits::REJECTED_PREFIX, messages.join("; "));
    text::cut(&all, limits::CUT_CHARS).to_owned()
}

/// The `error` of a cancelled task (D76).
#[must_use]
pub fn cancellation_text(reason: &str) -> String {
    format!("{}{reason}", limits::CANCELLED_PREFIX)
}

/// The end of a task that never ran: the write belongs to no dispatch (D63).
fn end_pending(document: &Document, error: &str, at: Timestamp) -> Result<String, QueueFull> {
    let edit = ended(document, Status::Error, at)
        .set(Field::UpdatedBy, quote(limits::WRITER))
        .set(Field::Error, quote(error))
        .clear(Field::StartedAt);
    clear_outcome(edit).apply()
}

fn status(document: &Document, status: Status) -> Edit<'_> {
    Edit::new(document).set(Field::Status, quote(status.as_str()))
}

fn ended(document: &Document, end: Status, at: Timestamp) -> Edit<'_> {
    status(document, end).set(Field::CompletedAt, quote(&format_time(at)))
}

fn clear_outcome(edit: Edit<'_>) -> Edit<'_> {
    OUTCOME.into_iter().fold(edit, Edit::clear)
}

fn string_list(items: &[String]) -> String {
    let items: Vec<_> = items.iter().map(|item| quote(item)).collect();
    format!("[{}]", items.join(","))
}
