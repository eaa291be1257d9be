//! What is known of one member: its sessions and the packet it is at work on.

use std::collections::VecDeque;

use queue::DispatchId;

use super::effect::{Ending, Place};
use super::packet::{Packet, Record};
use crate::event::Known;
use crate::settings::{SEND_WINDOW, Settings};
use crate::time::{Awake, Wall};
use crate::{Conn, Process};

/// One member.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) agent: String,
    pub(super) record: Result<Record, String>,
    pub(super) settings: Settings,
    /// The session that gets the packets.
    pub(super) place: Option<Session>,
    pub(super) standby: Vec<Session>,
    pub(super) work: Work,
    /// Nothing may be sent now, and why; the next look says it again.
    pub(super) held: Option<String>,
    /// Its claims cannot be written now (D70).
    pub(super) blocked: Option<Blocked>,
    /// The number of its last claim.
    pub(super) last_claim: u64,
}

/// A claim that could not be written.
#[derive(Debug)]
pub(super) struct Blocked {
    /// Until then nothing is tried; `None`: the next try is due.
    pub(super) until: Option<Awake>,
    /// The next pause, in milliseconds.
    pub(super) pause: u64,
    pub(super) words: String,
}

/// One attached session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) conn: Conn,
    pub(super) session_id: String,
    pub(super) process: Process,
    pub(super) host: String,
    pub(super) known: Known,
    pub(super) idle: bool,
    /// A packet left for it, and no idle moment came since.
    pub(super) engaged: bool,
    pub(super) stopped: bool,
    /// It did not take a packet that was offered ten times (D69): it is not asked again.
    pub(super) declines: bool,
    pub(super) last_seen: Wall,
}

/// The packet of a member.
#[derive(Debug)]
pub(super) enum Work {
    None,
    /// The claim is on its way to the disk.
    Claiming {
        packet: Packet,
        dispatch: DispatchId,
    },
    Open(Box<OpenPacket>),
}

/// A claimed packet.
#[derive(Debug)]
pub(super) struct OpenPacket {
    pub(super) dispatch: DispatchId,
    pub(super) packet: Packet,
    pub(super) session_id: String,
    pub(super) process: Process,
    pub(super) presence: Presence,
    pub(super) delivery: Delivery,
    pub(super) sends: u8,
    pub(super) first_try: Awake,
    pub(super) since: Wall,
    pub(super) last_sign: Awake,
    pub(super) runtime_until: Option<Awake>,
}

/// Where the session of the open packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// It has the member's place.
    Here,
    /// It is awaited.
    Away { until: Awake },
}

/// How far the message got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// It has not left.
    Waiting,
    /// It has left, and there is no answer.
    Sent { until: Awake },
    /// Proof that it is not in the conversation; after `again` the session is asked without a new idle moment.
    Refused { again: Option<Awake> },
    /// It is in the conversation.
    Accepted,
    /// It left before this connection or this daemon; only the session can tell.
    Unknown,
}

impl Delivery {
    /// Nothing of it is, or may be, in the conversation.
    pub(super) const fn is_proven_undelivered(self) -> bool {
        matches!(self, Self::Waiting | Self::Refused { .. })
    }
}

impl Session {
    /// Whether a packet could be given to it now.
    pub(super) const fn is_free(&self) -> bool {
        self.idle && !self.engaged && !self.stopped
    }

    pub(super) fn is_of(&self, session_id: &str, process: Process) -> bool {
        self.session_id == session_id && self.process == process
    }
}

impl Member {
    pub(super) const fn new(agent: String, record: Record, settings: Settings) -> Self {
        Self {
            agent,
            record: Ok(record),
            settings,
            place: None,
            standby: Vec::new(),
            work: Work::None,
            held: None,
            blocked: None,
            last_claim: 0,
        }
    }

    /// Nobody is attached and nothing is open: nothing has to be remembered.
    pub(super) const fn is_forgotten(&self) -> bool {
        self.place.is_none() && self.standby.is_empty() && matches!(self.work, Work::None)
    }

