//! The rows of the journal: one JSON object a line, one row for each step of a task or a project. They are what
//! `history.list` answers, what `task.wait` and `task.retry` look up, and what a restarted daemon remembers.
//!
//! Rows outlive the version that wrote them. Reading ignores members it does not know and takes an unknown kind as
//! [`Entry::Other`]; a member that a later version adds must be optional. Files and rotation are not handled here.

use crate::control::Lifted;
use crate::error::Problem;
use crate::event::{LockChange, SessionChange};
use crate::object::objects;
use crate::raw::Raw;
use crate::rpc::decode;
use crate::run::Run;
use crate::session::{EndStatus, Ownership};
use crate::status::{ProjectState, StateReason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Row {
    /// When, RFC 3339.
    pub at: String,
    /// The project's root; `null` when it concerns the daemon.
    pub project: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub entry: Entry,
}

/// The members that a search looks at, cheap to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Head {
    /// When, RFC 3339.
    pub at: String,
    /// What happened, as a word.
    pub kind: String,
    /// The project's root.
    pub project: Option<String>,
    /// The planner's id.
    pub task_id: Option<String>,
    /// The dispatch.
    pub dispatch_id: Option<String>,
    /// The task's fingerprint (D10).
    pub fingerprint: Option<String>,
    /// The planner's time.
    pub created_at: Option<String>,
}

impl Head {
    /// Reads a row's head.
    ///
    /// # Errors
    /// The line is no row.
    pub fn parse(line: &str) -> Result<Self, String> {
        decode(line)
    }
}

macro_rules! entries {
    ($($(#[$doc:meta])* $variant:ident($entry:ty) = $kind:literal,)+) => {
        /// What happened: the member `kind` and the members that belong to it.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum Entry {
            $($(#[$doc])* #[serde(rename = $kind)] $variant($entry),)+
            /// A kind of another version; never written.
            #[serde(rename = "other")]
            #[schemars(skip)]
            Other,
        }

        impl Entry {
            /// The kinds of this version.
            pub const KINDS: &[&str] = &[$($kind,)+];

            fn parse(kind: &str, line: &str) -> Result<Self, String> {
                match kind {
                    $($kind => decode(line).map(Self::$variant),)+
                    _ => Ok(Self::Other),
                }
            }

            /// The word in the member `kind`.
            #[must_use]
            pub const fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)+ Self::Other => "other" }
            }
        }
    };
}

entries! {
    /// A valid PENDING was seen.
    Pending(Pending) = "pending",
    /// A task was written by `task.submit` or `task.retry`.
    Submitted(Submitted) = "submitted",
    /// A PENDING was rewritten to ERROR.
    Rejected(Rejected) = "rejected",
    /// RUNNING is durable; the dispatch has its id.
    Running(Running) = "running",
    /// The task left for its session.
    Sent(Sent) = "sent",
    /// The session did not take it (D69).
    NotAccepted(NotAccepted) = "not_accepted",
    /// The task is in the conversation.
    Accepted(Accepted) = "accepted",
    /// The session was reminded of the report (D25).
    Reminded(OfDispatch) = "reminded",
    /// A run of a sub-agent was observed (D49).
    Run(RunSeen) = "run",
    /// A report failed its checks.
    ReportRefused(ReportRefused) = "report_refused",
    /// A person asked to end the task (D76).
    Cancelling(Cancelling) = "cancelling",
    /// The task ended (D63). Written before COMPLETE is.
    Ended(Ended) = "ended",
    /// The task's line could not be written to the work log (D67).
    LogFailed(LogFailed) = "log_failed",
    /// The task was given up by `resume` (D11).
    Abandoned(OfDispatch) = "abandoned",
    /// `resume` lifted something.
    Resumed(Resumed) = "resumed",
    /// A planner's write was kept aside (D64).
    Lost(Lost) = "lost",
    /// The project's state or its reason changed.
    State(StateChanged) = "state",
    /// A session came, went, or changed its place.
    Session(SessionSeen) = "session",
    /// The project's lock changed hands.
    Lock(LockSeen) = "lock",
    /// A packet was delivered to a team member.
    Packet(PacketDelivered) = "packet",
}

impl Row {
    /// Reads one line of the journal.
    ///
    /// # Errors
    /// The line is not JSON (torn by a crash, for example), not a row, or a known kind lacks a member.
    pub fn parse(line: &str) -> Result<Self, String> {
        let head = Head::parse(line)?;
        Ok(Self { entry: Entry::parse(&head.kind, line)?, at: head.at, project: head.project })
    }

