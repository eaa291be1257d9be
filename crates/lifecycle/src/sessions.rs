//! Who has the owner's place: one process, used by its newest main session; others stand by in order (D20).

use crate::effect::{Binding, Effect, Fact, Outgoing};
use crate::event::{Attach, BusyWith, Known};
use crate::reply::{Refusal, Reply};
use crate::settings::PLACE_KEPT;
use crate::state::{Admin, Lock, Out, Presence, Project, Stopping, Task};
use crate::time::{Awake, Wall};
use crate::{Conn, Process, Req};

/// Who a session is, beyond its connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) session_id: String,
    pub(crate) process: Process,
    pub(crate) host: String,
    pub(crate) file: Option<String>,
}

impl Identity {
    /// The same session in the same process; its host's version may have changed.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.session_id == other.session_id && self.process == other.process
    }
}

/// A connected main session.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) conn: Conn,
    pub(crate) who: Identity,
    /// What it last told.
    pub(crate) idle: bool,
    /// What it said that keeps it busy.
    pub(crate) busy_with: Option<BusyWith>,
    /// A dispatch left for it and its turn has not settled since.
    pub(crate) engaged: bool,
    /// Its process is stopped (D24).
    pub(crate) stopped: bool,
    /// That was seen in passing, so it is looked at again then.
    pub(crate) stopped_until: Option<Awake>,
    pub(crate) last_seen: Wall,
    pub(crate) known: Known,
    /// The attach that is still to be answered.
    pub(crate) request: Option<Req>,
    /// It was told that it is the owner.
    pub(crate) announced: bool,
    /// A person gave it the place, which it is told with the place.
    pub(crate) chosen: bool,
    /// Whether the process that a task was bound to was alive when this session asked.
    pub(crate) bound_alive: bool,
}

impl Session {
    /// Idle as far as a dispatch is concerned (wire protocol, "Idle").
    pub(crate) const fn free(&self) -> bool {
        self.idle && !self.engaged && !self.stopped
    }
}

/// All sessions of a project.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sessions {
    pub(crate) owner: Option<Box<Session>>,
    /// The place is kept for this process until then.
    pub(crate) kept: Option<(Process, Awake)>,
    pub(crate) standby: Vec<Session>,
    /// Attached before it was known whether the project is ours.
    pub(crate) arriving: Vec<Session>,
}

impl Sessions {
    pub(crate) fn by_conn(&mut self, conn: Conn) -> Option<&mut Session> {
        if self.owner.as_ref().is_some_and(|owner| owner.conn == conn) {
            return self.owner.as_deref_mut();
        }
        self.standby.iter_mut().chain(&mut self.arriving).find(|session| session.conn == conn)
    }

    pub(crate) fn owner_conn(&self) -> Option<Conn> {
        self.owner.as_ref().map(|owner| owner.conn)
    }
}

impl Project {
    pub(crate) fn attach(&mut self, attach: Attach, out: &mut Out) {
        let refusal = match (self.stopping, self.admin) {
            (Stopping::Asked | Stopping::Released, _) => Some(Refusal::ShuttingDown),
            (Stopping::No, Admin::Disabled) => Some(Refusal::Disabled),
            (Stopping::No, Admin::Active | Admin::Leaving) => None,
        };
        if let Some(refusal) = refusal {
            out.push(Effect::Reply { req: attach.req, reply: Reply::Refused(refusal) });
            return;
        }
        self.sessions.arriving.push(Session {
            conn: attach.conn,
            who: Identity {
                session_id: attach.session_id,
                process: attach.process,
                host: attach.host,
                file: attach.session_file,
            },
            idle: attach.idle,
            busy_with: None,
            engaged: false,
            stopped: false,
            stopped_until: None,
            last_seen: out.now.wall,
            known: attach.known,
            request: Some(attach.req),
            announced: false,
            chosen: false,
            bound_alive: attach.bound_alive,
        });
    }

    /// Gives each arriving session its place, as soon as it is known whether the project is ours.
    pub(crate) fn place_arrivals(&mut self, out: &mut Out) {
        let undecided = match &self.lock {
            Lock::None { .. } => self.admin == Admin::Active || self.busy_job.is_some(),
            Lock::Ours { .. } => {
                // A half-written file gets its second (D2); after that a recovered task may come up later.
                let unsteady = self.unreadable.as_ref().is_some_and(|unsteady| !unsteady.confirmed);
                self.view.is_none() || (self.recovered.is_some() && unsteady) || matches!(self.task, Task::Claiming(_))
            }
            Lock::Blocked { .. } | Lock::Missing { .. } | Lock::Lost { .. } => false,
        };
        if undecided {
            return;
        }
        for mut session in std::mem::take(&mut self.sessions.arriving) {
            // Disabled while it waited: it is answered like one that comes now.
            match session.request.filter(|_| self.admin == Admin::Disabled && self.run().is_none()) {
                Some(req) => {
                    session.request = None;
                    out.push(Effect::Reply { req, reply: Reply::Refused(Refusal::Disabled) });
                }
                None => self.place(session, out),
            }
        }
    }

