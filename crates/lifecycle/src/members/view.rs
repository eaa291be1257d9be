//! What is shown of a member.

use queue::DispatchId;

use super::Members;
use super::packet::{Leg, Packet, Record};
use super::state::{Delivery, Member, OpenPacket, Presence, Work};
use crate::Process;
use crate::time::Wall;

/// One member, for `status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberView {
    /// The member.
    pub agent: String,
    /// Its record, while there is one.
    pub record: Option<Record>,
    /// The session that has its place.
    pub session: Option<SessionView>,
    /// Sessions next in line.
    pub standby: usize,
    /// The packet it is at work on.
    pub open: Option<OpenView>,
    /// Packets that wait for a member like this one.
    pub waiting: usize,
    /// One sentence.
    pub why: Option<String>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionView {
    /// Its own id.
    pub session_id: String,
    /// Its process.
    pub process: Process,
    /// The program.
    pub host: String,
    /// Whether a packet could be given to it now.
    pub idle: bool,
    /// Its last sign of life.
    pub last_seen: Wall,
}

/// An open packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenView {
    /// Its dispatch.
    pub dispatch: DispatchId,
    /// The packet.
    pub packet: Packet,
    /// When it was claimed.
    pub since: Wall,
    /// How far its message got.
    pub delivery: crate::Delivery,
}

impl Members {
    /// All members, in the order in which they attached.
    #[must_use]
    pub fn view(&self) -> Vec<MemberView> {
        self.members.iter().map(|member| self.view_of(member)).collect()
    }

    /// The processes whose end matters.
    #[must_use]
    pub fn processes(&self) -> Vec<Process> {
        let mut all = Vec::new();
        for member in &self.members {
            all.extend(member.place.iter().chain(&member.standby).map(|session| session.process));
            if let Work::Open(open) = &member.work {
                all.push(open.process);
            }
        }
        all.sort_by_key(|process| (process.pid, process.started));
        all.dedup();
        all
    }

    /// Whether a claim is on its way to the disk.
    #[must_use]
    pub fn is_claiming(&self) -> bool {
        self.members.iter().any(|member| matches!(member.work, Work::Claiming { .. }))
    }

    fn view_of(&self, member: &Member) -> MemberView {
        let addressed = |packet: &&Packet| member.record.as_ref().is_ok_and(|record| record.is_addressed_by(packet));
        let waiting = self.packets.iter().filter(addressed).count();
        MemberView {
            agent: member.agent.clone(),
            record: member.record.as_ref().ok().cloned(),
            session: member.place.as_ref().map(|session| SessionView {
                session_id: session.session_id.clone(),
                process: session.process,
                host: session.host.clone(),
                idle: session.is_free(),
                last_seen: session.last_seen,
            }),
            standby: member.standby.len(),
            open: match &member.work {
                Work::Open(open) => Some(open.view()),
                Work::None | Work::Claiming { .. } => None,
            },
            waiting,
            why: member.why(waiting),
        }
    }
}

impl OpenPacket {
    fn view(&self) -> OpenView {
        let delivery = match self.delivery {
            Delivery::Waiting | Delivery::Sent { .. } | Delivery::Unknown => crate::Delivery::Sent,
            Delivery::Refused { .. } => crate::Delivery::Refused,
            Delivery::Accepted => crate::Delivery::Accepted,
        };
        OpenView { dispatch: self.dispatch, packet: self.packet.clone(), since: self.since, delivery }
    }
}

impl Member {
    fn why(&self, waiting: usize) -> Option<String> {
        if let Work::Open(open) = &self.work {
            let id = &open.packet.id;
            return Some(match (open.presence, open.delivery) {
                (Presence::Away { .. }, _) => format!("its session was lost; it is awaited with packet {id}"),
                (Presence::Here, Delivery::Accepted) => format!("it is at work on packet {id}"),
                (Presence::Here, Delivery::Sent { .. } | Delivery::Unknown) => format!("packet {id} was sent to it"),
                (Presence::Here, Delivery::Waiting | Delivery::Refused { .. }) => {
                    format!("packet {id} is sent when its session is idle")
                }
            });
        }
        match &self.record {
            Err(why) => return Some(why.clone()),
            Ok(record) if Leg::ALL.iter().all(|leg| leg.to() != record.role) => {
                return Some("no packet is ever addressed to its role".into());
            }
            Ok(_) => {}
        }
        if let Some(why) = &self.held {
            return Some(why.clone());
        }
        if let Some(blocked) = self.blocked.as_ref().filter(|_| waiting > 0) {
            return Some(format!("the record of deliveries cannot be written: {}", blocked.words));
        }
        let session = self.place.as_ref()?;
        if session.declines {
            return Some("its session took none of ten offers; it gets packets when it attaches again".into());
        }
        if session.stopped && waiting > 0 {
            return Some("its process is stopped".into());
        }
        (waiting > 0 && !session.is_free()).then(|| "its session is busy".into())
    }
}
