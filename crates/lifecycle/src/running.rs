//! A RUNNING task and its message: delivery, limits of time, cancel (D24, D69, D76).

use queue::DispatchId;

use crate::Conn;
use crate::effect::{Effect, Fact, Level, Outgoing};
use crate::event::Answer;
use crate::reply::SessionReach;
use crate::settings::{CANCEL_WAIT, LOOK_AGAIN, MAX_SENDS, RESEND_IDLE, SEND_WINDOW};
use crate::state::{Cancelling, Delivery, Out, Presence, Project, Running, Stopping, Task, Turn};
use crate::time::{Awake, Wall};

const NEVER_ACCEPTED: &str = "The session never accepted it.";

impl Project {
    /// The running task, if `conn` is its session's connection.
    pub(crate) fn run_on(&mut self, conn: Conn) -> Option<&mut Running> {
        match &mut self.task {
            Task::Running(run) if matches!(run.presence, Presence::Here(here) if here == conn) => Some(run),
            _ => None,
        }
    }

    /// Every message of a session is a sign of life; one that names the dispatch is its acceptance (D69).
    pub(crate) fn sign_of_life(&mut self, conn: Conn, names: Option<DispatchId>, out: &mut Out) {
        let now = out.now;
        if let Some(session) = self.sessions.by_conn(conn) {
            session.last_seen = now.wall;
        }
        let Some(run) = self.run_on(conn) else { return };
        run.last_sign = now.awake;
        run.last_seen = now.wall;
        if names == Some(run.dispatch) {
            let dispatch = run.dispatch;
            self.accepted(dispatch, out);
        }
    }

    pub(crate) fn accepted(&mut self, dispatch: DispatchId, out: &mut Out) {
        let Task::Running(run) = &mut self.task else { return };
        if run.dispatch == dispatch && run.delivery != Delivery::Accepted {
            run.delivery = Delivery::Accepted;
            run.turn = Turn::Working;
            out.push(Effect::Record(Fact::Accepted(dispatch)));
        }
    }

    pub(crate) fn answered(&mut self, conn: Conn, dispatch: DispatchId, answer: Answer, out: &mut Out) {
        let now = out.now.awake;
        let Some(run) = self.run_on(conn).filter(|run| run.dispatch == dispatch) else {
            self.answered_late(conn, dispatch, answer, out);
            return;
        };
        if answer == Answer::Accepted {
            self.sign_of_life(conn, Some(dispatch), out);
            return;
        }
        if run.delivery == Delivery::Accepted {
            return; // a refusal that contradicts what the session did already
        }
        let again = (answer == Answer::Refused).then(|| now.plus(RESEND_IDLE));
        self.not_delivered(conn, dispatch, again, out);
    }

    /// Proof that what went out on `conn` was not delivered: the same dispatch is sent again at the next idle moment
    /// (D69). It proves nothing of what went out on another connection since.
    pub(crate) fn not_delivered(&mut self, conn: Conn, dispatch: DispatchId, again: Option<Awake>, out: &mut Out) {
        let Task::Running(run) = &mut self.task else { return };
        let sent_there = matches!(run.delivery, Delivery::Sent { conn: there, .. } if there == conn);
        if run.dispatch != dispatch || !sent_there {
            return;
        }
        run.delivery = Delivery::Refused { again };
        out.push(Effect::Record(Fact::NotAccepted(dispatch)));
        let spent = run.sends >= MAX_SENDS;
        if let Some(owner) = &mut self.sessions.owner {
            // "Busy" takes back what it had said; another refusal does not, so it is asked again after a while.
            owner.idle = owner.idle && again.is_some();
            owner.engaged = false;
        }
        if spent {
            self.end_by_us(NEVER_ACCEPTED.into(), out);
        }
    }

