//! A session attaches as a member: its place, and what a packet that was open means now (D20, D22, D23).

use super::effect::{Effect, Ending, Outgoing, Place, Task};
use super::event::{Attach, Open};
use super::state::{Delivery, Member, OpenPacket, Presence, Session, Work};
use super::turn::IdleMoment;
use super::{Members, Out};
use crate::event::Known;
use crate::time::Awake;

/// The socket has accepted connections for at least this long before a lost session is given up (D22), in milliseconds.
const FIRST_GRACE: u64 = 30_000;

impl Members {
    pub(super) fn attach(&mut self, attach: Attach, out: &mut Out) {
        let ended = self.known_end(&attach);
        let at = self.member_for(&attach);
        if let Some(open) = &attach.open {
            self.adopt(at, open, out);
        }
        let Some(member) = self.members.get_mut(at) else { return };
        member.drop_old(&attach, out);
        let (req, session) = (attach.req, session(attach, out));
        let (conn, known, idle) = (session.conn, session.known, session.idle);
        let session_id = session.session_id.clone();
        let task = match member.settle_in(session, out) {
            Placed::Returned => member.task(),
            Placed::Member | Placed::Standby => None,
        };
        let place = if member.has_place(conn) { member.best_place() } else { Place::Standby };
        out.push(Effect::Reply { req, place, task: task.clone(), ended });
        out.push(Effect::Session { agent: member.agent.clone(), session_id, change: "attached", place: Some(place) });
        member.explain_standby(conn, out);
        if task.is_some() {
            self.reconcile(at, known, idle, out);
        }
        out.push(Effect::Look);
    }

    /// How the dispatch that the session knows ended.
    fn known_end(&self, attach: &Attach) -> Option<(queue::DispatchId, Ending)> {
        let Known::Some { dispatch, .. } = attach.known else { return None };
        let ending = self.past.end_of(dispatch).cloned().or_else(|| attach.past.clone())?;
        Some((dispatch, ending))
    }

    fn member_for(&mut self, attach: &Attach) -> usize {
        if let Some(at) = self.members.iter().position(|member| member.agent == attach.agent) {
            if let Some(member) = self.members.get_mut(at) {
                (member.record, member.settings) = (Ok(attach.record.clone()), attach.settings);
            }
            return at;
        }
        self.members.push(Member::new(attach.agent.clone(), attach.record.clone(), attach.settings));
        self.members.len() - 1
    }

    /// The packet of the daemon before this one waits for its session, as if that had been lost just now (D22).
    fn adopt(&mut self, at: usize, old: &Open, out: &mut Out) {
        if self.past.is_over(old.dispatch) {
            return; // its end is known here, though the disk does not know it
        }
        let Some(member) = self.members.get_mut(at).filter(|member| matches!(member.work, Work::None)) else { return };
        let now = out.now.awake;
        let grace = if old.alive { member.settings.reconnect_grace.max(FIRST_GRACE) } else { 0 };
        member.work = Work::Open(Box::new(OpenPacket {
            dispatch: old.dispatch,
            packet: old.packet.clone(),
            session_id: old.session_id.clone(),
            process: old.process,
            presence: Presence::Away { until: now.plus(grace) },
            delivery: if old.accepted { Delivery::Accepted } else { Delivery::Unknown },
            sends: 0,
            first_try: now,
            since: old.since,
            last_sign: now,
            runtime_until: member.runtime_until(now),
        }));
    }

    /// What the session knows decides what its return means (wire protocol, `known_dispatch`).
    fn reconcile(&mut self, at: usize, known: Known, idle: bool, out: &mut Out) {
        let Some(member) = self.members.get_mut(at) else { return };
        let Some(open) = member.open() else { return };
        let dispatch = open.dispatch;
        let delivered = matches!(known, Known::Some { dispatch: theirs, delivered: true } if theirs == dispatch);
        if open.delivery.is_proven_undelivered() && !delivered {
            return; // proven already, whatever its records are
        }
        if delivered || open.delivery == Delivery::Accepted {
            self.accept(at, out);
            if idle {
                self.idle_moment(at, IdleMoment::Settled, out);
            } else if let Some(session) = self.members.get_mut(at).and_then(|member| member.place.as_mut()) {
                session.engaged = true;
            }
        } else if known == Known::NoRecords {
            self.end(at, Ending::Otherwise("The session cannot say whether it got the packet.".into()), out);
        } else {
            open.delivery = Delivery::Refused { again: None };
        }
    }
}

