//! Ending a task: log opened, end written, line appended, displaced file settled, everyone told (D63, D67, D70).

use queue::DispatchId;

use crate::done::{Failure, WriteResult};
use crate::effect::{Effect, Fact, Level};
use crate::job::{EndWrite, Job, Outcome};
use crate::reply::{LogResult, Refusal, Reply, SessionReach};
use crate::state::{Ended, Ending, JobKind, Out, Project, Running, Stage, Task, Untold, Waiting};
use crate::status::Reason;
use crate::view::{Facts, RawHash, TaskMeta};

impl Project {
    /// ERROR by us, with this text; while a cancel is under way it is the cancel that ends the task (D76).
    pub(crate) fn end_by_us(&mut self, text: String, out: &mut Out) {
        if matches!(&self.task, Task::Running(run) if run.cancelling.is_some()) {
            self.finish_cancel(SessionReach::NotReached, out);
        } else {
            self.end(Outcome::Ours(text), None, SessionReach::NotReached, out);
        }
    }

    pub(crate) fn finish_cancel(&mut self, reach: SessionReach, out: &mut Out) {
        let Task::Running(run) = &self.task else { return };
        let Some(cancel) = &run.cancelling else { return };
        self.end(Outcome::Ours(format!("Cancelled: {}", cancel.reason)), None, reach, out);
        if self.halt.replaced {
            self.refuse_owed(&Refusal::QueueChanged, out);
        }
    }

    /// An end cannot be written now: whoever waits for it is told; the end stays owed (D70).
    pub(crate) fn refuse_owed(&mut self, refusal: &Refusal, out: &mut Out) {
        let Task::Ending(ending) = &mut self.task else { return };
        if ending.report.is_some() && matches!(ending.stage, Stage::OpenLog | Stage::Write) {
            self.back_to_running(Some(refusal.clone()), out);
            return;
        }
        for (req, _) in std::mem::take(&mut ending.cancels) {
            out.push(Effect::Reply { req, reply: Reply::Refused(refusal.clone()) });
        }
        for waiting in std::mem::take(&mut self.reports) {
            Self::refuse(waiting.req, waiting.body, refusal.clone(), out);
        }
    }

    /// A report passed every check.
    pub(crate) fn end_by_report(&mut self, report: &Waiting, complete: bool, out: &mut Out) {
        let outcome = Outcome::Report { body: report.body, complete, demoted: None };
        self.end(outcome, Some(report.req), SessionReach::FinishedFirst, out);
    }

    fn end(&mut self, outcome: Outcome, report: Option<crate::Req>, reach: SessionReach, out: &Out) {
        match std::mem::replace(&mut self.task, Task::None) {
            Task::Running(mut run) => {
                let cancels = run.cancelling.take().map_or_else(Vec::new, |cancel| {
                    cancel.requests.iter().map(|req| (*req, cancel.reason.clone())).collect()
                });
                self.task = Task::Ending(Box::new(Ending {
                    task: run.task.clone(),
                    dispatch: Some(run.dispatch),
                    started: Some(run.started),
                    runs: run.runs.clone(),
                    hash: run.hash,
                    run: Some(run),
                    outcome,
                    stage: Stage::OpenLog,
                    log: Ok(()),
                    completed: out.now.wall,
                    report,
                    cancels,
                    reach,
                }));
            }
            other => self.task = other,
        }
    }

    pub(crate) fn end_orphan(
        &mut self,
        task: TaskMeta,
        hash: RawHash,
        dispatch: Option<DispatchId>,
        facts: Facts,
        text: String,
        out: &Out,
    ) {
        self.task = Task::Ending(Box::new(Ending {
            run: None,
            task,
            dispatch,
            started: facts.started,
            runs: facts.runs,
            hash,
            outcome: Outcome::Ours(text),
            stage: Stage::OpenLog,
            log: Ok(()),
            completed: out.now.wall,
            report: None,
            cancels: Vec::new(),
            reach: SessionReach::NotReached,
        }));
    }

    /// The next job of an end that is being written.
    pub(crate) fn ending_job(&self) -> Option<(Job, JobKind)> {
        let Task::Ending(ending) = &self.task else { return None };
        Some(match ending.stage {
            Stage::OpenLog => (Job::OpenLog, JobKind::OpenLog),
            Stage::Write | Stage::Demote => (Job::WriteEnd(Box::new(ending.write())), JobKind::WriteEnd),
            Stage::Append => (Job::AppendLog, JobKind::AppendLog),
            Stage::Settle => (Job::Settle, JobKind::Settle),
        })
    }

    pub(crate) fn log_opened(&mut self, result: Result<(), String>) {
        let Task::Ending(ending) = &mut self.task else { return };
        ending.stage = Stage::Write;
        if let Err(why) = result {
            ending.log_failed(why);
        }
    }

