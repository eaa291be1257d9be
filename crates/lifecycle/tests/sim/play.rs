//! What each action does to the world, and how a scenario is played to its end.

use std::collections::BTreeSet;

use lifecycle::{Body, Command, Conn, Event, LeaveReason, Settings};
use queue::DispatchId;

use super::action::{Action, Verb};
use super::disk::{Bytes, Doc, Entry, LockFile, Status};
use super::mutant::Mutant;
use super::world::{Fate, Held, Up, World};

/// Plays a scenario; the violation, if one was found.
pub(crate) fn play(actions: &[Action], mutant: Mutant) -> Option<String> {
    played(actions, mutant).0
}

/// What a scenario reaches.
pub(crate) fn reached(actions: &[Action]) -> BTreeSet<String> {
    played(actions, Mutant::None).1
}

fn played(actions: &[Action], mutant: Mutant) -> (Option<String>, BTreeSet<String>) {
    let mut world = World::new(mutant);
    for (at, action) in actions.iter().enumerate() {
        world.act(*action);
        world.check();
        if let Some(violation) = &world.violation {
            return (Some(format!("{violation} (after action {at}: {action})")), world.marks);
        }
    }
    world.quiesce();
    (world.violation.map(|violation| format!("{violation} (at the end)")), world.marks)
}

impl World {
    fn act(&mut self, action: Action) {
        let Action { verb, a, b } = action;
        if !matches!(verb, Verb::Plan | Verb::Delete | Verb::Restore | Verb::Reboot) {
            self.start();
        }
        let at = usize::from(a) % self.sessions.len();
        match verb {
            Verb::Plan | Verb::Again | Verb::Harmless | Verb::Harmful | Verb::Idle | Verb::Half => {
                self.edit(verb, a, b);
            }
            Verb::Delete => self.planner_writes(None),
            Verb::Restore => {
                let back = self.history.iter().rev().nth(usize::from(a)).map(|entry| entry.bytes.clone());
                if let Some(bytes) = back {
                    self.planner_writes(Some(bytes));
                }
            }
            Verb::SwapWrite => self.swap_write(),
            Verb::Notice => self.step(Event::Touched),
            Verb::Job => (0..=a % 4).for_each(|_| {
                self.work_on();
            }),
            Verb::Drain => self.drain(b),
            Verb::Wait => {
                let all = [100, 1_000, 5_000, 11_000, 16_000, 31_000, 125_000, 660_000];
                self.pass(all[usize::from(a) % all.len()], b.is_multiple_of(2));
            }
            Verb::Sleep => self.sleep(61_000 * u64::from(a + 1)),
            Verb::WallStep => self.wall += (i64::from(a) - 4) * 400_000,
            Verb::Connect => self.connect(at, None),
            Verb::Hear => {
                self.hear(at, b);
            }
            Verb::Feed => {
                self.feed(at);
            }
            Verb::Turn => self.turn(at, b),
            Verb::Run => self.tell_run(at, b),
            Verb::Report => self.tell_report(at, b),
            Verb::Break | Verb::Kill | Verb::Leave | Verb::Fork | Verb::Stop => self.lose(verb, at, b),
            Verb::Crash | Verb::CrashBoth | Verb::Reboot | Verb::Shutdown => self.go_down(verb, a, b),
            Verb::FailWrites => self.faults.writes = a,
            Verb::FailReads => self.faults.reads = a,
            Verb::FailLog => self.faults.log = a.is_multiple_of(2),
            Verb::LoseLock => self.disk.lock = None,
            Verb::Foreign => self.foreign(),
            Verb::Folder => self.disk.here = !self.disk.here,
            Verb::Configure => {
                self.settings = Self::limits(a);
                self.step(Event::Configure(self.settings));
            }
            _ => self.control(verb, at, b),
        }
    }

    fn limits(a: u8) -> Settings {
        let base = Settings::DEFAULT;
        match a % 4 {
            0 => base,
            1 => Settings { silence_timeout: Some(60_000), ..base },
            2 => Settings { max_runtime: Some(300_000), ..base },
            _ => Settings { accept_timeout: 10_000, reconnect_grace: 5_000, ..base },
        }
    }

