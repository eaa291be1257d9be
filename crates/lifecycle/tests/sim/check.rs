//! What must hold: the promises, checked against what really is on disk and in the conversations.

use lifecycle::{Answer, Command, Conn, EndWrite, Event, Known, Outcome, Outgoing, Reason, Reply, State, Wall};

use super::disk::{Status, hash_of};
use super::world::{Fate, World};

impl World {
    /// After every action.
    pub(crate) fn check(&mut self) {
        if self.wires.iter().filter(|wire| wire.told_owner).count() > 1 {
            self.fail("two sessions were told that they are the owner");
        }
        if let Some((dispatch, times)) = self.injected.iter().find(|(_, times)| **times > 1) {
            self.fail(format!("{dispatch} came into a conversation {times} times"));
        }
        self.check_writes();
    }

    /// No write of the planner is lost: it is the file, or dealt with, or kept.
    fn check_writes(&mut self) {
        for id in 0..self.writes.len() {
            if self.writes[id] != Fate::Open {
                continue;
            }
            let places = [&self.disk.file, &self.disk.fresh, &self.disk.swap, &self.disk.displaced];
            let somewhere = places.into_iter().flatten().any(|entry| entry.write == Some(id));
            let submitted = self.work.is_some();
            if !somewhere && !submitted {
                if self.is_unpublished(id) {
                    self.writes[id] = Fate::Superseded;
                } else {
                    self.fail("a write of the planner is lost");
                }
            }
        }
    }

    /// A submit that was refused or died before its exchange never was a write.
    fn is_unpublished(&self, id: usize) -> bool {
        !self.published.contains(&id)
    }

    pub(crate) fn check_send(&mut self, conn: Conn, message: &Outgoing) {
        match message {
            Outgoing::Dispatch { dispatch, .. } => {
                let dispatch = *dispatch;
                if !self.durable.contains(&dispatch) {
                    self.fail("a message left before RUNNING was durable");
                }
                if self.ended.contains(&dispatch) {
                    self.fail("a message left for a task that has ended");
                }
                let wire = self.wire(conn).cloned().unwrap_or_default();
                if self.open_sends.insert(dispatch, wire.session).is_some() {
                    self.fail("a message was sent again without proof of non-delivery");
                }
                if !wire.told_owner || !wire.told_idle {
                    self.fail("a message left for a session that is not an idle owner");
                }
            }
            Outgoing::Ownership { owner, .. } => self.told(conn, *owner),
            _ => {}
        }
    }

    pub(crate) fn check_reply(&mut self, conn: Conn, reply: &Reply) {
        if let Reply::Attached { owner, .. } = reply {
            self.told(conn, *owner);
        }
    }

    fn told(&mut self, conn: Conn, owner: bool) {
        let Some(wire) = self.wire(conn).filter(|wire| wire.open) else { return };
        wire.told_owner = owner;
        let (session, process) = (format!("s{}", wire.session), wire.process);
        let binding = self.disk.lock.as_ref().and_then(|lock| lock.binding.as_ref());
        let bound = binding.is_some_and(|binding| {
            binding.session_id == session && Some(binding.process) == process && binding.since.is_none()
        });
        // Somebody may have deleted the lock a moment ago; that is found at the next look.
        let ours = self.disk.lock.as_ref().is_some_and(|lock| lock.instance == self.instance);
        if owner && ours && !bound {
            self.fail("a session was told that it is the owner before the lock says so");
        }
        if self.wires.iter().filter(|wire| wire.told_owner).count() > 1 {
            self.fail("two sessions were told that they are the owner");
        }
    }

