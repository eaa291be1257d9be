//! The session over all its connections: it comes back after 50 ms doubling to 5 s, says what it knows of its dispatch
//! (D23), and leaves in order.

use std::path::Path;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::Receiver;
use wire::client::{ClientError, Inbox};
use wire::error::ErrorCode;
use wire::limits::{RECONNECT_FIRST, RECONNECT_LONGEST};
use wire::session::{
    Attach, AttachReason, AttachResult, Delivery, Host, KnownDispatch, LeaveReason, Leaving, Member, Mode, Ownership,
};
use wire::status::ProjectState;

use super::serve::Lost;
use super::worker::{Kind, Said, Worker};
use crate::context::Context;
use crate::daemon::{self, Daemon, is_absent};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::{Line, Tone};

/// The session.
pub(super) struct Session {
    id: String,
    project: String,
    member: Option<String>,
    pub(super) worker: Worker,
    pub(super) said: Receiver<Said>,
    /// The dispatch that is being worked on.
    pub(super) work: Option<Work>,
    /// Why the worker can do no other job, either: the session ends with this one.
    pub(super) unusable: Option<String>,
    /// The last packet that was done: it is not done again if the daemon did not hear of it.
    pub(super) last_packet: Option<String>,
    pub(super) ownership: Ownership,
    pub(super) stop: [Signal; 2],
}

/// A dispatch that was accepted.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) dispatch_id: String,
    /// For people: the task's id, or which packet it is.
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Its report is ready, and not yet answered.
    pub(super) report: Option<String>,
    /// The daemon wants it to stop.
    pub(super) cancelled: bool,
}

/// How an attempt to attach ended.
enum Attached {
    Yes(Daemon, Inbox),
    /// The daemon is not there (yet).
    NotNow(Failure),
}

impl Session {
    pub(super) fn new(
        root: &Path,
        member: Option<String>,
        worker: Worker,
        said: Receiver<Said>,
    ) -> Result<Self, Failure> {
        let project = root.to_str().ok_or_else(|| Failure::usage("the working folder's path is not UTF-8"))?;
        let listen =
            |kind| signal(kind).map_err(|error| Failure::new(Exit::NotGood, format!("cannot hear signals: {error}")));
        Ok(Self {
            id: format!("handoff-{:016x}", fastrand::u64(..)),
            project: project.to_owned(),
            member,
            worker,
            said,
            work: None,
            unusable: None,
            last_packet: None,
            ownership: Ownership::Standby,
            stop: [listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?],
        })
    }

    /// Works until the person leaves.
    pub(super) async fn run(mut self, ctx: &Context) -> Result<Exit, Failure> {
        let outcome = self.work_on(ctx).await;
        self.worker.end().await;
        outcome
    }

    async fn work_on(&mut self, ctx: &Context) -> Result<Exit, Failure> {
        let mut reason = AttachReason::Startup;
        let mut pause = RECONNECT_FIRST;
        loop {
            match self.attach(ctx, reason).await? {
                Attached::Yes(daemon, inbox) => {
                    pause = RECONNECT_FIRST;
                    match self.serve(ctx, &daemon, inbox).await? {
                        Lost::Connection => ctx.out.note("the connection was lost; coming back"),
                        Lost::Interest => return self.leave(&daemon).await,
                    }
                }
                Attached::NotNow(failure) if reason == AttachReason::Startup => return Err(failure),
                Attached::NotNow(_) => {}
            }
            reason = AttachReason::Reconnect;
            if self.paused(ctx, pause).await {
                return Ok(Exit::Good);
            }
            pause = (pause * 2).min(RECONNECT_LONGEST);
        }
    }

