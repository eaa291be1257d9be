//! A model of a worker's session and its client. It records what it was really sent, whatever the daemon believes.

use std::collections::BTreeSet;

use lifecycle::{Answer, Attach, Body, Conn, Event, Known, LeaveReason, Outgoing, Process, Refusal, Reply, Req, Wall};
use queue::{DispatchId, Run, RunState};

use super::world::{Asked, Down, Held, Proc, Up, Wire, World};

#[derive(Debug, Clone)]
pub(crate) struct Session {
    name: usize,
    pub(crate) process: Option<Process>,
    pub(crate) wire: Option<usize>,
    /// The dispatch whose message is in the conversation, as the client's record has it.
    pub(crate) record: Option<DispatchId>,
    /// All that ever were in the conversation.
    seen: BTreeSet<DispatchId>,
    pub(crate) busy: bool,
    keeps_records: bool,
}

impl Session {
    pub(crate) fn new(name: usize) -> Self {
        let (seen, keeps_records) = (BTreeSet::new(), name != 2);
        Self { name, process: None, wire: None, record: None, seen, busy: false, keeps_records }
    }

    const fn known(&self) -> Known {
        match self.record {
            _ if !self.keeps_records => Known::NoRecords,
            Some(dispatch) => Known::Some { dispatch, delivered: true },
            None => Known::None,
        }
    }
}

impl World {
    /// Starts the process if needed and asks for the project.
    pub(crate) fn connect(&mut self, at: usize, process: Option<Process>) {
        if self.sessions[at].process.is_none_or(|old| !self.is_alive(old)) {
            let pid = u32::try_from(self.fresh()).unwrap_or(1);
            let process = process.unwrap_or(Process { pid, started: u64::from(pid) });
            self.processes.entry(process.pid).or_insert(Proc { alive: true, ..Proc::default() });
            self.sessions[at].process = Some(process);
            self.sessions[at].busy = false;
        }
        if self.sessions[at].wire.is_some() || self.daemon.is_none() {
            return;
        }
        let Some(process) = self.sessions[at].process else { return };
        let conn = self.wires.len();
        self.wires.push(Wire { session: at, process: Some(process), open: true, ..Wire::default() });
        self.sessions[at].wire = Some(conn);
        let req = self.ask(Some(conn));
        let session = &self.sessions[at];
        let attach = Attach {
            conn: Conn(conn as u64),
            req,
            session_id: format!("s{}", session.name),
            process,
            idle: !session.busy,
            known: session.known(),
            host: "model".into(),
            session_file: None,
            bound_alive: false, // filled in when the daemon reads it
        };
        self.say(at, Event::Attach(Box::new(attach)));
    }

    pub(crate) fn ask(&mut self, conn: Option<usize>) -> Req {
        let req = self.fresh();
        self.asked.insert(req, Asked { conn, answered: conn.is_some() });
        Req(req)
    }

    fn say(&mut self, at: usize, event: Event) {
        if let Some(conn) = self.sessions[at].wire {
            self.wires[conn].up.push_back(Up::Event(event));
        }
    }

    /// The session's end of the connection goes; what it had written still arrives.
    pub(crate) fn break_wire(&mut self, at: usize, provably: bool) {
        let Some(conn) = self.sessions[at].wire.take() else { return };
        let wire = &mut self.wires[conn];
        let unsent = wire.down.iter().rev().find_map(|down| match down {
            Down::Message(Outgoing::Dispatch { dispatch, .. }) => Some(*dispatch),
            _ => None,
        });
        wire.down.clear();
        if wire.open {
            wire.up.push_back(Up::Eof { unsent: unsent.filter(|_| provably) });
        }
    }

    pub(crate) fn kill(&mut self, at: usize, children_too: bool) {
        let Some(process) = self.sessions[at].process else { return };
        if let Some(proc) = self.processes.get_mut(&process.pid) {
            *proc = Proc::default();
        }
        for other in 0..self.sessions.len() {
            if self.sessions[other].process == Some(process) {
                self.break_wire(other, false);
                self.sessions[other].process = None;
                self.sessions[other].busy = false;
                if children_too {
                    let prefix = format!("r{other}-");
                    self.runs
                        .iter_mut()
                        .filter(|(id, _)| id.starts_with(&prefix))
                        .for_each(|(_, alive)| *alive = false);
                }
            }
        }
    }

    pub(crate) fn leave(&mut self, at: usize, reason: LeaveReason) {
        let Some(conn) = self.sessions[at].wire else { return };
        self.say(at, Event::Leaving { conn: Conn(conn as u64), reason });
        self.break_wire(at, false);
        self.sessions[at].busy = false;
        if reason == LeaveReason::Quit {
            self.kill(at, false);
        }
    }