    fn place(&mut self, session: Session, out: &mut Out) {
        if let Some(at) = self.sessions.standby.iter().position(|other| other.who.same(&session.who)) {
            let old = self.sessions.standby.remove(at);
            self.replace_connection(old, out);
        }
        if let Some(run) = self.run() {
            let same = run.owner.session_id == session.who.session_id;
            let theirs = run.owner.process == session.who.process
                || !session.bound_alive
                || matches!(run.presence, Presence::Away { process_alive: false, .. });
            if same && theirs {
                self.reattach(session, out);
            } else {
                self.stand_by(session, out);
            }
            return;
        }
        self.note_delivered(&session, out);
        let owner = self.sessions.owner.as_ref();
        let same_process = owner.is_some_and(|owner| owner.who.process == session.who.process);
        let free = owner.is_none()
            && match self.sessions.kept {
                Some((process, until)) => process == session.who.process || out.now.awake >= until,
                None => true,
            };
        if same_process || free {
            self.take_place(session, out);
        } else {
            self.stand_by(session, out);
        }
    }

    /// A session that knows a dispatch has accepted it (D69). What the file says is not known now, so that goes into
    /// the journal: the same session may have forgotten it when it attaches again.
    fn note_delivered(&self, session: &Session, out: &mut Out) {
        let unknown = !self.is_ours() || self.is_unreadable() || self.recovered.is_some();
        if let (true, Known::Some { dispatch, delivered: true }) = (unknown, session.known) {
            out.push(Effect::Record(Fact::Accepted(dispatch)));
        }
    }

    /// The session becomes the owner; it is told once the binding is in the lock file.
    pub(crate) fn take_place(&mut self, session: Session, out: &mut Out) {
        self.sessions.kept = None;
        let Some(old) = self.sessions.owner.replace(Box::new(session)) else { return };
        let same = self.sessions.owner.as_ref().is_some_and(|new| new.who.same(&old.who));
        if same {
            self.replace_connection(*old, out);
        } else {
            self.step_down(*old, "another session of the same process took the place", out);
        }
    }

    /// The same session is there on a newer connection.
    fn replace_connection(&self, mut old: Session, out: &mut Out) {
        self.answer_standby(&mut old, out);
        out.push(Effect::Close(old.conn));
    }

    /// Answers an attach with "standby"; the task it belongs to is named all the same.
    fn answer_standby(&self, session: &mut Session, out: &mut Out) {
        let Some(req) = session.request.take() else { return };
        let task = match &self.task {
            Task::Running(run) if run.owner.same(&session.who) => {
                Some((run.dispatch, run.task.task_id.clone(), run.started))
            }
            _ => None,
        };
        let ended = self.asked_about(session);
        out.push(Effect::Reply { req, reply: Reply::Attached { owner: false, task, ended } });
    }

    /// A session that goes before it was placed is answered all the same.
    pub(crate) fn refuse_arrival(&mut self, conn: Conn, out: &mut Out) {
        let Some(req) = self.sessions.by_conn(conn).and_then(|session| session.request.take()) else { return };
        out.push(Effect::Reply { req, reply: Reply::Attached { owner: false, task: None, ended: None } });
    }

    /// Every attach that still waits is refused: the daemon stops.
    pub(crate) fn refuse_attaches(&mut self, out: &mut Out) {
        let waiting = self.sessions.arriving.iter_mut().chain(&mut self.sessions.standby);
        for session in waiting.chain(self.sessions.owner.as_deref_mut()) {
            if let Some(req) = session.request.take() {
                out.push(Effect::Reply { req, reply: Reply::Refused(Refusal::ShuttingDown) });
            }
        }
    }

    /// A former owner stands by.
    pub(crate) fn step_down(&mut self, mut session: Session, reason: &'static str, out: &mut Out) {
        if session.request.is_some() {
            self.stand_by(session, out);
            return;
        }
        if session.announced {
            session.announced = false;
            out.push(Effect::Send { conn: session.conn, message: Outgoing::Ownership { owner: false, reason } });
        }
        self.sessions.standby.push(session);
    }

    fn stand_by(&mut self, mut session: Session, out: &mut Out) {
        if session.request.is_some() {
            self.answer_standby(&mut session, out);
            out.push(Effect::Record(Fact::Session { session_id: session.who.session_id.clone(), what: "standby" }));
        }
        self.sessions.standby.push(session);
    }

    fn asked_about(&self, session: &Session) -> Option<queue::DispatchId> {
        match session.known {
            Known::Some { dispatch, .. } if self.run().is_none_or(|run| run.dispatch != dispatch) => Some(dispatch),
            _ => None,
        }
    }