    pub(crate) fn end_written(&mut self, result: WriteResult, out: &mut Out) {
        match result {
            Ok(hash) => self.end_is_durable(hash, out),
            Err(failure) => self.end_failed(failure, out),
        }
    }

    fn end_is_durable(&mut self, hash: RawHash, out: &mut Out) {
        self.block = None;
        let Task::Ending(ending) = &mut self.task else { return };
        let append = ending.stage == Stage::Write && ending.log.is_ok();
        let complete = ending.is_complete();
        ending.hash = hash;
        let (by, task_id) = (ending.dispatch, ending.task.task_id.clone());
        let settle = ending.run.as_ref().is_some_and(|run| run.displaced);
        ending.stage = if append { Stage::Append } else { Stage::Settle };
        self.see_settled(hash, by, complete, task_id);
        if !append && !settle {
            self.end_finished(out);
        }
    }

    /// What cannot be written: a report goes back to its session, an ERROR of ours is owed (D70).
    fn end_failed(&mut self, failure: Failure, out: &mut Out) {
        let Task::Ending(ending) = &mut self.task else { return };
        if ending.stage == Stage::Demote {
            self.demotion_failed(failure, out);
            return;
        }
        let from_report = ending.report.is_some();
        match failure {
            Failure::Changed => {
                self.stale = true;
                if from_report {
                    self.back_to_running(None, out);
                }
            }
            Failure::TooLarge { limit, size } if from_report => {
                self.back_to_running(Some(Refusal::ReportTooLarge { limit, size }), out);
            }
            // A long reason must not keep a task RUNNING: the end itself matters more than its words (D12, D76).
            Failure::TooLarge { .. } if ending.shorten() => {}
            Failure::TooLarge { limit, size } => {
                let words = format!("the ERROR of this task needs {size} bytes; {limit} are allowed");
                self.set_block(Reason::QueueFull, words, out);
                self.refuse_owed(&Refusal::QueueFull, out);
            }
            Failure::CannotWrite(cause) | Failure::ForeignOwner(cause) => {
                let words = cause.words.clone();
                self.set_block(Reason::CannotWrite, cause, out);
                if from_report {
                    self.back_to_running(Some(Refusal::CannotWrite(words)), out);
                } else {
                    self.refuse_owed(&Refusal::CannotWrite(words), out);
                }
            }
            Failure::Moved | Failure::LockLost | Failure::Missing => {
                if from_report {
                    let words = "the project's lock is not held now".to_owned();
                    self.back_to_running(Some(Refusal::CannotWrite(words)), out);
                } else {
                    self.refuse_owed(&Refusal::Blocked, out);
                }
                self.lose_lock(&failure, out);
            }
        }
    }

    /// COMPLETE stands, the log does not have it: ERROR is owed while the file still holds this task (D67).
    fn demotion_failed(&mut self, failure: Failure, out: &mut Out) {
        match failure {
            Failure::CannotWrite(cause) | Failure::ForeignOwner(cause) => {
                self.set_block(Reason::CannotWrite, cause, out);
            }
            Failure::Moved | Failure::LockLost | Failure::Missing => self.lose_lock(&failure, out),
            Failure::Changed | Failure::TooLarge { .. } => {
                self.stale = true;
                let text = "The work log did not take the line of a COMPLETE task, and tasks.json has changed since; add it by hand.";
                self.tell_owner(Level::Error, text.to_owned(), out);
                self.end_finished(out);
            }
        }
    }

    /// The report was not written: the task goes on, its session may send the same report again.
    pub(crate) fn back_to_running(&mut self, refusal: Option<Refusal>, out: &mut Out) {
        let Task::Ending(ending) = std::mem::replace(&mut self.task, Task::None) else { return };
        let Ending { run, report, outcome, dispatch, cancels, .. } = *ending;
        let Some(run) = run else { return };
        self.task = Task::Running(run);
        if let (Outcome::Report { body, .. }, Some(req), Some(dispatch)) = (outcome, report, dispatch) {
            match refusal {
                Some(refusal) => {
                    out.push(Effect::Reply { req, reply: Reply::Refused(refusal) });
                    out.push(Effect::Drop(body));
                }
                // The bytes changed under the write: read, then check the same report again.
                None => self.reports.push_front(Waiting { req, dispatch, body }),
            }
        }
        for (req, reason) in cancels {
            self.cancel_running(Some(req), reason, out);
        }
        self.catch_up_idle(out);
    }

    pub(crate) fn log_appended(&mut self, result: Result<(), String>, out: &mut Out) {
        let Task::Ending(ending) = &mut self.task else { return };
        let complete = ending.is_complete();
        ending.stage = Stage::Settle;
        if let Err(why) = result {
            ending.log_failed(why);
            if complete {
                ending.stage = Stage::Demote;
                return;
            }
        }
        if !ending.run.as_ref().is_some_and(|run| run.displaced) {
            self.end_finished(out);
        }
    }

