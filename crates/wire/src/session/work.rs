//! What a session tells of its work: the runs it observed and, at the end, the report.

use crate::object::objects;
use crate::raw::Raw;
use crate::run::{Observed, Run};
use crate::session::EndStatus;
use crate::words::words;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// `session.run_started` (notification): the members of a run beside `dispatch_id`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunStarted {
    /// The dispatch whose work the run is.
    pub dispatch_id: String,
    /// The run.
    #[serde(flatten)]
    pub run: Run,
}

/// `session.run_finished` (notification): the same with its final `state` and its `result`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunFinished {
    /// The dispatch whose work the run is.
    pub dispatch_id: String,
    /// The run.
    #[serde(flatten)]
    pub run: Run,
}

/// Both spellings of a run beside a dispatch id: its members side by side, or in a member `run`.
#[derive(Deserialize)]
struct RunOfDispatch {
    dispatch_id: String,
    run: Option<Run>,
    #[serde(flatten)]
    members: serde_json::Map<String, serde_json::Value>,
}

impl RunOfDispatch {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(String, Run), D::Error> {
        let Self { dispatch_id, run, members } = Self::deserialize(deserializer)?;
        match run {
            Some(run) => Ok((dispatch_id, run)),
            None => {
                serde_json::from_value(members.into()).map(|run| (dispatch_id, run)).map_err(serde::de::Error::custom)
            }
        }
    }
}

impl<'de> Deserialize<'de> for RunStarted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RunOfDispatch::read(deserializer).map(|(dispatch_id, run)| Self { dispatch_id, run })
    }
}

impl<'de> Deserialize<'de> for RunFinished {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RunOfDispatch::read(deserializer).map(|(dispatch_id, run)| Self { dispatch_id, run })
    }
}

/// `task.report`: the task is done, or it failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct TaskReport {
    /// The dispatch that is reported on.
    pub dispatch_id: String,
    /// The report as the model wrote it; checked by the daemon, at most 512 KiB.
    pub report: Raw,
    /// What the client saw of the task's runs (D28, D49).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
}

/// The answer to an accepted `task.report`; it comes after the work log was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct TaskReportResult {
    /// How the task ended. ERROR for a COMPLETE report whose line could not be logged (D67).
    pub status: EndStatus,
    /// Whether its line is in the work log.
    pub work_log: WorkLogOutcome,
}

words! {
    /// Whether a task's line is in the work log (D67).
    pub closed WorkLogOutcome {
        /// It is.
        Appended = "appended",
        /// It is not.
        Failed = "failed",
    }
}

objects!(TaskReport, TaskReportResult);