    fn edit(&mut self, verb: Verb, a: u8, b: u8) {
        let number = self.fresh();
        let under_way = self.disk.doc().is_some_and(|doc| matches!(doc.status, Status::Pending | Status::Running));
        if !self.disk.here || (b == 1 && under_way) {
            return;
        }
        let bytes = match (verb, self.disk.doc().cloned()) {
            (Verb::Plan, _) => {
                let valid = a % 8 != 7;
                Bytes::Doc(Doc { planner: number, edit: 0, unknown: 0, valid, status: Status::Pending, by: None })
            }
            (Verb::Half, _) => Bytes::Garbage(number),
            (Verb::Again, Some(doc)) => Bytes::Doc(Doc { status: Status::Pending, ..doc }),
            (Verb::Harmless, Some(doc)) => Bytes::Doc(Doc { unknown: number, ..doc }),
            (Verb::Harmful, Some(doc)) => Bytes::Doc(Doc { edit: number, ..doc }),
            (_, Some(doc)) => Bytes::Doc(Doc { status: Status::Idle, ..doc }),
            (_, None) => return,
        };
        self.planner_writes(Some(bytes));
    }

    /// Through the old handle: the bytes land in the file that RUNNING displaced.
    fn swap_write(&mut self) {
        if let Some(old) = self.disk.displaced.clone() {
            self.settle_fate(&old, Fate::Superseded);
            let entry = self.new_pending(true);
            self.published.extend(entry.write);
            self.disk.displaced = Some(entry);
        }
    }

    fn lose(&mut self, verb: Verb, at: usize, b: u8) {
        match verb {
            Verb::Break => self.break_wire(at, b % 2 == 1),
            Verb::Kill => self.kill(at, b.is_multiple_of(2)),
            Verb::Leave => {
                let reasons = [LeaveReason::Reload, LeaveReason::Other, LeaveReason::Quit];
                self.leave(at, reasons[usize::from(b) % 3]);
            }
            Verb::Fork => {
                let process = self.sessions[at].process.filter(|process| self.is_alive(*process));
                let next = (at + 1) % self.sessions.len();
                if process.is_some() && self.sessions[next].process.is_none() {
                    self.leave(at, LeaveReason::Other);
                    self.sessions[at].process = None;
                    self.connect(next, process);
                }
            }
            _ => {
                let pid = self.sessions[at].process.map(|process| process.pid);
                if let Some(proc) = pid.and_then(|pid| self.processes.get_mut(&pid)).filter(|proc| proc.alive) {
                    proc.stopped = !proc.stopped;
                }
            }
        }
    }

    fn go_down(&mut self, verb: Verb, a: u8, b: u8) {
        match verb {
            Verb::Crash if a > 0 => self.crash_after = Some(a),
            Verb::Shutdown => self.shut_down(),
            Verb::CrashBoth => {
                self.crash();
                self.kill(usize::from(a) % self.sessions.len(), b.is_multiple_of(2));
            }
            Verb::Reboot => {
                self.crash();
                (0..self.sessions.len()).for_each(|at| self.kill(at, true));
                self.processes.values_mut().for_each(|proc| proc.alive = false);
                self.foreign_alive = false;
                self.boot += 1;
                self.wall += 60_000;
                self.disk.power_loss(usize::from(a), b % 2 == 1);
            }
            _ => self.crash(),
        }
    }

    /// Stops the daemon in order; everything that waits must have been answered.
    fn shut_down(&mut self) {
        self.gone = false;
        self.step(Event::Shutdown);
        let mut left = 100;
        while self.daemon.is_some() && !self.gone && self.work_on() && left > 0 {
            left -= 1;
        }
        if self.daemon.is_some() {
            if !self.gone {
                self.fail("the daemon cannot stop");
            }
            self.check_answered();
            self.crash();
        }
    }

