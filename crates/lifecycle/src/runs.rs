//! Runs of sub-agents, of the running task and of an ended one (D28, D49, D66).

use queue::{DispatchId, Run, RunState};

use crate::Conn;
use crate::effect::{Effect, Fact};
use crate::state::{Lingering, Out, Project, Running, Task};

impl Project {
    pub(crate) fn run_seen(&mut self, conn: Conn, dispatch: DispatchId, seen: Run, out: &mut Out) {
        self.sign_of_life(conn, Some(dispatch), out);
        if let Task::Ending(ending) = &mut self.task
            && ending.dispatch == Some(dispatch)
        {
            note_run(&mut ending.runs, &seen);
        }
        self.lingering_run(dispatch, &seen);
        let Some(run) = self.run_on(conn).filter(|run| run.dispatch == dispatch) else { return };
        if !note_run(&mut run.runs, &seen) {
            return;
        }
        run.background = run.background_before || observed_background(&run.runs);
        let (live, background) = (seen.state.is_live(), seen.background);
        out.push(Effect::Record(Fact::Run(dispatch, seen)));
        self.turn_after_run(live, background, out);
    }

    /// Processes of runs are gone: they cannot hold dispatch any more (D66), and are not at work.
    pub(crate) fn runs_gone(&mut self, ids: &[String]) {
        if let Task::Running(run) = &mut self.task {
            let ours = run.runs.iter().map(|run| &run.run_id).filter(|id| ids.contains(id));
            run.gone.extend(ours.cloned());
        }
        if let Some(lingering) = &mut self.lingering {
            lingering.runs.retain(|run| !ids.contains(&run.run_id));
            if lingering.runs.is_empty() {
                self.lingering = None;
            }
        }
    }

    fn lingering_run(&mut self, dispatch: DispatchId, seen: &Run) {
        if self.lingering.as_ref().is_some_and(|lingering| lingering.dispatch == dispatch) && !seen.state.is_live() {
            self.runs_gone(std::slice::from_ref(&seen.run_id));
        }
    }

    /// Live background runs of a task that did not end well hold dispatch (D66).
    pub(crate) fn linger(&mut self, task_id: &str, dispatch: DispatchId, runs: &[Run]) {
        let live = runs.iter().filter(|run| run.background && run.state.is_live()).cloned();
        match &mut self.lingering {
            Some(lingering) => lingering.runs.extend(live),
            None => {
                let runs: Vec<Run> = live.collect();
                if !runs.is_empty() {
                    self.lingering = Some(Box::new(Lingering { task_id: task_id.to_owned(), dispatch, runs }));
                }
            }
        }
    }

    pub(crate) fn live_runs(&self) -> Vec<String> {
        self.lingering.iter().flat_map(|lingering| &lingering.runs).map(|run| run.run_id.clone()).collect()
    }
}

impl Running {
    /// Its runs that may be at work.
    pub(crate) fn at_work(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| run.state.is_live() && !self.gone.contains(&run.run_id))
    }

    /// Whether a background run was observed in what the journal kept.
    pub(crate) fn notice_recovered_runs(&mut self) {
        self.background = self.background_before || observed_background(&self.runs);
    }
}

/// A rejected run never existed (D49).
pub(crate) fn observed_background(runs: &[Run]) -> bool {
    runs.iter().any(|run| run.background && run.state != RunState::Rejected)
}

/// Keeps the newest state of a run; an ended run never becomes live again, and what was known of it is not forgotten.
/// `true` if that changed anything.
fn note_run(runs: &mut Vec<Run>, seen: &Run) -> bool {
    let Some(known) = runs.iter_mut().find(|run| run.run_id == seen.run_id) else {
        runs.push(seen.clone());
        return true;
    };
    if !known.state.is_live() && seen.state.is_live() {
        return false;
    }
    let mut newest = seen.clone();
    newest.model = newest.model.or_else(|| known.model.clone());
    newest.thinking = newest.thinking.or_else(|| known.thinking.clone());
    newest.result = newest.result.or_else(|| known.result.clone());
    newest.parent_run_id = newest.parent_run_id.or_else(|| known.parent_run_id.clone());
    newest.pid = newest.pid.or(known.pid);
    let changed = *known != newest;
    *known = newest;
    changed
}
