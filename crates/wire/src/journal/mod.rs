//! The rows of the journal: one JSON object a line, one row for each step of a task or a project. They are what
//! `history.list` answers, what `task.wait` and `task.retry` look up, and what a restarted daemon remembers.
//!
//! Rows outlive the version that wrote them. Reading ignores members it does not know and takes an unknown kind as
//! [`Entry::Other`]; a member that a later version adds must be optional. Files and rotation are not handled here.

mod entries;

pub use entries::*;

use crate::object::objects;
use crate::rpc::decode;
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
    /// The end that was told just before could not be written: the task goes on as it was (D70).
    NotEnded(OfDispatch) = "not_ended",
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
    /// A packet went to a team member, or what became of it there.
    Packet(PacketSeen) = "packet",
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

objects!(Head);