    /// Waits between two attempts, listening to the worker; whether the person left.
    async fn paused(&mut self, ctx: &Context, pause: std::time::Duration) -> bool {
        let until = tokio::time::Instant::now() + pause;
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(until) => return false,
                () = stopped(&mut self.stop) => return true,
                said = self.said.recv() => if self.heard(ctx, said) { return true },
            }
        }
    }

    async fn attach(&mut self, ctx: &Context, reason: AttachReason) -> Result<Attached, Failure> {
        let (daemon, inbox) = match daemon::connect(ctx).await {
            Ok(connected) => connected,
            Err(failure) if is_absent(&failure) => return Ok(Attached::NotNow(failure)),
            Err(failure) => return Err(failure),
        };
        match daemon.client.call(&self.introduction(reason)).await {
            Ok(result) => {
                self.attached(ctx, &result);
                Ok(Attached::Yes(daemon, inbox))
            }
            Err(error @ (ClientError::Closed { .. } | ClientError::NoAnswer { .. })) => {
                Ok(Attached::NotNow(daemon.failure(error)))
            }
            Err(error) if error.code() == Some(ErrorCode::ShuttingDown) => Ok(Attached::NotNow(daemon.failure(error))),
            Err(error) => Err(daemon.failure(error)),
        }
    }

    fn introduction(&self, reason: AttachReason) -> Attach {
        let newest = self.work.as_ref().map(|work| &work.dispatch_id).or(self.last_packet.as_ref());
        let delivery = |id: &String| Delivery { dispatch_id: id.clone(), delivered: true };
        Attach {
            session_id: self.id.clone(),
            session_file: None,
            project: self.project.clone(),
            mode: Mode::Exec,
            reason,
            idle: self.work.is_none(),
            host: Host { name: "handoff".to_owned(), version: crate::VERSION.to_owned() },
            known_dispatch: newest.map_or(KnownDispatch::None, |id| KnownDispatch::Known(delivery(id))),
            member: self.member.clone().map(|agent_id| Member { agent_id }),
        }
    }

    fn attached(&mut self, ctx: &Context, result: &AttachResult) {
        self.ownership = result.ownership;
        let why = result.project.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        let what = match result.ownership {
            Ownership::Owner => "this session gets the tasks".to_owned(),
            Ownership::Standby => "this session stands by".to_owned(),
            Ownership::Member => {
                format!("this session gets the packets of {}", self.member.as_deref().unwrap_or("a member"))
            }
        };
        let line = Line::of(Tone::Good, "attached").plain(" to ").and(Tone::Strong, &result.project.path);
        ctx.out.note(line.plain(&format!(" ({}{why}): {what}", result.project.state)));
        if let Some(ended) = result.ended.as_ref().filter(|_| self.work.is_some()) {
            let error = ended.error.as_deref().map(|error| format!(": {error}")).unwrap_or_default();
            let what = self.work.as_ref().map_or("task", |work| work.kind.noun());
            ctx.out.note(format!("the {what} ended meanwhile, {}{error}", ended.status));
        }
        let goes_on = result.task.as_ref().map(|task| task.dispatch_id.as_str());
        let is_over = |work: &&Work| goes_on != Some(work.dispatch_id.as_str()) && !says_nothing(&result.project.state);
        if let Some(what) = self.work.as_ref().filter(is_over).map(|work| work.kind.noun()) {
            self.give_up(ctx, &format!("the {what} is over"));
        }
    }

    /// Stops the work that nobody waits for any more. It is settled when the worker has ended, which may be so already.
    pub(super) fn give_up(&mut self, ctx: &Context, why: &str) {
        let Some(work) = &mut self.work else { return };
        work.cancelled = true;
        if !self.worker.cancel(ctx, why) {
            work.report.get_or_insert_default();
        }
    }

    async fn leave(&mut self, daemon: &Daemon) -> Result<Exit, Failure> {
        // The daemon sees the end of the process in any case.
        if daemon.notify(&Leaving { reason: LeaveReason::Quit }).await.is_ok() {
            daemon.client.flush().await.ok();
        }
        match self.unusable.take().filter(|_| self.work.is_none()) {
            Some(why) => {
                Err(Failure::usage(format!("{why}; this session has ended, so that no other task meets the same")))
            }
            None => Ok(Exit::Good),
        }
    }
}

/// In these states the daemon does not know what became of a task that it does not name: the work goes on, and its report
/// waits.
const fn says_nothing(state: &ProjectState) -> bool {
    use ProjectState::{Blocked, Halted, Missing, Starting, Unreadable};
    matches!(state, Blocked | Halted | Missing | Starting | Unreadable)
}

/// Ctrl-C, or being told to end.
pub(super) async fn stopped(stop: &mut [Signal; 2]) {
    let [interrupt, terminate] = stop;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
