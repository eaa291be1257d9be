//! A machine with a clock, and its effects as short lines.

use lifecycle::members::{
    Attach, Change, ClaimResult, Effect, Event, Leg, Look, Members, Open, Outgoing, Packet, Place, Record, Role, Seen,
};
use lifecycle::{Answer, Awake, Conn, Known, Moment, Process, Req, Settings, Wall};
use queue::DispatchId;

/// A machine under test.
pub(crate) struct Rig {
    pub(crate) members: Members,
    pub(crate) now: u64,
    pub(crate) deadline: Option<Awake>,
    steps: u128,
    /// Claims that are not answered yet.
    claims: Vec<(String, DispatchId)>,
}

pub(crate) const D1: DispatchId = DispatchId::from_random(1 << 64);

pub(crate) fn packet(slot: u8) -> Packet {
    packet_of(1, Leg::PlannerToExecutor, slot)
}

pub(crate) fn packet_of(round: u32, leg: Leg, slot: u8) -> Packet {
    let from = match leg {
        Leg::PlannerToExecutor => "p",
        Leg::VerifierToExecutor => "v",
        Leg::ExecutorToVerifier => "e",
    };
    Packet { goal: "T-1".into(), round, leg, slot, id: format!("{from}{round}.{slot}") }
}

pub(crate) fn record(role: Role) -> Record {
    Record { role, goal: "T-1".into(), round: None }
}

pub(crate) fn process(pid: u32) -> Process {
    Process { pid, started: 7 }
}

/// Session `s<conn>` of process 10 + conn, idle, without an open claim.
pub(crate) fn attach(conn: u64, agent: &str) -> Attach {
    Attach {
        conn: Conn(conn),
        req: Req(conn),
        agent: agent.into(),
        record: record(Role::Executor),
        session_id: format!("s{conn}"),
        process: process(10 + u32::try_from(conn).unwrap()),
        host: "pi".into(),
        idle: true,
        known: Known::None,
        settings: Settings::DEFAULT,
        open: None,
        past: None,
    }
}