    /// The session reads one message and reacts; `false` if there was none.
    pub(crate) fn hear(&mut self, at: usize, manner: u8) -> bool {
        let Some(conn) = self.sessions[at].wire else { return false };
        if self.sessions[at].process.is_some_and(|process| self.is_stopped(process)) {
            return false;
        }
        let Some(down) = self.wires[conn].down.pop_front() else { return false };
        match down {
            Down::Message(Outgoing::Dispatch { dispatch, expires }) => self.offered(at, dispatch, expires, manner),
            Down::Message(Outgoing::Remind(dispatch)) => {
                self.say(at, Event::RemindAnswered { conn: Conn(conn as u64), dispatch });
                if manner % 4 == 1 {
                    self.turn(at, 0);
                }
            }
            Down::Message(Outgoing::Cancel { dispatch, .. }) if manner % 4 != 3 => {
                let aborted = std::mem::replace(&mut self.sessions[at].busy, false);
                self.say(at, Event::CancelAnswered { conn: Conn(conn as u64), dispatch, aborted });
                if aborted {
                    self.turn(at, 3);
                }
            }
            Down::Message(_) => {}
            Down::Reply(Reply::Attached { task: None, .. }) => self.sessions[at].record = None,
            Down::Reply(Reply::Refused(Refusal::Disabled | Refusal::ShuttingDown)) => self.break_wire(at, false),
            Down::Reply(_) => {}
            Down::Eof => self.sessions[at].wire = None,
        }
        true
    }

    fn offered(&mut self, at: usize, dispatch: DispatchId, expires: Wall, manner: u8) {
        let Some(conn) = self.sessions[at].wire.map(|conn| Conn(conn as u64)) else { return };
        let session = &mut self.sessions[at];
        let answer = if session.record == Some(dispatch) && session.keeps_records {
            Some(Answer::Accepted)
        } else if expires.0 < self.wall || manner == 6 {
            Some(Answer::Refused)
        } else if session.busy {
            Some(Answer::Busy)
        } else if manner == 7 {
            None // never looked at
        } else {
            session.record = Some(dispatch);
            session.seen.insert(dispatch);
            session.busy = true;
            *self.injected.entry(dispatch).or_default() += 1;
            (manner != 5).then_some(Answer::Accepted)
        };
        if let Some(answer) = answer {
            self.say(at, Event::Answered { conn, dispatch, answer });
            if manner == 4 {
                self.say(at, Event::Answered { conn, dispatch, answer });
            }
            if answer == Answer::Accepted {
                self.say(at, Event::Activity { conn, idle: false, hint: None });
            }
        }
    }

    /// The session's turn: 0 busy, 1 idle, 2 settled, 3 aborted, else a ping.
    pub(crate) fn turn(&mut self, at: usize, what: u8) {
        let Some(conn) = self.sessions[at].wire.map(|conn| Conn(conn as u64)) else { return };
        let dispatch = self.sessions[at].record;
        let event = match what {
            0 => Event::Activity { conn, idle: false, hint: None },
            1 => Event::Activity { conn, idle: true, hint: None },
            2 | 3 => Event::TurnSettled { conn, dispatch, aborted: (what == 3).then(String::new) },
            _ => Event::Ping { conn },
        };
        self.sessions[at].busy = match what {
            0 => true,
            1..=3 => false,
            _ => self.sessions[at].busy,
        };
        self.say(at, event);
    }

    pub(crate) fn tell_run(&mut self, at: usize, b: u8) {
        let (Some(conn), Some(dispatch)) = (self.sessions[at].wire, self.sessions[at].record) else { return };
        let states = [
            (RunState::Running, true),
            (RunState::Running, true),
            (RunState::Complete, true),
            (RunState::Failed, true),
            (RunState::Stopped, true),
            (RunState::Rejected, true),
            (RunState::Running, false),
            (RunState::Complete, false),
        ];
        let (state, background) = states[usize::from(b) % 8];
        let run_id = format!("r{at}-{}-{dispatch}", b % 2);
        self.runs.insert(run_id.clone(), state.is_live());
        let run = Run {
            run_id,
            agent: "builder".into(),
            background,
            state,
            model: None,
            thinking: None,
            result: None,
            parent_run_id: None,
            pid: None,
        };
        self.say(at, Event::Run { conn: Conn(conn as u64), dispatch, run: Box::new(run) });
    }

    pub(crate) fn tell_report(&mut self, at: usize, kind: u8) {
        let session = &self.sessions[at];
        let dispatch = session.record.or_else(|| session.seen.last().copied());
        let (Some(conn), Some(dispatch)) = (session.wire, dispatch) else { return };
        for _ in 0..if kind == 5 { 2 } else { 1 } {
            let (req, body) = (self.ask(Some(conn)), Body(self.fresh()));
            self.bodies.insert(body, Held { kind, given: false, dropped: false });
            self.say(at, Event::Report { conn: Conn(conn as u64), req, dispatch, body });
        }
    }
}
