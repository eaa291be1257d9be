//! `handoff_show`: one task in full.

use super::answer::Told;
use super::arguments::{Arguments, no_task};
use super::task;
use crate::commands::show::gather;
use crate::context::Context;
use crate::daemon::{self, is_absent};
use crate::failure::Failure;
use crate::{packets, projects};

pub(super) async fn answer(ctx: &Context, arguments: &Arguments) -> Result<Told, Failure> {
    let mut problems = Vec::new();
    let task_id = arguments.text("task_id", &mut problems);
    let project = arguments.project(&mut problems);
    arguments.require(problems)?;
    let home = packets::home(ctx)?;
    let daemon = match daemon::connect(ctx).await {
        Ok((daemon, _)) => daemon,
        Err(absent) if is_absent(&absent) => {
            let root = projects::root(ctx, project)?.display().to_string();
            let found = gather::without_daemon(&root, task_id, &home).ok_or_else(|| {
                let what = task_id.map_or_else(|| "no task".to_owned(), |id| format!("no task {id}"));
                let failure = no_task(format!("{what} is in {root}/tasks.json, and {absent}"));
                absent.hints.iter().fold(failure.hint("older tasks are told by the daemon"), Failure::hint)
            })?;
            let mut told = task::in_full(&found);
            told.line(format!("This is what tasks.json says; {absent}."));
            return Ok(told);
        }
        Err(failure) => return Err(failure),
    };
    let project = daemon.project(ctx, project).await?;
    gather::task(&daemon, &project, task_id, &home).await.map(|found| task::in_full(&found))
}
