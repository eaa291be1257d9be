//! What `daemon.status` shows of one project (promise 7).

use lifecycle::{Reason, ReportState as Report, State};
use wire::status::{
    DeliveryState, LockOwner, LockStatus, ProjectState, ProjectStatus, ProjectWatch, ReportState, RunCounts,
    RunningTask, SessionStatus, StateReason,
};

use super::Actor;
use crate::convert;

impl Actor {
    /// The project as it is now.
    pub(super) fn status(&self) -> ProjectStatus {
        let now = self.hub.now();
        let status = self.project.status(now.wall);
        let (mut state, mut reason) = (state(status.shown.state), status.shown.reason.map(reason));
        let (mut why, mut next) = (status.why, status.next);
        if self.hung && state != ProjectState::Disabled && state != ProjectState::Missing {
            (state, reason) = (ProjectState::Stuck, None);
            (why, next) = (Some("its file system does not answer".to_owned()), None);
        }
        if let Some(code) = status.unreadable.filter(|_| state == ProjectState::Unreadable) {
            reason = StateReason::from_word(code);
        }
        if state == ProjectState::Blocked && self.queue.status == Some(wire::status::TaskStatus::Pending) {
            why = why.map(|why| format!("{why}; 1 task is waiting"));
        }
        let until = |at: lifecycle::Awake| {
            let ms = i64::try_from(at.0.saturating_sub(now.awake.0)).unwrap_or(i64::MAX);
            convert::time(lifecycle::Wall(now.wall.0.saturating_add(ms)))
        };
        ProjectStatus {
            path: self.path_text.to_string(),
            name: self.name.to_string(),
            state,
            reason,
            since: convert::time(status.shown.since),
            why,
            next,
            queue: self.queue.clone(),
            task: status.task.map(|task| RunningTask {
                dispatch_id: task.dispatch.to_string(),
                task_id: task.task_id,
                started_at: convert::time(task.started),
                delivery: match task.delivery {
                    lifecycle::Delivery::Sent => DeliveryState::Sent,
                    lifecycle::Delivery::Accepted => DeliveryState::Accepted,
                    lifecycle::Delivery::Refused => DeliveryState::Refused,
                },
                report: match task.report {
                    Report::None => ReportState::None,
                    Report::Owed => ReportState::Owed,
                    Report::Refused => ReportState::Refused,
                },
                runs: counts(task.runs),
                until: task.until.map(until),
            }),
            lock: self.lock_status(status.lock_ours, status.verdict.as_ref()),
            session: status.session.map(|session| SessionStatus {
                session_id: session.session_id,
                pid: session.process.pid,
                host: session.host,
                idle: session.idle,
                last_seen: convert::time(session.last_seen),
            }),
            standby: u32::try_from(status.standby).unwrap_or(u32::MAX),
            members: Vec::new(), // the server's to fill in
            watch: self.watch_status(),
            warnings: self.warnings.clone(),
        }
    }

    fn watch_status(&self) -> ProjectWatch {
        let (mode, reason) = self.watched.mode();
        ProjectWatch { mode, reason }
    }

    fn lock_status(&self, ours: bool, verdict: Option<&lifecycle::Verdict>) -> Option<LockStatus> {
        if !ours {
            return verdict.map(foreign_lock);
        }
        let host = &self.hub.claimant.host;
        Some(LockStatus {
            owner: LockOwner::Us,
            rule: None,
            pid: u32::try_from(host.process.pid).ok(),
            command: Some("handoffd".to_owned()),
            user: self.hub.env.user.as_ref().map(|user| user.to_string_lossy().into_owned()),
            host: Some(host.host.clone()),
            since: self.lock_since.map(queue::format_time),
        })
    }
}

/// A lock that is not ours, on the wire.
pub(super) fn foreign_lock(verdict: &lifecycle::Verdict) -> LockStatus {
    LockStatus {
        owner: LockOwner::Other,
        rule: Some(verdict.rule),
        pid: verdict.holder.pid,
        command: verdict.holder.command.clone(),
        user: verdict.holder.user.clone(),
        host: verdict.holder.host.clone(),
        since: verdict.holder.since.map(convert::time),
    }
}

fn counts((running, complete, failed): (usize, usize, usize)) -> RunCounts {
    let count = |n| u32::try_from(n).unwrap_or(u32::MAX);
    RunCounts { running: count(running), complete: count(complete), failed: count(failed) }
}

/// The state's word on the wire.
pub(super) fn state(state: State) -> ProjectState {
    ProjectState::from_word(state.as_str()).unwrap_or(ProjectState::Other)
}

/// The reason's word on the wire.
pub(super) fn reason(reason: Reason) -> StateReason {
    StateReason::from_word(reason.as_str()).unwrap_or(StateReason::Other)
}
