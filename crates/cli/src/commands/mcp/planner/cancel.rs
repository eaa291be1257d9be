//! `handoff_cancel`: ends the task that is named (D76).

use serde_json::json;
use wire::control::{CancelOutcome, TaskCancel};
use wire::status::TaskStatus;

use super::answer::Told;
use super::arguments::Arguments;
use crate::context::Context;
use crate::daemon;
use crate::failure::Failure;

pub(super) async fn answer(ctx: &Context, arguments: &Arguments) -> Result<Told, Failure> {
    let mut problems = Vec::new();
    let task_id = arguments.text("task_id", &mut problems).map(str::to_owned);
    let reason = arguments.text("reason", &mut problems).map(str::to_owned);
    let project = arguments.project(&mut problems);
    if task_id.is_none() && problems.is_empty() {
        problems.push("`task_id` is missing; name the task that is to end, handoff_status tells it".to_owned());
    }
    arguments.require(problems)?;
    let task_id = task_id.unwrap_or_default();
    let (daemon, _) = daemon::connect(ctx).await?;
    let project = daemon.project(ctx, project).await?.path;
    let answer = daemon.call(&TaskCancel { project, task_id: task_id.clone(), reason }).await?;
    let mut told = Told::default();
    told.line(match (answer.session, answer.was) {
        (Some(CancelOutcome::FinishedFirst), TaskStatus::Running) => {
            format!("{task_id} had finished first: its report was accepted, it is {}. See handoff_show.", answer.now)
        }
        (Some(CancelOutcome::FinishedFirst), _) => {
            format!("{task_id} had ended before, it is {}: nothing was changed. See handoff_show.", answer.now)
        }
        (Some(CancelOutcome::Aborted), _) => format!("Cancelled {task_id}: the worker's session stopped."),
        (Some(CancelOutcome::Told), _) => {
            format!("Cancelled {task_id}: the worker's session was told; no turn of it was at work on the task.")
        }
        (Some(_), _) => {
            format!("Cancelled {task_id}. The session could not be reached and may still be at work on its files.")
        }
        (None, TaskStatus::Pending) => format!("Cancelled {task_id}: it had not begun."),
        (None, was) => format!("Cancelled {task_id}: it was {was} and is {}.", answer.now),
    });
    for run in &answer.live_runs {
        told.line(format!("Still alive: {} {}. Nothing new starts until it ends.", run.agent, run.run_id));
    }
    told.member("task_id", task_id).member("was", json!(answer.was)).member("now", json!(answer.now));
    told.member("session", json!(answer.session)).member("live_runs", json!(answer.live_runs));
    Ok(told)
}
