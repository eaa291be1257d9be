//! Calls about the daemon as a whole: its status, its configuration, its events, its journal.

use crate::journal::Row;
use crate::limits;
use crate::object::objects;
use crate::raw::Raw;
use crate::session::null_is_false;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `daemon.status`: everything that is to be seen. It keeps its shape in all protocol versions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct DaemonStatus {}

/// `daemon.reload`: read the configuration again. An invalid one is refused whole and the old one stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct DaemonReload {}

/// The answer to `daemon.reload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ReloadResult {
    /// When it was read, RFC 3339.
    pub loaded_at: String,
    /// Unknown keys and the like, one sentence each.
    pub warnings: Vec<String>,
}

/// `daemon.shutdown`: stop in order. It keeps its shape in all protocol versions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct DaemonShutdown {}

/// The answer to `daemon.shutdown`: it has begun.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ShutdownResult {}

/// `events.subscribe`: from now on `event` notifications, of one project or of all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct EventsSubscribe {
    /// Which; all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// The answer to `events.subscribe`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct SubscribeResult {
    /// The number of the last event before the subscription; the first one has a higher number.
    pub seq: u64,
}

/// `history.list`: the journal, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct HistoryList {
    /// Which; all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// One task only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// How many rows: 50 without it; more than 500 counts as 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

impl HistoryList {
    /// How many rows to answer.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.limit.map_or(limits::HISTORY_DEFAULT, |limit| {
            usize::try_from(limit).unwrap_or(limits::HISTORY_MAX).min(limits::HISTORY_MAX)
        })
    }
}

/// The answer to `history.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct HistoryResult {
    /// Newest first, as they stand in the journal; [`Row::parse`] gives one its type.
    #[schemars(with = "Vec<Row>")]
    pub rows: Vec<Raw>,
    /// Older rows that fit the question were left out, by `limit` or because the line was full.
    #[serde(default, deserialize_with = "null_is_false", skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

objects!(
    DaemonStatus,
    DaemonReload,
    ReloadResult,
    DaemonShutdown,
    ShutdownResult,
    EventsSubscribe,
    SubscribeResult,
    HistoryList,
    HistoryResult,
);
