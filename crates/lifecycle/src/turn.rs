//! The turn of an accepted task's session: idle moments, the reminder, the end without a report (D25). Delivery is
//! not decided here.

use queue::DispatchId;

use crate::Conn;
use crate::effect::{Effect, Fact, Outgoing};
use crate::event::BusyWith;
use crate::settings::QUIET_BEFORE_REMIND;
use crate::state::{Delivery, Out, Presence, Project, Running, Task, Turn};

impl Project {
    pub(crate) fn activity(&mut self, conn: Conn, idle: bool, hint: Option<BusyWith>, out: &mut Out) {
        self.sign_of_life(conn, None, out);
        let accepted = self.run_on(conn).map(|run| run.delivery == Delivery::Accepted);
        let Some(session) = self.sessions.by_conn(conn) else { return };
        let was = session.idle;
        session.idle = idle;
        session.busy_with = hint.filter(|_| !idle);
        if !idle {
            self.told_busy(conn);
            return;
        }
        if accepted != Some(false) {
            session.engaged = false;
        }
        self.idle_after_refusal(conn);
        // A repeated "idle" is no new moment; one that follows a dispatch's acceptance is.
        if accepted == Some(true) && (!was || self.awaits_idle(conn)) {
            self.idle_moment(None, out);
        }
    }

    /// A new idle moment ends the wait after a refusal (D69).
    fn idle_after_refusal(&mut self, conn: Conn) {
        if let Some(run) = self.run_on(conn)
            && let Delivery::Refused { again } = &mut run.delivery
        {
            *again = None;
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

    pub(crate) fn turn_settled(
        &mut self,
        conn: Conn,
        dispatch: Option<DispatchId>,
        aborted: Option<&str>,
        out: &mut Out,
    ) {
        self.sign_of_life(conn, dispatch, out);
        let pending = self.run_on(conn).is_some_and(|run| run.delivery != Delivery::Accepted);
        let foreign = matches!((dispatch, self.run_on(conn)), (Some(theirs), Some(run)) if run.dispatch != theirs);
        let Some(session) = self.sessions.by_conn(conn) else { return };
        session.idle = true;
        if pending {
            self.idle_after_refusal(conn);
            return; // the turn of before the dispatch
        }
        session.engaged = false;
        if !foreign && self.run_on(conn).is_some() {
            self.idle_moment(aborted, out);
        }
    }

    /// The accepted dispatch's session is idle and there is no report (D25).
    pub(crate) fn idle_moment(&mut self, aborted: Option<&str>, out: &mut Out) {
        let now = out.now.awake;
        if let Some(owner) = &mut self.sessions.owner {
            owner.engaged = false;
        }
        let halted = self.halt.replaced;
        let Task::Running(run) = &mut self.task else { return };
        // While halted no report can be accepted, so none is asked for; `catch_up_idle` makes up for it.
        if run.cancelling.is_some() || (halted && aborted.is_none()) {
            return;
        }
        if run.background {
            if !run.has_live_background() && run.turn == Turn::Working {
                run.turn = Turn::Quiet { remind: now.plus(QUIET_BEFORE_REMIND) };
            }
            return;
        }
        if let Some(why) = aborted {
            let said = if why.is_empty() { String::new() } else { format!(" The session says: {why}") };
            self.end_by_us(format!("The turn was aborted without a report.{said}"), out);
            return;
        }
        match run.turn {
            Turn::Working => {
                run.turn = Turn::Reminded { armed: false, until: Some(now.plus(run.settings.accept_timeout)) };
                self.remind(out);
            }
            Turn::Reminded { armed: true, .. } => self.end_without_report(out),
            Turn::Reminded { armed: false, .. } | Turn::Quiet { .. } | Turn::Owing { .. } => {}
        }
    }

    /// The session is idle already and its moment could not count when it came: it counts now.
    pub(crate) fn catch_up_idle(&mut self, out: &mut Out) {
        let Task::Running(run) = &self.task else { return };
        let Presence::Here(conn) = run.presence else { return };
        let idle = self.sessions.owner.as_ref().is_some_and(|own| own.conn == conn && own.idle && !own.engaged);
        if idle && run.delivery == Delivery::Accepted && run.turn == Turn::Working {
            self.idle_moment(None, out);
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
            out.push(Effect::Record(Fact::Reminded(run.dispatch)));
        }
    }

    pub(crate) fn remind_answered(&mut self, conn: Conn, dispatch: DispatchId, out: &mut Out) {
        self.sign_of_life(conn, Some(dispatch), out);
        if let Some(run) = self.run_on(conn).filter(|run| run.dispatch == dispatch)
            && let Turn::Reminded { armed, .. } = &mut run.turn
        {
            // `until` stays: `settled` may have overtaken this answer, and then no other moment comes.
            *armed = true;
        }
    }

    /// A run changed: it may be work after a reminder, or the last of the background runs has ended.
    pub(crate) fn turn_after_run(&mut self, live: bool, background: bool, out: &mut Out) {
        let Task::Running(run) = &mut self.task else { return };
        run.turn = match run.turn {
            _ if live && background => Turn::Working,
            Turn::Reminded { .. } if live => Turn::Reminded { armed: true, until: None },
            // A launch that was refused never was a background run (D49).
            Turn::Quiet { .. } | Turn::Owing { .. } if !run.background => Turn::Working,
            turn => turn,
        };
        self.catch_up_idle(out);
    }

    pub(crate) fn expire_turn(&mut self, out: &mut Out) {
        let now = out.now.awake;
        let Task::Running(run) = &mut self.task else { return };
        match run.turn {
            Turn::Reminded { until: Some(until), .. } if now >= until => self.end_without_report(out),
            Turn::Quiet { remind } if now >= remind => {
                run.turn = Turn::Owing { until: now.plus(run.settings.async_grace) };
                if !std::mem::replace(&mut run.reminded, true) {
                    self.remind(out);
                }
            }
            Turn::Owing { until } if now >= until => {
                self.end_by_us("The background runs ended, but no valid report came in time.".into(), out);
            }
            _ => {}
        }
    }
}

impl Running {
    pub(crate) fn has_live_background(&self) -> bool {
        self.runs.iter().any(|run| run.background && run.state.is_live())
    }
}
