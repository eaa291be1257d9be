//! Losing the owner's session while a task is RUNNING, and getting it back (D21–D23).

use crate::done::Recovered;
use crate::effect::{Effect, Fact, Level, Outgoing};
use crate::event::{Known, LeaveReason};
use crate::runs::observed_background;
use crate::sessions::{Identity, Session};
use crate::state::{Delivery, Out, Presence, Project, Running, Task, Turn};
use crate::time::{Awake, Wall};
use crate::view::{Facts, RawHash, TaskMeta};
use crate::{Conn, Process};

/// What every attempt to run a task again is refused with (D22).
const ORPHAN: &str = "Unowned RUNNING task: its effects are unknown, so it is never rerun.";
/// Said where non-delivery is proven (D22).
const SAFE: &str = "It was not delivered; submitting it again is safe.";
/// The socket has accepted connections for at least this long before a lost session is given up (D22).
const FIRST_GRACE: u64 = 30_000;

impl Project {
    pub(crate) fn leaving(&mut self, conn: Conn, reason: LeaveReason, out: &mut Out) {
        let ours = self.runs_on(conn);
        let claimed = self.sessions.owner_conn() == Some(conn);
        self.refuse_arrival(conn, out);
        self.forget(conn, reason != LeaveReason::Quit, "left", out);
        let text = match reason {
            LeaveReason::Reload => None,
            LeaveReason::Other => Some("The session left the task's conversation without a report."),
            LeaveReason::Quit => Some("The session ended without a report."),
        };
        match (text, &mut self.task) {
            (Some(text), Task::Claiming(claim)) if claimed => claim.gone = Some(text),
            (Some(text), _) if ours => {
                self.lost(text, reason == LeaveReason::Other, out);
                if let Task::Running(run) = &mut self.task {
                    run.left = reason == LeaveReason::Other;
                }
            }
            (None, _) if ours => self.away(true, out),
            _ => {}
        }
    }

    pub(crate) fn closed(&mut self, conn: Conn, out: &mut Out) {
        let ours = self.runs_on(conn);
        self.forget(conn, true, "lost", out);
        if ours {
            self.away(true, out);
        }
    }

    pub(crate) fn process_gone(&mut self, process: Process, out: &mut Out) {
        if self.sessions.kept.is_some_and(|(kept, _)| kept == process) {
            self.sessions.kept = None;
        }
        let conns: Vec<Conn> = self
            .sessions
            .owner
            .iter()
            .map(|owner| &**owner)
            .chain(&self.sessions.standby)
            .chain(&self.sessions.arriving)
            .filter(|session| session.who.process == process)
            .map(|session| session.conn)
            .collect();
        for conn in conns {
            self.refuse_arrival(conn, out);
            self.forget(conn, false, "lost", out);
        }
        let text = "The session's process ended without a report.";
        if self.run().is_some_and(|run| run.owner.process == process) {
            self.lost(text, false, out);
        } else if let Task::Claiming(claim) = &mut self.task
            && claim.owner.process == process
        {
            claim.gone = Some(text);
        }
    }

    /// A gap in awake time: every connection gets one fresh `reconnect_grace` after it (D21).
    pub(crate) fn woke(&mut self, out: &Out) {
        if let Some((_, until)) = &mut self.sessions.kept {
            *until = (*until).max(out.now.awake.plus(crate::settings::PLACE_KEPT));
        }
        if let Task::Running(run) = &mut self.task
            && let Presence::Away { until, .. } = &mut run.presence
        {
            *until = (*until).max(out.now.awake.plus(run.settings.reconnect_grace));
        }
    }

    fn runs_on(&self, conn: Conn) -> bool {
        matches!(self.run(), Some(Running { presence: Presence::Here(here), .. }) if *here == conn)
    }

    /// The process lives: the same session is awaited.
    fn away(&mut self, process_alive: bool, out: &Out) {
        let now = out.now;
        let change = |run: &mut Running| {
            let grace = if run.background { run.settings.async_grace } else { run.settings.reconnect_grace };
            run.presence = Presence::Away { since: now.wall, until: now.awake.plus(grace), process_alive };
            if matches!(run.turn, Turn::Quiet { .. }) {
                run.turn = Turn::Working;
            }
        };
        match &mut self.task {
            Task::Running(run) => change(run),
            Task::Ending(ending) => ending.run.as_deref_mut().into_iter().for_each(change),
            Task::None | Task::Claiming(_) | Task::Rejecting(_) => {}
        }
    }

