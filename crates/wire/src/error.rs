//! Errors on the wire: JSON-RPC's own codes, and refusals (-32000) with a stable word in `data.code`.
//!
//! `message` is for people and may change; programs look at `code` and `data` only.

use crate::Raw;
use crate::object::objects;
use crate::session::{EndStatus, WorkLogOutcome};
use crate::words::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The line is not one JSON text in UTF-8, or too long; the connection is closed.
pub const PARSE_ERROR: i64 = -32700;
/// JSON, but not a request (batches too).
pub const INVALID_REQUEST: i64 = -32600;
/// No such method.
pub const UNKNOWN_METHOD: i64 = -32601;
/// The parameters are not those of the method.
pub const INVALID_PARAMS: i64 = -32602;
/// A fault of the side that answers.
pub const INTERNAL_ERROR: i64 = -32603;
/// A refusal; `data.code` says which.
pub const REFUSED: i64 = -32000;

/// The longest `message` that is made of foreign words, in characters.
const MESSAGE_CHARS: usize = 400;

/// The `error` member of a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(remote = "Self")]
#[schemars(!remote)]
#[error("{message}")]
pub struct ErrorObject {
    /// One of the codes above.
    pub code: i64,
    /// One sentence for people.
    pub message: String,
    /// With -32000 an [`ErrorData`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Raw>,
}

impl ErrorObject {
    /// -32700
    #[must_use]
    pub fn parse_error(why: &str) -> Self {
        Self::plain(PARSE_ERROR, "parse error", why)
    }

    /// -32600
    #[must_use]
    pub fn invalid_request(why: &str) -> Self {
        Self::plain(INVALID_REQUEST, "invalid request", why)
    }

    /// -32601
    #[must_use]
    pub fn unknown_method(method: &str) -> Self {
        Self::plain(UNKNOWN_METHOD, "unknown method", method)
    }

    /// -32602
    #[must_use]
    pub fn invalid_params(why: &str) -> Self {
        Self::plain(INVALID_PARAMS, "invalid parameters", why)
    }

    /// -32603
    #[must_use]
    pub fn internal(why: &str) -> Self {
        Self::plain(INTERNAL_ERROR, "internal error", why)
    }

    fn plain(code: i64, what: &str, why: &str) -> Self {
        let message = format!("{what}: {why}").chars().take(MESSAGE_CHARS).collect();
        Self { code, message, data: None }
    }

    /// The data of a refusal; `None` for JSON-RPC's own codes and for data that is not ours.
    #[must_use]
    pub fn refusal(&self) -> Option<ErrorData> {
        let data = self.data.as_ref().filter(|_| self.code == REFUSED)?;
        crate::rpc::decode(data.get()).ok()
    }

    /// The stable word of a refusal.
    #[must_use]
    pub fn refusal_code(&self) -> Option<ErrorCode> {
        self.refusal().map(|data| data.code)
    }
}

/// The `data` of a refusal. Only `code` is always there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ErrorData {
    /// The stable word.
    pub code: ErrorCode,
    /// All faults, where there can be several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// `unsupported_protocol`: the protocol numbers that the daemon speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported: Option<Vec<u32>>,
    /// `unknown_project`: the registered project that contains the folder, if one does (D72).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    /// `dispatch_ended`: how the task ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<EndStatus>,
    /// `dispatch_ended`: whether its line is in the work log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_log: Option<WorkLogOutcome>,
    /// `report_too_large`: the most bytes there is room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// `report_too_large`: the bytes it would take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

objects!(ErrorObject, ErrorData, Problem);

/// A refusal that is being put together: `Refusal::new(ErrorCode::NoTask, "…").into()` is an [`ErrorObject`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// One sentence for people, without a final stop.
    pub message: String,
    /// What programs look at.
    pub data: ErrorData,
}

