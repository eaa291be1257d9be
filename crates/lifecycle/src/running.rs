//! A RUNNING task with its session: delivery, turn, runs, limits of time (D24, D25, D49, D69, D76).

use queue::{DispatchId, Run};

use crate::Conn;
use crate::effect::{Effect, Fact, Level, Outgoing};
use crate::event::Answer;
use crate::settings::{CANCEL_WAIT, MAX_SENDS, QUIET_BEFORE_REMIND, RESEND_IDLE, SEND_WINDOW};
use crate::state::{Cancelling, Delivery, Out, Presence, Project, Running, Task, Turn};
use crate::time::{Awake, Wall};

const NEVER_ACCEPTED: &str = "The session never accepted it.";

impl Project {
    /// The running task, if `conn` is its session's connection.
    fn run_on(&mut self, conn: Conn) -> Option<&mut Running> {
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
        self.not_delivered(dispatch, again, out);
    }

    /// Proof of non-delivery: the same dispatch is sent again at the next idle moment (D69).
    pub(crate) fn not_delivered(&mut self, dispatch: DispatchId, again: Option<Awake>, out: &mut Out) {
        let Task::Running(run) = &mut self.task else { return };
        if run.dispatch != dispatch || run.delivery == Delivery::Accepted {
            return;
        }
        run.delivery = Delivery::Refused { again };
        out.push(Effect::Record(Fact::NotAccepted(dispatch)));
        let spent = run.sends >= MAX_SENDS;
        if let Some(owner) = &mut self.sessions.owner {
            owner.idle = false;
            owner.engaged = false;
        }
        if spent {
            self.end_by_us(NEVER_ACCEPTED.into(), out);
        }
    }

    /// An acceptance that comes after its task has ended is answered by a cancel and a notice (D69).
    fn answered_late(&mut self, conn: Conn, dispatch: DispatchId, answer: Answer, out: &mut Out) {
        let current = self.run().is_some_and(|run| run.dispatch == dispatch);
        if answer != Answer::Accepted || current || self.sessions.by_conn(conn).is_none() {
            return;
        }
        let reason = "the task has ended without this acceptance".to_owned();
        out.push(Effect::Send { conn, message: Outgoing::Cancel { dispatch, reason } });
        let text = "A session accepted a task that had already ended; it was told to stop.".to_owned();
        out.push(Effect::Send { conn, message: Outgoing::Notice(Level::Warning, text.clone()) });
        out.push(Effect::Record(Fact::Notice(Level::Warning, text)));
    }

    pub(crate) fn activity(&mut self, conn: Conn, idle: bool, out: &mut Out) {
        self.sign_of_life(conn, None, out);
        let accepted = self.run_on(conn).map(|run| run.delivery == Delivery::Accepted);
        let Some(session) = self.sessions.by_conn(conn) else { return };
        let was = session.idle;
        session.idle = idle;
        if !idle {
            self.told_busy(conn);
            return;
        }
        if accepted != Some(false) {
            session.engaged = false;
        }
        // A repeated "idle" is no new moment; one that follows a dispatch's acceptance is.
        if accepted == Some(true) && (!was || self.awaits_idle(conn)) {
            self.idle_moment(false, out);
        }
    }

    fn awaits_idle(&mut self, conn: Conn) -> bool {
        self.run_on(conn).is_some_and(|run| matches!(run.turn, Turn::Working | Turn::Reminded { armed: true, .. }))
    }

    fn told_busy(&mut self, conn: Conn) {
        let Some(run) = self.run_on(conn) else { return };
        match run.turn {
            Turn::Reminded { .. } => run.turn = Turn::Reminded { armed: true, until: None },
            Turn::Quiet { .. } => run.turn = Turn::Working,
            Turn::Working | Turn::Owing { .. } => {}
        }
    }

    pub(crate) fn turn_settled(&mut self, conn: Conn, dispatch: Option<DispatchId>, aborted: bool, out: &mut Out) {
        self.sign_of_life(conn, dispatch, out);
        let pending = self.run_on(conn).is_some_and(|run| run.delivery != Delivery::Accepted);
        let foreign = matches!((dispatch, self.run_on(conn)), (Some(theirs), Some(run)) if run.dispatch != theirs);
        let Some(session) = self.sessions.by_conn(conn) else { return };
        session.idle = true;
        if pending {
            return; // the turn of before the dispatch
        }
        session.engaged = false;
        if !foreign && self.run_on(conn).is_some() {
            self.idle_moment(aborted, out);
        }
    }