    fn foreign(&mut self) {
        if self.foreign_alive {
            self.foreign_alive = false;
        } else if self.disk.lock.is_none() {
            self.foreign_alive = true;
            self.inodes += 1;
            self.disk.lock = Some(LockFile { instance: 0, boot: self.boot, inode: self.inodes, binding: None });
        }
    }

    fn control(&mut self, verb: Verb, at: usize, b: u8) {
        let task_id = match self.disk.doc() {
            Some(doc) if b != 7 => doc.meta().task_id,
            _ => "T-0".to_owned(),
        };
        let command = match verb {
            Verb::Pause => Command::Pause,
            Verb::Resume => Command::Resume,
            Verb::Cancel => Command::Cancel { task_id, reason: "because".into() },
            Verb::Submit => {
                let body = Body(self.fresh());
                self.bodies.insert(body, Held { kind: b, given: true, dropped: false });
                Command::Submit { body, retry: b.is_multiple_of(2) }
            }
            Verb::Disable if b % 4 < 2 => Command::Disable { now: b % 2 == 1 },
            Verb::Disable => Command::Remove { now: b % 2 == 1 },
            Verb::Take => Command::Take { session_id: (b.is_multiple_of(2)).then(|| format!("s{at}")) },
            Verb::Unlock => Command::Unlock { confirm: b.is_multiple_of(2) },
            _ => Command::Enable,
        };
        let req = self.ask(None);
        self.step(Event::Control { req, command });
    }

    /// The daemon reads the oldest message of session `at`, on whichever connection it came.
    pub(crate) fn feed(&mut self, at: usize) -> bool {
        let Some(conn) = (0..self.wires.len()).find(|conn| {
            let wire = &self.wires[*conn];
            wire.session == at && wire.open && !wire.up.is_empty()
        }) else {
            return false;
        };
        match self.wires[conn].up.pop_front() {
            Some(Up::Event(Event::Attach(mut attach))) => {
                let bound = self.daemon.as_ref().and_then(lifecycle::Project::bound_process);
                attach.bound_alive = bound.is_some_and(|process| self.is_alive(process));
                self.step(Event::Attach(attach));
            }
            Some(Up::Event(event)) => self.step(event),
            Some(Up::Eof { unsent }) => {
                self.wires[conn].open = false;
                self.wires[conn].told_owner = false;
                self.step(Event::Closed { conn: Conn(conn as u64), unsent });
            }
            None => return false,
        }
        true
    }

    /// Everything in flight arrives and every job is done, in no time.
    pub(crate) fn drain(&mut self, manner: u8) {
        for _ in 0..200 {
            if self.violation.is_some() || self.daemon.is_none() {
                return;
            }
            let mut any = self.work_on();
            any |= self.reap();
            for at in 0..self.sessions.len() {
                any |= self.feed(at);
                any |= self.hear(at, manner);
            }
            if !any {
                return;
            }
        }
        self.fail("it spins: it does not come to rest although no time passes");
    }

    /// No more input: faults are mended, time goes on, and everything must come to rest in an allowed state.
    fn quiesce(&mut self) {
        self.faults = super::job::Faults::default();
        self.disk.here = true;
        self.foreign_alive = false;
        self.crash_after = None;
        self.runs.values_mut().for_each(|alive| *alive = false);
        self.processes.values_mut().for_each(|proc| proc.stopped = false);
        self.start();
        self.step(Event::Touched);
        let end = self.awake.plus(60 * 3_600_000);
        for _ in 0..2_000 {
            self.drain(0);
            self.check();
            let Some(at) = self.deadline else { break };
            if self.violation.is_some() || at > end {
                break;
            }
            self.pass(at.0 - self.awake.0, false);
        }
        self.check_rest();
    }

    pub(crate) fn note_claimed(&mut self, dispatch: DispatchId) {
        let Some(Entry { write: Some(id), .. }) = self.disk.displaced else { return };
        match self.writes[id] {
            Fate::Open => self.writes[id] = Fate::Claimed(Some(dispatch)),
            fate => self.fail(format!("a PENDING was dispatched although it was {fate:?} already")),
        }
    }
}
