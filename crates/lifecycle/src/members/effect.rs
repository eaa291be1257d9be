//! What the machine wants done: a closed set, carried out in order.

use queue::DispatchId;

use super::packet::Packet;
use crate::time::Wall;
use crate::{Conn, Process, Req};

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Make a claim durable, unless somebody else has one; answered by `Claimed`.
    Claim {
        /// For which member.
        agent: String,
        /// Of which packet.
        packet: Packet,
        /// Under which id.
        dispatch: DispatchId,
        /// For which session.
        session_id: String,
        /// Its process.
        process: Process,
    },
    /// Send something to a session.
    Send {
        /// On this connection.
        conn: Conn,
        /// What.
        message: Outgoing,
    },
    /// Answer an attach.
    Reply {
        /// The request.
        req: Req,
        /// The session's place.
        place: Place,
        /// The packet that goes on in this session.
        task: Option<Task>,
        /// How the dispatch that the session knows ended.
        ended: Option<(DispatchId, Ending)>,
    },
    /// Tell of a packet in the record beside it, the journal and the event stream.
    Told {
        /// The member.
        agent: String,
        /// The packet.
        packet: Packet,
        /// Its dispatch.
        dispatch: DispatchId,
        /// What became of it.
        change: Change,
    },
    /// Tell of a session in the journal and the event stream.
    Session {
        /// The member.
        agent: String,
        /// The session's own id.
        session_id: String,
        /// `attached`, `left`, `lost` or `place`.
        change: &'static str,
        /// Its place now.
        place: Option<Place>,
    },
    /// Close the connection: the session came back on another one.
    Close(Conn),
    /// Look at packets and records as soon as possible.
    Look,
}

/// What a session is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outgoing {
    /// The packet.
    Dispatch {
        /// Its dispatch.
        dispatch: DispatchId,
        /// The packet.
        packet: Packet,
        /// `expires_at`
        expires: Wall,
    },
    /// Stop working on it.
    Cancel {
        /// The dispatch.
        dispatch: DispatchId,
        /// Why.
        reason: String,
    },
    /// The session's place has changed.
    Place {
        /// The place now.
        place: Place,
        /// One sentence why.
        reason: String,
    },
    /// Something that the person should read.
    Notice(String),
}

/// The place of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Gets the member's packets.
    Member,
    /// Next in line.
    Standby,
}

/// The packet that goes on in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its dispatch.
    pub dispatch: DispatchId,
    /// Its goal.
    pub goal: String,
    /// When it was claimed.
    pub since: Wall,
}

/// How far a packet got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It left. Its claim is durable already.
    Sent,
    /// It is in the conversation.
    Accepted,
    /// Proof that it was not delivered; it is sent again at idle (D69).
    Refused(&'static str),
    /// It was not delivered and its claim is taken back.
    Released(&'static str),
    /// It is over.
    Ended(Ending),
}

/// How a packet's dispatch ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The turn settled.
    Settled,
    /// In any other way; one sentence.
    Otherwise(String),
}

impl Ending {
    /// What is told of it; `None` for a settled turn.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Settled => None,
            Self::Otherwise(reason) => Some(reason),
        }
    }
}
