//! A report that passed, and the form in which it is stored in the queue (D29, D63).

use serde_json::{Value, json};

use super::files;
use super::object::Object;
use crate::json::Raw;
use crate::text::{cut, is_blank};
use crate::{Observed, Status, limits};

/// How a report says that the task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportStatus {
    /// Done, with evidence.
    Complete,
    /// Not done.
    Error,
}

impl ReportStatus {
    /// The status that a word of the report means.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Complete, Self::Error].into_iter().find(|status| status.as_str() == word)
    }

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "COMPLETE",
            Self::Error => "ERROR",
        }
    }
}

impl From<ReportStatus> for Status {
    fn from(status: ReportStatus) -> Self {
        match status {
            ReportStatus::Complete => Self::Complete,
            ReportStatus::Error => Self::Error,
        }
    }
}

/// Everything of a passed report that is kept. In an ERROR report any part may be absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// How the task ended.
    pub status: ReportStatus,
    /// Who did it.
    pub worker: Option<WorkerEvidence>,
    /// Who looked at it; at most one entry in a COMPLETE report.
    pub gate_evidence: Vec<GateEvidence>,
    /// What the model saw of its runs.
    pub async_status: Option<AsyncStatus>,
    /// Without dot segments, each once (D54).
    pub files_changed: Vec<String>,
    /// As reported.
    pub tests_run: Vec<String>,
    /// As reported, not cut.
    pub result: Option<String>,
    /// Given in an ERROR report, absent in a COMPLETE one.
    pub error: Option<String>,
    /// What the client saw, beside what the model claimed (D28).
    pub observed: Option<Observed>,
}

/// The run that did the task. All members are given in a COMPLETE report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkerEvidence {
    /// The agent's name as reported.
    pub agent: Option<String>,
    /// The run's id as reported.
    pub run_id: Option<String>,
    /// `COMPLETE` or `ERROR`; any word in an ERROR report.
    pub status: Option<String>,
    /// The model as reported, a level suffix included.
    pub model: Option<String>,
    /// The thinking level.
    pub thinking: Option<String>,
    /// What the run said, cut at 4,000 characters (D29).
    pub result: Option<String>,
}

/// The run that looked at the work. All members are given in a COMPLETE report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GateEvidence {
    /// The gate as reported.
    pub gate: Option<String>,
    /// The members that a worker has too; `result` is the verdict.
    pub run: WorkerEvidence,
    /// Whether the agent took no part in the work.
    pub independent: Option<bool>,
}

/// The model's own look at its runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AsyncStatus {
    /// Whether it looked.
    pub checked: Option<bool>,
    /// Runs that it found alive.
    pub pending_run_ids: Vec<String>,
    /// Runs that it found failed.
    pub failed_run_ids: Vec<String>,
}

impl Accepted {
    /// Takes what is kept from a report whose form was checked.
    pub(super) fn read(report: &Object<'_>, status: ReportStatus, observed: Option<&Observed>) -> Self {
        let owned = |key| report.string(key).map(Into::into);
        let items = |key: &str| report.get(key).and_then(Raw::items).unwrap_or_default().into_iter();
        let is_text = |text: &String| status == ReportStatus::Error || !is_blank(text);
        Self {
            status,
            worker: report.get("worker").and_then(|raw| Object::read("", raw)).map(|worker| evidence(&worker)),
            gate_evidence: items("gate_evidence").filter_map(|raw| Object::read("", raw)).map(|o| gate(&o)).collect(),
            async_status: report.get("async_status").and_then(|raw| Object::read("", raw)).map(|o| async_status(&o)),
            files_changed: files::normalized(items("files_changed").filter_map(Raw::as_str)),
            tests_run: strings(report, "tests_run"),
            result: owned("result"),
            error: owned("error").filter(is_text),
            observed: observed.cloned(),
        }
    }

    /// Makes it ERROR for this reason although every check passed: the work log could not take its line (D67).
    pub fn demote(&mut self, reason: &str) {
        self.status = ReportStatus::Error;
        self.error = Some(reason.to_owned());
    }

    /// What the gate's agent said, if there was a gate: approval or not is in this text alone.
    #[must_use]
    pub fn verdict(&self) -> Option<&str> {
        self.gate_evidence.first().and_then(|entry| entry.run.result.as_deref())
    }

    /// The value of `report`, with at most `runs` of the observed runs (D63).
    pub(crate) fn stored(&self, captured_at: &str, runs: usize) -> String {
        let gates: Vec<_> = self.gate_evidence.iter().map(GateEvidence::stored).collect();
        let observed = self.observed.as_ref().map(|observed| {
            let kept: Vec<_> = observed.runs.iter().take(runs).map(crate::Run::stored).collect();
            let omitted = observed.runs.len() - kept.len();
            json!({"all": observed.all, "runs": kept, "omitted": omitted})
        });
        let value = json!({
            "version": 1,
            "captured_at": captured_at,
            "worker": self.worker.as_ref().map(WorkerEvidence::stored),
            "gate_evidence": gates,
            "async_status": self.async_status.as_ref().map(AsyncStatus::stored),
            "observed": observed,
        });
        value.to_string()
    }
}

impl WorkerEvidence {
    fn stored(&self) -> Value {
        json!({
            "agent": self.agent,
            "run_id": self.run_id,
            "status": self.status,
            "model": self.model,
            "thinking": self.thinking,
            "result": self.result,
        })
    }
}

impl GateEvidence {
    fn stored(&self) -> Value {
        json!({
            "gate": self.gate,
            "agent": self.run.agent,
            "run_id": self.run.run_id,
            "status": self.run.status,
            "independent": self.independent,
            "model": self.run.model,
            "thinking": self.run.thinking,
            "result": self.run.result,
        })
    }
}

impl AsyncStatus {
    fn stored(&self) -> Value {
        json!({
            "checked": self.checked,
            "pending_run_ids": self.pending_run_ids,
            "failed_run_ids": self.failed_run_ids,
        })
    }
}

fn evidence(entry: &Object<'_>) -> WorkerEvidence {
    let owned = |key| entry.string(key).map(Into::into);
    WorkerEvidence {
        agent: owned("agent"),
        run_id: owned("run_id"),
        status: owned("status"),
        model: owned("model"),
        thinking: owned("thinking"),
        result: entry.string("result").map(|text| cut(&text, limits::CUT_CHARS).to_owned()),
    }
}

fn gate(entry: &Object<'_>) -> GateEvidence {
    GateEvidence {
        gate: entry.string("gate").map(Into::into),
        run: evidence(entry),
        independent: entry.get("independent").and_then(Raw::as_bool),
    }
}

fn async_status(entry: &Object<'_>) -> AsyncStatus {
    AsyncStatus {
        checked: entry.get("checked").and_then(Raw::as_bool),
        pending_run_ids: strings(entry, "pending_run_ids"),
        failed_run_ids: strings(entry, "failed_run_ids"),
    }
}

fn strings(object: &Object<'_>, key: &str) -> Vec<String> {
    let items = object.get(key).and_then(Raw::items).unwrap_or_default();
    items.into_iter().filter_map(Raw::as_str).map(Into::into).collect()
}