    /// Answers and announces after the binding is durable.
    pub(crate) fn bound(&mut self, out: &mut Out) {
        let task = match &self.task {
            Task::Running(run) => Some((run.dispatch, run.task.task_id.clone(), run.started)),
            _ => None,
        };
        let Some(mut owner) = self.sessions.owner.take() else { return };
        if let Some(req) = owner.request.take() {
            let ended = self.asked_about(&owner);
            out.push(Effect::Reply { req, reply: Reply::Attached { owner: true, task, ended } });
            out.push(Effect::Record(Fact::Session { session_id: owner.who.session_id.clone(), what: "attached" }));
        } else if !owner.announced {
            let reason =
                if std::mem::take(&mut owner.chosen) { "it was chosen by hand" } else { "it is first in line" };
            let message = Outgoing::Ownership { owner: true, reason };
            out.push(Effect::Send { conn: owner.conn, message });
            out.push(Effect::Record(Fact::Session { session_id: owner.who.session_id.clone(), what: "owner" }));
        }
        owner.announced = true;
        // A session that had the task itself was just answered how it ended.
        if let Some(untold) = self.untold.take()
            && self.asked_about(&owner).is_none_or(|known| Some(known) != untold.dispatch)
        {
            out.push(Effect::Send { conn: owner.conn, message: Outgoing::Notice(untold.level, untold.text) });
        }
        self.sessions.owner = Some(owner);
    }

    /// The binding cannot be written now: the owner-to-be is told that it stands by (D20).
    pub(crate) fn unbound(&mut self, out: &mut Out) {
        let Some(mut owner) = self.sessions.owner.take() else { return };
        if owner.request.is_some() {
            self.answer_standby(&mut owner, out);
        } else if owner.announced {
            let takes_part = self.admin == Admin::Active;
            let reason = if takes_part {
                "handoffd does not hold the project's lock"
            } else {
                "the project was disabled or removed"
            };
            let message = Outgoing::Ownership { owner: false, reason };
            out.push(Effect::Send { conn: owner.conn, message });
        }
        owner.announced = false;
        self.sessions.owner = Some(owner);
    }

    /// The next in line takes a free place when nothing runs.
    pub(crate) fn fill_place(&mut self, out: &mut Out) {
        if let Some((_, until)) = self.sessions.kept
            && out.now.awake >= until
        {
            self.sessions.kept = None;
        }
        self.take_up_again(out);
        if self.sessions.owner.is_some() || !matches!(self.task, Task::None) {
            return;
        }
        // A place that is kept goes to the newest session of its process, if one stood by while a task ran.
        let standby = &self.sessions.standby;
        let next = match self.sessions.kept {
            Some((process, _)) => standby.iter().rposition(|session| session.who.process == process),
            None => (!standby.is_empty()).then_some(0),
        };
        if let Some(at) = next {
            let next = self.sessions.standby.remove(at);
            self.take_place(next, out);
        }
    }

    /// A session of the same id that stood by takes the task up when the old process has ended (D20).
    fn take_up_again(&mut self, out: &mut Out) {
        let Task::Running(run) = &self.task else { return };
        let Presence::Away { process_alive, .. } = run.presence else { return };
        let theirs =
            |who: &Identity| who.same(&run.owner) || (who.session_id == run.owner.session_id && !process_alive);
        if let Some(at) = self.sessions.standby.iter().position(|session| theirs(&session.who)) {
            let session = self.sessions.standby.remove(at);
            self.reattach(session, out);
        }
    }

    /// A connection is gone; `true` if it was the owner's.
    pub(crate) fn forget(&mut self, conn: Conn, keep_place: bool, what: &'static str, out: &mut Out) -> bool {
        self.sessions.arriving.retain(|session| session.conn != conn);
        self.sessions.standby.retain(|session| session.conn != conn);
        if self.sessions.owner_conn() != Some(conn) {
            return false;
        }
        if let Some(owner) = self.sessions.owner.take() {
            self.sessions.kept = keep_place.then(|| (owner.who.process, out.now.awake.plus(PLACE_KEPT)));
            out.push(Effect::Record(Fact::Session { session_id: owner.who.session_id, what }));
        }
        true
    }

    /// The binding that the lock file should carry now (D14).
    pub(crate) fn wanted_binding(&self) -> Option<Binding> {
        let held = match &self.lock {
            Lock::Ours { bound } => bound.clone(),
            _ => None,
        };
        match &self.task {
            Task::Running(run) => Some(Binding {
                session_id: run.owner.session_id.clone(),
                process: run.owner.process,
                since: match run.presence {
                    Presence::Here(_) => None,
                    Presence::Away { since, .. } => Some(since),
                },
                background: run.background,
            }),
            // While RUNNING stands, or may stand, in the file, its binding is not given to anybody else (D20).
            Task::Claiming(_) | Task::Ending(_) => held,
            Task::None | Task::Rejecting(_) if self.recovered.is_some() => held,
            Task::None | Task::Rejecting(_) => match &self.sessions.owner {
                Some(owner) => Some(Binding {
                    session_id: owner.who.session_id.clone(),
                    process: owner.who.process,
                    since: None,
                    background: false,
                }),
                None if self.sessions.kept.is_some() => held,
                None => None,
            },
        }
    }
}