    /// The session will not come back by itself: ERROR, unless a background run was observed.
    fn lost(&mut self, text: &str, process_alive: bool, out: &mut Out) {
        let Task::Running(run) = &self.task else {
            self.away(process_alive, out);
            return;
        };
        if run.background {
            let keep = match run.presence {
                Presence::Away { since, until, .. } => Some((since, until)),
                Presence::Here(_) => None,
            };
            self.away(process_alive, out);
            if let (Some((at, end)), Task::Running(run)) = (keep, &mut self.task)
                && let Presence::Away { since, until, .. } = &mut run.presence
            {
                (*since, *until) = (at, end);
            }
            return;
        }
        let text = format!("{text}{}", delivery_note(run.delivery));
        self.end_by_us(text, out);
    }

    /// The wait for the session is over (D21).
    pub(crate) fn expire_presence(&mut self, out: &mut Out) {
        let Task::Running(run) = &self.task else { return };
        let Presence::Away { until, .. } = run.presence else { return };
        if out.now.awake < until {
            return;
        }
        let grace = if run.background { run.settings.async_grace } else { run.settings.reconnect_grace };
        let text = format!(
            "The session was lost and did not come back within {}.{}",
            crate::why::duration(grace),
            delivery_note(run.delivery)
        );
        self.end_by_us(text, out);
    }

    /// The session with the task's id is back (D23).
    pub(crate) fn reattach(&mut self, session: Session, out: &mut Out) {
        let conn = session.conn;
        let idle = session.idle;
        let known = session.known;
        let wall = out.now.wall;
        let awake = out.now.awake;
        let mut who = None;
        if let Task::Running(run) = &mut self.task {
            run.presence = Presence::Here(conn);
            run.left = false;
            run.owner = session.who.clone();
            run.last_sign = awake;
            run.last_seen = wall;
            who = Some(run.dispatch);
        } else if let Task::Ending(ending) = &mut self.task
            && let Some(run) = ending.run.as_deref_mut()
        {
            run.presence = Presence::Here(conn);
            run.left = false;
            run.owner = session.who.clone();
        }
        self.take_place(session, out);
        if let Some(dispatch) = who {
            self.reconcile(dispatch, known, idle, out);
        }
    }

    /// What the session knows decides what the reconnect means (wire protocol, `known_dispatch`).
    fn reconcile(&mut self, dispatch: queue::DispatchId, known: Known, idle: bool, out: &mut Out) {
        let Task::Running(run) = &mut self.task else { return };
        let was_accepted = run.delivery == Delivery::Accepted || !run.runs.is_empty();
        let delivered = matches!(known, Known::Some { dispatch: theirs, delivered: true } if theirs == dispatch);
        if run.undelivered() && !delivered && run.runs.is_empty() {
            return; // proven already, whatever its records are
        }
        if delivered || was_accepted {
            self.accepted(dispatch, out);
            if idle {
                self.idle_moment(None, out);
            } else if let Some(owner) = &mut self.sessions.owner {
                owner.engaged = true;
            }
            return;
        }
        if known == Known::NoRecords {
            self.end_by_us("The session cannot say whether it got the task.".into(), out);
        } else if run.proven {
            run.delivery = Delivery::Refused { again: None };
        } else {
            // The journal does not know this dispatch: the file may have come from elsewhere, and must not start work.
            self.end_by_us(ORPHAN.into(), out);
        }
    }

    /// A RUNNING that this daemon did not start: waits for its session, or is an orphan (D22).
    pub(crate) fn adopt(
        &mut self,
        task: TaskMeta,
        hash: RawHash,
        by: Option<queue::DispatchId>,
        facts: Facts,
        out: &mut Out,
    ) {
        let recovered = self.recovered.take().map(|boxed| *boxed);
        match (by, recovered) {
            (Some(dispatch), Some(Recovered { binding: Some(binding), alive }))
                if !facts.ended && (alive || binding.background || observed_background(&facts.runs)) =>
            {
                self.await_recovered(Recovering { task, hash, dispatch, facts, binding, alive }, out);
            }
            (by, recovered) => {
                let session = recovered.and_then(|old| old.binding).map(|binding| binding.session_id);
                let text = orphan_text(by.is_some(), session.as_deref(), &facts);
                self.end_orphan(task, hash, by, facts, text, out);
            }
        }
    }

