//! What can happen to the members: a closed set.

use queue::DispatchId;

use super::effect::Ending;
use super::packet::{Packet, Record};
use crate::event::{Answer, Known, LeaveReason, Stopped};
use crate::settings::Settings;
use crate::time::Wall;
use crate::{Conn, Process, Req};

/// One thing that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// A session attaches as a member.
    Attach(Box<Attach>),
    /// The session says whether it is idle.
    Activity {
        /// Its connection.
        conn: Conn,
        /// Idle or busy.
        idle: bool,
    },
    /// The session's turn settled.
    Settled {
        /// Its connection.
        conn: Conn,
        /// The dispatch the session names, if it does.
        dispatch: Option<DispatchId>,
        /// The turn was aborted.
        aborted: bool,
    },
    /// A sign of life.
    Ping {
        /// The session's connection.
        conn: Conn,
    },
    /// A message that names the dispatch, a run for example: its acceptance (D69).
    Named {
        /// The session's connection.
        conn: Conn,
        /// The dispatch.
        dispatch: DispatchId,
    },
    /// The session says goodbye.
    Leaving {
        /// Its connection.
        conn: Conn,
        /// Why.
        reason: LeaveReason,
    },
    /// The connection ended.
    Closed {
        /// The connection.
        conn: Conn,
        /// A dispatch line that was not written whole: proof that it was not delivered (D69).
        unsent: Option<DispatchId>,
    },
    /// A process that the machine knows has ended.
    ProcessGone(Process),
    /// A process that the machine knows was stopped (state `T`) or continued (D24).
    ProcessStopped {
        /// Which.
        process: Process,
        /// Stopped or running.
        stopped: Stopped,
    },
    /// The session answered `packet.dispatch`.
    Answered {
        /// Its connection.
        conn: Conn,
        /// The dispatch.
        dispatch: DispatchId,
        /// What it said.
        answer: Answer,
    },
    /// The packet of this dispatch could not be read again, so its message did not leave.
    Unreadable {
        /// The dispatch.
        dispatch: DispatchId,
    },
    /// The packets and the records were looked at.
    Looked(Look),
    /// What became of a claim.
    Claimed {
        /// Of which dispatch.
        dispatch: DispatchId,
        /// What.
        result: ClaimResult,
    },
    /// A gap in awake time ended (D21).
    Woke,
    /// The deadline came.
    Tick,
    /// The daemon stops: nothing new is sent.
    Shutdown,
}

/// A session attaches as a member.
#[derive(Debug, Clone)]
pub struct Attach {
    /// Its connection.
    pub conn: Conn,
    /// To be answered.
    pub req: Req,
    /// The member.
    pub agent: String,
    /// Its record.
    pub record: Record,
    /// The session's own id.
    pub session_id: String,
    /// The peer's process.
    pub process: Process,
    /// The program, for people.
    pub host: String,
    /// Whether it is idle.
    pub idle: bool,
    /// What it knows of a dispatch.
    pub known: Known,
    /// The limits of time of its project.
    pub settings: Settings,
    /// The claim of this member that has not ended, if there is one on disk.
    pub open: Option<Open>,
    /// How the dispatch that the session knows ended, by the record on disk.
    pub past: Option<Ending>,
}

/// A claim on disk that neither ended nor was taken back: the daemon before this one sent it, or was about to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Its dispatch.
    pub dispatch: DispatchId,
    /// The packet.
    pub packet: Packet,
    /// The session it went to.
    pub session_id: String,
    /// That session's process.
    pub process: Process,
    /// Whether that process is still alive.
    pub alive: bool,
    /// Whether its acceptance is on record.
    pub accepted: bool,
    /// When it was claimed.
    pub since: Wall,
}

/// What a look found.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// The valid packets that nobody has claimed, of every goal that a member belongs to.
    pub packets: Vec<Packet>,
    /// Every attached member.
    pub members: Vec<Seen>,
}

/// What a look found of one member.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The member.
    pub agent: String,
    /// Its record; `Err` says in one sentence why there is none.
    pub record: Result<Record, String>,
    /// Why nothing may be sent to it now (its project is paused, for example).
    pub held: Option<String>,
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimResult {
    /// It is durable.
    Done,
    /// The packet has gone, changed its identity, or somebody else claimed it.
    Taken,
    /// Nothing may be sent to this member now, and why.
    Held(String),
    /// It could not be written: path, step, the system's words (D70).
    Failed(String),
}
