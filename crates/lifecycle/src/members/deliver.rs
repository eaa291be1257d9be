//! Claims, sends, answers, and the limits of time (D24, D69, D70).

use queue::DispatchId;

use super::effect::{Change, Effect, Outgoing, Place};
use super::event::ClaimResult;
use super::packet::Packet;
use super::state::{Blocked, Delivery, Member, OpenPacket, Presence, Work};
use super::{Members, Out};
use crate::Conn;
use crate::event::Answer;
use crate::settings::{MAX_SENDS, RESEND_IDLE, RETRY_FIRST, RETRY_MAX, SEND_WINDOW};
use crate::time::Wall;

const NEVER_ACCEPTED: &str = "the session never accepted it";

impl Members {
    /// Claims a packet for everybody who could take one: the first packets first, and of several members the one whose
    /// last packet is longest ago.
    pub(super) fn claim_next(&mut self, out: &mut Out) {
        if self.stopping {
            return;
        }
        let mut next = 0;
        while let Some(packet) = self.packets.get(next) {
            let Some(at) = self.taker(packet, out) else {
                next += 1;
                continue;
            };
            let packet = self.packets.remove(next);
            self.claim(at, packet, out);
        }
    }

    fn taker(&self, packet: &Packet, out: &Out) -> Option<usize> {
        let fits = |member: &Member| {
            member.is_ready(out.now.awake) && member.record.as_ref().is_ok_and(|record| record.is_addressed_by(packet))
        };
        let fitting = self.members.iter().enumerate().filter(|(_, member)| fits(member));
        fitting.min_by_key(|(_, member)| member.last_claim).map(|(at, _)| at)
    }

    fn claim(&mut self, at: usize, packet: Packet, out: &mut Out) {
        let Some(member) = self.members.get_mut(at) else { return };
        let Some(session) = &member.place else { return };
        let dispatch = out.new_dispatch();
        self.claims += 1;
        member.last_claim = self.claims;
        let (session_id, process) = (session.session_id.clone(), session.process);
        let agent = member.agent.clone();
        member.work = Work::Claiming { packet: packet.clone(), dispatch };
        out.push(Effect::Claim { agent, packet, dispatch, session_id, process });
    }

    pub(super) fn claimed(&mut self, dispatch: DispatchId, result: ClaimResult, out: &mut Out) {
        let claims = |member: &Member| matches!(&member.work, Work::Claiming { dispatch: own, .. } if *own == dispatch);
        let Some(at) = self.members.iter().position(claims) else { return };
        let Some(member) = self.members.get_mut(at) else { return };
        let Work::Claiming { packet, .. } = std::mem::replace(&mut member.work, Work::None) else { return };
        match result {
            ClaimResult::Done => self.open(at, packet, dispatch, out),
            ClaimResult::Taken => out.push(Effect::Look),
            ClaimResult::Held(why) => {
                member.held = Some(why);
                self.put_back(packet);
            }
            ClaimResult::Failed(words) => {
                member.block(words, out);
                self.put_back(packet);
            }
        }
    }

    fn put_back(&mut self, packet: Packet) {
        self.packets.push(packet);
        self.packets.sort();
    }

    /// The claim is durable: the packet may leave, if its session is still there.
    fn open(&mut self, at: usize, packet: Packet, dispatch: DispatchId, out: &mut Out) {
        let stopping = self.stopping;
        let Some(member) = self.members.get_mut(at) else { return };
        member.blocked = None;
        let now = out.now;
        let (session_id, process) = match &member.place {
            Some(session) => (session.session_id.clone(), session.process),
            None => (String::new(), crate::Process { pid: 0, started: 0 }),
        };
        let has_session = member.place.is_some();
        let runtime_until = member.runtime_until(now.awake);
        member.work = Work::Open(Box::new(OpenPacket {
            dispatch,
            packet,
            session_id,
            process,
            presence: Presence::Here,
            delivery: Delivery::Waiting,
            sends: 0,
            first_try: now.awake,
            since: now.wall,
            last_sign: now.awake,
            runtime_until,
        }));
        if stopping {
            self.release(at, "the daemon stops", out);
        } else if !has_session {
            self.release(at, "the session left before it was sent", out);
        }
    }

    /// Sends what waits to sessions that are idle.
    pub(super) fn send_waiting(&mut self, out: &mut Out) {
        if self.stopping {
            return;
        }
        for at in 0..self.members.len() {
            self.send(at, out);
        }
    }

    fn send(&mut self, at: usize, out: &mut Out) {
        let now = out.now;
        let Some(member) = self.members.get_mut(at) else { return };
        let accept_timeout = member.settings.accept_timeout;
        let Some(session) = member.place.as_mut().filter(|session| session.is_free()) else { return };
        let Work::Open(open) = &mut member.work else { return };
        let due = matches!(open.delivery, Delivery::Waiting | Delivery::Refused { again: None });
        if !due || open.presence != Presence::Here {
            return;
        }
        session.engaged = true;
        open.sends = open.sends.saturating_add(1);
        open.delivery = Delivery::Sent { until: now.awake.plus(accept_timeout) };
        let wait = i64::try_from(accept_timeout).unwrap_or(i64::MAX);
        let (conn, dispatch, packet) = (session.conn, open.dispatch, open.packet.clone());
        let expires = Wall(now.wall.0.saturating_add(wait));
        self.tell(at, Change::Sent, out);
        out.push(Effect::Send { conn, message: Outgoing::Dispatch { dispatch, packet, expires } });
    }

