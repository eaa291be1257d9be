//! The turn of a member's session: signs of life, acceptance, idle moments, the end of a packet.

use queue::DispatchId;

use super::effect::{Change, Effect, Ending, Outgoing};
use super::state::{Delivery, Member, OpenPacket, Over, Session, Work};
use super::{Members, Out};
use crate::Conn;

/// What an idle moment says of the turn before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IdleMoment {
    Settled,
    Aborted,
}

impl Members {
    /// Every message of a session is a sign of life; one that names the dispatch is its acceptance (D69).
    pub(super) fn sign_of_life(&mut self, conn: Conn, names: Option<DispatchId>, out: &mut Out) {
        let Some(at) = self.at(conn) else { return };
        let Some(member) = self.members.get_mut(at) else { return };
        if let Some(session) = member.sessions().find(|session| session.conn == conn) {
            session.last_seen = out.now.wall;
        }
        let Some(open) = member.open_on(conn) else { return };
        open.last_sign = out.now.awake;
        if names == Some(open.dispatch) {
            self.accept(at, out);
        }
    }

    /// The message is in the conversation.
    pub(super) fn accept(&mut self, at: usize, out: &mut Out) {
        let Some(open) = self.members.get_mut(at).and_then(Member::open) else { return };
        if open.delivery != Delivery::Accepted {
            open.delivery = Delivery::Accepted;
            self.tell(at, Change::Accepted, out);
        }
    }

    pub(super) fn activity(&mut self, conn: Conn, idle: bool, out: &mut Out) {
        self.sign_of_life(conn, None, out);
        let Some(at) = self.at(conn) else { return };
        let Some(member) = self.members.get_mut(at) else { return };
        let delivery = member.open_on(conn).map(|open| open.delivery);
        let Some(session) = member.sessions().find(|session| session.conn == conn) else { return };
        session.idle = idle;
        if !idle {
            return;
        }
        match delivery {
            // Of before the message: the session counts as busy until it has accepted (wire protocol, "Idle").
            Some(Delivery::Sent { .. } | Delivery::Unknown) => {}
            Some(Delivery::Accepted) => self.idle_moment(at, IdleMoment::Settled, out),
            Some(Delivery::Waiting | Delivery::Refused { .. }) | None => {
                session.engaged = false;
                self.idle_after_refusal(at);
            }
        }
    }

    pub(super) fn settled(&mut self, conn: Conn, dispatch: Option<DispatchId>, aborted: bool, out: &mut Out) {
        self.sign_of_life(conn, dispatch, out);
        let Some(at) = self.at(conn) else { return };
        let Some(member) = self.members.get_mut(at) else { return };
        let open = member.open_on(conn).map(|open| (open.dispatch, open.delivery));
        let Some(session) = member.sessions().find(|session| session.conn == conn) else { return };
        session.idle = true;
        match open {
            None => session.engaged = false,
            // The turn of a packet that ended before, told late.
            Some((ours, _)) if dispatch.is_some_and(|theirs| theirs != ours) => {}
            Some((_, Delivery::Accepted)) => {
                let moment = if aborted { IdleMoment::Aborted } else { IdleMoment::Settled };
                self.idle_moment(at, moment, out);
            }
            // The turn of before the message.
            Some((_, Delivery::Waiting | Delivery::Refused { .. })) => self.idle_after_refusal(at),
            Some((_, Delivery::Sent { .. } | Delivery::Unknown)) => {}
        }
    }

    /// A new idle moment ends the wait after a refusal (D69).
    fn idle_after_refusal(&mut self, at: usize) {
        if let Some(open) = self.members.get_mut(at).and_then(Member::open)
            && let Delivery::Refused { again } = &mut open.delivery
        {
            *again = None;
        }
    }

    /// The session of an accepted packet is idle: the packet is over.
    pub(super) fn idle_moment(&mut self, at: usize, moment: IdleMoment, out: &mut Out) {
        if let Some(session) = self.members.get_mut(at).and_then(|member| member.place.as_mut()) {
            session.engaged = false;
        }
        let ending = match moment {
            IdleMoment::Settled => Ending::Settled,
            IdleMoment::Aborted => Ending::Otherwise("The turn was aborted.".into()),
        };
        self.end(at, ending, out);
    }

    /// It is over, however far it came.
    pub(super) fn end(&mut self, at: usize, ending: Ending, out: &mut Out) {
        let Some(open) = self.members.get_mut(at).and_then(Member::open) else { return };
        self.past.add(open.dispatch, Over::Ended(ending.clone()));
        self.tell(at, Change::Ended(ending), out);
        if let Some(member) = self.members.get_mut(at) {
            member.work = Work::None;
        }
    }

    /// Ends it and tells its session to stop.
    pub(super) fn end_with_cancel(&mut self, at: usize, text: &str, out: &mut Out) {
        if let Some((conn, dispatch)) = self.members.get_mut(at).and_then(Member::reachable) {
            out.push(Effect::Send { conn, message: Outgoing::Cancel { dispatch, reason: text.to_owned() } });
        }
        self.end(at, Ending::Otherwise(text.to_owned()), out);
    }

    /// It is proven undelivered and open again.
    pub(super) fn release(&mut self, at: usize, why: &'static str, out: &mut Out) {
        self.tell(at, Change::Released(why), out);
        let Some(member) = self.members.get_mut(at) else { return };
        if let Some(session) = &mut member.place {
            session.engaged = false;
        }
        if let Work::Open(open) = std::mem::replace(&mut member.work, Work::None) {
            self.past.add(open.dispatch, Over::Released);
            self.packets.push(open.packet);
            self.packets.sort();
        }
        out.push(Effect::Look);
    }

    /// Tells of the open packet.
    pub(super) fn tell(&mut self, at: usize, change: Change, out: &mut Out) {
        let Some(member) = self.members.get_mut(at) else { return };
        let agent = member.agent.clone();
        let Some(open) = member.open() else { return };
        let (packet, dispatch) = (open.packet.clone(), open.dispatch);
        out.push(Effect::Told { agent, packet, dispatch, change });
    }
}

impl Member {
    /// Where the open packet's session can be reached, if its message may have arrived.
    fn reachable(&mut self) -> Option<(Conn, DispatchId)> {
        let conn = self.place.as_ref().map(|session: &Session| session.conn)?;
        let open: &mut OpenPacket = self.open_on(conn)?;
        (!open.delivery.is_proven_undelivered()).then_some((conn, open.dispatch))
    }
}
