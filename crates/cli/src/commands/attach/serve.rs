//! One connection of the session: what the daemon asks, what the worker says, and the report on its way.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval_at, sleep_until};
use wire::Raw;
use wire::calls::{DaemonNotification, DaemonRequest};
use wire::client::{ClientError, FromDaemon, Inbox};
use wire::daemon_calls::{
    DispatchCancel, DispatchCancelResult, DispatchRefusal, DispatchResult, Duplicate, PacketDispatch, RemindResult,
    TaskDispatch, TaskRemind,
};
use wire::error::{ErrorCode, ErrorObject};
use wire::rpc::Id;
use wire::session::{Activity, Ping, Settled, State, TaskReport, TaskReportResult};

use super::session::{Session, Work, stopped};
use super::worker::{Job, Kind, Said};
use crate::context::Context;
use crate::daemon::Daemon;
use crate::failure::Failure;
use crate::text::{Line, Tone};

/// How often the session says that it is alive.
const PING: Duration = Duration::from_secs(30);
/// After which a report is sent again that could not be written down.
const AGAIN: Duration = Duration::from_secs(5);

/// Why a connection is no longer served.
pub(super) enum Lost {
    /// It has ended.
    Connection,
    /// The person leaves.
    Interest,
}

/// A report on its way.
type Sending = JoinHandle<Result<TaskReportResult, ClientError>>;

impl Session {
    /// Serves until the connection ends or the person leaves.
    pub(super) async fn serve(&mut self, ctx: &Context, daemon: &Daemon, mut inbox: Inbox) -> Result<Lost, Failure> {
        // What ended while there was no connection.
        self.settle_if_over(ctx, daemon).await?;
        let mut sending: Option<Sending> = None;
        let mut again = Instant::now();
        let mut ping = interval_at(Instant::now() + PING, PING);
        loop {
            if self.unusable.is_some() && self.work.is_none() {
                return Ok(Lost::Interest);
            }
            if sending.is_none() && Instant::now() >= again {
                sending = self.send_report(daemon);
            }
            let waits = sending.is_none() && self.work.as_ref().is_some_and(|work| work.report.is_some());
            tokio::select! {
                told = inbox.next() => match told {
                    None => return Ok(Lost::Connection),
                    Some(told) => self.told(ctx, daemon, told).await?,
                },
                said = self.said.recv() => {
                    if self.heard(ctx, said) {
                        return Ok(Lost::Interest);
                    }
                    self.settle_if_over(ctx, daemon).await?;
                }
                answer = answered(&mut sending) => {
                    sending = None;
                    again = self.answer(ctx, daemon, answer).await?;
                }
                () = sleep_until(again), if waits => {}
                _ = ping.tick() => daemon.notify_alive(),
                () = stopped(&mut self.stop) => return Ok(Lost::Interest),
            }
        }
    }

    /// What the worker said; `true` when it leaves.
    pub(super) fn heard(&mut self, ctx: &Context, said: Option<Said>) -> bool {
        match said {
            None | Some(Said::Quit) => return true,
            Some(Said::Line(line)) => ctx.out.note(line),
            Some(Said::Unusable(why)) => self.unusable = Some(why),
            Some(Said::Typed(line)) => {
                if let Some(said) = self.worker.typed(ctx, &line) {
                    return self.heard(ctx, Some(said));
                }
            }
            Some(Said::Finished { dispatch_id, report }) => {
                if let Some(work) = self.work.as_mut().filter(|work| work.dispatch_id == dispatch_id) {
                    work.report = Some(report);
                }
            }
        }
        false
    }

    /// A packet needs no report, and neither does what was cancelled.
    async fn settle_if_over(&mut self, ctx: &Context, daemon: &Daemon) -> Result<(), Failure> {
        let Some(work) = &self.work else { return Ok(()) };
        let Some(said) = work.report.as_deref().filter(|_| work.cancelled || work.kind == Kind::Packet) else {
            return Ok(());
        };
        let failed = work.kind == Kind::Packet && !said.is_empty();
        if failed && !work.cancelled {
            ctx.out.warn(&format!("{said}; {} ends as aborted", work.name));
        } else if !work.cancelled {
            ctx.out.note(Line::of(Tone::Strong, &work.name).plain(" is done"));
        }
        let aborted = work.cancelled || failed;
        self.settle(daemon, aborted).await
    }

    /// The dispatch is over for this session: it is idle again.
    async fn settle(&mut self, daemon: &Daemon, aborted: bool) -> Result<(), Failure> {
        let Some(work) = self.work.take() else { return Ok(()) };
        self.worker.done();
        if work.kind == Kind::Packet {
            self.last_packet = Some(work.dispatch_id.clone());
        }
        // A session that is idle gets the next one; this one leaves instead.
        if self.unusable.is_some() {
            return Ok(());
        }
        tell(daemon.client.notify(&Settled { dispatch_id: Some(work.dispatch_id), aborted, error: None }).await)?;
        tell(daemon.client.notify(&State { state: Activity::Idle, hint: None }).await)
    }

