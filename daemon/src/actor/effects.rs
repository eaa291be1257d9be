//! Letters into events, effects into deeds: the actor's two-way translation. No rule lives here.

use std::sync::Arc;

use lifecycle::{
    Acquired, Answer, Attach, Checked, ClaimResult, Command, Conn, Done, Effect, Event, Failure, Job, Known, Moment,
    Outgoing, Process, Seen, SettleResult, SubmitResult, Wall,
};
use queue::DispatchId;
use wire::daemon_calls::{DispatchCancel, Notice, OwnershipChange, TaskDispatch, TaskRemind};
use wire::session::{KnownDispatch, Ownership};

use super::bodies::BodyData;
use super::mail::Control;
use super::open::Asked;
use super::{Actor, facts};
use crate::config::Settings;
use crate::convert;
use crate::peer::{CallKind, Peer, Responder, SessionCall};

impl Actor {
    pub(super) fn attach(
        &mut self,
        attach: wire::session::Attach,
        process: Process,
        peer: Arc<Peer>,
        answer: Responder,
    ) {
        let conn = peer.conn();
        let req = self.open.add(Asked::Attach, answer);
        let bound = self.project.bound_process();
        let event = Attach {
            conn,
            req,
            session_id: attach.session_id,
            process,
            idle: attach.idle,
            known: known(&attach.known_dispatch),
            host: format!("{} {}", attach.host.name, attach.host.version),
            session_file: attach.session_file,
            bound_alive: bound.is_some_and(|bound| crate::processes::is_alive(&self.hub.claimant, bound)),
        };
        self.peers.push(peer);
        self.step(Event::Attach(Box::new(event)));
    }

    pub(super) fn report(&mut self, conn: Conn, report: wire::session::TaskReport, answer: Responder) {
        let Some(dispatch) = DispatchId::parse(&report.dispatch_id) else {
            answer.error(super::refusals::no_such_dispatch());
            return;
        };
        let json = report.report.get().to_owned();
        let body = self.bodies.keep(BodyData { json, observed: report.observed, ..BodyData::default() });
        let req = self.open.add(Asked::Report, answer);
        self.step(Event::Report { conn, req, dispatch, body });
    }