    /// What the daemon is told, as far as the checks need it.
    pub(crate) fn note_fed(&mut self, event: &Event) {
        match event {
            Event::Attach(attach) => {
                self.given(attach.req.0);
                self.idle(attach.conn, attach.idle);
                let session = self.wire(attach.conn).map(|wire| wire.session);
                self.open_sends.retain(|dispatch, sent_to| {
                    let known = Known::Some { dispatch: *dispatch, delivered: true };
                    Some(*sent_to) != session || attach.known == Known::NoRecords || attach.known == known
                });
            }
            Event::Activity { conn, idle, .. } => self.idle(*conn, *idle),
            Event::TurnSettled { conn, .. } => self.idle(*conn, true),
            Event::Answered { conn, dispatch, answer } if *answer != Answer::Accepted => {
                self.open_sends.remove(dispatch);
                if *answer == Answer::Busy {
                    self.idle(*conn, false);
                }
            }
            // Whoever says goodbye, or is dead, has given the place back.
            Event::Leaving { conn, .. } => {
                if let Some(wire) = self.wire(*conn) {
                    wire.told_owner = false;
                }
            }
            Event::ProcessGone(process) => {
                let theirs = self.wires.iter_mut().filter(|wire| wire.process == Some(*process));
                theirs.for_each(|wire| wire.told_owner = false);
            }
            Event::Closed { unsent: Some(dispatch), .. } => {
                self.open_sends.remove(dispatch);
            }
            Event::Report { req, body, .. } => {
                self.given(req.0);
                self.bodies.entry(*body).and_modify(|held| held.given = true);
            }
            Event::Control { command: Command::Submit { body, .. }, .. } => {
                self.bodies.entry(*body).and_modify(|held| held.given = true);
            }
            _ => {}
        }
    }

    fn given(&mut self, req: u64) {
        self.asked.entry(req).and_modify(|asked| asked.answered = false);
    }

    fn idle(&mut self, conn: Conn, idle: bool) {
        if let Some(wire) = self.wire(conn) {
            wire.told_idle = idle;
        }
    }

    pub(crate) fn note_end(&mut self, end: &EndWrite, complete: bool) {
        self.ended.extend(end.dispatch);
        if let (true, Outcome::Report { body, .. }) = (complete, &end.outcome)
            && !self.bodies.get(body).is_some_and(|held| matches!(held.kind % 8, 0 | 4 | 5))
        {
            self.fail("COMPLETE without a report that passed every check");
        }
    }

    /// Every request was answered, unless its connection is gone; every body was dropped.
    pub(crate) fn check_answered(&mut self) {
        let open = |conn: Option<usize>| conn.is_none_or(|conn| self.wires[conn].open);
        let unanswered = self.asked.iter().find(|(_, asked)| !asked.answered && open(asked.conn));
        if let Some((req, asked)) = unanswered {
            let text = format!("request {req} of {:?} was never answered", asked.conn);
            self.fail(text);
        }
        if let Some((body, _)) = self.bodies.iter().find(|(_, held)| held.given && !held.dropped) {
            let text = format!("{body:?} was never dropped");
            self.fail(text);
        }
    }

    /// The scenario is over, and much time has passed.
    pub(crate) fn check_rest(&mut self) {
        self.check_answered();
        let Some(project) = &self.daemon else { return };
        let status = project.status(Wall(self.wall));
        let state = status.shown.state;
        let doc = self.disk.doc().cloned();
        let seen = project.view().and_then(|view| view.hash);
        let allowed = match (state, doc.as_ref().map(|doc| doc.status)) {
            (State::Disabled | State::Halted, _) => return,
            (State::Leaving, Some(Status::Running)) => status.session.is_some() && status.task.is_some(),
            (State::Leaving, None) => self.disk.file.is_some() && status.task.is_some(),
            (State::Starting | State::Missing | State::Stuck | State::Leaving | State::Cancelling, _) => false,
            (State::Unreadable, None) => self.disk.file.is_some(),
            (State::Running, Some(Status::Running)) => status.session.is_some() && status.task.is_some(),
            (State::Waiting, Some(Status::Pending)) => self.may_wait(status.shown.reason),
            (State::Held | State::Paused, Some(Status::Pending)) => true,
            (State::Paused, status) => status != Some(Status::Running),
            (State::Idle, None) => self.disk.file.is_none(),
            (State::Idle, Some(Status::Idle | Status::Complete | Status::Error)) => true,
            _ => false,
        };
        if !allowed || status.why.is_none() != (state == State::Idle && status.shown.reason.is_none()) {
            let reason = status.shown.reason;
            let file = self.disk.file.as_ref().map(|entry| &entry.bytes);
            let text = format!("it rests in {state:?} {reason:?}, the file holds {file:?}, why: {:?}", status.why);
            self.fail(text);
        }
        if seen != self.disk.file.as_ref().map(|entry| hash_of(&entry.bytes)) {
            self.fail("it rests on an old reading of the file");
        }
    }

    fn may_wait(&self, reason: Option<Reason>) -> bool {
        let connected = self.wires.iter().any(|wire| wire.open);
        let busy = self.sessions.iter().any(|session| session.wire.is_some() && session.busy);
        match reason {
            Some(Reason::NoSession) => !connected,
            Some(Reason::Busy) => busy,
            _ => false,
        }
    }
}