    /// An acceptance that comes after its task has ended is answered by a cancel and a notice (D69).
    fn answered_late(&mut self, conn: Conn, dispatch: DispatchId, answer: Answer, out: &mut Out) {
        let current = matches!(&self.task, Task::Running(run) if run.dispatch == dispatch);
        if answer != Answer::Accepted || current || self.sessions.by_conn(conn).is_none() {
            return;
        }
        let reason = "the task has ended without this acceptance".to_owned();
        out.push(Effect::Send { conn, message: Outgoing::Cancel { dispatch, reason } });
        let text = "A session accepted a task that had already ended; it was told to stop.".to_owned();
        out.push(Effect::Send { conn, message: Outgoing::Notice(Level::Warning, text.clone()) });
        out.push(Effect::Record(Fact::Notice(Level::Warning, text)));
    }

    pub(crate) fn process_stopped(&mut self, process: crate::Process, stopped: bool) {
        let all = self.sessions.owner.iter_mut().map(|owner| &mut **owner).chain(&mut self.sessions.standby);
        for session in all.filter(|session| session.who.process == process) {
            session.stopped = stopped;
            session.stopped_until = None;
        }
    }

    /// A claim found the owner's process stopped; nobody may ever tell that it goes on.
    pub(crate) fn seen_stopped(&mut self, process: crate::Process, out: &Out) {
        self.process_stopped(process, true);
        if let Some(owner) = self.sessions.owner.as_mut().filter(|owner| owner.who.process == process) {
            owner.stopped_until = Some(out.now.awake.plus(LOOK_AGAIN));
        }
    }

    pub(crate) fn expire_stopped(&mut self, out: &Out) {
        if let Some(owner) = &mut self.sessions.owner
            && owner.stopped_until.is_some_and(|until| out.now.awake >= until)
        {
            (owner.stopped, owner.stopped_until) = (false, None);
        }
    }

    /// Sends the message if it waits and the session is idle, connected and really the owner.
    pub(crate) fn deliver(&mut self, out: &mut Out) {
        let now = out.now;
        if self.halt.any() || !self.is_bound() || self.stopping != Stopping::No {
            return;
        }
        let Task::Running(run) = &mut self.task else { return };
        let Presence::Here(conn) = run.presence else { return };
        // Its attach is answered before anything else is said to it.
        let Some(owner) = self.sessions.owner.as_mut().filter(|owner| owner.conn == conn && owner.announced) else {
            return;
        };
        let due = match run.delivery {
            Delivery::Waiting | Delivery::Refused { again: None } => owner.free(),
            Delivery::Refused { again: Some(at) } => owner.free() && now.awake >= at,
            Delivery::Sent { .. } | Delivery::Accepted | Delivery::Unknown => false,
        };
        if !due || run.cancelling.is_some() {
            return;
        }
        owner.engaged = true;
        run.sends = run.sends.saturating_add(1);
        run.delivery = Delivery::Sent { conn, until: now.awake.plus(run.settings.accept_timeout) };
        let wait = i64::try_from(run.settings.accept_timeout).unwrap_or(i64::MAX);
        let expires = Wall(now.wall.0.saturating_add(wait));
        out.push(Effect::Record(Fact::Sent(run.dispatch)));
        out.push(Effect::Send { conn, message: Outgoing::Dispatch { dispatch: run.dispatch, expires } });
    }

    /// The limits of time of a running task (D24, D25, D69, D76).
    pub(crate) fn expire_run(&mut self, out: &mut Out) {
        let now = out.now.awake;
        let halted = self.halt.replaced;
        let Task::Running(run) = &mut self.task else { return };
        if run.cancelling.as_ref().is_some_and(|cancel| now >= cancel.until) {
            self.finish_cancel(SessionReach::NotReached, out);
            return;
        }
        if halted {
            return; // the file holds something else: no end of this task could be written
        }
        self.expire_presence(out);
        let Task::Running(run) = &mut self.task else { return };
        let silent = run.settings.silence_timeout.is_some_and(|ms| now >= run.last_sign.plus(ms));
        if let Delivery::Sent { until, .. } = run.delivery
            && now >= until
        {
            self.end_with_cancel("Delivery was not confirmed; its effects are unknown.", out);
        } else if run.delivery != Delivery::Accepted && run.undelivered() && now >= run.first_try.plus(SEND_WINDOW) {
            self.end_by_us(NEVER_ACCEPTED.into(), out);
        } else if run.runtime_until.is_some_and(|until| now >= until) {
            self.end_with_cancel("The task ran longer than task.max_runtime allows.", out);
        } else if silent {
            self.end_with_cancel("The session gave no sign of life for task.silence_timeout.", out);
        } else {
            self.expire_turn(out);
        }
    }

