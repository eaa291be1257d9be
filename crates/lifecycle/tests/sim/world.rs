//! The world of a scenario: one project's disk, the daemon's shell around the state machine, processes, connections,
//! time. What actions do to it is in `play.rs`, what sessions do in `session.rs`, what must hold in `check.rs`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lifecycle::{
    Admin, Awake, AwakeClock, Body, Conn, Done, Effect, Event, Moment, Outgoing, Process, Project, Reply, Req,
    Settings, Wall,
};
use queue::DispatchId;

use super::disk::{Bytes, Disk, Doc, Entry, Row, Status};
use super::job::{Faults, Work};
use super::mutant::Mutant;
use super::session::Session;

/// What became of a planner's write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing yet: it must be somewhere.
    Open,
    Claimed(Option<DispatchId>),
    Rejected,
    /// RUNNING in other bytes, ended by us.
    Ended,
    Superseded,
    Kept,
}

/// A message of a session, on its way to the daemon.
#[derive(Debug, Clone)]
pub(crate) enum Up {
    Event(Event),
    Eof { unsent: Option<DispatchId> },
}

/// A message to a session.
#[derive(Debug, Clone)]
pub(crate) enum Down {
    Message(Outgoing),
    Reply(Reply),
    Eof,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Wire {
    pub(crate) session: usize,
    pub(crate) process: Option<Process>,
    pub(crate) up: VecDeque<Up>,
    pub(crate) down: VecDeque<Down>,
    /// The daemon's end is open.
    pub(crate) open: bool,
    /// The daemon told it that it is the owner.
    pub(crate) told_owner: bool,
    /// What the daemon was last told.
    pub(crate) told_idle: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Proc {
    pub(crate) alive: bool,
    pub(crate) stopped: bool,
    pub(crate) told_stopped: bool,
}

/// A request that the daemon has to answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) conn: Option<usize>,
    pub(crate) answered: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    pub(crate) kind: u8,
    /// The daemon has it.
    pub(crate) given: bool,
    pub(crate) dropped: bool,
}

pub(crate) struct World {
    pub(crate) disk: Disk,
    pub(crate) faults: Faults,
    pub(crate) foreign_alive: bool,
    pub(crate) boot: u32,
    pub(crate) instance: u64,
    pub(crate) inodes: u64,
    pub(crate) lock_inode: Option<u64>,
    pub(crate) daemon: Option<Project>,
    pub(crate) work: Option<Work>,
    pub(crate) gone: bool,
    pub(crate) deadline: Option<Awake>,
    pub(crate) settings: Settings,
    pub(crate) clock: AwakeClock,
    pub(crate) awake: Awake,
    pub(crate) mono: u64,
    pub(crate) wall: i64,
    pub(crate) wires: Vec<Wire>,
    pub(crate) sessions: Vec<Session>,
    pub(crate) processes: BTreeMap<u32, Proc>,
    pub(crate) runs: BTreeMap<String, bool>,
    pub(crate) asked: BTreeMap<u64, Asked>,
    pub(crate) bodies: BTreeMap<Body, Held>,
    pub(crate) counter: u64,
    pub(crate) writes: Vec<Fate>,
    /// Writes whose bytes were in the file at some time.
    pub(crate) published: BTreeSet<usize>,
    pub(crate) history: Vec<Entry>,
    pub(crate) last_line: Option<DispatchId>,
    pub(crate) durable: BTreeSet<DispatchId>,
    pub(crate) ended: BTreeSet<DispatchId>,
    pub(crate) injected: BTreeMap<DispatchId, u32>,
    /// Sent, and no proof of non-delivery since.
    pub(crate) open_sends: BTreeMap<DispatchId, usize>,
    pub(crate) crash_after: Option<u8>,
    pub(crate) mutant: Mutant,
    /// What was reached, to know that scenarios reach what matters.
    pub(crate) marks: BTreeSet<String>,
    pub(crate) violation: Option<String>,
}

impl World {
    pub(crate) fn new(mutant: Mutant) -> Self {
        Self {
            disk: Disk { here: true, ..Disk::default() },
            faults: Faults::default(),
            foreign_alive: false,
            boot: 1,
            instance: 0,
            inodes: 0,
            lock_inode: None,
            daemon: None,
            work: None,
            gone: false,
            deadline: None,
            settings: Settings::DEFAULT,
            clock: AwakeClock::start(1_000_000),
            awake: Awake(1_000_000),
            mono: 1_000_000,
            wall: 1_800_000_000_000,
            wires: Vec::new(),
            sessions: (0..3).map(Session::new).collect(),
            processes: BTreeMap::new(),
            runs: BTreeMap::new(),
            asked: BTreeMap::new(),
            bodies: BTreeMap::new(),
            counter: 0,
            writes: Vec::new(),
            published: BTreeSet::new(),
            history: Vec::new(),
            last_line: None,
            durable: BTreeSet::new(),
            ended: BTreeSet::new(),
            injected: BTreeMap::new(),
            open_sends: BTreeMap::new(),
            crash_after: None,
            mutant,
            marks: BTreeSet::new(),
            violation: None,
        }
    }

