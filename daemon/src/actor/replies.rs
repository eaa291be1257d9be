//! The state machine's answers as results and errors on the wire.

use std::sync::Arc;

use lifecycle::{LogResult, Refusal as Why, Reply, Req, SessionReach};
use queue::DispatchId;
use wire::control::{CancelOutcome, CancelResult, Lifted, ProjectResult, SubmitResult, TakeResult, UnlockResult};
use wire::error::{ErrorCode, ErrorObject, Refusal};
use wire::session::{AttachResult, AttachedProject, AttachedTask, EndStatus, EndedDispatch, Ownership};
use wire::session::{TaskReportResult, WorkLogOutcome};
use wire::status::TaskStatus;

use super::open::Asked;
use super::{Actor, bodies, refusals, status};
use crate::convert;
use crate::peer::Responder;

impl Actor {
    pub(super) fn reply(&mut self, req: Req, reply: Reply) {
        let Some((asked, Some(answer))) = self.open.take(req) else { return };
        match reply {
            Reply::Attached { owner, task, ended } => self.attached(answer, owner, task, ended),
            Reply::Reported { complete, log } => {
                let status = if complete { EndStatus::Complete } else { EndStatus::Error };
                let work_log = match log {
                    LogResult::Appended => WorkLogOutcome::Appended,
                    LogResult::Failed => WorkLogOutcome::Failed,
                };
                answer.result(&TaskReportResult { status, work_log });
            }
            Reply::ReportRefused(body) => {
                answer.error(self.with_problems(ErrorCode::ReportRefused, "the report was refused", body));
            }
            Reply::InvalidTask(body) => {
                answer.error(self.with_problems(ErrorCode::InvalidTask, "the task is invalid", body));
            }
            Reply::Cancelled { was, now, session, .. } => answer.result(&self.cancelled(was, now, session)),
            Reply::Submitted(body) => self.submitted(&asked, answer, body),
            Reply::Changed { lifted, leaving } => self.changed(&asked, answer, &lifted, leaving),
            Reply::Unlocked { moved, verdict } => answer.result(&self.unlocked(moved, verdict.as_deref())),
            Reply::Refused(Why::NotRunning(dispatch)) => self.not_running(answer, dispatch),
            Reply::Refused(Why::Blocked) => answer.error(refusals::blocked(&self.status())),
            Reply::Refused(why) => answer.error(refusals::refusal(&why)),
        }
    }

    fn attached(
        &self,
        answer: Responder,
        owner: bool,
        task: Option<(DispatchId, String, lifecycle::Wall)>,
        ended: Option<DispatchId>,
    ) {
        let shown = self.status();
        let result = AttachResult {
            project: AttachedProject { path: shown.path, state: shown.state, reason: shown.reason, why: shown.why },
            ownership: if owner { Ownership::Owner } else { Ownership::Standby },
            task: task.map(|(dispatch, task_id, started)| AttachedTask {
                dispatch_id: dispatch.to_string(),
                task_id,
                started_at: convert::time(started),
            }),
            ended: ended.and_then(|dispatch| self.ended(dispatch)),
        };
        answer.result(&result);
    }

    /// A look into the journal, which is short where it matters: the row is among the newest.
    fn ended(&self, dispatch: DispatchId) -> Option<EndedDispatch> {
        let (row, _) = crate::history::ended_dispatch(&self.hub.journal, &self.path, dispatch)?;
        Some(EndedDispatch { dispatch_id: dispatch.to_string(), status: row.status, error: row.error })
    }

    /// A report on a dispatch that is not RUNNING: one whose answer was lost is answered by how it ended.
    fn not_running(&self, answer: Responder, dispatch: DispatchId) {
        let (journal, path) = (self.hub.journal.clone(), Arc::clone(&self.path));
        let pool = self.hub.pool.clone();
        // Before the file was read nobody knows what is RUNNING in it: the report is kept for later, not refused for good.
        let unread = self.project.view().is_none().then(|| self.status().why.unwrap_or_default());
        tokio::spawn(async move {
            let found = pool.run(move || crate::history::ended_dispatch(&journal, &path, dispatch)).await;
            match found.ok().flatten() {
                None => match unread {
                    Some(why) => answer.error(refusals::refusal(&Why::CannotWrite(why))),
                    None => answer.error(refusals::no_such_dispatch()),
                },
                Some((row, log_failed)) => {
                    let work_log = if log_failed { WorkLogOutcome::Failed } else { WorkLogOutcome::Appended };
                    let status = match row.status {
                        EndStatus::Complete => "COMPLETE",
                        EndStatus::Error => "ERROR",
                    };
                    let message = format!("this task has already ended in {status}; nothing was recorded");
                    answer.error(Refusal::dispatch_ended(message, row.status, Some(work_log)));
                }
            }
        });
    }