    /// The row as one line, without a line end.
    ///
    /// # Errors
    /// As `serde_json::to_string`; the types of this module do not provoke it.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        // A bare line feed in a raw member is white space; in strings it is escaped.
        serde_json::to_string(self).map(|line| line.replace('\n', " "))
    }
}

/// A step of a dispatch that needs no more words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct OfDispatch {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
}

/// A valid PENDING was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Pending {
    /// The planner's id.
    pub task_id: String,
    /// 64 hexadecimal digits (D10).
    pub fingerprint: String,
    /// The planner's time.
    pub created_at: Option<String>,
}

/// A task was written for the planner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Submitted {
    /// The planner's id.
    pub task_id: String,
    /// 64 hexadecimal digits (D10).
    pub fingerprint: String,
    /// The task that it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<String>,
}

/// A PENDING was rewritten to ERROR.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Rejected {
    /// The planner's id, if it has one.
    pub task_id: Option<String>,
    /// The text that was written to `error`.
    pub error: String,
    /// All faults.
    #[serde(default)]
    pub problems: Vec<Problem>,
}

/// RUNNING is durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Running {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// 64 hexadecimal digits (D10).
    pub fingerprint: String,
    /// The planner's time; with `task_id` it tells a task that ran before (D65).
    pub created_at: Option<String>,
    /// When it became RUNNING, RFC 3339.
    pub started_at: String,
    /// The session that gets it.
    pub session_id: Option<String>,
}

/// The task left for its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Sent {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// 1, then more each time it is sent again (D69).
    pub attempt: u32,
}

/// The session did not take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct NotAccepted {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// The session's word, or what went wrong.
    pub reason: String,
}

/// The task is in the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Accepted {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// The session that has it.
    pub session_id: Option<String>,
}

/// A run was observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct RunSeen {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch whose work it is.
    pub dispatch_id: String,
    /// The run as it was then.
    pub run: Run,
}

/// A report failed its checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ReportRefused {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// All faults.
    pub problems: Vec<Problem>,
}

/// A person asked to end the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Cancelling {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch; `null` for a PENDING.
    pub dispatch_id: Option<String>,
    /// Why.
    pub reason: String,
}

/// The end of a task. `show`, `wait` and `retry` need nothing but this row (D65).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Ended {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch; `null` if it never was RUNNING.
    pub dispatch_id: Option<String>,
    /// How.
    pub status: EndStatus,
    /// Why, for ERROR.
    pub error: Option<String>,
    /// When it became RUNNING, RFC 3339.
    pub started_at: Option<String>,
    /// When it ended, RFC 3339.
    pub completed_at: Option<String>,
    /// 64 hexadecimal digits (D10).
    pub fingerprint: Option<String>,
    /// The planner's time.
    pub created_at: Option<String>,
    /// The planner fields as they stood in `tasks.json`.
    pub planner: Option<Raw>,
    /// The report's result.
    pub result: Option<String>,
    /// The evidence as it was written to `tasks.json` (D63).
    pub report: Option<Raw>,
    /// The first line of the gate's verdict.
    pub verdict: Option<String>,
    /// The finished line for the work log (D67); `null` for a task that never was RUNNING.
    pub log_line: Option<String>,
}

/// The work log could not be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct LogFailed {
    /// The planner's id.
    pub task_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// What went wrong.
    pub error: String,
}

/// `resume` lifted something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Resumed {
    /// What.
    pub lifted: Vec<Lifted>,
}

/// A planner's write was kept aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Lost {
    /// Where it is kept.
    pub path: String,
}

/// The project's state changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct StateChanged {
    /// The state from then on.
    pub state: ProjectState,
    /// The word behind it.
    pub reason: Option<StateReason>,
    /// One sentence.
    pub why: Option<String>,
}

/// A session came, went, or changed its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct SessionSeen {
    /// The session's own id.
    pub session_id: String,
    /// What it did.
    pub change: SessionChange,
    /// Its place from then on.
    pub ownership: Option<Ownership>,
}

/// The lock changed hands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct LockSeen {
    /// What became of it.
    pub change: LockChange,
    /// Who has it, in words.
    pub holder: Option<String>,
}

/// A packet was delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct PacketDelivered {
    /// The member.
    pub agent_id: String,
    /// The dispatch.
    pub dispatch_id: String,
    /// The packet's file.
    pub packet_path: String,
}

objects!(
    Head,
    OfDispatch,
    Pending,
    Submitted,
    Rejected,
    Running,
    Sent,
    NotAccepted,
    Accepted,
    RunSeen,
    ReportRefused,
    Cancelling,
    Ended,
    LogFailed,
    Resumed,
    Lost,
    StateChanged,
    SessionSeen,
    LockSeen,
    PacketDelivered,
);