    fn send_report(&self, daemon: &Daemon) -> Option<Sending> {
        let work = self.work.as_ref().filter(|work| work.kind == Kind::Task && !work.cancelled)?;
        // What is not JSON goes as a string, so that the daemon says what is wrong with it.
        let text = work.report.clone()?;
        let report = Raw::parse(text.clone()).or_else(|_| Raw::from_value(&text)).ok()?;
        let call = TaskReport { dispatch_id: work.dispatch_id.clone(), report, observed: None };
        let client = daemon.client.clone();
        Some(tokio::spawn(async move { client.call(&call).await }))
    }

    /// What became of the report; when to send it again, if it must be.
    async fn answer(
        &mut self,
        ctx: &Context,
        daemon: &Daemon,
        answer: Result<TaskReportResult, ClientError>,
    ) -> Result<Instant, Failure> {
        let now = Instant::now();
        let error = match answer {
            Ok(result) => {
                let name = self.work.as_ref().map(|work| work.name.clone()).unwrap_or_default();
                ctx.out.note(Line::of(Tone::Strong, &name).plain(&format!(" ended {}", result.status)));
                return self.settle(daemon, false).await.map(|()| now);
            }
            // The next connection sends it again.
            Err(ClientError::Closed { .. } | ClientError::NoAnswer { .. }) => return Ok(now + AGAIN),
            Err(error) => error,
        };
        match error.code() {
            Some(ErrorCode::CannotWrite | ErrorCode::QueueUnreadable) => {
                ctx.out.warn(&format!("{error}; the report is sent again"));
                Ok(now + AGAIN)
            }
            Some(ErrorCode::ReportRefused | ErrorCode::ReportTooLarge) => {
                let problems = error.problems();
                let another = self.worker.refused(ctx, &error.to_string(), &problems);
                if another.is_some() {
                    ctx.out.warn(&format!("{error}; an ERROR report is sent instead"));
                }
                if let Some(work) = &mut self.work {
                    work.report = another;
                }
                Ok(now)
            }
            _ => {
                ctx.out.note(format!("the report was not taken: {error}"));
                self.settle(daemon, false).await.map(|()| now)
            }
        }
    }

    async fn told(&mut self, ctx: &Context, daemon: &Daemon, told: FromDaemon) -> Result<(), Failure> {
        match told {
            FromDaemon::Request { id, call } => match call {
                DaemonRequest::TaskDispatch(dispatch) => {
                    let expired = is_past(ctx, &dispatch.expires_at);
                    self.dispatched::<TaskDispatch>(ctx, daemon, &id, of_task(dispatch), expired).await
                }
                DaemonRequest::PacketDispatch(dispatch) => {
                    let expired = dispatch.expires_at.as_deref().is_some_and(|at| is_past(ctx, at));
                    if self.last_packet.as_ref() == Some(&dispatch.dispatch_id) {
                        return self.done_before(daemon, &id, dispatch.dispatch_id).await;
                    }
                    self.dispatched::<PacketDispatch>(ctx, daemon, &id, of_packet(dispatch), expired).await
                }
                DaemonRequest::TaskRemind(TaskRemind { text, .. }) => {
                    let accepted = self.work.is_some() && self.worker.remind(ctx, &text);
                    tell(daemon.client.answer::<TaskRemind>(&id, &RemindResult { accepted }).await)
                }
                DaemonRequest::TaskCancel(cancel) => self.cancelled(ctx, daemon, &id, cancel).await,
            },
            FromDaemon::Notification(notification) => {
                self.notified(ctx, notification);
                Ok(())
            }
        }
    }

    async fn dispatched<C: wire::Call<Result = DispatchResult>>(
        &mut self,
        ctx: &Context,
        daemon: &Daemon,
        id: &Id,
        job: Job,
        expired: bool,
    ) -> Result<(), Failure> {
        let refused = |reason| DispatchResult::Refused { reason };
        let result = match &self.work {
            Some(work) if work.dispatch_id == job.dispatch_id => DispatchResult::Accepted { duplicate: Duplicate::Yes },
            Some(_) => refused(DispatchRefusal::Busy),
            None if expired => refused(DispatchRefusal::Expired),
            None if self.ownership != job.kind.place() => refused(DispatchRefusal::NotOwner),
            None => {
                let work = Work {
                    dispatch_id: job.dispatch_id.clone(),
                    name: job.name.clone(),
                    kind: job.kind,
                    report: None,
                    cancelled: false,
                };
                if let Err(why) = self.worker.start(ctx, job) {
                    ctx.out.warn(&why);
                    return tell(daemon.client.refuse(id, &ErrorObject::internal(&why)).await);
                }
                ctx.out.note(Line::of(Tone::Good, "started").plain(" ").and(Tone::Strong, &work.name));
                self.work = Some(work);
                tell(daemon.client.notify(&State { state: Activity::Busy, hint: None }).await)?;
                DispatchResult::Accepted { duplicate: Duplicate::No }
            }
        };
        tell(daemon.client.answer::<C>(id, &result).await)
    }