    /// The end is in the file, and its line will not be in the log.
    pub(crate) fn end_unlogged(&mut self, why: &str, out: &mut Out) {
        if let Task::Ending(ending) = &mut self.task {
            ending.log = Err(why.to_owned());
        }
        self.end_finished(out);
    }

    /// Everything is written: answer, tell, forget.
    pub(crate) fn end_finished(&mut self, out: &mut Out) {
        let Task::Ending(ending) = std::mem::replace(&mut self.task, Task::None) else { return };
        let ending = *ending;
        let complete = ending.is_complete();
        let log = LogResult::of(&ending.log);
        if let Err(why) = &ending.log {
            let (task_id, dispatch) = (ending.task.task_id.clone(), ending.dispatch);
            out.push(Effect::Record(Fact::LogFailed { task_id, dispatch, why: why.clone() }));
        }
        if let Some(dispatch) = ending.dispatch.filter(|_| !complete) {
            self.linger(&ending.task.task_id, dispatch, &ending.runs);
        }
        let status = if complete { "COMPLETE" } else { "ERROR" };
        out.push(Effect::Record(ending.fact(complete, log)));
        if let Some(req) = ending.report {
            out.push(Effect::Reply { req, reply: Reply::Reported { complete, log } });
        }
        let live_runs = self.live_runs();
        for (req, _) in &ending.cancels {
            let reply =
                Reply::Cancelled { was: "RUNNING", now: status, session: ending.reach, live_runs: live_runs.clone() };
            out.push(Effect::Reply { req: *req, reply });
        }
        if let Outcome::Ours(text) | Outcome::Demote(text) = &ending.outcome {
            let is_known = matches!(ending.reach, SessionReach::Aborted | SessionReach::Told);
            let level = if is_known { Level::Info } else { Level::Error };
            let text = format!("{} ended in ERROR: {text}", ending.task.task_id);
            if self.sessions.owner.is_none() {
                self.untold = Some(Box::new(Untold { dispatch: ending.dispatch, level, text: text.clone() }));
            }
            self.tell_owner(level, text, out);
        }
        if let Outcome::Report { body, .. } = ending.outcome {
            out.push(Effect::Drop(body));
        }
        self.release_engaged(ending.run.as_deref());
        self.answer_stale_reports(ending.dispatch, out);
        // The planner may have written again while the end was being finished.
        self.stale |= self.view_hash() != Some(ending.hash);
    }

    /// A session that never got the task is as idle as it last said.
    fn release_engaged(&mut self, run: Option<&Running>) {
        if let (Some(run), Some(owner)) = (run, &mut self.sessions.owner)
            && run.delivery != crate::state::Delivery::Accepted
        {
            owner.engaged = false;
        }
    }

    fn answer_stale_reports(&mut self, dispatch: Option<DispatchId>, out: &mut Out) {
        for waiting in std::mem::take(&mut self.reports) {
            if Some(waiting.dispatch) == dispatch {
                let reply = Reply::Refused(Refusal::NotRunning(waiting.dispatch));
                out.push(Effect::Reply { req: waiting.req, reply });
                out.push(Effect::Drop(waiting.body));
            } else {
                self.reports.push_back(waiting);
            }
        }
    }
}

impl Ending {
    pub(crate) const fn is_complete(&self) -> bool {
        matches!(self.outcome, Outcome::Report { complete: true, demoted: None, .. })
    }

    /// Replaces a long text of ours by one that says so; `false`: it is short already.
    fn shorten(&mut self) -> bool {
        let short = "The task ended; its reason does not fit into tasks.json and stands in the daemon's log.";
        match &mut self.outcome {
            Outcome::Ours(text) if text.len() > short.len() => {
                *text = short.to_owned();
                true
            }
            _ => false,
        }
    }

    fn log_failed(&mut self, why: String) {
        if let Outcome::Report { complete: true, demoted, .. } = &mut self.outcome {
            *demoted = Some(format!("The work log could not be written: {why}"));
        }
        self.log = Err(why);
    }

    fn write(&self) -> EndWrite {
        EndWrite {
            hash: self.hash,
            dispatch: self.dispatch,
            outcome: self.outcome.clone(),
            completed: self.completed,
            runs: self.runs.clone(),
        }
    }

    fn fact(&self, complete: bool, log: LogResult) -> Fact {
        let (error, report) = match (&self.outcome, self.dispatch) {
            (Outcome::Demote(text), Some(dispatch)) => {
                return Fact::Demoted { task_id: self.task.task_id.clone(), dispatch, text: text.clone() };
            }
            (Outcome::Ours(text) | Outcome::Demote(text), _) => (Some(text.clone()), None),
            (Outcome::Report { body, demoted, .. }, _) => (demoted.clone(), Some(*body)),
        };
        Fact::Ended(Box::new(Ended {
            task: self.task.clone(),
            dispatch: self.dispatch,
            complete,
            error,
            report,
            started: self.started,
            completed: self.completed,
            log,
        }))
    }
}