    /// The task of the daemon before this one waits for its session, as if that had been lost just now (D22).
    fn await_recovered(&mut self, old: Recovering, out: &Out) {
        let Recovering { task, hash, dispatch, facts, binding, alive } = old;
        let now = out.now;
        let since = binding.since.unwrap_or(now.wall);
        let accepted = facts.accepted || !facts.runs.is_empty();
        let ran = elapsed(facts.started, now.wall);
        let mut run = Running {
            dispatch,
            task,
            hash,
            started: facts.started.unwrap_or(now.wall),
            runtime_until: self.settings.max_runtime.map(|ms| now.awake.plus(ms.saturating_sub(ran))),
            proven: facts.started.is_some() || facts.sent || accepted,
            settings: self.settings,
            owner: Identity {
                session_id: binding.session_id,
                process: binding.process,
                host: String::new(),
                file: None,
            },
            presence: Presence::Away { since, until: now.awake, process_alive: alive },
            delivery: if accepted { Delivery::Accepted } else { Delivery::Unknown },
            sends: 0,
            first_try: now.awake,
            turn: Turn::Working,
            runs: facts.runs,
            background: false,
            background_before: binding.background,
            reminded: false,
            refused: false,
            displaced: false,
            last_sign: now.awake,
            last_seen: facts.last_seen.unwrap_or(since),
            cancelling: None,
            left: false,
            gone: Vec::new(),
        };
        run.notice_recovered_runs();
        let grace = if run.background { self.settings.async_grace } else { self.settings.reconnect_grace };
        let left = grace.saturating_sub(elapsed(Some(since), now.wall)).max(FIRST_GRACE);
        run.presence = Presence::Away { since, until: now.awake.plus(left), process_alive: alive };
        self.task = Task::Running(Box::new(run));
    }

    /// A session that was placed before the file could be read takes up the task that was found then.
    pub(crate) fn meet_owner(&mut self, out: &mut Out) {
        let Task::Running(run) = &self.task else { return };
        let Presence::Away { process_alive, .. } = run.presence else { return };
        let theirs = |who: &Identity| {
            who.session_id == run.owner.session_id && (who.process == run.owner.process || !process_alive)
        };
        let Some(owner) = self.sessions.owner.take() else { return };
        if theirs(&owner.who) {
            self.reattach(*owner, out);
        } else {
            self.step_down(*owner, "the task that is running belongs to another session", out);
        }
    }

    pub(crate) fn tell_owner(&self, level: Level, text: String, out: &mut Out) {
        if let Some(conn) = self.sessions.owner_conn() {
            out.push(Effect::Send { conn, message: Outgoing::Notice(level, text.clone()) });
        }
        out.push(Effect::Record(Fact::Notice(level, text)));
    }
}

/// A RUNNING found in the file, with all that is known of it.
struct Recovering {
    task: TaskMeta,
    hash: RawHash,
    dispatch: queue::DispatchId,
    facts: Facts,
    binding: crate::Binding,
    alive: bool,
}

/// Milliseconds by the wall clock, which may have stepped; zero if unknown.
fn elapsed(from: Option<Wall>, to: Wall) -> u64 {
    from.and_then(|from| u64::try_from(to.0.saturating_sub(from.0)).ok()).unwrap_or(0)
}

pub(crate) fn delivery_note(delivery: Delivery) -> String {
    match delivery {
        Delivery::Waiting | Delivery::Refused { .. } => format!(" {SAFE}"),
        Delivery::Sent { .. } | Delivery::Unknown => " Delivery was not confirmed; its effects are unknown.".into(),
        Delivery::Accepted => String::new(),
    }
}

fn orphan_text(ours: bool, session: Option<&str>, facts: &Facts) -> String {
    let mut text = ORPHAN.to_owned();
    if let Some(id) = session {
        text.push_str(&format!(" Its session was {id}."));
    }
    if let Some(seen) = facts.last_seen {
        text.push_str(&format!(" Last sign of life: {}.", crate::why::clock(seen)));
    }
    let live: Vec<&str> = facts.runs.iter().filter(|run| run.state.is_live()).map(|run| run.run_id.as_str()).collect();
    if !live.is_empty() {
        text.push_str(&format!(" Runs that had not ended: {}.", live.join(", ")));
    }
    // "Not delivered" is claimed only where the journal proves that the message never left the daemon; it is not
    // synced, so it proves nothing across a crash of the machine (no session is known then).
    if ours && session.is_some() && facts.proves_unsent() {
        text.push_str(&format!(" {SAFE}"));
    } else if ours && !facts.accepted && facts.runs.is_empty() {
        text.push_str(" Delivery was never confirmed.");
    }
    text
}

impl Facts {
    fn proves_unsent(&self) -> bool {
        self.started.is_some() && !self.sent && !self.accepted && self.runs.is_empty()
    }
}

impl Presence {
    pub(crate) const fn until(&self) -> Option<Awake> {
        match self {
            Self::Here(_) => None,
            Self::Away { until, .. } => Some(*until),
        }
    }
}
