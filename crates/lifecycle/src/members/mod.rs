//! Team members: which packet goes to whose session, when, and what became of it (D20, D22–D24, D69, D74).
//!
//! A member is a record of the team (role, goal, round) with a session that attached as it. It gets the packets that are
//! addressed to it one at a time, in the order of [`Packet`], each once: before a packet leaves, a *claim* of it is
//! durable beside the packets, and only proof that it was not delivered takes the claim back.
//!
//! # Contract
//!
//! As that of [`crate::Project`], with these differences. Every [`Effect::Claim`] is answered by exactly one
//! [`Event::Claimed`]; the shell carries out claims and what [`Effect::Told`] adds to the record in the order in which
//! they came, and a look at the packets after those that came before it.

mod attach;
mod deliver;
mod effect;
mod event;
mod packet;
mod presence;
mod state;
mod turn;
mod view;

pub use effect::{Change, Effect, Ending, Outgoing, Place, Task};
pub use event::{Attach, ClaimResult, Event, Look, Open, Seen};
pub use packet::{Leg, Packet, Record, Role};
pub use view::{MemberView, OpenView, SessionView};

use queue::DispatchId;

use crate::time::{Awake, Moment};
use state::{Member, Past};

/// All members whose session is attached, or was while a packet was open.
#[derive(Debug, Default)]
pub struct Members {
    members: Vec<Member>,
    /// Packets that nobody has claimed, in order.
    packets: Vec<Packet>,
    past: Past,
    stopping: bool,
    /// Counts claims: of several members that could take a packet, the one whose last is longest ago does.
    claims: u64,
}

/// What one step brings about.
pub(crate) struct Out {
    now: Moment,
    effects: Vec<Effect>,
    /// Dispatch ids taken from the moment's random bits.
    drawn: u128,
}

impl Out {
    fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    fn new_dispatch(&mut self) -> DispatchId {
        let id = self.now.entropy.wrapping_add(self.drawn);
        self.drawn += 1;
        DispatchId::from_random(id)
    }
}

impl Members {
    /// Nobody is attached.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One event; the effects in order, and when to send [`Event::Tick`] at the latest.
    pub fn step(&mut self, event: Event, now: Moment) -> (Vec<Effect>, Option<Awake>) {
        let mut out = Out { now, effects: Vec::new(), drawn: 0 };
        self.take(event, &mut out);
        self.expire(&mut out);
        self.settle_places(&mut out);
        self.send_waiting(&mut out);
        self.claim_next(&mut out);
        self.members.retain(|member| !member.is_forgotten());
        (out.effects, self.members.iter().flat_map(Member::deadlines).min())
    }

    fn take(&mut self, event: Event, out: &mut Out) {
        match event {
            Event::Attach(attach) => self.attach(*attach, out),
            Event::Activity { conn, idle } => self.activity(conn, idle, out),
            Event::Settled { conn, dispatch, aborted } => self.settled(conn, dispatch, aborted, out),
            Event::Ping { conn } => self.sign_of_life(conn, None, out),
            Event::Named { conn, dispatch } => self.sign_of_life(conn, Some(dispatch), out),
            Event::Leaving { conn, reason } => self.leaving(conn, reason, out),
            Event::Closed { conn, unsent } => self.closed(conn, unsent, out),
            Event::ProcessGone(process) => self.process_gone(process, out),
            Event::ProcessStopped { process, stopped } => self.process_stopped(process, stopped),
            Event::Answered { conn, dispatch, answer } => self.answered(conn, dispatch, answer, out),
            Event::Unreadable { dispatch } => self.unreadable(dispatch, out),
            Event::Looked(look) => self.looked(look, out),
            Event::Claimed { dispatch, result } => self.claimed(dispatch, result, out),
            Event::Woke => self.woke(out),
            Event::Tick => {}
            Event::Shutdown => self.stopping = true,
        }
    }

    /// Whether nothing is attached and nothing waited for: no look is needed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}