    fn with_problems(&self, code: ErrorCode, what: &str, body: lifecycle::Body) -> ErrorObject {
        let problems: Vec<_> = match self.bodies.get(body) {
            Some(body) => bodies::open(&body).problems.iter().map(convert::problem).collect(),
            None => Vec::new(),
        };
        let message = match problems.as_slice() {
            [only] => format!("{what}: {}", only.message),
            all => format!("{what} for {} reasons", all.len()),
        };
        Refusal::with_problems(code, message, problems).into()
    }

    fn cancelled(&self, was: &str, now: &str, session: SessionReach) -> CancelResult {
        let running = was == "RUNNING" || session == SessionReach::FinishedFirst;
        let outcome = match session {
            SessionReach::Aborted => CancelOutcome::Aborted,
            SessionReach::Told => CancelOutcome::Told,
            SessionReach::NotReached => CancelOutcome::NotReached,
            SessionReach::FinishedFirst => CancelOutcome::FinishedFirst,
        };
        CancelResult {
            was: task_status(was),
            now: task_status(now),
            session: running.then_some(outcome),
            live_runs: self.project.lingering_runs().iter().map(convert::wire_run).collect(),
        }
    }

    fn submitted(&self, asked: &Asked, answer: Responder, body: lifecycle::Body) {
        let written = self.bodies.get(body).and_then(|body| bodies::open(&body).submitted.clone());
        let Some((task_id, fingerprint)) = written else {
            answer.error(ErrorObject::internal("the new task got lost"));
            return;
        };
        let parent_task_id = match asked {
            Asked::Retry(parent) => Some(parent.clone()),
            _ => None,
        };
        answer.result(&SubmitResult { task_id, fingerprint, status: TaskStatus::Pending, parent_task_id });
    }

    fn changed(&self, asked: &Asked, answer: Responder, lifted: &[&'static str], leaving: bool) {
        let shown = self.status();
        if !lifted.is_empty() {
            self.resumed(lifted.iter().map(|word| lift(word)).collect());
        }
        if let Asked::Take(from) = asked {
            let session_id = self.project.status(self.hub.now().wall).session.map(|owner| owner.session_id);
            answer.result(&TakeResult { session_id: session_id.unwrap_or_default(), from: from.clone() });
            return;
        }
        let why = match leaving {
            true => Some(format!("it leaves as soon as {} has ended", self.task_id())),
            false => shown.why,
        };
        answer.result(&ProjectResult {
            path: shown.path,
            name: shown.name,
            state: shown.state,
            reason: shown.reason,
            why,
            next: shown.next,
            lifted: matches!(asked, Asked::Resume).then(|| lifted.iter().map(|word| lift(word)).collect()),
        });
    }

    fn unlocked(&self, moved: bool, verdict: Option<&lifecycle::Verdict>) -> UnlockResult {
        let shown = self.status();
        let why = match (verdict, &shown.lock, &shown.why) {
            (Some(verdict), ..) => format!("rule {} fits: {}", verdict.rule, verdict.text),
            (None, None, Some(why)) => format!("no lock of somebody else is in the way: {why}"),
            (None, ..) => "the lock is ours; there is nothing to unlock".to_owned(),
        };
        UnlockResult {
            path: shown.path,
            state: shown.state,
            lock: verdict.map(status::foreign_lock),
            why,
            moved_to: moved.then(|| self.moved_to.clone()).flatten(),
        }
    }
}

fn task_status(word: &str) -> TaskStatus {
    match word {
        "RUNNING" => TaskStatus::Running,
        "PENDING" => TaskStatus::Pending,
        "COMPLETE" => TaskStatus::Complete,
        "ERROR" => TaskStatus::Error,
        _ => TaskStatus::Idle,
    }
}

fn lift(word: &str) -> Lifted {
    match word {
        "paused" => Lifted::Paused,
        "halted" => Lifted::Halted,
        "held" => Lifted::Held,
        "runs_alive" => Lifted::RunsAlive,
        _ => Lifted::Other,
    }
}
