//! What happened to packets, told three times: a row in the journal, a line in the log, an event in the stream.

use lifecycle::members::{Change, Packet, Place};
use lifecycle::{Conn, Wall};
use queue::{DispatchId, Run};
use wire::event::{EventKind, PacketChange, SessionChange};
use wire::journal::{Entry, PacketSeen, Row, RunSeen, SessionSeen};

use super::actor::Actor;
use super::convert;
use super::effects::ownership;
use crate::convert::time;

impl Actor {
    pub(super) fn tell(&self, agent: &str, packet: &Packet, dispatch: DispatchId, change: &Change, at: Wall) {
        let (change, reason) = match change {
            Change::Sent => (PacketChange::Sent, None),
            Change::Accepted => (PacketChange::Accepted, None),
            Change::Refused(why) => (PacketChange::Refused, Some((*why).to_owned())),
            Change::Released(why) => (PacketChange::Released, Some((*why).to_owned())),
            Change::Ended(ending) => (PacketChange::Ended, ending.reason().map(str::to_owned)),
        };
        let seen = PacketSeen {
            task_id: packet.goal.clone(),
            agent_id: agent.to_owned(),
            dispatch_id: dispatch.to_string(),
            packet_id: packet.id.clone(),
            packet_path: self.path_of(packet),
            change,
            reason,
        };
        let project = self.project_of(agent);
        let (id, dispatch, reason) = (&seen.packet_id, &seen.dispatch_id, seen.reason.as_deref());
        if change == PacketChange::Ended && reason.is_some() {
            tracing::warn!(project, member = agent, packet = id, dispatch, reason, "a packet ended without its turn");
        } else {
            tracing::info!(project, member = agent, packet = id, dispatch, change = change.as_str(), reason, "packet");
        }
        self.publish(
            project.as_deref(),
            EventKind::Packet {
                task_id: seen.task_id.clone(),
                agent_id: seen.agent_id.clone(),
                dispatch_id: seen.dispatch_id.clone(),
                packet_id: seen.packet_id.clone(),
                packet_path: seen.packet_path.clone(),
                change: seen.change,
                reason: seen.reason.clone(),
            },
        );
        self.journal(project, Entry::Packet(seen), at);
    }

    pub(super) fn tell_session(
        &self,
        agent: &str,
        session_id: String,
        change: &'static str,
        place: Option<Place>,
        at: Wall,
    ) {
        let project = self.project_of(agent);
        tracing::info!(project, member = agent, session = session_id, change, "session of a member");
        let change = SessionChange::from_word(change).unwrap_or(SessionChange::Other);
        let ownership = place.map(ownership);
        self.publish(project.as_deref(), EventKind::Session { session_id: session_id.clone(), change, ownership });
        self.journal(project, Entry::Session(SessionSeen { session_id, change, ownership }), at);
    }

    /// A run that a member's session observed for its packet.
    pub(super) fn run_seen(&self, conn: Conn, dispatch: DispatchId, run: &Run) {
        let Some(session) = self.sessions.iter().find(|session| session.peer.conn() == conn) else { return };
        let views = self.machine.view();
        let open = views.iter().filter(|view| view.agent == session.agent).find_map(|view| view.open.as_ref());
        let Some(open) = open.filter(|open| open.dispatch == dispatch) else { return };
        let project = self.project_of(&session.agent);
        let (task_id, dispatch_id) = (open.packet.goal.clone(), dispatch.to_string());
        let run = crate::convert::wire_run(run);
        self.publish(project.as_deref(), EventKind::Run { dispatch_id: dispatch_id.clone(), run: run.clone() });
        self.journal(project, Entry::Run(RunSeen { task_id, dispatch_id, run }), self.hub.now().wall);
    }

    /// The packet's file, absolute.
    pub(super) fn path_of(&self, packet: &Packet) -> String {
        let path = convert::address(packet).map(|leg| self.home().join(leg.path(packet.slot)));
        path.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn project_of(&self, agent: &str) -> Option<String> {
        self.projects.get(agent).map(|project| project.path.to_string_lossy().into_owned())
    }

    fn publish(&self, project: Option<&str>, what: EventKind) {
        self.hub.events.publish(project, what);
    }

    fn journal(&self, project: Option<String>, entry: Entry, at: Wall) {
        match (Row { at: time(at), project, entry }).to_line() {
            Ok(line) => {
                self.hub.journal.append(line);
            }
            Err(error) => tracing::error!(%error, "a row of the journal could not be written as JSON"),
        }
    }
}
