//! `handoff_wait`: until the task ends, or the client would give up: the call that comes back in time with what is known can
//! be repeated, the one that the client cut off has told nothing.

use std::path::Path;
use std::time::{Duration, Instant};

use mcp::Progress;
use serde_json::json;
use wire::control::WaitResult;
use wire::status::{ProjectState, ProjectStatus};

use super::answer::Told;
use super::arguments::{Arguments, no_task};
use super::{status, task};
use crate::commands::next::suggestion;
use crate::commands::show::gather;
use crate::commands::wait::{self, Wait};
use crate::context::Context;
use crate::daemon::{self, Daemon, is_absent};
use crate::failure::Failure;
use crate::{packets, projects};

/// Seconds that a call waits unless it says otherwise: many clients give up after 60.
pub(super) const USUAL: u64 = 50;
/// The most seconds of one call.
pub(super) const LONGEST: u64 = 86_400;
/// How often a client that listens is told how far the task is. It also keeps clients from giving up that count from the last
/// sign of life.
const TELL: Duration = Duration::from_secs(5);

pub(super) async fn answer(ctx: &Context, arguments: &Arguments, progress: &Progress) -> Result<Told, Failure> {
    let mut problems = Vec::new();
    let named = arguments.text("task_id", &mut problems).map(str::to_owned);
    let seconds = arguments.number("timeout_secs", LONGEST, &mut problems).unwrap_or(USUAL);
    let typed = arguments.project(&mut problems);
    arguments.require(problems)?;
    let daemon = match daemon::connect(ctx).await {
        Ok((daemon, _)) => daemon,
        Err(absent) if is_absent(&absent) => {
            return without_daemon(ctx, &projects::root(ctx, typed)?, named.as_deref(), absent);
        }
        Err(failure) => return Err(failure),
    };
    let project = daemon.project(ctx, typed).await?;
    let Some(task_id) = named.or_else(|| wait::current(&project)) else {
        let failure = no_task(format!("no task stands in the queue of {}", project.path));
        return Err(failure.hint("name the task_id of one that was there, or handoff_submit one"));
    };
    let begun = Instant::now();
    let deadline = Some(begun + Duration::from_secs(seconds));
    let wait = Wait { project: project.path.clone(), task_id: Some(task_id.clone()), deadline };
    let result = tokio::select! {
        result = wait.run(ctx, Some(daemon.clone())) => result,
        never = tell(ctx, &project, &task_id, progress, begun) => never,
    };
    match result {
        Ok(result) if !result.timed_out => Ok(ended(ctx, &project, &task_id, &result).await),
        Ok(_) => not_ended(ctx, &project, &task_id, begun.elapsed()).await,
        Err(absent) if is_absent(&absent) => without_daemon(ctx, Path::new(&project.path), Some(&task_id), absent),
        Err(failure) => Err(failure),
    }
}

/// Tells a client that listens how it stands; never ends. No total: a client would show the share of the time that is over as
/// the share of the work that is done.
async fn tell<T>(ctx: &Context, project: &ProjectStatus, task_id: &str, progress: &Progress, begun: Instant) -> T {
    if !progress.is_wanted() {
        return std::future::pending().await;
    }
    let mut turns = tokio::time::interval(TELL);
    loop {
        turns.tick().await;
        let text = match again(ctx, project).await {
            Ok((_, project)) => standing(ctx, &project, task_id),
            Err(failure) => format!("{task_id}: {failure}"),
        };
        progress.report(begun.elapsed().as_secs_f64(), None, &text).await;
    }
}

/// The daemon that is there now, and what it says of the project.
async fn again(ctx: &Context, project: &ProjectStatus) -> Result<(Daemon, ProjectStatus), Failure> {
    let (daemon, _) = daemon::connect(ctx).await?;
    let project = daemon.project(ctx, Some(project.path.as_ref())).await?;
    Ok((daemon, project))
}

/// How it stands with a task that has not ended: how far it is, and what keeps it from going on.
fn standing(ctx: &Context, project: &ProjectStatus, task_id: &str) -> String {
    let why = project.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let state = format!("The project is {}{why}.", project.state);
    match status::progress(project, ctx.now()) {
        Some(text) if is_at(project, task_id) => {
            let goes_on = project.state == ProjectState::Running && project.reason.is_none();
            if goes_on { text } else { format!("{text} {state}") }
        }
        _ => state,
    }
}

fn is_at(project: &ProjectStatus, task_id: &str) -> bool {
    project.task.as_ref().is_some_and(|task| task.task_id == task_id)
}

async fn ended(ctx: &Context, project: &ProjectStatus, task_id: &str, result: &WaitResult) -> Told {
    let whole = async {
        let (daemon, project) = again(ctx, project).await?;
        gather::task(&daemon, &project, Some(task_id), &packets::home(ctx)?).await
    };
    let mut told = match whole.await {
        Ok(found) => task::ended(&found),
        // The end was told; that more cannot be had is no reason to keep it back.
        Err(failure) => in_short(task_id, result, &failure),
    };
    told.member("ended", true);
    told
}

fn in_short(task_id: &str, result: &WaitResult, failure: &Failure) -> Told {
    let mut told = Told::default();
    told.line(format!("{task_id} ended {}.", result.status));
    if let Some(verdict) = &result.verdict {
        told.line(format!(
            "The gate's verdict: {verdict}. COMPLETE means that the review took place, not that it approved."
        ));
    }
    let task = result.task.as_ref();
    for (name, text) in
        [("result", task.and_then(|task| task.result.as_ref())), ("error", task.and_then(|task| task.error.as_ref()))]
    {
        if let Some(text) = text {
            told.line(format!("{name}: {text}")).member(name, text.as_str());
        }
    }
    told.line(format!("More cannot be told now ({failure}); handoff_show may have it later."));
    told.member("task_id", task_id).member("status", json!(result.status)).member("verdict", json!(result.verdict));
    told
}

async fn not_ended(ctx: &Context, project: &ProjectStatus, id: &str, waited: Duration) -> Result<Told, Failure> {
    let (_, project) = again(ctx, project).await?;
    let mut told = Told::default();
    let seconds = waited.as_secs();
    told.line(format!("{id} has not ended after {seconds} s of waiting. {}", standing(ctx, &project, id)));
    let is_running = is_at(&project, id);
    if project.session.is_none() {
        told.line(status::nobody(&project));
    }
    if let Some(next) = &project.next
        && suggestion::helps_a_planner(next)
    {
        told.line(format!("What helps: `{next}` in {}", project.path));
    }
    told.line("This is no failure: call handoff_wait again, or do something else first that does not touch its scope.");
    told.member("ended", false).member("task_id", id).member("project", project.path.as_str());
    told.member("status", if is_running { "RUNNING" } else { "PENDING" });
    told.member("state", json!(project.state)).member("why", json!(project.why));
    Ok(told)
}

/// The file may tell the end; what has not ended will not end without a daemon.
fn without_daemon(ctx: &Context, root: &Path, id: Option<&str>, absent: Failure) -> Result<Told, Failure> {
    let found = gather::without_daemon(&root.display().to_string(), id, &packets::home(ctx)?);
    match found.filter(|found| matches!(found.status.as_str(), "COMPLETE" | "ERROR")) {
        Some(found) => {
            let mut told = task::ended(&found);
            told.line(format!("This is what tasks.json says; {absent}.")).member("ended", true);
            Ok(told)
        }
        None => {
            let failure = absent.problems([status::in_file(root).0]);
            Err(failure.hint("nothing goes on until it answers: ask the person, then call this again"))
        }
    }
}
