//! `handoff_submit`: as `handoff submit` with options, and every fault at once.

use queue::{Document, Field, Submission};
use serde_json::{Value, json};

use super::answer::{self, Told};
use super::arguments::{Arguments, invalid};
use crate::commands::next::suggestion;
use crate::commands::submit::{Submitted, Written, default_role, fill, submit};
use crate::context::Context;
use crate::daemon;
use crate::failure::Failure;
use crate::{projects, queue_file};
use store::ProjectRoot;
use wire::error::ErrorCode;
use wire::status::ProjectStatus;

const NOTHING: &str = "nothing was written; mend all of it and call this again";

pub(super) fn answer(ctx: &Context, arguments: &Arguments) -> Result<Told, Failure> {
    let mut problems = Vec::new();
    let project = arguments.project(&mut problems);
    let root = if problems.is_empty() { projects::root(ctx, project).ok() } else { None };
    problems.splice(..0, arguments.unknown());
    let task = task(ctx, arguments)?;
    if !problems.is_empty() {
        // What can be seen of the task is told with the rest, without its folder if that is not known.
        problems.extend(faults(&task, root.and_then(|root| queue_file::open_root(&root).ok()).as_ref()));
        return Err(arguments.invalid(problems).hint(NOTHING));
    }
    let submitted = submit(ctx, project, &task).map_err(|failure| match failure.code {
        Some(code) if code == ErrorCode::InvalidTask.as_str() => failure.hint(NOTHING),
        Some(code) if code == ErrorCode::QueueBusy.as_str() => failure.hint(
            "a project has one task at a time: handoff_wait for it, or handoff_cancel it if it is not wanted any more",
        ),
        Some(code) if code == ErrorCode::UnknownProject.as_str() => failure.problems(faults(&task, None)),
        _ => failure,
    })?;
    Ok(match submitted {
        Submitted::Daemon(written) => taken(ctx, &written),
        Submitted::Alone(written, absent) => alone(&written, &absent),
    })
}

/// The task, with what is missing filled in.
fn task(ctx: &Context, arguments: &Arguments) -> Result<Submission, Failure> {
    let mut fields = arguments.fields();
    let kind = fields.entry(Field::TaskType.name()).or_insert_with(|| "IMPLEMENT".into()).clone();
    fields.entry(Field::RequiredRole.name()).or_insert_with(|| default_role(kind.as_str().unwrap_or_default()).into());
    fields.entry(Field::WorkingDir.name()).or_insert_with(|| ".".into());
    let mut task =
        Submission::parse(&Value::Object(fields).to_string()).map_err(|error| invalid([error.to_string()]))?;
    fill(&mut task, ctx.now());
    Ok(task)
}

/// What is wrong with a task as far as its text, and its folder, tell.
fn faults(task: &Submission, root: Option<&ProjectRoot>) -> Vec<String> {
    let document = queue::submit(None, task).ok().and_then(|text| Document::parse(text.as_bytes()).ok());
    let judged = document.map(|document| match root {
        Some(root) => queue::planner(&document, root),
        None => queue::planner_unresolved(&document),
    });
    let problems = judged.and_then(Result::err).unwrap_or_default();
    problems.into_iter().map(|problem| problem.message).collect()
}

fn taken(ctx: &Context, written: &Written) -> Told {
    // What else is known is a help; the task stands without it.
    let now = ctx.block_on(async {
        let (daemon, _) = daemon::connect(ctx).await?;
        daemon.project(ctx, Some(written.project.as_ref())).await
    });
    let mut told = said(written);
    told.member("daemon_running", true);
    if let Ok(project) = now {
        told.line(outlook(&project)).member("session_attached", project.session.is_some());
    }
    told.line(format!("Next: handoff_wait with task_id {}.", written.result.task_id));
    told
}

/// What will become of a new task.
fn outlook(project: &ProjectStatus) -> String {
    let next = project
        .next
        .as_deref()
        .filter(|next| suggestion::helps_a_planner(next))
        .map(|next| format!(" What helps: `{next}`."))
        .unwrap_or_default();
    match (&project.session, &project.why) {
        (None, _) => format!(
            "No worker's session is attached: the task waits until a person opens one in {} (for Pi: `pi` in that folder, \
             with the extension that `handoff init --pi` installs).",
            project.path
        ),
        (Some(_), Some(why)) => format!("The project is {}: {why}.{next}", project.state),
        (Some(session), None) => format!("The session of {} is there to take it.", session.host),
    }
}

fn alone(written: &Written, absent: &Failure) -> Told {
    let mut told = said(written);
    told.member("daemon_running", false).member("session_attached", false);
    told.line(format!("But {}", answer::without_daemon(absent)));
    told
}

fn said(written: &Written) -> Told {
    let mut told = Told::default();
    let result = &written.result;
    told.line(format!("Submitted {} to {}; it is {}.", result.task_id, written.project, result.status));
    for remark in &written.remarks {
        told.line(format!("Warning: {remark}"));
    }
    told.member("task_id", result.task_id.as_str()).member("status", json!(result.status));
    told.member("project", written.project.as_str()).member("fingerprint", result.fingerprint.as_str());
    told.member("warnings", json!(written.remarks));
    told
}
