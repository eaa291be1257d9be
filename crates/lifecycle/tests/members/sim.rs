//! A small world around the machine: a disk of claims, sessions with records, lines that get lost, crashes at any point.
//! Promises are checked whenever a session injects something and whenever something is claimed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use fastrand::Rng;
use lifecycle::members::{Attach, Change, Effect, Ending, Event, Members, Outgoing, Packet, Place};
use lifecycle::{Awake, Conn, Moment, Process, Wall};
use queue::DispatchId;

use crate::rig::{packet_of, record};

/// How the shell around the machine is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutant {
    None,
    /// A claim is answered before it is durable, and a crash loses it.
    ForgetsClaims,
    /// Claims of others are not looked for.
    BlindClaims,
    /// A session that keeps no records says that it does.
    LyingSessions,
}

/// What may happen in a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weather {
    /// Everything.
    Rough,
    /// No session dies or keeps no records, and no session stays silent.
    Truthful,
}

#[derive(Debug, Clone)]
pub(crate) enum Job {
    Look,
    Attach(Box<Attach>),
    Claim { agent: String, packet: Packet, dispatch: DispatchId, session_id: String, process: Process },
    Append(DispatchId, Change),
}

#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) dispatch: DispatchId,
    pub(crate) packet: Packet,
    pub(crate) agent: String,
    pub(crate) session_id: String,
    pub(crate) process: Process,
    pub(crate) accepted: bool,
    pub(crate) ended: Option<Ending>,
    pub(crate) released: bool,
}

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) agent: &'static str,
    pub(crate) process: Process,
    pub(crate) alive: bool,
    pub(crate) keeps_records: bool,
    pub(crate) conn: Option<Conn>,
    /// Dispatches that it injected, in order.
    pub(crate) injected: Vec<DispatchId>,
    pub(crate) at_work: Option<DispatchId>,
    pub(crate) busy: bool,
    /// It takes nothing.
    pub(crate) refuses: bool,
    pub(crate) to_session: VecDeque<Outgoing>,
    pub(crate) to_daemon: VecDeque<Event>,
}

pub(crate) struct World {
    pub(crate) rng: Rng,
    pub(crate) weather: Weather,
    pub(crate) mutant: Mutant,
    pub(crate) now: u64,
    pub(crate) steps: u128,
    pub(crate) daemon: Option<Members>,
    pub(crate) deadline: Option<Awake>,
    pub(crate) jobs: VecDeque<Job>,
    pub(crate) disk_is_full: bool,
    pub(crate) filed: Vec<Packet>,
    pub(crate) claims: Vec<Claim>,
    /// Packets that the machine may claim now, as the effects say.
    pub(crate) offered: Vec<Packet>,
    pub(crate) sessions: Vec<Session>,
    pub(crate) next_conn: u64,
    pub(crate) next_pid: u32,
    pub(crate) over: BTreeSet<DispatchId>,
    /// How often each packet came into a conversation.
    pub(crate) injections: BTreeMap<String, usize>,
    pub(crate) marks: BTreeSet<&'static str>,
}

pub(crate) const AGENTS: [(&str, lifecycle::members::Role); 3] = [
    ("a", lifecycle::members::Role::Executor),
    ("b", lifecycle::members::Role::Executor),
    ("v", lifecycle::members::Role::Verifier),
];

pub(crate) fn role(agent: &str) -> lifecycle::members::Role {
    AGENTS.iter().find(|(name, _)| *name == agent).unwrap().1
}

impl World {
    pub(crate) fn new(seed: u64, weather: Weather, mutant: Mutant) -> Self {
        let mut world = Self {
            rng: Rng::with_seed(seed),
            weather,
            mutant,
            now: 1_000,
            steps: 0,
            daemon: None,
            deadline: None,
            jobs: VecDeque::new(),
            disk_is_full: false,
            filed: Vec::new(),
            claims: Vec::new(),
            offered: Vec::new(),
            sessions: Vec::new(),
            next_conn: 0,
            next_pid: 100,
            over: BTreeSet::new(),
            injections: BTreeMap::new(),
            marks: BTreeSet::new(),
        };
        world.start_daemon();
        for _ in 0..world.rng.usize(1..5) {
            world.new_session();
        }
        world
    }

