//! Answers to jobs: each goes to the part it concerns. The small ones (report check, settling, replay) are here, and
//! so is the block of D70.

use crate::done::{Done, SettleResult};
use crate::effect::{Effect, Fact, Level};
use crate::job::Outcome;
use crate::reply::{LogResult, SessionReach};
use crate::state::{Ending, JobKind, Out, Project, Stage, Task};
use crate::view::{Content, TaskMeta};

impl Project {
    pub(crate) fn done(&mut self, done: Done, out: &mut Out) {
        let Some(kind) = self.busy_job.take() else { return };
        match (done, kind) {
            (Done::Acquired(acquired), JobKind::Acquire) => self.acquired(acquired, out),
            (Done::Read(seen), JobKind::Read) => self.seen(seen, out),
            (Done::Bound(result), JobKind::Bind(binding)) => self.bind_done(binding, result, out),
            (Done::Released, JobKind::Release) => self.released(out),
            (Done::Unlocked { moved }, JobKind::Unlock { req, confirm }) => {
                self.unlocked(req, confirm && !moved, moved, out);
            }
            (Done::Claimed(result), JobKind::Claim) => self.claimed(result, out),
            (Done::Settled(result), JobKind::Settle) => self.settled(result, out),
            (Done::Rejected(result), JobKind::Reject) => self.rejected(result, out),
            (Done::Checked(checked), JobKind::CheckReport(req, _)) => self.checked(req, checked, out),
            (Done::LogOpened(result), JobKind::OpenLog) => self.log_opened(result),
            (Done::EndWritten(result), JobKind::WriteEnd) => self.end_written(result, out),
            (Done::LogAppended(result), JobKind::AppendLog) => self.log_appended(result, out),
            (Done::Replayed(result), JobKind::ReplayLog) => self.replayed(result, out),
            (Done::Submitted(result), JobKind::Submit(req, body)) => self.submitted(req, body, result, out),
            (_, kind) => self.busy_job = Some(kind), // not the answer to what is out
        }
    }

    fn settled(&mut self, result: SettleResult, out: &mut Out) {
        match &mut self.task {
            Task::Running(run) => run.displaced = false,
            Task::Ending(ending) => {
                if let Some(run) = ending.run.as_deref_mut() {
                    run.displaced = false;
                }
                if ending.stage == Stage::Settle {
                    self.end_finished(out);
                }
            }
            _ => self.unsettled = false,
        }
        if let SettleResult::Lost(kept) = result {
            self.halt_lost(&kept, out);
        }
    }

    fn replayed(&mut self, result: Result<(), (Vec<queue::DispatchId>, String)>, out: &mut Out) {
        self.replay = false;
        let Err((missing, why)) = result else { return };
        for dispatch in &missing {
            let (task_id, dispatch) = (String::new(), Some(*dispatch));
            out.push(Effect::Record(Fact::LogFailed { task_id, dispatch, why: why.clone() }));
        }
        let text = format!("The work log could not be brought up to date ({} lines): {why}", missing.len());
        self.tell_owner(Level::Error, text, out);
        self.demote_recovered(&missing, &why, out);
    }

    /// The file still says COMPLETE for a dispatch whose line the log does not take (D67).
    fn demote_recovered(&mut self, missing: &[queue::DispatchId], why: &str, out: &Out) {
        let Some(view) = self.view.as_deref() else { return };
        let (Content::Settled { by: Some(dispatch), complete: true, task_id }, Some(hash)) = (&view.content, view.hash)
        else {
            return;
        };
        if !matches!(self.task, Task::None) || !missing.contains(dispatch) {
            return;
        }
        let task_id = task_id.clone().unwrap_or_default();
        self.task = Task::Ending(Box::new(Ending {
            run: None,
            task: TaskMeta { task_id, created_at: String::new(), fingerprint: [0; 32] },
            dispatch: Some(*dispatch),
            started: None,
            runs: Vec::new(),
            hash,
            outcome: Outcome::Demote(format!("The work log could not be written: {why}")),
            stage: Stage::Demote,
            log: Err(why.to_owned()),
            completed: out.now.wall,
            report: None,
            cancels: Vec::new(),
            reach: SessionReach::FinishedFirst,
        }));
    }
}

impl LogResult {
    pub(crate) const fn of(log: &Result<(), String>) -> Self {
        if log.is_ok() { Self::Appended } else { Self::Failed }
    }
}