    fn end_with_cancel(&mut self, text: &str, out: &mut Out) {
        if let Task::Running(run) = &self.task
            && let Presence::Here(conn) = run.presence
        {
            let message = Outgoing::Cancel { dispatch: run.dispatch, reason: text.to_owned() };
            out.push(Effect::Send { conn, message });
        }
        self.end_by_us(text.to_owned(), out);
    }

    /// Begins a cancel of the RUNNING task (D76).
    pub(crate) fn cancel_running(&mut self, req: Option<crate::Req>, reason: String, out: &mut Out) {
        let until = out.now.awake.plus(CANCEL_WAIT);
        let Task::Running(run) = &mut self.task else { return };
        if let Some(cancel) = &mut run.cancelling {
            cancel.requests.extend(req);
            return;
        }
        run.cancelling = Some(Cancelling { reason: reason.clone(), requests: req.into_iter().collect(), until });
        let reachable = matches!(run.presence, Presence::Here(_)) && !run.undelivered();
        match run.presence {
            Presence::Here(conn) if reachable => {
                let message = Outgoing::Cancel { dispatch: run.dispatch, reason };
                out.push(Effect::Send { conn, message });
            }
            _ => self.finish_cancel(SessionReach::NotReached, out),
        }
    }

    pub(crate) fn cancel_answered(&mut self, conn: Conn, dispatch: DispatchId, aborted: bool, out: &mut Out) {
        self.sign_of_life(conn, None, out);
        if self.run_on(conn).is_some_and(|run| run.dispatch == dispatch && run.cancelling.is_some()) {
            self.finish_cancel(if aborted { SessionReach::Aborted } else { SessionReach::Told }, out);
        }
    }
}

impl Running {
    /// Nothing of it is, or may be, in the conversation.
    pub(crate) const fn undelivered(&self) -> bool {
        matches!(self.delivery, Delivery::Waiting | Delivery::Refused { .. })
    }

    /// The moments at which something ends the task.
    fn ends(&self) -> impl Iterator<Item = Awake> {
        let delivery = match self.delivery {
            Delivery::Sent { until, .. } => Some(until),
            Delivery::Waiting | Delivery::Refused { .. } => Some(self.first_try.plus(SEND_WINDOW)),
            Delivery::Accepted | Delivery::Unknown => None,
        };
        let turn = match self.turn {
            Turn::Reminded { until, .. } => until,
            Turn::Owing { until } => Some(until),
            Turn::Working | Turn::Quiet { .. } => None,
        };
        let silence = self.settings.silence_timeout.map(|ms| self.last_sign.plus(ms));
        let cancel = self.cancelling.as_ref().map(|cancel| cancel.until);
        [delivery, turn, silence, cancel, self.runtime_until, self.presence.until()].into_iter().flatten()
    }

    /// When something ends the task, if nothing happens until then.
    pub(crate) fn ends_at(&self) -> Option<Awake> {
        self.ends().min()
    }

    /// Everything that waits for a moment.
    pub(crate) fn deadlines(&self) -> impl Iterator<Item = Awake> {
        let again = match self.delivery {
            Delivery::Refused { again } => again,
            _ => None,
        };
        let quiet = match self.turn {
            Turn::Quiet { remind } => Some(remind),
            _ => None,
        };
        self.ends().chain(again).chain(quiet)
    }
}