    pub(crate) fn fail(&mut self, what: impl Into<String>) {
        if self.violation.is_none() {
            self.violation = Some(what.into());
        }
    }

    pub(crate) fn fresh(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    // --- the daemon ---

    pub(crate) fn start(&mut self) {
        if self.daemon.is_some() {
            return;
        }
        self.instance += 1;
        self.lock_inode = None;
        self.gone = false;
        self.clock = AwakeClock::start(self.mono);
        self.awake = self.clock.read(self.mono).0;
        self.daemon = Some(Project::new(self.settings, Admin::Active, false));
        for (dispatch, run) in self.disk.outlived() {
            if self.runs.get(&run.run_id) == Some(&true) {
                self.step(Event::RunsAlive { task_id: "T-0".into(), dispatch, runs: vec![run] });
            }
        }
        self.step(Event::Touched);
    }

    pub(crate) fn step(&mut self, event: Event) {
        self.note_fed(&event);
        let entropy = u128::from(self.fresh()) << 64 | 0xabcd;
        let now = Moment { awake: self.awake, wall: Wall(self.wall), entropy };
        let Some(project) = &mut self.daemon else { return };
        let (effects, deadline) = project.step(event, now);
        let state = project.status(now.wall).shown;
        self.deadline = deadline;
        if deadline.is_some_and(|at| at <= now.awake) {
            self.fail("the deadline is not in the future");
        }
        let effects = self.mutant.change(effects);
        let limit = self.crash_after.take();
        self.mark(format!("{} {}", state.state.as_str(), state.reason.map_or("", lifecycle::Reason::as_str)));
        for (at, effect) in effects.into_iter().enumerate() {
            if limit.is_some_and(|limit| at >= usize::from(limit)) {
                break;
            }
            self.carry_out(effect);
        }
        if limit.is_some() {
            self.crash();
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        self.mark_effect(&effect);
        match effect {
            Effect::Job(job) => {
                if self.work.is_some() {
                    self.fail("two jobs are out");
                }
                self.work = Some(Work::new(job));
            }
            Effect::Send { conn, message } => {
                self.check_send(conn, &message);
                if let Some(wire) = self.wire(conn).filter(|wire| wire.open) {
                    wire.down.push_back(Down::Message(message));
                }
            }
            Effect::Reply { req, reply } => self.reply(req, reply),
            Effect::Record(fact) => self.record(&fact),
            Effect::Close(conn) => self.close(conn),
            Effect::Drop(body) => match self.bodies.get_mut(&body) {
                Some(held) if held.given && !held.dropped => held.dropped = true,
                _ => self.fail("a body was dropped that the daemon does not have"),
            },
            Effect::Gone => self.gone = true,
        }
    }

    fn reply(&mut self, req: Req, reply: Reply) {
        match self.asked.get_mut(&req.0) {
            Some(asked) if !asked.answered => {
                asked.answered = true;
                if let Some(conn) = asked.conn {
                    self.check_reply(Conn(conn as u64), &reply);
                    if self.wires[conn].open {
                        self.wires[conn].down.push_back(Down::Reply(reply));
                    }
                }
            }
            _ => self.fail(format!("{req:?} was answered twice, or never asked")),
        }
    }

    fn record(&mut self, fact: &lifecycle::Fact) {
        use lifecycle::Fact;
        let row = match fact {
            Fact::Started { task, dispatch, .. } => {
                let planner = task.created_at.parse().unwrap_or(0);
                let edit = self.disk.doc().filter(|doc| doc.planner == planner).map_or(0, |doc| doc.edit);
                Row::Started { dispatch: *dispatch, planner, edit, wall: Wall(self.wall) }
            }
            Fact::Sent(id) => Row::Sent(*id),
            Fact::Accepted(id) => Row::Accepted(*id),
            Fact::Run(id, run) => Row::Run(*id, run.clone()),
            Fact::Ended(ended) => match ended.dispatch {
                Some(dispatch) => Row::Ended { dispatch, complete: ended.complete },
                None => return,
            },
            // What was given up holds nothing any more (D11).
            Fact::Abandoned { dispatch: Some(dispatch), .. } => Row::Ended { dispatch: *dispatch, complete: true },
            Fact::Demoted { dispatch, .. } => Row::Ended { dispatch: *dispatch, complete: false },
            _ => return,
        };
        self.disk.journal.push(row);
    }

    pub(crate) fn wire(&mut self, conn: Conn) -> Option<&mut Wire> {
        usize::try_from(conn.0).ok().and_then(|at| self.wires.get_mut(at))
    }

    /// The daemon closes its end.
    fn close(&mut self, conn: Conn) {
        if let Some(wire) = self.wire(conn) {
            wire.open = false;
            wire.told_owner = false;
            wire.up.clear();
            wire.down.push_back(Down::Eof);
        }
    }

    /// The daemon dies where it stands; what it had written to sockets still arrives.
    pub(crate) fn crash(&mut self) {
        self.daemon = None;
        self.work = None;
        self.deadline = None;
        self.lock_inode = None;
        self.crash_after = None;
        for at in 0..self.wires.len() {
            if self.wires[at].open {
                self.close(Conn(at as u64));
            }
        }
        self.asked.values_mut().for_each(|asked| asked.answered = true);
        self.bodies.values_mut().for_each(|held| held.dropped |= held.given);
    }

    /// One sub-step of the job that is out.
    pub(crate) fn work_on(&mut self) -> bool {
        let Some(mut work) = self.work.take() else { return false };
        match self.work(&mut work) {
            None => self.work = Some(work),
            Some(done) => self.finish(done),
        }
        true
    }

    fn finish(&mut self, done: Done) {
        self.step(Event::Done(Box::new(done)));
    }

    // --- the planner ---

    /// The planner puts these bytes in place of what is there.
    pub(crate) fn planner_writes(&mut self, bytes: Option<Bytes>) {
        if let Some(old) = self.disk.file.take() {
            self.settle_fate(&old, Fate::Superseded);
            self.history.push(old);
        }
        if let Some(bytes) = bytes {
            let write = self.new_write();
            self.published.extend(write);
            self.disk.file = Some(Entry { bytes, write });
        }
    }

    fn new_write(&mut self) -> Option<usize> {
        self.writes.push(Fate::Open);
        Some(self.writes.len() - 1)
    }

    pub(crate) fn new_pending(&mut self, valid: bool) -> Entry {
        let planner = self.fresh();
        let doc = Doc { planner, edit: 0, unknown: 0, valid, status: Status::Pending, by: None };
        Entry { bytes: Bytes::Doc(doc), write: self.new_write() }
    }

    /// Bytes of the planner that nobody has dealt with.
    pub(crate) fn is_open(&self, entry: &Entry) -> bool {
        entry.write.is_some_and(|id| self.writes[id] == Fate::Open)
    }

    pub(crate) fn settle_fate(&mut self, entry: &Entry, fate: Fate) {
        if self.is_open(entry)
            && let Some(id) = entry.write
        {
            self.writes[id] = fate;
        }
    }
}
