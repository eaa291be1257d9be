//! `handoff submit`: the planner's write, done for it (D64). With a daemon it goes through the daemon; without one the
//! same durable write is done here, with a warning.
//!
//! `task` builds the task out of a file or of options, `offline` writes it without a daemon.

mod offline;
mod task;

pub(crate) use offline::write as write_offline;
pub(crate) use task::{default_role, fill};

use std::ffi::{OsStr, OsString};

use queue::{Assessment, Document, Submission, SubmitError};
use serde_json::json;
use store::ProjectRoot;
use wire::Raw;
use wire::control::{SubmitResult, TaskSubmit};
use wire::error::ErrorCode;

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

/// A task that stands in a queue now.
pub(crate) struct Written {
    /// The root of the project.
    pub(crate) project: String,
    /// What was written.
    pub(crate) result: SubmitResult,
    /// What somebody should know about it, one sentence each.
    pub(crate) remarks: Vec<String>,
}

/// By whom a task was written.
pub(crate) enum Submitted {
    /// By the daemon, which will dispatch it.
    Daemon(Written),
    /// By us, since no daemon answers, and why it does not.
    Alone(Written, Failure),
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let task = self.task.build(ctx)?;
        match submit(ctx, self.project.as_deref(), &task).map_err(explained)? {
            Submitted::Daemon(written) => {
                self.tell(ctx, &written);
                if !self.wait {
                    return Ok(Exit::Good);
                }
                wait::say_if_nobody_works(ctx, &written.project);
                wait::until_end(ctx, written.project, written.result.task_id, self.json)
            }
            Submitted::Alone(written, absent) => {
                ctx.out.warn(&format!("{absent}: nothing picks the task up until a daemon runs"));
                for hint in &absent.hints {
                    ctx.out.note(Line::of(Tone::Strong, "Hint:").plain(" ").plain(hint));
                }
                self.tell(ctx, &written);
                Ok(if self.wait { Exit::Unreachable } else { Exit::Good })
            }
        }
    }

    /// With `--wait --json` the one document is the end of the task.
    fn tell(&self, ctx: &mut Context, written: &Written) {
        for remark in &written.remarks {
            ctx.out.warn(remark);
        }
        let SubmitResult { task_id, fingerprint, status, .. } = &written.result;
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
                        .plain(&written.project),
                );
            }
        }
    }
}

/// With what a person can do about it.
fn explained(failure: Failure) -> Failure {
    match failure.code {
        Some(code) if code == ErrorCode::QueueBusy.as_str() && failure.hints.is_empty() => {
            failure.hint("a project has one task at a time: `handoff wait` for its end, or `handoff cancel`")
        }
        _ => failure,
    }
}

/// Writes a task into the queue of a project, through the daemon where there is one.
pub(crate) fn submit(ctx: &Context, project: Option<&OsStr>, task: &Submission) -> Result<Submitted, Failure> {
    let reached = ctx.block_on(async {
        match daemon::connect(ctx).await {
            Ok((daemon, _)) => through(ctx, &daemon, project, task).await.map(Ok),
            Err(failure) if is_absent(&failure) => Ok(Err(failure)),
            Err(failure) => Err(failure),
        }
    })?;
    Ok(match reached {
        Ok(written) => Submitted::Daemon(written),
        Err(absent) => Submitted::Alone(offline::write(ctx, &projects::root(ctx, project)?, task)?, absent),
    })
}

async fn through(
    ctx: &Context,
    daemon: &Daemon,
    project: Option<&OsStr>,
    task: &Submission,
) -> Result<Written, Failure> {
    let project = daemon.project(ctx, project).await?.path;
    let (_, remarks) = validate(ctx, &queue_file::open_root(project.as_ref())?, None, task)?;
    let params = TaskSubmit { project: project.clone(), task: Raw::parse(task::json(task)?).map_err(Failure::usage)? };
    Ok(Written { project, result: daemon.call(&params).await?, remarks })
}

/// The document that the task makes of what is in the file, if the daemon would dispatch it, and remarks on it.
fn validate(
    ctx: &Context,
    root: &ProjectRoot,
    existing: Option<&Document>,
    task: &Submission,
) -> Result<(Document, Vec<String>), Failure> {
    let invalid = |problems: Vec<String>| {
        let failure = Failure::new(Exit::NotGood, "the task is not valid").code(ErrorCode::InvalidTask.as_str());
        failure.problems(problems)
    };
    let text = queue::submit(existing, task).map_err(|full| invalid(vec![full.to_string()]))?;
    let document = Document::parse(text.as_bytes()).map_err(|problem| invalid(vec![problem.message]))?;
    match queue::assess(&document, root) {
        Assessment::Reject(problems) | Assessment::Leave(problems) => {
            // A key that nobody reads may be what another one lacks.
            let keys = remarks::of_keys(task.unknown_keys());
            Err(invalid(problems.into_iter().map(|problem| problem.message).chain(keys).collect()))
        }
        _ => {
            let mut remarks = remarks::of_keys(task.unknown_keys());
            remarks.extend(remarks::of_task(&document, ctx.config().secrets.check));
            Ok((document, remarks))
        }
    }
}

/// A task that is not one JSON object with distinct keys.
fn unreadable(error: &SubmitError) -> Failure {
    Failure::new(Exit::NotGood, "the task is not valid").problems([error.to_string()])
}
