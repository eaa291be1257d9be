//! Sessions on their way to being attached: what they say while the disk is read, and the attach itself.

use lifecycle::members::Event;
use lifecycle::{Conn, Req};
use wire::error::{ErrorCode, Refusal};

use super::actor::{Actor, Attached};
use super::attach::Disk;
use super::jobs::Job;
use super::{Arrival, Letter};

impl Actor {
    /// Its attach waits for the disk: what it says meanwhile comes after the answer.
    pub(super) fn is_attaching(&self, conn: Conn) -> bool {
        let waits = |job: &Job| matches!(job, Job::Attach(arrival) if arrival.peer.conn() == conn);
        self.attaching == Some(conn) || self.jobs.iter().any(waits)
    }

    /// Its attach is answered: what it said since it asked.
    pub(super) fn read_later(&mut self, conn: Conn) {
        let said: Vec<_> = self.later.extract_if(.., |(of, _)| *of == conn).collect();
        for (_, letter) in said {
            self.read(letter);
        }
    }

    pub(super) fn attached(&mut self, arrival: Arrival, disk: Result<Box<Disk>, String>) {
        let disk = match disk {
            Ok(disk) => *disk,
            Err(why) => {
                return arrival.answer.error(Refusal::new(ErrorCode::NotATeamMember, why));
            }
        };
        self.next_req += 1;
        let req = Req(self.next_req);
        let Arrival { attach, agent_id, process, peer, answer, project, shown } = arrival;
        let settings = self.hub.projects.by_path(&project.path).map(|entry| entry.settings);
        let event = lifecycle::members::Attach {
            conn: peer.conn(),
            req,
            agent: agent_id.clone(),
            record: disk.record,
            session_id: attach.session_id,
            process,
            host: format!("{} {}", attach.host.name, attach.host.version),
            idle: attach.idle,
            known: crate::actor::known(&attach.known_dispatch),
            settings: settings.map_or(lifecycle::Settings::DEFAULT, |settings| crate::actor::limits(&settings)),
            open: disk.open,
            past: disk.past,
        };
        self.projects.insert(agent_id.clone(), project.clone());
        self.sessions.push(Attached { peer, agent: agent_id, project });
        self.asked = Some((req, answer, shown));
        self.step(Event::Attach(Box::new(event)));
    }
}

/// The session that says it.
pub(super) fn conn_of(letter: &Letter) -> Option<Conn> {
    match letter {
        Letter::Run { conn, .. } => Some(*conn),
        Letter::Event(event) => match event {
            Event::Activity { conn, .. }
            | Event::Settled { conn, .. }
            | Event::Ping { conn }
            | Event::Named { conn, .. }
            | Event::Leaving { conn, .. }
            | Event::Closed { conn, .. }
            | Event::Answered { conn, .. } => Some(*conn),
            _ => None,
        },
        Letter::Attach(_) | Letter::Status(_) | Letter::Shutdown(_) => None,
    }
}