    pub(super) fn answered(&mut self, conn: Conn, dispatch: DispatchId, answer: Answer, out: &mut Out) {
        let named = (answer == Answer::Accepted).then_some(dispatch);
        self.sign_of_life(conn, named, out);
        let Some(at) = self.at(conn) else { return };
        let open = self.members.get_mut(at).and_then(|member| member.open_on(conn));
        let Some(open) = open.filter(|open| open.dispatch == dispatch) else {
            return self.answered_late(conn, dispatch, answer, out);
        };
        if answer == Answer::Accepted || !matches!(open.delivery, Delivery::Sent { .. }) {
            return; // told already, or a refusal that contradicts what the session did
        }
        let (again, why) = match answer {
            Answer::Busy => (None, "busy"),
            Answer::Accepted | Answer::Refused => (Some(out.now.awake.plus(RESEND_IDLE)), "refused"),
        };
        let spent = open.sends >= MAX_SENDS;
        open.delivery = Delivery::Refused { again };
        self.tell(at, Change::Refused(why), out);
        if let Some(session) = self.members.get_mut(at).and_then(|member| member.place.as_mut()) {
            // "Busy" takes back what it had said; another refusal does not, so it is asked again after a while.
            session.idle = session.idle && again.is_some();
            session.engaged = false;
        }
        if spent {
            self.decline(at, out);
        }
    }

    /// A message that had to be made again could not be: nothing has left.
    pub(super) fn unreadable(&mut self, dispatch: DispatchId, out: &mut Out) {
        let is_open = |member: &mut Member| {
            let open = member.open();
            open.is_some_and(|open| open.dispatch == dispatch && matches!(open.delivery, Delivery::Sent { .. }))
        };
        if let Some(at) = self.members.iter_mut().position(is_open) {
            self.release(at, "its file is not there any more", out);
        }
    }

    /// The session takes nothing: the packet is open again, and this session is asked no more. Who stands by takes over.
    fn decline(&mut self, at: usize, out: &mut Out) {
        if let Some(session) = self.members.get_mut(at).and_then(|member| member.place.as_mut()) {
            session.declines = true;
            let text = "This session took none of ten offers of a packet; attach again to get packets.".to_owned();
            out.push(Effect::Send { conn: session.conn, message: Outgoing::Notice(text) });
        }
        self.release(at, NEVER_ACCEPTED, out);
        let Some(member) = self.members.get_mut(at) else { return };
        if member.standby.iter().any(|next| !next.declines)
            && let Some(session) = member.place.take()
        {
            let reason = "it took none of ten offers of a packet".to_owned();
            let message = Outgoing::Place { place: Place::Standby, reason };
            out.push(Effect::Send { conn: session.conn, message });
            member.standby.push(session);
        }
    }

    /// An acceptance that comes after its packet has ended without it is answered by a cancel and a notice (D69).
    fn answered_late(&self, conn: Conn, dispatch: DispatchId, answer: Answer, out: &mut Out) {
        let ended_without = self.past.end_of(dispatch).is_some_and(|ending| ending.reason().is_some());
        if answer != Answer::Accepted || !ended_without {
            return;
        }
        let reason = "the packet's dispatch has ended without this acceptance".to_owned();
        out.push(Effect::Send { conn, message: Outgoing::Cancel { dispatch, reason } });
        let text = "A packet was accepted after its dispatch had ended; the session was told to stop.".to_owned();
        out.push(Effect::Send { conn, message: Outgoing::Notice(text) });
    }

    /// The limits of time.
    pub(super) fn expire(&mut self, out: &mut Out) {
        for at in 0..self.members.len() {
            self.expire_presence(at, out);
            self.expire_open(at, out);
            if let Some(blocked) = self.members.get_mut(at).and_then(|member| member.blocked.as_mut())
                && blocked.until.is_some_and(|until| out.now.awake >= until)
            {
                blocked.until = None;
            }
        }
    }

    fn expire_open(&mut self, at: usize, out: &mut Out) {
        let now = out.now.awake;
        let Some(member) = self.members.get_mut(at) else { return };
        let silence = member.settings.silence_timeout;
        let Some(open) = member.open() else { return };
        match &mut open.delivery {
            Delivery::Sent { until } if now >= *until => {
                return self.end_with_cancel(at, "Delivery was not confirmed; its effects are unknown.", out);
            }
            Delivery::Waiting | Delivery::Refused { .. } if now >= open.first_try.plus(SEND_WINDOW) => {
                return self.decline(at, out);
            }
            Delivery::Refused { again } => *again = again.filter(|until| now < *until),
            Delivery::Waiting | Delivery::Sent { .. } | Delivery::Accepted | Delivery::Unknown => {}
        }
        let silent = silence.is_some_and(|ms| now >= open.last_sign.plus(ms));
        if open.runtime_until.is_some_and(|until| now >= until) {
            self.end_with_cancel(at, "The packet took longer than task.max_runtime allows.", out);
        } else if silent {
            self.end_with_cancel(at, "The session gave no sign of life for task.silence_timeout.", out);
        }
    }
}

impl Member {
    /// A claim could not be written: nothing is sent, and it is tried again after 1, 2, 4 … 60 s (D70).
    fn block(&mut self, words: String, out: &mut Out) {
        let pause = self.blocked.as_ref().map_or(RETRY_FIRST, |blocked| blocked.pause);
        if self.blocked.is_none()
            && let Some(session) = &self.place
        {
            let text = format!("No packet can be sent: its record cannot be written: {words}");
            out.push(Effect::Send { conn: session.conn, message: Outgoing::Notice(text) });
        }
        let until = Some(out.now.awake.plus(pause));
        self.blocked = Some(Blocked { until, pause: (pause * 2).min(RETRY_MAX), words });
    }
}