    /// The accepted dispatch's session is idle and there is no report (D25).
    pub(crate) fn idle_moment(&mut self, aborted: bool, out: &mut Out) {
        let now = out.now.awake;
        if let Some(owner) = &mut self.sessions.owner {
            owner.engaged = false;
        }
        let Task::Running(run) = &mut self.task else { return };
        if run.cancelling.is_some() {
            return;
        }
        if run.background {
            let live = run.runs.iter().any(|run| run.background && run.state.is_live());
            if !live && run.turn == Turn::Working {
                run.turn = Turn::Quiet { remind: now.plus(QUIET_BEFORE_REMIND) };
            }
            return;
        }
        match run.turn {
            _ if aborted => self.end_by_us("The turn was aborted without a report.".into(), out),
            Turn::Working => {
                run.turn = Turn::Reminded { armed: false, until: Some(now.plus(run.settings.accept_timeout)) };
                self.remind(out);
            }
            Turn::Reminded { armed: true, .. } => self.end_without_report(out),
            Turn::Reminded { armed: false, .. } | Turn::Quiet { .. } | Turn::Owing { .. } => {}
        }
    }

    fn end_without_report(&mut self, out: &mut Out) {
        self.end_by_us("The turn ended without a valid report.".into(), out);
    }

    fn remind(&self, out: &mut Out) {
        if let Task::Running(run) = &self.task
            && let Presence::Here(conn) = run.presence
        {
            out.push(Effect::Send { conn, message: Outgoing::Remind(run.dispatch) });
        }
    }

    pub(crate) fn remind_answered(&mut self, conn: Conn, dispatch: DispatchId) {
        if let Some(run) = self.run_on(conn).filter(|run| run.dispatch == dispatch)
            && let Turn::Reminded { armed, .. } = &mut run.turn
        {
            *armed = true;
        }
    }

    pub(crate) fn run_seen(&mut self, conn: Conn, dispatch: DispatchId, seen: Run, out: &mut Out) {
        self.sign_of_life(conn, Some(dispatch), out);
        self.lingering_run(dispatch, &seen);
        let idle = self.sessions.owner.as_ref().is_some_and(|owner| owner.conn == conn && owner.free());
        let Some(run) = self.run_on(conn).filter(|run| run.dispatch == dispatch) else { return };
        let changed = note_run(&mut run.runs, &seen);
        if seen.background && seen.state != queue::RunState::Rejected {
            run.background = true;
        }
        if seen.state.is_live() && matches!(run.turn, Turn::Quiet { .. } | Turn::Reminded { .. }) {
            run.turn = Turn::Working;
        }
        if changed {
            out.push(Effect::Record(Fact::Run(dispatch, seen)));
        }
        if idle {
            self.idle_after_runs(out);
        }
    }

    /// The last background run ended while the session was idle already.
    fn idle_after_runs(&mut self, out: &mut Out) {
        if matches!(&self.task, Task::Running(run) if run.background && run.turn == Turn::Working) {
            self.idle_moment(false, out);
        }
    }

    /// Processes of runs are gone: they cannot hold dispatch any more (D66).
    pub(crate) fn runs_gone(&mut self, ids: &[String]) {
        if let Some(lingering) = &mut self.lingering {
            lingering.runs.retain(|run| !ids.contains(&run.run_id));
            if lingering.runs.is_empty() {
                self.lingering = None;
            }
        }
    }

    fn lingering_run(&mut self, dispatch: DispatchId, seen: &Run) {
        if self.lingering.as_ref().is_some_and(|lingering| lingering.dispatch == dispatch) && !seen.state.is_live() {
            self.runs_gone(std::slice::from_ref(&seen.run_id));
        }
    }

    pub(crate) fn process_stopped(&mut self, process: crate::Process, stopped: bool) {
        let all = self.sessions.owner.iter_mut().map(|owner| &mut **owner).chain(&mut self.sessions.standby);
        for session in all.filter(|session| session.who.process == process) {
            session.stopped = stopped;
        }
    }

    /// Sends the message if it waits and the session is idle, connected and really the owner.
    pub(crate) fn deliver(&mut self, out: &mut Out) {
        let now = out.now;
        if self.halt.is_some() || !self.is_bound() {
            return;
        }
        let Task::Running(run) = &mut self.task else { return };
        let Presence::Here(conn) = run.presence else { return };
        let Some(owner) = self.sessions.owner.as_mut().filter(|owner| owner.conn == conn) else { return };
        let due = match run.delivery {
            Delivery::Waiting | Delivery::Refused { again: None } => owner.free(),
            Delivery::Refused { again: Some(at) } => owner.free() || (now.awake >= at && !owner.stopped),
            Delivery::Sent { .. } | Delivery::Accepted | Delivery::Unknown => false,
        };
        if !due || run.cancelling.is_some() {
            return;
        }
        owner.engaged = true;
        run.sends = run.sends.saturating_add(1);
        run.delivery = Delivery::Sent { until: now.awake.plus(run.settings.accept_timeout) };
        let wait = i64::try_from(run.settings.accept_timeout).unwrap_or(i64::MAX);
        let expires = Wall(now.wall.0.saturating_add(wait));
        out.push(Effect::Send { conn, message: Outgoing::Dispatch { dispatch: run.dispatch, expires } });
        out.push(Effect::Record(Fact::Sent(run.dispatch)));
    }

