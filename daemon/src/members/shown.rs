//! What `daemon.status` shows of members.

use std::path::Path;
use std::sync::Arc;

use lifecycle::members::{MemberView, OpenView};
use wire::status::{DeliveryState, MemberPacket, MemberStatus, SessionStatus};

use super::actor::Actor;
use super::convert;
use crate::convert::time;

impl Actor {
    pub(super) fn shown(&self) -> Vec<(Arc<Path>, MemberStatus)> {
        let views = self.machine.view().into_iter();
        views.filter_map(|view| Some((self.projects.get(&view.agent)?.path.clone(), self.status_of(view)))).collect()
    }

    fn status_of(&self, view: MemberView) -> MemberStatus {
        let record = view.record.as_ref();
        MemberStatus {
            agent_id: view.agent,
            role: record.map(|record| convert::role_back(record.role).as_str().to_owned()),
            goal: record.map(|record| record.goal.clone()),
            round: record.and_then(|record| record.round),
            session: view.session.map(|session| SessionStatus {
                session_id: session.session_id,
                pid: session.process.pid,
                host: session.host,
                idle: session.idle,
                last_seen: time(session.last_seen),
            }),
            standby: u32::try_from(view.standby).unwrap_or(u32::MAX),
            packet: view.open.map(|open| self.packet_of(open)),
            waiting: u32::try_from(view.waiting).unwrap_or(u32::MAX),
            why: view.why,
        }
    }

    fn packet_of(&self, open: OpenView) -> MemberPacket {
        MemberPacket {
            dispatch_id: open.dispatch.to_string(),
            packet_path: self.path_of(&open.packet),
            packet_id: open.packet.id,
            since: time(open.since),
            delivery: match open.delivery {
                lifecycle::Delivery::Sent => DeliveryState::Sent,
                lifecycle::Delivery::Accepted => DeliveryState::Accepted,
                lifecycle::Delivery::Refused => DeliveryState::Refused,
            },
        }
    }
}