    pub(super) fn control(&mut self, request: Control, answer: Responder) {
        match request {
            Control::Remove { .. } => self.ending = true,
            Control::Enable => self.ending = false,
            _ => {}
        }
        let (asked, command) = match request {
            Control::Wait { task_id, timeout_ms } => return self.wait(task_id, timeout_ms, answer),
            Control::Retry(task_id) => return self.retry(task_id, answer),
            Control::Pause => (Asked::Project, Command::Pause),
            Control::Resume => (Asked::Resume, Command::Resume),
            Control::Enable => (Asked::Project, Command::Enable),
            Control::Disable { now } => (Asked::Project, Command::Disable { now }),
            Control::Remove { now } => (Asked::Project, Command::Remove { now }),
            Control::Unlock { confirm } => (Asked::Unlock, Command::Unlock { confirm }),
            Control::Cancel { task_id, reason } => {
                let limit = wire::limits::CANCEL_REASON_CHARS;
                if reason.as_ref().is_some_and(|text| text.chars().count() > limit) {
                    let why = format!("`reason`: at most {limit} characters");
                    return answer.error(wire::error::ErrorObject::invalid_params(&why));
                }
                let reason = reason.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| "no reason given".into());
                (Asked::Cancel, Command::Cancel { task_id, reason })
            }
            Control::Take(session_id) => {
                let owner = self.project.status(self.hub.now().wall).session.map(|owner| owner.session_id);
                (Asked::Take(owner), Command::Take { session_id })
            }
            Control::Submit(task) => {
                let body = self.bodies.keep(BodyData { json: task.get().to_owned(), ..BodyData::default() });
                (Asked::Submit, Command::Submit { body, retry: false })
            }
        };
        let req = self.open.add(asked, answer);
        let before = (self.project.is_paused(), self.told_state.clone());
        self.step(Event::Control { req, command });
        let paused = self.project.is_paused();
        // A state that has changed says it itself.
        if paused != before.0 && self.told_state == before.1 {
            super::said::paused(&self.path, paused);
        }
    }

    pub(super) fn carry_out(&mut self, effect: Effect, now: Moment) {
        match effect {
            Effect::Job(job) => self.start_job(job),
            Effect::Send { conn, message } => self.send(conn, message),
            Effect::Reply { req, reply } => self.reply(req, reply),
            Effect::Record(fact) => facts::record(self, fact, now.wall),
            Effect::Close(conn) => {
                if let Some(peer) = self.peer(conn) {
                    peer.close();
                }
            }
            Effect::Drop(body) => self.bodies.drop(body),
            Effect::Gone => self.has_gone(),
        }
    }

    fn send(&mut self, conn: Conn, message: Outgoing) {
        let Some(peer) = self.peer(conn).cloned() else { return };
        match message {
            Outgoing::Dispatch { dispatch, expires } => {
                self.journal_sent(dispatch);
                self.send_dispatch(&peer, dispatch, expires);
            }
            Outgoing::Remind(dispatch) => {
                let text = self.reminder();
                let call = SessionCall { kind: CallKind::Remind, dispatch };
                peer.call(call, &TaskRemind { dispatch_id: dispatch.to_string(), text });
            }
            Outgoing::Cancel { dispatch, reason } => {
                let task_id = self.task_id();
                let reason = crate::message::cancel(&task_id, &reason);
                let call = SessionCall { kind: CallKind::Cancel, dispatch };
                peer.call(call, &DispatchCancel { dispatch_id: dispatch.to_string(), reason });
            }
            Outgoing::Ownership { owner, reason } => {
                let ownership = if owner { Ownership::Owner } else { Ownership::Standby };
                peer.notify(&OwnershipChange { ownership, reason: reason.to_owned() });
            }
            Outgoing::Notice(level, text) => {
                peer.notify(&Notice { level: facts::level(level), text });
            }
        }
    }

    /// Sends the message that the claim made, or makes it anew (a daemon that was restarted).
    fn send_dispatch(&mut self, peer: &Arc<Peer>, dispatch: DispatchId, expires: Wall) {
        match self.prepared.as_deref().filter(|prepared| prepared.dispatch == dispatch) {
            Some(prepared) => {
                let call = SessionCall { kind: CallKind::Dispatch, dispatch };
                peer.call(
                    call,
                    &TaskDispatch {
                        dispatch_id: dispatch.to_string(),
                        task_id: prepared.task_id.clone(),
                        message: prepared.message.clone(),
                        planner: prepared.planner.clone(),
                        context: prepared.context.clone(),
                        expires_at: convert::time(expires),
                    },
                );
            }
            None => self.render_again(peer.clone(), dispatch, expires),
        }
    }

    fn renderer(&self) -> Option<crate::jobs::Renderer> {
        let context = self.context(None);
        self.files.as_ref()?.renderer(context)
    }

    fn render_again(&self, peer: Arc<Peer>, dispatch: DispatchId, expires: Wall) {
        let (Some(me), Some(again)) = (self.me.upgrade(), self.renderer()) else { return };
        let pool = self.hub.pool.clone();
        tokio::spawn(async move {
            let prepared = pool.run(move || again.render(dispatch)).await.ok().flatten().map(Box::new);
            me.send(Box::new(super::mail::Mail::Rendered { peer, prepared, expires })).await.ok();
        });
    }

    /// The second half of sending a message that had to be made anew.
    pub(super) fn rendered(&mut self, peer: &Arc<Peer>, prepared: Option<Box<crate::jobs::Prepared>>, expires: Wall) {
        let Some(prepared) = prepared else { return };
        let dispatch = prepared.dispatch;
        if self.project.running() == Some(dispatch) && self.peer(peer.conn()).is_some() {
            self.prepared = Some(prepared);
            self.send_dispatch(peer, dispatch, expires);
        }
    }

    fn reminder(&self) -> String {
        let runs = self.project.running_runs();
        let ids: Vec<&str> = runs.iter().filter(|run| run.background).map(|run| run.run_id.as_str()).collect();
        crate::message::remind(&self.task_id(), &ids)
    }

    pub(super) fn task_id(&self) -> String {
        let running = self.project.running_task().map(|(id, ..)| id.to_owned());
        running.or_else(|| self.queue.task_id.clone()).unwrap_or_default()
    }

    /// Nothing is held any more: a removed project's actor ends, a disabled one stays to be enabled again.
    fn has_gone(&mut self) {
        self.lock_released();
        self.hub.has_gone(&self.path);
        self.gone = self.ending;
        if self.gone {
            self.waiters.drop_all();
        }
    }
}