impl Refusal {
    /// A refusal with nothing but its code.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let data = ErrorData {
            code,
            problems: Vec::new(),
            supported: None,
            nearest: None,
            status: None,
            work_log: None,
            limit: None,
            size: None,
        };
        Self { message: message.into(), data }
    }

    /// A refusal with all faults.
    #[must_use]
    pub fn with_problems(code: ErrorCode, message: impl Into<String>, problems: Vec<Problem>) -> Self {
        let mut refusal = Self::new(code, message);
        refusal.data.problems = problems;
        refusal
    }

    /// `unsupported_protocol`, naming the number that was asked for and ours, the daemon's version, and what helps: a
    /// client of another protocol may know no better than to show this.
    #[must_use]
    pub fn unsupported_protocol(asked: u32, version: &str) -> Self {
        let ours = crate::limits::PROTOCOL;
        let remedy = match asked > ours {
            true => "the daemon is older than its client, update and restart it",
            false => "the client is older than the daemon, update it",
        };
        let message =
            format!("protocol {asked} is not supported; this daemon ({version}) speaks protocol {ours}: {remedy}");
        let mut refusal = Self::new(ErrorCode::UnsupportedProtocol, message);
        refusal.data.supported = Some(vec![ours]);
        refusal
    }

    /// `unknown_project`, with the registered project that contains the folder.
    #[must_use]
    pub fn unknown_project(message: impl Into<String>, nearest: Option<String>) -> Self {
        let mut refusal = Self::new(ErrorCode::UnknownProject, message);
        refusal.data.nearest = nearest;
        refusal
    }

    /// `dispatch_ended`, with how it ended.
    #[must_use]
    pub fn dispatch_ended(message: impl Into<String>, status: EndStatus, work_log: Option<WorkLogOutcome>) -> Self {
        let mut refusal = Self::new(ErrorCode::DispatchEnded, message);
        refusal.data.status = Some(status);
        refusal.data.work_log = work_log;
        refusal
    }

    /// `report_too_large`, in bytes.
    #[must_use]
    pub fn report_too_large(message: impl Into<String>, limit: u64, size: u64) -> Self {
        let mut refusal = Self::new(ErrorCode::ReportTooLarge, message);
        refusal.data.limit = Some(limit);
        refusal.data.size = Some(size);
        refusal
    }
}

impl From<Refusal> for ErrorObject {
    fn from(refusal: Refusal) -> Self {
        Self { code: REFUSED, message: refusal.message, data: Raw::from_value(&refusal.data).ok() }
    }
}

/// One fault: of a field, or of the thing as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Problem {
    /// The field with index or path (`scope[2]`, `worker.agent`); `null` when it is the document as a whole.
    pub field: Option<String>,
    /// The stable code (D4, D39, D41).
    pub code: String,
    /// One sentence that begins with the field in back-quotes when there is one.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

words! {
    /// The stable words of `data.code`.
    pub open ErrorCode {
        /// A request before `hello`; the connection stays.
        HelloRequired = "hello_required",
        /// Another protocol number; `supported` names ours.
        UnsupportedProtocol = "unsupported_protocol",
        /// A second `session.attach` on one connection.
        AlreadyAttached = "already_attached",
        /// No registered project has this root, or this name; see `nearest`.
        UnknownProject = "unknown_project",
        /// The project is disabled.
        ProjectDisabled = "project_disabled",
        /// The project is blocked.
        ProjectBlocked = "project_blocked",
        /// The project is held (D65).
        ProjectHeld = "project_held",
        /// The session is a child, or has a mode that gets no tasks.
        NotAMainSession = "not_a_main_session",
        /// `member` names no record from which packets could be addressed.
        NotATeamMember = "not_a_team_member",
        /// A session's call about a dispatch of another session.
        NotOwner = "not_owner",
        /// No such dispatch is known.
        NoSuchDispatch = "no_such_dispatch",
        /// The dispatch has ended; `status` and `work_log` say how.
        DispatchEnded = "dispatch_ended",
        /// The task is being cancelled (D76).
        Cancelled = "cancelled",
        /// The file does not hold this task any more (D11).
        QueueChanged = "queue_changed",
        /// The file holds a task already.
        QueueBusy = "queue_busy",
        /// The file cannot be read (D1).
        QueueUnreadable = "queue_unreadable",
        /// The task would leave no room (D12).
        QueueFull = "queue_full",
        /// Writing failed (D70).
        CannotWrite = "cannot_write",
        /// The task is invalid; see `problems`.
        InvalidTask = "invalid_task",
        /// The configuration is invalid; see `problems`.
        InvalidConfig = "invalid_config",
        /// Another task than the one named is there.
        TaskMismatch = "task_mismatch",
        /// Not while a task is RUNNING.
        TaskRunning = "task_running",
        /// No such task, or its row was rotated away.
        NoTask = "no_task",
        /// No such session is attached.
        NoSuchSession = "no_such_session",
        /// The lock's owner is alive (D16).
        LockLive = "lock_live",
        /// The path is not a folder.
        NotAFolder = "not_a_folder",
        /// The report fails its checks; see `problems`.
        ReportRefused = "report_refused",
        /// The report does not fit; see `limit` and `size`.
        ReportTooLarge = "report_too_large",
        /// Another user.
        NotPermitted = "not_permitted",
        /// The daemon is stopping.
        ShuttingDown = "shutting_down",
        /// The daemon could not start, and ends; the message says why.
        CannotStart = "cannot_start",
    } else
    /// A word of a newer daemon; never sent.
    Other = "other"
}