    /// The limits of time of a running task (D24, D25, D69, D76).
    pub(crate) fn expire_run(&mut self, out: &mut Out) {
        self.expire_presence(out);
        let now = out.now.awake;
        let Task::Running(run) = &mut self.task else { return };
        if run.cancelling.as_ref().is_some_and(|cancel| now >= cancel.until) {
            self.finish_cancel(false, out);
            return;
        }
        let over = |limit: Option<u64>, from: Awake| limit.is_some_and(|ms| now >= from.plus(ms));
        if let Delivery::Sent { until } = run.delivery
            && now >= until
        {
            self.end_with_cancel("Delivery was not confirmed; its effects are unknown.", out);
        } else if run.delivery != Delivery::Accepted && run.undelivered() && now >= run.first_try.plus(SEND_WINDOW) {
            self.end_by_us(NEVER_ACCEPTED.into(), out);
        } else if over(run.settings.max_runtime, run.started_awake) {
            self.end_with_cancel("The task ran longer than task.max_runtime allows.", out);
        } else if over(run.settings.silence_timeout, run.last_sign) {
            self.end_with_cancel("The session gave no sign of life for task.silence_timeout.", out);
        } else {
            self.expire_turn(out);
        }
    }

    fn expire_turn(&mut self, out: &mut Out) {
        let now = out.now.awake;
        let Task::Running(run) = &mut self.task else { return };
        match run.turn {
            Turn::Reminded { until: Some(until), .. } if now >= until => self.end_without_report(out),
            Turn::Quiet { remind } if now >= remind => {
                run.turn = Turn::Owing { until: now.plus(run.settings.async_grace) };
                self.remind(out);
            }
            Turn::Owing { until } if now >= until => {
                self.end_by_us("The background runs ended, but no valid report came in time.".into(), out);
            }
            _ => {}
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
            _ => self.finish_cancel(false, out),
        }
    }

    pub(crate) fn cancel_answered(&mut self, conn: Conn, dispatch: DispatchId, aborted: bool, out: &mut Out) {
        if self.run_on(conn).is_some_and(|run| run.dispatch == dispatch && run.cancelling.is_some()) {
            self.finish_cancel(aborted, out);
        }
    }
}

impl Running {
    /// Nothing of it is, or may be, in the conversation.
    pub(crate) const fn undelivered(&self) -> bool {
        matches!(self.delivery, Delivery::Waiting | Delivery::Refused { .. })
    }

    pub(crate) fn deadline(&self) -> Option<Awake> {
        let after = |limit: Option<u64>, from: Awake| limit.map(|ms| from.plus(ms));
        let delivery = match self.delivery {
            Delivery::Sent { until } => Some(until),
            Delivery::Waiting | Delivery::Refused { .. } => Some(self.first_try.plus(SEND_WINDOW)),
            Delivery::Accepted | Delivery::Unknown => None,
        };
        let again = match self.delivery {
            Delivery::Refused { again } => again,
            _ => None,
        };
        let turn = match self.turn {
            Turn::Reminded { until, .. } => until,
            Turn::Quiet { remind: at } | Turn::Owing { until: at } => Some(at),
            Turn::Working => None,
        };
        let limits = [
            after(self.settings.max_runtime, self.started_awake),
            after(self.settings.silence_timeout, self.last_sign),
        ];
        [delivery, again, turn, self.presence.until(), self.cancelling.as_ref().map(|cancel| cancel.until)]
            .into_iter()
            .chain(limits)
            .flatten()
            .min()
    }
}

/// Keeps the newest state of a run; an ended run never becomes live again. `true` if that changed anything.
fn note_run(runs: &mut Vec<Run>, seen: &Run) -> bool {
    match runs.iter_mut().find(|run| run.run_id == seen.run_id) {
        Some(known) if !known.state.is_live() && seen.state.is_live() => false,
        Some(known) if known == seen => false,
        Some(known) => {
            known.clone_from(seen);
            true
        }
        None => {
            runs.push(seen.clone());
            true
        }
    }
}
