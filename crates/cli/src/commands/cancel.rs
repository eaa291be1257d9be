//! `handoff cancel`: ends a task, naming it (D76): the id that was shown is the id that is sent.

use std::ffi::OsString;

use wire::control::{CancelOutcome, CancelResult, TaskCancel};
use wire::status::{ProjectStatus, TaskStatus};

use crate::context::Context;
use crate::daemon;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::queue_file;
use crate::text::{Line, Tone};

/// End a task, whether it waits or runs
///
/// A running one gets 10 s to stop. A report that was accepted before wins.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task [default: the one in the queue now]
    id: Option<String>,
    /// The project, a path or a registered name [default: the working folder]
    #[arg(long, short, value_name = "PROJECT")]
    project: Option<OsString>,
    /// Why; it becomes part of the task's error
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let (task_id, answer) = ctx.block_on(async {
            let (daemon, _) = daemon::connect(ctx).await?;
            let project = daemon.project(ctx, self.project.as_deref()).await?;
            let task_id = match &self.id {
                Some(id) => id.clone(),
                None => current(&project)?,
            };
            ctx.out.note(format!("cancelling {task_id} in {}", project.path));
            let reason = self.reason.clone();
            let call = TaskCancel { project: project.path, task_id: task_id.clone(), reason };
            Ok((task_id, daemon.call(&call).await?))
        })?;
        if self.json {
            ctx.out.json(&answer);
        } else {
            print(ctx, &task_id, &answer);
        }
        Ok(Exit::Good)
    }
}

/// The task that runs, or waits: also one that was written a moment ago.
fn current(project: &ProjectStatus) -> Result<String, Failure> {
    let running = project.task.as_ref().map(|task| task.task_id.clone());
    let in_file = || queue_file::open_task(project.path.as_ref()).map(|(id, _)| id);
    running.or_else(in_file).ok_or_else(|| {
        Failure::new(Exit::Refused, format!("no task waits or runs in {}", project.path))
            .hint("`handoff history` lists those that were")
    })
}

fn print(ctx: &mut Context, task_id: &str, answer: &CancelResult) {
    let what = match answer.session {
        Some(CancelOutcome::FinishedFirst) if answer.was == TaskStatus::Running => {
            Line::of(Tone::Warning, "finished first").plain(": its report was accepted")
        }
        Some(CancelOutcome::FinishedFirst) => {
            Line::of(Tone::Warning, "had ended before").plain(": nothing was changed")
        }
        Some(CancelOutcome::Aborted) => Line::of(Tone::Good, "cancelled").plain(": the session stopped"),
        Some(CancelOutcome::Told) => {
            Line::of(Tone::Good, "cancelled").plain(": the session was told; no turn of it was at work")
        }
        Some(_) => {
            Line::of(Tone::Good, "cancelled").plain(": the session could not be reached and may still be at work")
        }
        None => Line::of(Tone::Good, "cancelled"),
    };
    let states = format!(" ({} before, {} now)", answer.was, answer.now);
    ctx.out.line(Line::of(Tone::Strong, task_id).plain(" ").join(&what).and(Tone::Dim, &states));
    for run in &answer.live_runs {
        let pid = run.pid.map(|pid| format!(", pid {pid}")).unwrap_or_default();
        let line = format!("  still alive: {} {}{pid}", run.agent, run.run_id);
        ctx.out.line(Line::of(Tone::Warning, &line));
    }
    if !answer.live_runs.is_empty() {
        ctx.out.note("nothing new starts until they end, or until `handoff resume`");
    }
}
