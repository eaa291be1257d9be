//! `handoff submit`: the planner's write, done for it (D64). With a daemon it goes through the daemon; without one the
//! same durable write is done here, with a warning.
//!
//! `task` builds the task out of a file or of options, `offline` writes it without a daemon.

mod offline;
mod task;

pub(crate) use offline::write as write_offline;

use std::ffi::OsString;

use queue::{Assessment, Document, Submission, SubmitError};
use serde_json::json;
use store::ProjectRoot;
use wire::Raw;
use wire::control::{SubmitResult, TaskSubmit};

use crate::commands::wait;
use crate::context::Context;
use crate::daemon::{self, Daemon, is_absent};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::{Line, Tone};
use crate::{projects, queue_file, remarks};

/// Write a task into a project's queue
///
/// The task comes from FILE (the planner's fields as JSON), from standard input with `-`, or from options. `task_id`,
/// `created_at` and `created_by` are filled in when they are missing. Without a daemon the queue is written all the same,
/// with a warning that nothing will pick the task up.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    task: task::Options,
    /// The project, a path or a registered name [default: the working folder]
    #[arg(long, short, value_name = "PROJECT")]
    project: Option<OsString>,
    /// Wait until the task ends; the exit code is that of `handoff wait`
    #[arg(long)]
    wait: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let task = self.task.build(ctx)?;
        let reached = ctx.block_on(async {
            match daemon::connect(ctx).await {
                Ok((daemon, _)) => self.through(ctx, &daemon, &task).await.map(Ok),
                Err(failure) if is_absent(&failure) => Ok(Err(failure)),
                Err(failure) => Err(failure),
            }
        })?;
        match reached {
            Ok((project, submitted)) => {
                self.tell(ctx, &submitted, &project);
                if self.wait { wait::until_end(ctx, project, submitted.task_id, self.json) } else { Ok(Exit::Good) }
            }
            Err(absent) => self.offline(ctx, &task, &absent),
        }
    }

    async fn through(
        &self,
        ctx: &Context,
        daemon: &Daemon,
        task: &Submission,
    ) -> Result<(String, SubmitResult), Failure> {
        let project = daemon.project(ctx, self.project.as_deref()).await?.path;
        let root = queue_file::open_root(project.as_ref())?;
        validate(ctx, &root, None, task)?;
        let params =
            TaskSubmit { project: project.clone(), task: Raw::parse(task::json(task)?).map_err(Failure::usage)? };
        Ok((project, daemon.call(&params).await?))
    }

    fn offline(&self, ctx: &mut Context, task: &Submission, absent: &Failure) -> Result<Exit, Failure> {
        let root = projects::root(ctx, self.project.as_deref())?;
        let submitted = offline::write(ctx, &root, task)?;
        ctx.out.warn(&format!("{absent}: nothing picks the task up until a daemon runs"));
        for hint in &absent.hints {
            ctx.out.note(Line::of(Tone::Strong, "Hint:").plain(" ").plain(hint));
        }
        if !self.wait || !self.json {
            self.tell(ctx, &submitted, &root.display().to_string());
        }
        Ok(if self.wait { Exit::Unreachable } else { Exit::Good })
    }

    /// With `--wait --json` the one document is the end of the task.
    fn tell(&self, ctx: &mut Context, submitted: &SubmitResult, project: &str) {
        let SubmitResult { task_id, fingerprint, status, .. } = submitted;
        match (self.json, self.wait) {
            (true, true) => {}
            (true, false) => {
                ctx.out.json(&json!({"task_id": task_id, "fingerprint": fingerprint, "status": status}));
            }
            (false, _) => {
                ctx.out.line(
                    Line::of(Tone::Good, "submitted")
                        .plain(" ")
                        .and(Tone::Strong, task_id)
                        .plain(" to ")
                        .plain(project),
                );
            }
        }
    }
}

/// The document that the task makes of what is in the file, if the daemon would dispatch it. Remarks are told.
fn validate(
    ctx: &Context,
    root: &ProjectRoot,
    existing: Option<&Document>,
    task: &Submission,
) -> Result<Document, Failure> {
    let invalid = |problems: Vec<String>| Failure::new(Exit::NotGood, "the task is not valid").problems(problems);
    let text = queue::submit(existing, task).map_err(|full| invalid(vec![full.to_string()]))?;
    let document = Document::parse(text.as_bytes()).map_err(|problem| invalid(vec![problem.message]))?;
    match queue::assess(&document, root) {
        Assessment::Reject(problems) | Assessment::Leave(problems) => {
            Err(invalid(problems.into_iter().map(|problem| problem.message).collect()))
        }
        _ => {
            for remark in remarks::of_task(&document, ctx.config().secrets.check) {
                ctx.out.warn(&remark);
            }
            Ok(document)
        }
    }
}

/// A task that is not one JSON object with distinct keys.
fn unreadable(error: &SubmitError) -> Failure {
    Failure::new(Exit::NotGood, "the task is not valid").problems([error.to_string()])
}