/// What a client knows, in the state machine's words.
pub(crate) fn known(known: &KnownDispatch) -> Known {
    match known {
        KnownDispatch::NotTold => Known::NoRecords,
        KnownDispatch::None => Known::None,
        KnownDispatch::Known(delivery) => match DispatchId::parse(&delivery.dispatch_id) {
            Some(dispatch) => Known::Some { dispatch, delivered: delivery.delivered },
            None => Known::None,
        },
    }
}

/// The answer of a session to `task.dispatch`, in the state machine's words (D69).
#[must_use]
pub fn answer(result: &Result<wire::Raw, wire::error::ErrorObject>) -> Answer {
    use wire::daemon_calls::{DispatchRefusal, DispatchResult};
    let Ok(raw) = result else { return Answer::Refused };
    match wire::rpc::decode::<DispatchResult>(raw.get()) {
        Ok(DispatchResult::Accepted { .. }) => Answer::Accepted,
        Ok(DispatchResult::Refused { reason: DispatchRefusal::Busy }) => Answer::Busy,
        Ok(DispatchResult::Refused { .. }) | Err(_) => Answer::Refused,
    }
}

/// Takes out what is not to wait for anything to be told first: the beginning of a claim, a message to the session.
pub(super) fn take_urgent(effects: &mut Vec<Effect>) -> Option<Effect> {
    let is_urgent = |effect: &Effect| {
        matches!(effect, Effect::Job(Job::Claim(_)) | Effect::Send { message: Outgoing::Dispatch { .. }, .. })
    };
    let is_told = |effect: &Effect| matches!(effect, Effect::Record(_));
    let at = effects.iter().position(is_urgent).filter(|at| effects[..*at].iter().all(is_told))?;
    Some(effects.remove(at))
}

/// The limits of time in the state machine's terms.
pub(crate) fn limits(settings: &Settings) -> lifecycle::Settings {
    let ms = |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    lifecycle::Settings {
        accept_timeout: ms(settings.task.accept_timeout),
        reconnect_grace: ms(settings.task.reconnect_grace),
        async_grace: ms(settings.task.async_grace),
        silence_timeout: settings.task.silence_timeout.duration().map(ms),
        max_runtime: settings.task.max_runtime.duration().map(ms),
    }
}

/// What a job that panicked is taken for: nothing was done, and everything is looked at again.
pub(super) fn failed(job: &Job) -> Done {
    let words = || "an internal error; see the daemon's log".to_owned();
    let failure = || Failure::LockLost;
    match job {
        Job::Acquire => Done::Acquired(Acquired::Failed(Failure::CannotWrite(words().into()))),
        Job::Read => Done::Read(Seen::Failed(failure())),
        Job::Bind(_) => Done::Bound(Err(failure())),
        Job::Release(_) => Done::Released,
        Job::Unlock { .. } => Done::Unlocked { moved: false },
        Job::Claim(_) => Done::Claimed(ClaimResult::Failed(failure())),
        Job::Settle => Done::Settled(SettleResult::Clean),
        Job::Reject { .. } => Done::Rejected(Err(failure())),
        Job::CheckReport { .. } => Done::Checked(Checked::Refused { problems: 0 }),
        Job::OpenLog => Done::LogOpened(Err(words())),
        Job::WriteEnd(_) => Done::EndWritten(Err(failure())),
        Job::AppendLog => Done::LogAppended(Err(words())),
        Job::ReplayLog { .. } => Done::Replayed(Err((Vec::new(), words()))),
        Job::Submit { .. } => Done::Submitted(SubmitResult::Failed(failure())),
    }
}