    pub(super) fn open(&mut self) -> Option<&mut OpenPacket> {
        match &mut self.work {
            Work::Open(open) => Some(open),
            Work::None | Work::Claiming { .. } => None,
        }
    }

    pub(super) const fn packet(&self) -> Option<&Packet> {
        match &self.work {
            Work::None => None,
            Work::Claiming { packet, .. } => Some(packet),
            Work::Open(open) => Some(&open.packet),
        }
    }

    pub(super) fn sessions(&mut self) -> impl Iterator<Item = &mut Session> {
        self.place.iter_mut().chain(&mut self.standby)
    }

    pub(super) fn has_place(&self, conn: Conn) -> bool {
        self.place.as_ref().is_some_and(|session| session.conn == conn)
    }

    /// The open packet, if this connection is its session's.
    pub(super) fn open_on(&mut self, conn: Conn) -> Option<&mut OpenPacket> {
        let here = self.has_place(conn);
        self.open().filter(|open| here && open.presence == Presence::Here)
    }

    /// Whether a packet could be claimed for it now.
    pub(super) fn is_ready(&self, now: Awake) -> bool {
        matches!(self.work, Work::None)
            && self.held.is_none()
            && self.blocked.as_ref().and_then(|blocked| blocked.until).is_none_or(|until| now >= until)
            && self.place.as_ref().is_some_and(|session| session.is_free() && !session.declines)
    }

    /// The place that its best session has: none is a member without a record.
    pub(super) const fn best_place(&self) -> Place {
        match self.record {
            Ok(_) => Place::Member,
            Err(_) => Place::Standby,
        }
    }

    /// Everything that waits for a moment.
    pub(super) fn deadlines(&self) -> impl Iterator<Item = Awake> {
        let blocked = self.blocked.as_ref().and_then(|blocked| blocked.until);
        let open = match &self.work {
            Work::Open(open) => Some(open.deadlines(&self.settings)),
            Work::None | Work::Claiming { .. } => None,
        };
        open.into_iter().flatten().chain(blocked)
    }
}

impl OpenPacket {
    fn deadlines(&self, settings: &Settings) -> impl Iterator<Item = Awake> + use<> {
        let (window, delivery) = match self.delivery {
            Delivery::Sent { until } => (None, Some(until)),
            Delivery::Refused { again } => (Some(self.first_try.plus(SEND_WINDOW)), again),
            Delivery::Waiting => (Some(self.first_try.plus(SEND_WINDOW)), None),
            Delivery::Accepted | Delivery::Unknown => (None, None),
        };
        let presence = match self.presence {
            Presence::Away { until } => Some(until),
            Presence::Here => None,
        };
        let silence = settings.silence_timeout.map(|ms| self.last_sign.plus(ms));
        [window, delivery, presence, silence, self.runtime_until].into_iter().flatten()
    }
}

/// Dispatches that are over in this run of the daemon: what the disk does not know yet (or could not take) does not bring
/// them back.
#[derive(Debug, Default)]
pub(super) struct Past(VecDeque<(DispatchId, Over)>);

/// How a dispatch came to its end.
#[derive(Debug)]
pub(super) enum Over {
    Ended(Ending),
    /// Its claim was taken back: the packet has another dispatch, or will have.
    Released,
}

impl Past {
    /// So many are remembered.
    const MOST: usize = 256;

    pub(super) fn add(&mut self, dispatch: DispatchId, over: Over) {
        if self.0.len() == Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back((dispatch, over));
    }

    pub(super) fn is_over(&self, dispatch: DispatchId) -> bool {
        self.0.iter().any(|(known, _)| *known == dispatch)
    }

    /// How it ended; `None` also for a claim that was taken back.
    pub(super) fn end_of(&self, dispatch: DispatchId) -> Option<&Ending> {
        self.0.iter().rev().find(|(known, _)| *known == dispatch).and_then(|(_, over)| match over {
            Over::Ended(ending) => Some(ending),
            Over::Released => None,
        })
    }
}
