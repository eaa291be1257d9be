//! The event stream: what `events.subscribe` brings. Events are for looking on; nothing is decided by them.

use crate::daemon_calls::NoticeLevel;
use crate::error::Problem;
use crate::run::Run;
use crate::session::{EndStatus, Ownership};
use crate::status::{ProjectState, StateReason};
use crate::words::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `event` (notification): one thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Counts up from 1 in one daemon instance.
    pub seq: u64,
    /// When, RFC 3339.
    pub at: String,
    /// The project's root; `null` when it concerns the daemon.
    pub project: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub what: EventKind,
}

/// What happened: the member `kind` and the members that belong to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// A project's state or its reason changed.
    ProjectState {
        /// The state now.
        state: ProjectState,
        /// The word behind it.
        reason: Option<StateReason>,
        /// One sentence.
        why: Option<String>,
        /// The one command that helps.
        next: Option<String>,
    },
    /// A valid PENDING was seen.
    TaskPending {
        /// The planner's id.
        task_id: String,
    },
    /// A PENDING was rewritten to ERROR.
    TaskRejected {
        /// The planner's id, if it has one.
        task_id: Option<String>,
        /// All faults.
        problems: Vec<Problem>,
    },
    /// A task left for its session.
    DispatchSent {
        /// The planner's id.
        task_id: String,
        /// The dispatch.
        dispatch_id: String,
        /// 1, then more each time it is sent again (D69).
        attempt: u32,
    },
    /// A task is in the conversation.
    DispatchAccepted {
        /// The planner's id.
        task_id: String,
        /// The dispatch.
        dispatch_id: String,
    },
    /// A report failed its checks.
    ReportRefused {
        /// The planner's id.
        task_id: String,
        /// The dispatch.
        dispatch_id: String,
        /// All faults.
        problems: Vec<Problem>,
    },
    /// A task ended; sent after the work log was written.
    TaskEnded {
        /// The planner's id.
        task_id: String,
        /// The dispatch; `null` if it never was RUNNING.
        dispatch_id: Option<String>,
        /// How.
        status: EndStatus,
        /// Why, for ERROR.
        error: Option<String>,
        /// The first line of the gate's verdict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<String>,
    },
    /// A run of a sub-agent was observed.
    Run {
        /// The dispatch whose work it is.
        dispatch_id: String,
        /// The run as it is now.
        run: Run,
    },
    /// A session came, went, or changed its place.
    Session {
        /// The session's own id.
        session_id: String,
        /// What it did.
        change: SessionChange,
        /// Its place now; `null` when it has none.
        ownership: Option<Ownership>,
    },
    /// A packet went to a team member, or what became of it there.
    Packet {
        /// The packet's goal, which is the id of its task (D74).
        task_id: String,
        /// The member.
        agent_id: String,
        /// The dispatch.
        dispatch_id: String,
        /// The packet's own id.
        packet_id: String,
        /// The packet's file.
        packet_path: String,
        /// How far it got.
        change: PacketChange,
        /// Why it was refused, or ended otherwise than by a settled turn.
        reason: Option<String>,
    },
    /// A task's line could not be written to the work log (D67).
    LogFailed {
        /// The planner's id.
        task_id: String,
        /// The dispatch.
        dispatch_id: String,
        /// What went wrong.
        error: String,
    },
    /// The project's lock was taken, released, lost or found with somebody else.
    Lock {
        /// What became of it.
        change: LockChange,
        /// Who has it, in words.
        holder: Option<String>,
    },
    /// Something that a person should read.
    Notice {
        /// How urgent it is.
        level: NoticeLevel,
        /// One or two sentences.
        text: String,
    },
    /// This reader was too slow: these events (both included) were left out.
    Gap {
        /// The first one missing.
        from: u64,
        /// The last one missing.
        to: u64,
    },
    /// A kind of a newer daemon; never sent.
    #[serde(other)]
    #[schemars(skip)]
    Other,
}

words! {
    /// How far a packet got with its member.
    pub open PacketChange {
        /// It left for the member's session.
        Sent = "sent",
        /// It is in the conversation.
        Accepted = "accepted",
        /// It was not taken, which is proof that it was not delivered: it is sent again at idle (D69).
        Refused = "refused",
        /// It was not delivered and is open again, for this member or another of its role.
        Released = "released",
        /// It is over: the turn settled, or `reason` says what happened.
        Ended = "ended",
    } else
    /// A word of a newer daemon; never sent.
    Other = "other"
}

words! {
    /// What a session did.
    pub open SessionChange {
        /// It attached.
        Attached = "attached",
        /// It said that it leaves.
        Left = "left",
        /// Its connection was lost.
        Lost = "lost",
        /// Its place changed.
        Place = "place",
        /// It became idle.
        Idle = "idle",
        /// It became busy.
        Busy = "busy",
    } else
    /// A word of a newer daemon; never sent.
    Other = "other"
}

words! {
    /// What became of a lock.
    pub open LockChange {
        /// We have it.
        Taken = "taken",
        /// A dead owner's was taken over (D17).
        Recovered = "recovered",
        /// We gave it up.
        Released = "released",
        /// It is not ours any more (D18).
        Lost = "lost",
        /// Somebody else has it.
        Blocked = "blocked",
        /// A person moved it aside.
        Removed = "removed",
    } else
    /// A word of a newer daemon; never sent.
    Other = "other"
}