    /// Plays so many random actions, then lets everything come to rest; the first broken promise.
    pub(crate) fn play(&mut self, actions: usize) -> Result<(), String> {
        for _ in 0..actions {
            self.act()?;
        }
        self.come_to_rest()
    }

    pub(crate) fn act(&mut self) -> Result<(), String> {
        let rough = self.weather == Weather::Rough;
        let one = self.rng.usize(..self.sessions.len().max(1));
        match self.rng.u32(0..100) {
            0..6 => self.file(),
            6..30 => self.run_job()?,
            30..48 => self.deliver(one)?,
            48..66 => self.hear(one)?,
            66..74 => self.finish_turn(one),
            74..78 => self.toggle_busy(one),
            78..82 => self.break_connection(one)?,
            82..88 => self.reconnect(one),
            88 if rough => self.kill(one)?,
            89 if self.sessions.len() < 6 => self.new_session(),
            90 => self.crash(),
            91..93 => self.start_daemon(),
            93..95 => self.disk_is_full = self.rng.u8(0..4) == 0,
            95 if rough => self.leave(one)?,
            96..98 => self.pass_time(if rough { 40_000 } else { 900 })?,
            98 if rough => {
                let ms = if self.rng.bool() { 130_000 } else { 650_000 };
                self.pass_time(ms)?;
            }
            _ => self.look(),
        }
        Ok(())
    }

    pub(crate) fn file(&mut self) {
        use lifecycle::members::Leg;
        let leg = Leg::ALL[self.rng.usize(0..3)];
        let round = self.rng.u32(1..4);
        let slot = u8::try_from(self.filed.iter().filter(|own| own.round == round && own.leg == leg).count()).unwrap();
        if slot < 6 {
            self.filed.push(packet_of(round, leg, slot));
        }
    }

    pub(crate) fn start_daemon(&mut self) {
        if self.daemon.is_none() {
            self.daemon = Some(Members::new());
            self.offered.clear();
        }
    }

    /// The daemon is gone in this moment: what it had not done is not done.
    pub(crate) fn crash(&mut self) {
        self.daemon = None;
        self.deadline = None;
        self.jobs.clear();
        if self.mutant == Mutant::ForgetsClaims {
            self.claims.retain(|claim| claim.ended.is_some());
        }
        for at in 0..self.sessions.len() {
            self.cut(at);
        }
    }

    pub(crate) fn step(&mut self, event: Event) -> Result<(), String> {
        let Some(machine) = &mut self.daemon else { return Ok(()) };
        self.steps += 1;
        let wall = Wall(i64::try_from(self.now).unwrap());
        let (effects, deadline) =
            machine.step(event, Moment { awake: Awake(self.now), wall, entropy: self.steps << 64 });
        if deadline.is_some_and(|at| at.0 <= self.now) {
            return Err("a deadline that has passed".into());
        }
        self.deadline = deadline;
        effects.into_iter().try_for_each(|effect| self.carry_out(effect))
    }

    pub(crate) fn carry_out(&mut self, effect: Effect) -> Result<(), String> {
        match effect {
            Effect::Claim { agent, packet, dispatch, session_id, process } => {
                self.is_first(&agent, &packet)?;
                self.offered.retain(|own| *own != packet);
                self.jobs.push_back(Job::Claim { agent, packet, dispatch, session_id, process });
            }
            Effect::Told { packet, dispatch, change, .. } => {
                if let Change::Released(_) = &change {
                    self.offered.push(packet);
                }
                if matches!(change, Change::Released(_) | Change::Ended(_)) {
                    self.over.insert(dispatch);
                }
                self.mark(&change);
                self.jobs.push_back(Job::Append(dispatch, change));
            }
            Effect::Send { conn, message } => {
                if let Some(session) = self.sessions.iter_mut().find(|own| own.conn == Some(conn)) {
                    session.to_session.push_back(message);
                }
            }
            Effect::Reply { place, task, .. } => {
                self.marks.insert(match (place, task) {
                    (Place::Member, Some(_)) => "back at its packet",
                    (Place::Member, None) => "member",
                    (Place::Standby, _) => "standby",
                });
            }
            Effect::Close(conn) => {
                if let Some(at) = self.sessions.iter().position(|own| own.conn == Some(conn)) {
                    self.cut(at);
                }
            }
            Effect::Look => self.look(),
            Effect::Session { .. } => {}
        }
        Ok(())
    }

