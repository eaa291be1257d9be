//! The daemon stops in order (D19).

use crate::Req;
use crate::effect::Effect;
use crate::job::{Job, Keep};
use crate::reply::{Refusal, Reply};
use crate::state::{JobKind, Lock, Out, Project, Stopping, Task};

impl Project {
    /// Writes that have begun are finished, everything else is left to the next daemon (D19).
    pub(crate) fn stopping_job(&mut self, out: &mut Out) -> Option<(Job, JobKind)> {
        if self.stopping == Stopping::Released {
            return None;
        }
        self.refuse_waiting(out);
        if self.is_ours() && self.block.is_none() {
            let job = match &self.task {
                Task::Ending(_) if std::mem::take(&mut self.stale) => Some((Job::Read, JobKind::Read)),
                Task::Ending(_) if !self.end_is_stuck() => self.ending_job(),
                Task::Rejecting(_) => self.rejecting_job(),
                Task::Running(_) => self.last_binding(),
                _ => None,
            };
            if job.is_some() {
                return job;
            }
        }
        self.stopping = Stopping::Released;
        if matches!(&self.task, Task::Ending(ending) if ending.report.is_some()) {
            self.back_to_running(Some(Refusal::ShuttingDown), out);
        }
        self.refuse_owed(&Refusal::ShuttingDown, out);
        if !self.is_ours() {
            out.push(Effect::Gone);
            return None;
        }
        let keep = if self.run().is_some() { Keep::File } else { Keep::Remove };
        Some((Job::Release(keep), JobKind::Release))
    }

    /// The binding of a RUNNING task must survive as it is now.
    fn last_binding(&self) -> Option<(Job, JobKind)> {
        let wanted = self.wanted_binding();
        let differs = !matches!(&self.lock, Lock::Ours { bound } if *bound == wanted);
        differs.then(|| (Job::Bind(wanted.clone()), JobKind::Bind(wanted)))
    }

    /// Everything that waits is refused: the daemon stops.
    pub(crate) fn refuse_waiting(&mut self, out: &mut Out) {
        for (req, command) in std::mem::take(&mut self.requests) {
            Self::refuse_stopping(req, &command, out);
        }
        for waiting in std::mem::take(&mut self.reports) {
            Self::refuse(waiting.req, waiting.body, Refusal::ShuttingDown, out);
        }
        self.refuse_attaches(out);
    }

    pub(crate) fn refuse_stopping(req: Req, command: &crate::Command, out: &mut Out) {
        out.push(Effect::Reply { req, reply: Reply::Refused(Refusal::ShuttingDown) });
        if let crate::Command::Submit { body, .. } = command {
            out.push(Effect::Drop(*body));
        }
    }
}
