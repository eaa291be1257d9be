//! Losing a member's session, and who comes after it (D20, D21).

use super::effect::{Effect, Ending, Outgoing};
use super::event::{Look, Seen};
use super::state::{Delivery, Member, Presence, Session, Work};
use super::{Members, Out};
use crate::event::{LeaveReason, Stopped};
use crate::{Conn, Process};

/// How a session was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    /// The connection ended, or its extensions are loaded again: the same session may come back.
    Connection,
    /// It has another conversation now.
    Left,
    /// It ended.
    Quit,
    /// Its process ended.
    Process,
}

impl Loss {
    const fn text(self) -> &'static str {
        match self {
            Self::Connection => "The session was lost and did not come back in time.",
            Self::Left => "The session left the packet's conversation.",
            Self::Quit => "The session ended before its turn did.",
            Self::Process => "The session's process ended before its turn did.",
        }
    }
}

impl Members {
    pub(super) fn leaving(&mut self, conn: Conn, reason: LeaveReason, out: &mut Out) {
        let loss = match reason {
            LeaveReason::Reload => Loss::Connection,
            LeaveReason::Other => Loss::Left,
            LeaveReason::Quit => Loss::Quit,
        };
        self.lose(conn, loss, "left", out);
    }

    pub(super) fn closed(&mut self, conn: Conn, unsent: Option<queue::DispatchId>, out: &mut Out) {
        if let Some(open) = self.at(conn).and_then(|at| self.members.get_mut(at)).and_then(|own| own.open_on(conn))
            && unsent == Some(open.dispatch)
            && matches!(open.delivery, Delivery::Sent { .. })
        {
            open.delivery = Delivery::Refused { again: None };
        }
        self.lose(conn, Loss::Connection, "lost", out);
    }

    pub(super) fn process_gone(&mut self, process: Process, out: &mut Out) {
        let of_process = |session: &&mut Session| session.process == process;
        let conns: Vec<Conn> =
            self.members.iter_mut().flat_map(Member::sessions).filter(of_process).map(|own| own.conn).collect();
        for conn in conns {
            self.lose(conn, Loss::Process, "lost", out);
        }
        for at in 0..self.members.len() {
            let open = self.members.get_mut(at).and_then(Member::open);
            if open.is_some_and(|open| open.process == process && open.presence != Presence::Here) {
                self.give_up(at, Loss::Process, out);
            }
        }
    }

    pub(super) fn process_stopped(&mut self, process: Process, stopped: Stopped) {
        let all = self.members.iter_mut().flat_map(Member::sessions);
        for session in all.filter(|session| session.process == process) {
            session.stopped = stopped == Stopped::Yes;
        }
    }

    /// A gap in awake time: every connection gets one fresh `reconnect_grace` after it (D21).
    pub(super) fn woke(&mut self, out: &Out) {
        for member in &mut self.members {
            let fresh = out.now.awake.plus(member.settings.reconnect_grace);
            if let Some(open) = member.open()
                && let Presence::Away { until } = &mut open.presence
            {
                *until = (*until).max(fresh);
            }
        }
    }

    /// Which member the session of this connection is.
    pub(super) fn at(&mut self, conn: Conn) -> Option<usize> {
        self.members.iter_mut().position(|member| member.sessions().any(|session| session.conn == conn))
    }

    fn lose(&mut self, conn: Conn, loss: Loss, change: &'static str, out: &mut Out) {
        let Some(at) = self.at(conn) else { return };
        let Some(member) = self.members.get_mut(at) else { return };
        let had_packet = member.open_on(conn).is_some();
        let gone = member.place.take_if(|session| session.conn == conn);
        let gone = gone.or_else(|| member.standby.extract_if(.., |session| session.conn == conn).next());
        if let Some(session) = gone {
            let (agent, session_id) = (member.agent.clone(), session.session_id);
            out.push(Effect::Session { agent, session_id, change, place: None });
        }
        if had_packet {
            self.lose_packet(at, loss, out);
        }
    }

    fn lose_packet(&mut self, at: usize, loss: Loss, out: &mut Out) {
        let Some(member) = self.members.get_mut(at) else { return };
        let until = out.now.awake.plus(member.settings.reconnect_grace);
        let Some(open) = member.open() else { return };
        if open.delivery.is_proven_undelivered() {
            return self.release(at, "the session left before it took it", out);
        }
        open.forget_sending();
        open.presence = Presence::Away { until };
        if loss != Loss::Connection {
            self.give_up(at, loss, out);
        }
    }

    /// The session will not come back.
    fn give_up(&mut self, at: usize, loss: Loss, out: &mut Out) {
        let Some(open) = self.members.get_mut(at).and_then(Member::open) else { return };
        if open.delivery.is_proven_undelivered() {
            return self.release(at, "the session left before it took it", out);
        }
        let mut text = loss.text().to_owned();
        if open.delivery != Delivery::Accepted {
            text.push_str(" Delivery was not confirmed; its effects are unknown.");
        }
        self.end(at, Ending::Otherwise(text), out);
    }

    /// The wait for a lost session is over.
    pub(super) fn expire_presence(&mut self, at: usize, out: &mut Out) {
        let now = out.now.awake;
        let open = self.members.get_mut(at).and_then(Member::open);
        if open.is_some_and(|open| matches!(open.presence, Presence::Away { until } if now >= until)) {
            self.give_up(at, Loss::Connection, out);
        }
    }

    /// A free place goes to the first in line.
    pub(super) fn settle_places(&mut self, out: &mut Out) {
        for member in &mut self.members {
            if member.place.is_some() || member.standby.is_empty() || !matches!(member.work, Work::None) {
                continue;
            }
            let first = member.standby.iter().position(|next| !next.declines).unwrap_or(0);
            let next = member.standby.remove(first);
            let session_id = next.session_id.clone();
            member.place = Some(next);
            member.tell_place("it is first in line".into(), out);
            let (agent, place) = (member.agent.clone(), Some(member.best_place()));
            out.push(Effect::Session { agent, session_id, change: "place", place });
        }
    }

    pub(super) fn looked(&mut self, look: Look, out: &mut Out) {
        for seen in look.members {
            if let Some(member) = self.members.iter_mut().find(|member| member.agent == seen.agent) {
                member.seen(seen, out);
            }
        }
        self.packets = look.packets;
        self.packets.retain(|packet| !self.members.iter().any(|own| own.packet().is_some_and(|open| open.is(packet))));
        self.packets.sort();
    }
}

impl Member {
    fn seen(&mut self, seen: Seen, out: &mut Out) {
        self.held = seen.held;
        let was = self.record.is_ok();
        self.record = seen.record;
        let reason = match (&self.record, was) {
            (Err(why), true) => why.clone(),
            (Ok(_), false) => "its record is there again".to_owned(),
            _ => return,
        };
        self.tell_place(reason, out);
    }

    fn tell_place(&self, reason: String, out: &mut Out) {
        let Some(session) = &self.place else { return };
        let message = Outgoing::Place { place: self.best_place(), reason };
        out.push(Effect::Send { conn: session.conn, message });
    }
}
