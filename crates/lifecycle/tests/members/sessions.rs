//! The sessions of the small world: they take or refuse what comes, work, get lost, die and come back.

use std::collections::VecDeque;

use lifecycle::members::{Attach, Event, Outgoing, Packet};
use lifecycle::{Answer, Conn, Known, LeaveReason, Process, Req, Settings};
use queue::DispatchId;

use crate::rig::record;
use crate::sim::{AGENTS, Job, Mutant, Session, Weather, World, role};

impl World {
    pub(crate) fn new_session(&mut self) {
        self.next_pid += 1;
        let agent = AGENTS[self.rng.usize(0..3)].0;
        let rough = self.weather == Weather::Rough;
        let keeps_records = self.weather == Weather::Truthful || self.rng.u8(0..4) > 0;
        self.sessions.push(Session {
            id: format!("s{}", self.next_pid),
            agent,
            process: Process { pid: self.next_pid, started: 1 },
            alive: true,
            keeps_records,
            conn: None,
            injected: Vec::new(),
            at_work: None,
            busy: false,
            refuses: rough && self.rng.u8(0..6) == 0,
            to_session: VecDeque::new(),
            to_daemon: VecDeque::new(),
        });
    }

    /// Connects and asks to be attached; the answer comes when the disk was read.
    pub(crate) fn reconnect(&mut self, at: usize) {
        let lies = self.mutant == Mutant::LyingSessions;
        self.next_conn += 1;
        let (conn, up) = (Conn(self.next_conn), self.daemon.is_some());
        let Some(session) = self.sessions.get_mut(at).filter(|own| own.alive && own.conn.is_none() && up) else {
            return;
        };
        session.conn = Some(conn);
        let known = match session.injected.last() {
            Some(dispatch) if session.keeps_records && !lies => Known::Some { dispatch: *dispatch, delivered: true },
            None if session.keeps_records => Known::None,
            _ if lies => Known::None,
            _ => Known::NoRecords,
        };
        self.jobs.push_back(Job::Attach(Box::new(Attach {
            conn,
            req: Req(conn.0),
            agent: session.agent.into(),
            record: record(role(session.agent)),
            session_id: session.id.clone(),
            process: session.process,
            host: String::new(),
            idle: session.at_work.is_none() && !session.busy,
            known,
            settings: Settings::DEFAULT,
            open: None,
            past: None,
        })));
    }

    /// The next line reaches the session.
    pub(crate) fn deliver(&mut self, at: usize) -> Result<(), String> {
        let Some(session) = self.sessions.get_mut(at).filter(|own| own.alive) else { return Ok(()) };
        let (Some(conn), Some(line)) = (session.conn, session.to_session.pop_front()) else { return Ok(()) };
        match line {
            Outgoing::Dispatch { dispatch, packet, .. } => self.offered_to(at, conn, dispatch, &packet),
            Outgoing::Cancel { dispatch, .. } if session.at_work == Some(dispatch) => {
                session.at_work = None;
                session.to_daemon.push_back(Event::Settled { conn, dispatch: Some(dispatch), aborted: true });
                Ok(())
            }
            Outgoing::Cancel { .. } | Outgoing::Place { .. } | Outgoing::Notice(_) => Ok(()),
        }
    }