    pub(crate) fn mark(&mut self, change: &Change) {
        self.marks.insert(match change {
            Change::Sent => "sent",
            Change::Accepted => "accepted",
            Change::Refused(_) => "refused",
            Change::Released(why) if why.contains("never accepted") => "never accepted",
            Change::Released(_) => "released",
            Change::Ended(Ending::Settled) => "settled",
            Change::Ended(Ending::Otherwise(why)) if why.contains("cannot say") => "cannot say",
            Change::Ended(Ending::Otherwise(why)) if why.starts_with("Delivery") => "not confirmed",
            Change::Ended(Ending::Otherwise(_)) => "lost",
        });
    }

    /// Never skipped: nothing that could be claimed for this member comes before what is.
    pub(crate) fn is_first(&self, agent: &str, packet: &Packet) -> Result<(), String> {
        let record = record(role(agent));
        let before = self.offered.iter().find(|own| record.is_addressed_by(own) && *own < packet);
        match before {
            Some(before) => Err(format!("{} was claimed before {}", packet.id, before.id)),
            None => Ok(()),
        }
    }

    pub(crate) fn pass_time(&mut self, ms: u64) -> Result<(), String> {
        let until = self.now + ms;
        while let Some(at) = self.deadline.filter(|at| at.0 <= until) {
            self.now = at.0;
            self.step(Event::Tick)?;
        }
        self.now = until;
        self.step(Event::Tick)
    }

    /// Everything works and everybody does what they should, until nothing is left to do.
    pub(crate) fn come_to_rest(&mut self) -> Result<(), String> {
        self.disk_is_full = false;
        self.start_daemon();
        self.weather = Weather::Truthful;
        // Sessions that declined attach again, and every role has somebody.
        for at in 0..self.sessions.len() {
            self.sessions[at].refuses = false;
            self.break_connection(at)?;
        }
        for (agent, _) in AGENTS {
            self.new_session();
            if let Some(session) = self.sessions.last_mut() {
                (session.agent, session.keeps_records) = (agent, true);
            }
        }
        for _ in 0..400 {
            for at in 0..self.sessions.len() {
                self.reconnect(at);
                if self.sessions[at].busy {
                    self.toggle_busy(at);
                }
                self.deliver(at)?;
                self.hear(at)?;
                self.finish_turn(at);
                self.hear(at)?;
                self.hear(at)?;
            }
            self.look();
            while !self.jobs.is_empty() {
                self.run_job()?;
            }
            self.pass_time(1_000)?;
        }
        self.everything_came()
    }

    /// Every packet is in one conversation, or its end says why that is not known.
    pub(crate) fn everything_came(&self) -> Result<(), String> {
        for packet in &self.filed {
            let injected = self.injections.get(&packet.id).copied().unwrap_or(0);
            let excused = self
                .claims
                .iter()
                .any(|claim| claim.packet == *packet && matches!(claim.ended, Some(Ending::Otherwise(_))));
            if injected != 1 && !excused {
                return Err(format!("{} came {injected} times: {:?}", packet.id, self.claims));
            }
        }
        Ok(())
    }

    /// Packets that came into no conversation.
    pub(crate) fn missing(&self) -> Vec<&str> {
        self.filed.iter().map(|own| own.id.as_str()).filter(|id| !self.injections.contains_key(*id)).collect()
    }
}
