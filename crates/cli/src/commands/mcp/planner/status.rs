//! `handoff_status`: what the project is doing, why, and what helps.

use std::path::Path;

use jiff::Timestamp;
use queue::Field;
use serde_json::{Value, json};
use wire::status::{ProjectState, ProjectStatus, ReportState, StateReason, Status, TaskStatus};

use super::answer::{self, Told};
use super::arguments::Arguments;
use crate::commands::next::suggestion;
use crate::context::Context;
use crate::daemon::{self, choose, is_absent};
use crate::failure::Failure;
use crate::queue_file::{self, QUEUE, QueueFile};
use crate::{projects, time};

pub(super) async fn answer(ctx: &Context, arguments: &Arguments) -> Result<Told, Failure> {
    let mut problems = Vec::new();
    let typed = arguments.project(&mut problems);
    arguments.require(problems)?;
    let status = match daemon::connect(ctx).await {
        Ok((daemon, _)) => daemon.status().await?,
        Err(absent) if is_absent(&absent) => return Ok(without_daemon(&projects::root(ctx, typed)?, &absent)),
        Err(failure) => return Err(failure),
    };
    let mut told = Told::default();
    told.member("daemon", json!({"running": true, "version": status.daemon.version}));
    match choose(ctx, typed, &status.projects) {
        Ok(index) => {
            let project = &status.projects[index];
            about(&mut told, project, suggestion::local(project, &status.projects, None), ctx.now());
            told.member("project", json!(project));
            others(&mut told, &status, Some(index));
        }
        // A name that fits nothing is a slip; a folder that is no project is an answer.
        Err(failure) if typed.is_some() => return Err(failure),
        Err(failure) => {
            told.line(format!("{failure}."));
            told.member("project", Value::Null);
            others(&mut told, &status, None);
        }
    }
    status.daemon.warnings.iter().for_each(|warning| {
        told.line(format!("Warning: {warning}"));
    });
    Ok(told)
}

fn about(told: &mut Told, project: &ProjectStatus, next: Option<String>, now: Timestamp) {
    let why = project.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let (name, state, since) = (&project.name, project.state, time::age(&project.since, now));
    told.line(format!("{name} ({}) is {state}, for {since}{why}.", project.path));
    if let Some(next) = next.filter(|next| suggestion::helps_a_planner(next)) {
        told.line(format!("What helps: `{next}`"));
    }
    let seen = project.queue.task_id.as_deref().filter(|_| is_open(project.queue.status));
    let in_file = queue_file::open_task(project.path.as_ref()).filter(|(id, _)| seen != Some(id.as_str()));
    match (&project.queue.task_id, project.queue.status) {
        _ if let Some((id, status)) = &in_file => {
            told.line(format!("tasks.json holds {id}, {}, which the daemon has not looked at yet.", status.as_str()))
        }
        (Some(id), Some(status @ (TaskStatus::Complete | TaskStatus::Error))) => {
            told.line(format!("The last task, {id}, ended {status}; handoff_wait tells how, with the gate's verdict."))
        }
        (Some(id), Some(status)) => told.line(format!("The queue holds {id}, {status}.")),
        // Then nobody knows what it holds, and the state says why.
        _ if project.state == ProjectState::Unreadable => &mut *told,
        _ => told.line("The queue holds no task."),
    };
    if let Some(task) = &project.task {
        told.line(progress(project, now).unwrap_or_else(|| format!("{} runs.", task.task_id)));
    }
    match &project.session {
        Some(session) => {
            let word = if session.idle { "idle" } else { "busy" };
            told.line(format!("Worker's session: {}, {word}.", session.host))
        }
        None => told.line(nobody(project)),
    };
    for problem in project.queue.problems.iter().filter(|problem| project.why.as_ref() != Some(&problem.message)) {
        told.line(format!("Problem: {}", problem.message));
    }
    for warning in &project.warnings {
        told.line(format!("Warning: {warning}"));
    }
}

/// What is to be done where no session is attached, beside what `why` says.
pub(super) fn nobody(project: &ProjectStatus) -> &'static str {
    match (&project.task, project.reason) {
        (Some(_), _) => "It goes on when that session is open again: tell the person.",
        (None, Some(StateReason::NoSession)) => {
            "It goes on when a person opens a worker's session in its folder: tell them."
        }
        (None, _) => "No worker's session is attached: nothing is taken up until a person opens one there.",
    }
}

fn is_open(status: Option<TaskStatus>) -> bool {
    matches!(status, Some(TaskStatus::Pending | TaskStatus::Running))
}

/// How far the RUNNING task is.
pub(super) fn progress(project: &ProjectStatus, now: Timestamp) -> Option<String> {
    let task = project.task.as_ref()?;
    let runs = task.runs;
    let mut text = format!("{} has been running for {}", task.task_id, time::age(&task.started_at, now));
    if runs.running + runs.complete + runs.failed > 0 {
        let counts = format!("{} at work, {} done, {} failed", runs.running, runs.complete, runs.failed);
        text += &format!("; sub-agents: {counts}");
    }
    match task.report {
        ReportState::Refused => text += "; its last report was refused and is being mended",
        ReportState::Owed => text += "; its session was reminded of the report that it owes",
        _ => {}
    }
    Some(text + ".")
}

fn others(told: &mut Told, status: &Status, but: Option<usize>) {
    let others = status.projects.iter().enumerate().filter(|(index, _)| Some(*index) != but);
    let others: Vec<_> = others.map(|(_, other)| other).collect();
    if !others.is_empty() {
        let names: Vec<String> = others.iter().map(|other| format!("{} ({})", other.name, other.state)).collect();
        told.line(format!("Other projects: {}.", names.join(", ")));
    }
    let one = |other: &&ProjectStatus| json!({"path": other.path, "name": other.name, "state": other.state});
    told.member("other_projects", others.iter().map(one).collect::<Vec<_>>());
}

/// What the file says when nobody else does.
fn without_daemon(root: &Path, absent: &Failure) -> Told {
    let mut told = Told::default();
    told.line(answer::without_daemon(absent));
    told.member("daemon", json!({"running": false, "problem": absent.message})).member("project", Value::Null);
    let (text, queue) = in_file(root);
    told.line(text).member("queue", queue);
    told
}

/// The task in a project's file, in words and for programs.
pub(super) fn in_file(root: &Path) -> (String, Value) {
    let place = root.join(QUEUE).display().to_string();
    match queue_file::open_root(root).and_then(|root| QueueFile::read(&root, QUEUE)) {
        Ok(QueueFile::Missing) => (format!("There is no {place}."), json!({"status": null, "task_id": null})),
        Ok(QueueFile::Unreadable(problem)) => (format!("{place}: {}.", problem.message), json!({"status": null})),
        Ok(QueueFile::Readable(document, _)) => {
            let (id, status) = (document.string(Field::TaskId), document.status().as_str());
            let holds = id.as_deref().map_or_else(|| "no task".to_owned(), |id| format!("{id}, {status}"));
            (format!("{place} holds {holds}."), json!({"status": status, "task_id": id}))
        }
        Err(failure) => (format!("{place} cannot be read: {failure}."), json!({"status": null})),
    }
}