    pub(crate) fn offered_to(
        &mut self,
        at: usize,
        conn: Conn,
        dispatch: DispatchId,
        packet: &Packet,
    ) -> Result<(), String> {
        let silent = self.weather == Weather::Rough && self.rng.u8(0..12) == 0;
        let refuses = self.rng.u8(0..8) == 0 || self.sessions[at].refuses;
        let session = &mut self.sessions[at];
        if let Some(other) = session.at_work.filter(|other| *other != dispatch && !self.over.contains(other)) {
            return Err(format!("{dispatch} came while {other} was at work"));
        }
        let answer = if session.injected.contains(&dispatch) {
            Answer::Accepted
        } else if session.busy || session.at_work.is_some() {
            Answer::Busy
        } else if refuses {
            Answer::Refused
        } else {
            session.injected.push(dispatch);
            session.at_work = Some(dispatch);
            let count = self.injections.entry(packet.id.clone()).or_default();
            *count += 1;
            if *count > 1 {
                return Err(format!("{} came into a conversation twice", packet.id));
            }
            Answer::Accepted
        };
        if !silent {
            session.to_daemon.push_back(Event::Answered { conn, dispatch, answer });
        }
        if answer == Answer::Busy && !session.busy && session.at_work.is_none() {
            session.to_daemon.push_back(Event::Activity { conn, idle: true });
        }
        Ok(())
    }

    /// The daemon reads the session's next line; it reads nothing before the attach is done.
    pub(crate) fn hear(&mut self, at: usize) -> Result<(), String> {
        let Some(session) = self.sessions.get_mut(at) else { return Ok(()) };
        let waits = self.jobs.iter().any(|job| matches!(job, Job::Attach(own) if Some(own.conn) == session.conn));
        match session.to_daemon.pop_front_if(|_| !waits) {
            Some(event) => self.step(event),
            None => Ok(()),
        }
    }

    pub(crate) fn finish_turn(&mut self, at: usize) {
        let named = self.rng.bool();
        let Some(session) = self.sessions.get_mut(at).filter(|own| own.alive) else { return };
        let Some(dispatch) = session.at_work.take() else { return };
        session.busy = false;
        let Some(conn) = session.conn else { return };
        let dispatch = named.then_some(dispatch);
        session.to_daemon.push_back(Event::Settled { conn, dispatch, aborted: false });
        session.to_daemon.push_back(Event::Activity { conn, idle: true });
    }

    pub(crate) fn toggle_busy(&mut self, at: usize) {
        let Some(session) = self.sessions.get_mut(at).filter(|own| own.alive && own.at_work.is_none()) else { return };
        session.busy = !session.busy;
        let Some(conn) = session.conn else { return };
        session.to_daemon.push_back(Event::Activity { conn, idle: !session.busy });
    }

    pub(crate) fn cut(&mut self, at: usize) -> Option<Conn> {
        let session = self.sessions.get_mut(at)?;
        session.to_session.clear();
        session.to_daemon.clear();
        self.jobs.retain(|job| !matches!(job, Job::Attach(own) if Some(own.conn) == session.conn));
        session.conn.take()
    }

    pub(crate) fn break_connection(&mut self, at: usize) -> Result<(), String> {
        let knows = self.rng.bool();
        let Some(session) = self.sessions.get_mut(at) else { return Ok(()) };
        let unsent = session.to_session.iter().find_map(|line| match line {
            Outgoing::Dispatch { dispatch, .. } if knows => Some(*dispatch),
            _ => None,
        });
        match self.cut(at) {
            Some(conn) => self.step(Event::Closed { conn, unsent }),
            None => Ok(()),
        }
    }

    pub(crate) fn leave(&mut self, at: usize) -> Result<(), String> {
        let reason = [LeaveReason::Reload, LeaveReason::Other][self.rng.usize(0..2)];
        match self.cut(at) {
            Some(conn) => self.step(Event::Leaving { conn, reason }),
            None => Ok(()),
        }
    }

    pub(crate) fn kill(&mut self, at: usize) -> Result<(), String> {
        self.cut(at);
        let Some(session) = self.sessions.get_mut(at).filter(|own| own.alive) else { return Ok(()) };
        let process = session.process;
        session.alive = false;
        self.step(Event::ProcessGone(process))?;
        // Sometimes the same conversation is opened again, by another process.
        if self.rng.bool() {
            self.next_pid += 1;
            let session = &mut self.sessions[at];
            (session.alive, session.at_work, session.busy) = (true, None, false);
            session.process = Process { pid: self.next_pid, started: 1 };
        }
        Ok(())
    }
}