/// The claim of a daemon before this one, of packet 0 by session `s1` of process 11.
pub(crate) fn claim(accepted: bool) -> Open {
    let (dispatch, packet, process) = (D1, packet(0), process(11));
    Open { dispatch, packet, session_id: "s1".into(), process, alive: true, accepted, since: Wall(0) }
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self { members: Members::new(), now: 1_000, deadline: None, steps: 0, claims: Vec::new() }
    }

    /// One step; its effects as lines.
    pub(crate) fn step(&mut self, event: Event) -> Vec<String> {
        self.steps += 1;
        let wall = Wall(i64::try_from(self.now).unwrap());
        let moment = Moment { awake: Awake(self.now), wall, entropy: self.steps << 64 };
        let (effects, deadline) = self.members.step(event, moment);
        self.deadline = deadline;
        assert!(deadline.is_none_or(|at| at.0 > self.now), "a deadline that has passed: {deadline:?}");
        for effect in &effects {
            if let Effect::Claim { agent, dispatch, .. } = effect {
                self.claims.push((agent.clone(), *dispatch));
            }
        }
        effects.iter().map(line).collect()
    }

    /// The dispatch that is being claimed for this member.
    pub(crate) fn claiming(&self, agent: &str) -> Option<DispatchId> {
        self.claims.iter().find(|(of, _)| of == agent).map(|(_, dispatch)| *dispatch)
    }

    pub(crate) fn claim_answered(&mut self, agent: &str, result: ClaimResult) -> Vec<String> {
        let dispatch = self.claiming(agent).unwrap();
        self.claimed(dispatch, result)
    }

    pub(crate) fn attach(&mut self, attach: Attach) -> Vec<String> {
        self.step(Event::Attach(Box::new(attach)))
    }

    /// A look that finds these packets, and every member with its record.
    pub(crate) fn look(&mut self, packets: &[Packet]) -> Vec<String> {
        let seen = |view: lifecycle::members::MemberView| {
            let record = view.record.ok_or_else(|| "gone".to_owned());
            Seen { agent: view.agent, record, held: None }
        };
        let members = self.members.view().into_iter().map(seen).collect();
        self.step(Event::Looked(Look { packets: packets.to_vec(), members }))
    }

    pub(crate) fn claimed(&mut self, dispatch: DispatchId, result: ClaimResult) -> Vec<String> {
        self.claims.retain(|(_, known)| *known != dispatch);
        self.step(Event::Claimed { dispatch, result })
    }

    pub(crate) fn answer(&mut self, conn: u64, answer: Answer) -> Vec<String> {
        let dispatch = self.dispatch("m");
        self.step(Event::Answered { conn: Conn(conn), dispatch, answer })
    }

    pub(crate) fn activity(&mut self, conn: u64, idle: bool) -> Vec<String> {
        self.step(Event::Activity { conn: Conn(conn), idle })
    }

    pub(crate) fn settled(&mut self, conn: u64, dispatch: Option<DispatchId>) -> Vec<String> {
        self.step(Event::Settled { conn: Conn(conn), dispatch, aborted: false })
    }

    pub(crate) fn after(&mut self, ms: u64) -> Vec<String> {
        self.now += ms;
        self.step(Event::Tick)
    }

    /// The dispatch of the member's open packet.
    pub(crate) fn dispatch(&self, agent: &str) -> DispatchId {
        let views = self.members.view();
        views.into_iter().find(|view| view.agent == agent).unwrap().open.unwrap().dispatch
    }

    /// Member `m` with session `s1` on connection 1, packets 0 and 1, and packet 0 sent.
    pub(crate) fn sent() -> Self {
        let mut rig = Self::new();
        rig.attach(attach(1, "m"));
        rig.look(&[packet(0), packet(1)]);
        assert_eq!(rig.claim_answered("m", ClaimResult::Done), ["m p1.0 sent", "1 dispatch p1.0"]);
        rig
    }

    /// As [`Rig::sent`], and accepted.
    pub(crate) fn accepted() -> Self {
        let mut rig = Self::sent();
        assert_eq!(rig.answer(1, Answer::Accepted), ["m p1.0 accepted"]);
        rig
    }
}

/// An effect as a short line.
pub(crate) fn line(effect: &Effect) -> String {
    match effect {
        Effect::Claim { agent, packet, .. } => format!("claim {} for {agent}", packet.id),
        Effect::Reply { req, place, task, ended } => {
            let task = task.as_ref().map(|task| format!(" at {}", task.goal)).unwrap_or_default();
            let ended = ended.as_ref().map(|(_, ending)| format!(" ended: {:?}", ending.reason())).unwrap_or_default();
            format!("{} is {}{task}{ended}", req.0, self::place(*place))
        }
        Effect::Told { agent, packet, change, .. } => format!("{agent} {} {}", packet.id, self::change(change)),
        Effect::Session { session_id, change, .. } => format!("{session_id} {change}"),
        Effect::Close(conn) => format!("{} closed", conn.0),
        Effect::Look => "look".into(),
        Effect::Send { conn, message } => {
            let message = match message {
                Outgoing::Dispatch { packet, .. } => format!("dispatch {}", packet.id),
                Outgoing::Cancel { .. } => "cancel".into(),
                Outgoing::Place { place, .. } => format!("place {}", self::place(*place)),
                Outgoing::Notice(_) => "notice".into(),
            };
            format!("{} {message}", conn.0)
        }
    }
}

fn place(place: Place) -> &'static str {
    match place {
        Place::Member => "member",
        Place::Standby => "standby",
    }
}

fn change(change: &Change) -> String {
    match change {
        Change::Sent => "sent".into(),
        Change::Accepted => "accepted".into(),
        Change::Refused(_) => "refused".into(),
        Change::Released(_) => "released".into(),
        Change::Ended(ending) => match ending.reason() {
            None => "settled".into(),
            Some(reason) if reason.contains("unknown") || reason.contains("cannot say") => "ended, unknown".into(),
            Some(_) => "ended".into(),
        },
    }
}