/// Where a session was put.
enum Placed {
    /// It is back at its open packet.
    Returned,
    Member,
    Standby,
}

impl Member {
    /// The same session of the same process came on a new connection: the old one is nothing any more.
    fn drop_old(&mut self, attach: &Attach, out: &mut Out) {
        let now = out.now.awake;
        let grace = self.settings.reconnect_grace;
        if let Some(old) = self.place.take_if(|old| old.is_of(&attach.session_id, attach.process)) {
            out.push(Effect::Close(old.conn));
            if let Some(open) = self.open() {
                open.presence = Presence::Away { until: now.plus(grace) };
                open.forget_sending();
            }
        }
        for old in self.standby.extract_if(.., |old| old.is_of(&attach.session_id, attach.process)) {
            out.push(Effect::Close(old.conn));
        }
    }

    fn settle_in(&mut self, session: Session, out: &mut Out) -> Placed {
        let now = out.now.awake;
        let returns = match &mut self.work {
            Work::Open(open) if open.is_awaiting(&session, now) => {
                open.presence = Presence::Here;
                open.process = session.process;
                open.last_sign = now;
                true
            }
            _ => false,
        };
        let newest_of_process = matches!(self.work, Work::None)
            && self.place.as_ref().is_none_or(|holder| holder.process == session.process);
        if !returns && !newest_of_process {
            self.standby.push(session);
            return Placed::Standby;
        }
        // A session of the same process that had the place.
        if let Some(before) = self.place.replace(session) {
            let reason = "a newer session of its process has the place".to_owned();
            let message = Outgoing::Place { place: Place::Standby, reason };
            out.push(Effect::Send { conn: before.conn, message });
            self.standby.insert(0, before);
        }
        if returns { Placed::Returned } else { Placed::Member }
    }

    fn task(&mut self) -> Option<Task> {
        let open = self.open()?;
        Some(Task { dispatch: open.dispatch, goal: open.packet.goal.clone(), since: open.since })
    }

    fn explain_standby(&self, conn: crate::Conn, out: &mut Out) {
        if self.has_place(conn) {
            return;
        }
        let agent = &self.agent;
        let text = match (&self.place, &self.work) {
            (Some(holder), _) => format!(
                "Session {} (process {}) is attached as {agent} already and gets its packets; this one is next in line.",
                holder.session_id, holder.process.pid
            ),
            (None, Work::Open(open)) => format!(
                "Packet {} of {agent} is still with session {}; this one is next in line.",
                open.packet.id, open.session_id
            ),
            (None, _) => format!("This session is next in line for the packets of {agent}."),
        };
        out.push(Effect::Send { conn, message: Outgoing::Notice(text) });
    }

    pub(super) fn runtime_until(&self, now: Awake) -> Option<Awake> {
        self.settings.max_runtime.map(|ms| now.plus(ms))
    }
}

impl OpenPacket {
    /// Whether this session may take the packet up again: the same id, from the same process or after that has ended.
    fn is_awaiting(&self, session: &Session, now: Awake) -> bool {
        let Presence::Away { until } = self.presence else { return false };
        self.session_id == session.session_id && (self.process == session.process || now >= until)
    }

    /// An answer to what went out on a connection that is gone can never come.
    pub(super) fn forget_sending(&mut self) {
        if matches!(self.delivery, Delivery::Sent { .. }) {
            self.delivery = Delivery::Unknown;
        }
    }
}

fn session(attach: Attach, out: &Out) -> Session {
    Session {
        conn: attach.conn,
        session_id: attach.session_id,
        process: attach.process,
        host: attach.host,
        known: attach.known,
        idle: attach.idle,
        engaged: false,
        stopped: false,
        declines: false,
        last_seen: out.now.wall,
    }
}
