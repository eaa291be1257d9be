//! The work log's line for a task that was RUNNING (D67). Only its text: files and headings are `store`'s.

use jiff::Timestamp;

use crate::text::{cut, one_line};
use crate::{Accepted, DispatchId, Document, Field, ReportStatus, format_time, limits};

/// What one line tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// When the task ended.
    pub at: Timestamp,
    /// How it ended.
    pub status: ReportStatus,
    /// `?` when the document has none.
    pub task_id: String,
    /// `?` when the document has none.
    pub task_type: String,
    /// The worker's agent and run.
    pub worker: Option<(String, String)>,
    /// The gates that took place.
    pub gates: Vec<LogGate>,
    /// Why it ended in ERROR.
    pub reason: Option<String>,
    /// The dispatch that owned it; absent for a RUNNING that is not ours.
    pub dispatch_id: Option<DispatchId>,
}

/// A gate that took place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogGate {
    /// The gate's word.
    pub gate: String,
    /// Who looked.
    pub agent: String,
    /// What they said.
    pub verdict: String,
}

impl LogEntry {
    /// The line of a task that ended by an accepted report. `running` is the document before the end was written.
    #[must_use]
    pub fn of_report(running: &Document, report: &Accepted, at: Timestamp) -> Self {
        let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "?".to_owned());
        let gates = report.gate_evidence.iter().map(|entry| LogGate {
            gate: known(&entry.gate),
            agent: known(&entry.run.agent),
            verdict: entry.run.result.clone().unwrap_or_default(),
        });
        Self {
            status: report.status,
            worker: report.worker.as_ref().map(|worker| (known(&worker.agent), known(&worker.run_id))),
            gates: gates.collect(),
            reason: report.error.clone(),
            ..Self::of_error(running, "", at)
        }
    }

    /// The line of a task that we ended. `running` is the document before the end was written.
    #[must_use]
    pub fn of_error(running: &Document, reason: &str, at: Timestamp) -> Self {
        let known = |field| running.string(field).map_or_else(|| "?".to_owned(), Into::into);
        Self {
            at,
            status: ReportStatus::Error,
            task_id: known(Field::TaskId),
            task_type: known(Field::TaskType),
            worker: None,
            gates: Vec::new(),
            reason: Some(reason.to_owned()),
            dispatch_id: running.dispatch_id(),
        }
    }
}

/// The line without its line break; it never holds one, whatever the texts say.
#[must_use]
pub fn log_line(entry: &LogEntry) -> String {
    let status = entry.status.as_str();
    let (task, kind) = (name(&entry.task_id), name(&entry.task_type));
    let mut line = format!("- {} {status} {task} ({kind})", format_time(entry.at));
    if let Some((agent, run)) = &entry.worker {
        line.push_str(&format!(" by {} {}", name(agent), name(run)));
    }
    if let Some(reason) = entry.reason.as_deref().filter(|_| entry.status == ReportStatus::Error) {
        line.push_str(&format!(": \"{}\"", excerpt(reason)));
    }
    for gate in &entry.gates {
        let verdict = excerpt(&gate.verdict);
        line.push_str(&format!("; {} by {}: \"{verdict}\"", name(&gate.gate), name(&gate.agent)));
    }
    if let Some(id) = entry.dispatch_id {
        line.push_str(&format!(" [{id}]"));
    }
    line
}

/// The dispatch that a line tells of: the brackets at its very end, so that no text inside the line can pose as it.
#[must_use]
pub fn dispatch_id_of_line(line: &str) -> Option<DispatchId> {
    let inner = line.trim_end().strip_prefix("- ")?.strip_suffix(']')?;
    inner.rsplit_once(" [").and_then(|(_, id)| DispatchId::parse(id))
}

fn excerpt(text: &str) -> String {
    one_line(cut(text, limits::LOG_EXCERPT_CHARS))
}

fn name(text: &str) -> String {
    one_line(cut(text, limits::TASK_ID_CHARS))
}