    /// The daemon did not hear that this packet is done.
    async fn done_before(&self, daemon: &Daemon, id: &Id, dispatch_id: String) -> Result<(), Failure> {
        let result = DispatchResult::Accepted { duplicate: Duplicate::Yes };
        tell(daemon.client.answer::<PacketDispatch>(id, &result).await)?;
        tell(daemon.client.notify(&Settled { dispatch_id: Some(dispatch_id), aborted: false, error: None }).await)
    }

    async fn cancelled(
        &mut self,
        ctx: &Context,
        daemon: &Daemon,
        id: &Id,
        cancel: DispatchCancel,
    ) -> Result<(), Failure> {
        let ours = self.work.as_ref().is_some_and(|work| work.dispatch_id == cancel.dispatch_id);
        tell(daemon.client.answer::<DispatchCancel>(id, &DispatchCancelResult { aborted: ours }).await)?;
        if !ours {
            return Ok(());
        }
        ctx.out.note(Line::of(Tone::Warning, "cancelled").plain(": ").plain(&cancel.reason));
        self.give_up(ctx, &cancel.reason);
        self.settle_if_over(ctx, daemon).await
    }

    fn notified(&mut self, ctx: &Context, notification: DaemonNotification) {
        match notification {
            DaemonNotification::SessionNotice(notice) => {
                ctx.out.note(Line::of(Tone::Warning, notice.level.as_str()).plain(": ").plain(&notice.text));
            }
            DaemonNotification::SessionOwnership(change) => {
                self.ownership = change.ownership;
                ctx.out.note(format!("this session is {} now: {}", change.ownership, change.reason));
            }
            DaemonNotification::AttachAgain(_) | DaemonNotification::Event(_) => {}
        }
    }
}

impl Daemon {
    /// A sign of life; its answer says nothing.
    fn notify_alive(&self) {
        let client = self.client.clone();
        tokio::spawn(async move { client.call(&Ping {}).await.ok() });
    }
}

/// The answer to the report; never ready without one on its way.
async fn answered(sending: &mut Option<Sending>) -> Result<TaskReportResult, ClientError> {
    match sending {
        None => std::future::pending().await,
        Some(sending) => sending
            .await
            .unwrap_or_else(|error| Err(ClientError::Closed { why: format!("the report was lost: {error}") })),
    }
}

/// What could not be sent is seen as the end of the connection in a moment; anything else is ours to tell.
fn tell(sent: Result<(), ClientError>) -> Result<(), Failure> {
    match sent {
        Ok(()) | Err(ClientError::Closed { .. }) => Ok(()),
        Err(error) => Err(Failure::usage(error)),
    }
}

fn is_past(ctx: &Context, at: &str) -> bool {
    at.parse::<Timestamp>().is_ok_and(|at| at < ctx.now())
}

fn of_task(dispatch: TaskDispatch) -> Job {
    Job {
        json: serde_json::to_string(&dispatch).unwrap_or_default(),
        dispatch_id: dispatch.dispatch_id,
        name: dispatch.task_id.clone(),
        task_id: Some(dispatch.task_id),
        message: dispatch.message,
        content: dispatch.planner,
        kind: Kind::Task,
    }
}

fn of_packet(dispatch: PacketDispatch) -> Job {
    let packet: serde_json::Value = serde_json::from_str(dispatch.packet.get()).unwrap_or_else(|_| json!({}));
    Job {
        json: serde_json::to_string(&dispatch).unwrap_or_default(),
        dispatch_id: dispatch.dispatch_id,
        task_id: packet["goal_id"].as_str().map(str::to_owned),
        name: packet_name(&packet),
        message: dispatch.message,
        content: dispatch.packet,
        kind: Kind::Packet,
    }
}

/// `packet pk-1 of T-1 (round 1, planner → executor)`; what is not there is left blank.
fn packet_name(packet: &serde_json::Value) -> String {
    let text = |key: &str| packet[key].as_str().unwrap_or_default();
    let (id, goal, from, to) = (text("packet_id"), text("goal_id"), text("from_role"), text("to_role"));
    format!("packet {id} of {goal} (round {}, {from} → {to})", packet["round"])
}
