//! Effects of the members' machine into deeds, in order. No rule lives here.

use lifecycle::members::{Change, Effect, Outgoing, Packet, Place};
use lifecycle::{Admin, Conn, Wall};
use packet::{Frame, Language, TaskPacket, render};
use queue::DispatchId;
use wire::Raw;
use wire::daemon_calls::{DispatchCancel, Notice, NoticeLevel, OwnershipChange, PacketDispatch};
use wire::session::{AttachResult, AttachedTask, EndStatus, EndedDispatch, Ownership};

use super::actor::Actor;
use super::convert;
use super::files::{Owed, OwedStep};
use super::jobs::Job;
use super::look::Closeness;
use crate::config::TeamLanguage;
use crate::convert::time;
use crate::peer::{CallKind, SessionCall};

impl Actor {
    pub(super) fn carry_out(&mut self, effect: Effect, now: Wall) {
        match effect {
            Effect::Claim { agent, packet, dispatch, session_id, process } => {
                self.jobs.push_back(Job::Claim { agent, packet, dispatch, session_id, process });
            }
            Effect::Send { conn, message } => self.send(conn, message),
            Effect::Reply { req, place, task, ended } => self.reply(req, place, task, ended),
            Effect::Told { agent, packet, dispatch, change } => {
                self.tell(&agent, &packet, dispatch, &change, now);
                self.record(&packet, dispatch, change, now);
            }
            Effect::Session { agent, session_id, change, place } => {
                self.tell_session(&agent, session_id, change, place, now);
            }
            Effect::Close(conn) => {
                if let Some(peer) = self.peer(conn) {
                    peer.close();
                }
            }
            Effect::Look => self.look(Closeness::Close),
        }
    }

    fn record(&mut self, packet: &Packet, dispatch: DispatchId, change: Change, now: Wall) {
        let step = match change {
            Change::Sent | Change::Refused(_) => return,
            Change::Accepted => OwedStep::Accepted,
            Change::Released(why) => OwedStep::Released(why),
            Change::Ended(ending) => OwedStep::Ended(ending.reason().map(str::to_owned)),
        };
        if !matches!(step, OwedStep::Accepted) {
            self.packets.remove(&dispatch);
        }
        self.jobs.push_back(Job::Record(Owed {
            goal: packet.goal.clone(),
            round: packet.round,
            dispatch_id: dispatch.to_string(),
            step,
            at: crate::convert::timestamp(now),
        }));
    }

    fn send(&mut self, conn: Conn, message: Outgoing) {
        let Some(peer) = self.peer(conn).cloned() else { return };
        match message {
            Outgoing::Dispatch { dispatch, packet, expires } if self.packets.contains_key(&dispatch) => {
                self.send_packet(conn, dispatch, &packet, expires);
            }
            Outgoing::Dispatch { dispatch, packet, expires } => {
                self.jobs.push_back(Job::Again { conn, dispatch, packet, expires });
            }
            Outgoing::Cancel { dispatch, reason } => {
                let call = SessionCall { kind: CallKind::Cancel, dispatch };
                peer.call(call, &DispatchCancel { dispatch_id: dispatch.to_string(), reason });
            }
            Outgoing::Place { place, reason } => {
                peer.notify(&OwnershipChange { ownership: ownership(place), reason });
            }
            Outgoing::Notice(text) => peer.notify(&Notice { level: NoticeLevel::Warning, text }),
        }
    }

    /// Sends a packet that was read; nothing if its session has gone meanwhile.
    pub(super) fn send_packet(&self, conn: Conn, dispatch: DispatchId, at: &Packet, expires: Wall) {
        let (Some(peer), Some(packet)) = (self.peer(conn), self.packets.get(&dispatch)) else { return };
        let Ok(leg) = convert::address(at) else { return };
        let Ok(json) = Raw::parse(packet.normalized()) else { return };
        let path = self.home().join(leg.path(at.slot));
        let call = SessionCall { kind: CallKind::Dispatch, dispatch };
        peer.call(
            call,
            &PacketDispatch {
                dispatch_id: dispatch.to_string(),
                packet_path: path.to_string_lossy().into_owned(),
                message: message(packet, self.hub.config().team.language),
                packet: json,
                expires_at: Some(time(expires)),
            },
        );
    }

    fn reply(
        &mut self,
        req: lifecycle::Req,
        place: Place,
        task: Option<lifecycle::members::Task>,
        ended: Option<(DispatchId, lifecycle::members::Ending)>,
    ) {
        let Some((_, answer, project)) = self.asked.take().filter(|(asked, ..)| *asked == req) else { return };
        let task = task.map(|task| AttachedTask {
            dispatch_id: task.dispatch.to_string(),
            task_id: task.goal,
            started_at: time(task.since),
        });
        let ended = ended.map(|(dispatch, ending)| EndedDispatch {
            dispatch_id: dispatch.to_string(),
            status: if ending.reason().is_none() { EndStatus::Complete } else { EndStatus::Error },
            error: ending.reason().map(str::to_owned),
        });
        answer.result(&AttachResult { project, ownership: ownership(place), task, ended });
    }

    /// Why nothing may be sent to this member now: what its project says.
    pub(super) fn held(&self, agent: &str) -> Option<String> {
        let project = self.projects.get(agent)?;
        let Some(entry) = self.hub.projects.by_path(&project.path) else {
            return Some("its project is not managed any more".into());
        };
        match entry.admin {
            Admin::Active if entry.paused => Some("its project is paused".into()),
            Admin::Active => None,
            Admin::Disabled => Some("its project is disabled".into()),
            Admin::Leaving => Some("its project is leaving".into()),
        }
    }

    /// A session whose project is not managed any more, and that has no packet, is attached to nothing.
    pub(super) fn close_unmanaged(&self) {
        for session in &self.sessions {
            let is_managed =
                self.hub.projects.by_path(&session.project.path).is_some_and(|own| own.admin == Admin::Active);
            let is_at_work = self.machine.view().iter().any(|view| view.agent == session.agent && view.open.is_some());
            if !is_managed && !is_at_work {
                let text = "This session's project is not managed any more, so it gets no packets.".to_owned();
                session.peer.notify(&Notice { level: NoticeLevel::Warning, text });
                session.peer.close();
            }
        }
    }
}

pub(super) fn ownership(place: Place) -> Ownership {
    match place {
        Place::Member => Ownership::Member,
        Place::Standby => Ownership::Standby,
    }
}

/// The packet as prompt text for its receiver.
fn message(packet: &TaskPacket, language: TeamLanguage) -> String {
    let language = match language {
        TeamLanguage::Chinese => Language::Chinese,
        TeamLanguage::English => Language::English,
    };
    render(packet, Frame { language, owes: packet.to_role.owes() })
}
