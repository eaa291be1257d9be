//! A report's way from its session to its check (wire protocol, `task.report`). How it ends the task is elsewhere.

use crate::done::Checked;
use crate::effect::{Effect, Fact};
use crate::job::Job;
use crate::reply::{Refusal, Reply};
use crate::state::{JobKind, Out, Project, Stopping, Task, Waiting};
use crate::{Body, Conn, Req};

impl Project {
    pub(crate) fn report(&mut self, conn: Conn, waiting: Waiting, out: &mut Out) {
        self.sign_of_life(conn, Some(waiting.dispatch), out);
        match self.refuse_report(conn, waiting.dispatch) {
            None => self.reports.push_back(waiting),
            Some(refusal) => Self::refuse(waiting.req, waiting.body, refusal, out),
        }
    }

    pub(crate) fn refuse(req: Req, body: Body, refusal: Refusal, out: &mut Out) {
        out.push(Effect::Reply { req, reply: Reply::Refused(refusal) });
        out.push(Effect::Drop(body));
    }

    /// Who may report what (wire protocol, `task.report`).
    fn refuse_report(&self, conn: Conn, dispatch: queue::DispatchId) -> Option<Refusal> {
        if self.stopping != Stopping::No {
            return Some(Refusal::ShuttingDown);
        }
        let Some(run) = self.run().filter(|run| run.dispatch == dispatch) else {
            return Some(Refusal::NotRunning(dispatch));
        };
        if self.sessions.owner_conn() != Some(conn)
            || self.sessions.owner.as_ref().is_none_or(|owner| !owner.who.same(&run.owner))
        {
            return Some(Refusal::NotOwner);
        }
        if run.cancelling.is_some() {
            return Some(Refusal::Cancelled);
        }
        if self.halt.replaced {
            return Some(Refusal::QueueChanged);
        }
        (!self.is_ours()).then(|| Refusal::CannotWrite("the project's lock is not held now".into()))
    }

    pub(crate) fn report_job(&mut self, out: &mut Out) -> Option<(Job, JobKind)> {
        loop {
            let waiting = self.reports.front()?;
            let (req, dispatch, body) = (waiting.req, waiting.dispatch, waiting.body);
            match &self.task {
                Task::Running(run) if run.dispatch == dispatch && self.halt.replaced => {
                    self.reports.pop_front();
                    Self::refuse(req, body, Refusal::QueueChanged, out);
                }
                Task::Running(run) if run.dispatch == dispatch && run.cancelling.is_none() => {
                    let job = Job::CheckReport { body, hash: run.hash, runs: run.runs.clone() };
                    return Some((job, JobKind::CheckReport(req, body)));
                }
                task => {
                    let cancelled = matches!(task, Task::Running(run) if run.dispatch == dispatch);
                    let refusal = if cancelled { Refusal::Cancelled } else { Refusal::NotRunning(dispatch) };
                    self.reports.pop_front();
                    Self::refuse(req, body, refusal, out);
                }
            }
        }
    }

    pub(crate) fn checked(&mut self, req: Req, checked: Checked, out: &mut Out) {
        // It may have been answered meanwhile, when its task was given up.
        if self.reports.front().is_none_or(|waiting| waiting.req != req) {
            return;
        }
        let Some(Waiting { req, dispatch, body }) = self.reports.pop_front() else { return };
        match checked {
            Checked::Accepted { complete } => {
                let waiting = Waiting { req, dispatch, body };
                if matches!(&self.task, Task::Running(run) if run.dispatch == dispatch) {
                    self.end_by_report(&waiting, complete, out);
                } else {
                    self.reports.push_front(waiting);
                }
            }
            Checked::Refused { problems } => {
                if let Task::Running(run) = &mut self.task {
                    run.refused = true;
                }
                out.push(Effect::Record(Fact::ReportRefused(dispatch, problems)));
                out.push(Effect::Reply { req, reply: Reply::ReportRefused(body) });
                out.push(Effect::Drop(body));
            }
            Checked::Changed(view) => {
                self.see(view, out);
                let hash = self.run().map(|run| run.hash);
                let same = !self.halt.replaced && hash.is_some() && hash == self.view_hash();
                if same {
                    self.reports.push_front(Waiting { req, dispatch, body });
                    return;
                }
                let unreadable = self.is_unreadable();
                let refusal = if unreadable { Refusal::QueueUnreadable } else { Refusal::QueueChanged };
                Self::refuse(req, body, refusal, out);
            }
        }
    }
}
