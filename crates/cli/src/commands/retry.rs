//! `handoff retry`: an ended task once more, as a new one that names it as its parent.

use std::ffi::OsString;

use wire::control::TaskRetry;
use wire::status::{ProjectStatus, TaskStatus};

use crate::context::Context;
use crate::daemon;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::{Line, Tone};

/// Submit an ended task again, under a new id
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task [default: the one that ended last in the queue]
    id: Option<String>,
    /// The project, a path or a registered name [default: the working folder]
    #[arg(long, short, value_name = "PROJECT")]
    project: Option<OsString>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let answer = ctx.block_on(async {
            let (daemon, _) = daemon::connect(ctx).await?;
            let project = daemon.project(ctx, self.project.as_deref()).await?;
            let task_id = match &self.id {
                Some(id) => id.clone(),
                None => ended(&project)?,
            };
            daemon.call(&TaskRetry { project: project.path, task_id }).await
        })?;
        if self.json {
            ctx.out.json(&answer);
            return Ok(Exit::Good);
        }
        let parent = answer.parent_task_id.as_deref().unwrap_or("the task");
        let line = Line::of(Tone::Good, "submitted").plain(" ").and(Tone::Strong, &answer.task_id);
        ctx.out.line(line.plain(&format!(" as another try of {parent}")));
        Ok(Exit::Good)
    }
}

/// The ended task that stands in the queue.
fn ended(project: &ProjectStatus) -> Result<String, Failure> {
    let has_ended = matches!(project.queue.status, Some(TaskStatus::Complete | TaskStatus::Error));
    project.queue.task_id.clone().filter(|_| has_ended).ok_or_else(|| {
        Failure::new(Exit::Refused, format!("no ended task stands in the queue of {}", project.path))
            .hint("`handoff history` lists those that ended before: name one")
    })
}
