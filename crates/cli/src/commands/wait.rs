//! `handoff wait`: blocks until a task ends, over restarts of the daemon too.
//!
//! `hindrance` tells what must be done by a person before the task can go on.

mod hindrance;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use queue::Field;
use wire::client::ClientError;
use wire::control::{EndedTask, TaskWait, WaitResult};
use wire::error::ErrorCode;
use wire::limits;
use wire::status::{ProjectState, ProjectStatus, StateReason, TaskStatus};

use crate::context::Context;
use crate::daemon::{self, Daemon, is_absent};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::queue_file::{self, QUEUE, QueueFile};
use crate::text::{Line, Tone};

/// How long a daemon may be away (a restart) before waiting is given up.
const DAEMON_AWAY: Duration = Duration::from_secs(30);
/// How long "no such task" is not believed while the file holds it.
const UNSEEN: Duration = Duration::from_secs(5);
/// After which a daemon that stops or starts is asked again.
const AGAIN: Duration = Duration::from_millis(100);
/// What the daemon may be late with the answer "time is over".
const LATE: Duration = Duration::from_secs(5);

/// Wait until a task ends, and print how
///
/// Exit 0 when it ended COMPLETE, 1 for ERROR, 5 when the time is over. COMPLETE means that the work and its review have
/// finished: read the verdict for whether the reviewer approved.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task [default: the one in the queue now]
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// The longest wait, such as 30m [default: without end]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    timeout: Option<Duration>,
    /// The project, a path or a registered name [default: the working folder]
    #[arg(long, short, value_name = "PROJECT")]
    project: Option<OsString>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Mask what looks like a credential
    #[arg(long)]
    redact: bool,
}

/// One wait.
pub(crate) struct Wait {
    pub(crate) project: String,
    pub(crate) task_id: Option<String>,
    /// `None`: without end, also for limits that no clock can hold.
    pub(crate) deadline: Option<Instant>,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        ctx.out.redact(self.redact);
        let deadline = self.timeout.and_then(|limit| Instant::now().checked_add(limit));
        let result = ctx.block_on(async {
            let (daemon, _) = daemon::connect(ctx).await?;
            let project = daemon.project(ctx, self.project.as_deref()).await?;
            // Named, so that a wait after a restart means the same task.
            let task_id = self.task.clone().or_else(|| current(&project));
            let nobody = nobody_works(&project);
            let wait = Wait { project: project.path, task_id, deadline };
            if let Some(task_id) = &wait.task_id {
                ctx.out.note(format!("waiting for {task_id} in {}", wait.project));
            }
            say_nobody_works(ctx, nobody);
            wait.run_and_tell(ctx, Some(daemon)).await
        })?;
        Ok(print(ctx, &result, self.json))
    }
}

/// The task that is meant where none is named.
pub(crate) fn current(project: &ProjectStatus) -> Option<String> {
    let in_file = queue_file::open_task(project.path.as_ref()).map(|(id, _)| id);
    in_file.or_else(|| project.task.as_ref().map(|task| task.task_id.clone())).or_else(|| project.queue.task_id.clone())
}

/// Whether a task waits, and nobody is there to take it.
fn nobody_works(project: &ProjectStatus) -> bool {
    project.session.is_none() && project.queue.status == Some(TaskStatus::Pending)
}

fn say_nobody_works(ctx: &Context, nobody: bool) {
    if nobody {
        ctx.out
            .note("no worker's session is attached yet: open `pi` there, or `handoff attach`; the task waits for it");
    }
}

/// Tells whoever is about to wait for a new task that there is nobody to take it. A help: without an answer nothing is said.
pub(crate) fn say_if_nobody_works(ctx: &Context, project: &str) {
    let now = ctx.block_on(async {
        let (daemon, _) = daemon::connect(ctx).await?;
        daemon.project(ctx, Some(project.as_ref())).await
    });
    say_nobody_works(ctx, now.is_ok_and(|project| project.session.is_none()));
}

/// Waits without end for a task that was just submitted.
pub(crate) fn until_end(ctx: &mut Context, project: String, task_id: String, as_json: bool) -> Result<Exit, Failure> {
    let wait = Wait { project, task_id: Some(task_id), deadline: None };
    let result = ctx.block_on(wait.run_and_tell(ctx, None))?;
    Ok(print(ctx, &result, as_json))
}

impl Wait {
    /// For a person: with a word about what keeps the task from going on.
    async fn run_and_tell(&self, ctx: &Context, daemon: Option<Daemon>) -> Result<WaitResult, Failure> {
        tokio::select! {
            result = self.run(ctx, daemon) => result,
            never = hindrance::tell(ctx, &self.project) => never,
        }
    }

    /// Asks; a daemon that goes away is asked again when it is back, and one that has just come when it has looked.
    pub(crate) async fn run(&self, ctx: &Context, mut daemon: Option<Daemon>) -> Result<WaitResult, Failure> {
        let mut told = false;
        let mut doubt: Option<Instant> = None;
        loop {
            let connected = match daemon.take() {
                Some(daemon) => daemon,
                None => self.reconnected(ctx).await?,
            };
            match self.ask(&connected).await {
                Err(error) if is_leaving(&error) => {
                    if !std::mem::replace(&mut told, true) {
                        ctx.out.note("the daemon went away; waiting for it");
                    }
                }
                Err(error)
                    if error.code() == Some(ErrorCode::NoTask)
                        && doubt.get_or_insert_with(Instant::now).elapsed() < UNSEEN
                        && self.is_not_seen_yet(&connected).await => {}
                Err(error) if error.code() == Some(ErrorCode::NoTask) && self.task_id.is_none() => {
                    return Err(no_task(&self.project));
                }
                outcome => return outcome.map_err(|error| connected.failure(error)),
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Whether "no such task" may only mean that the daemon has not looked at the file yet: it has just started, or the
    /// task was written this very moment.
    async fn is_not_seen_yet(&self, daemon: &Daemon) -> bool {
        let Ok(status) = daemon.status().await else { return false };
        let ours = status.projects.into_iter().find(|project| project.path == self.project);
        let is_starting = ours.is_some_and(|project| {
            project.state == ProjectState::Starting || project.reason == Some(StateReason::Starting)
        });
        is_starting || self.is_in_file()
    }

    /// Whether the file holds the task. Whatever its status, the daemon is about to know it.
    fn is_in_file(&self) -> bool {
        let file = queue_file::open_root(self.project.as_ref()).and_then(|root| QueueFile::read(&root, QUEUE));
        let id = file.ok().and_then(|file| file.document()?.string(Field::TaskId).map(std::borrow::Cow::into_owned));
        id.is_some() && id == self.task_id
    }

    async fn ask(&self, daemon: &Daemon) -> Result<WaitResult, ClientError> {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timeout_ms = left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
        let params = TaskWait { project: self.project.clone(), task_id: self.task_id.clone(), timeout_ms };
        daemon.client.call_within(&params, left.map(|left| left.saturating_add(LATE))).await
    }

    async fn reconnected(&self, ctx: &Context) -> Result<Daemon, Failure> {
        let give_up = Instant::now() + DAEMON_AWAY;
        let give_up = self.deadline.map_or(give_up, |deadline| deadline.min(give_up));
        let mut pause = limits::RECONNECT_FIRST;
        loop {
            match daemon::connect(ctx).await {
                Ok((daemon, _)) => return Ok(daemon),
                Err(failure) if is_absent(&failure) && Instant::now() + pause < give_up => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(limits::RECONNECT_LONGEST);
                }
                Err(failure) => return Err(failure),
            }
        }
    }
}

/// None was named, and the queue has none.
fn no_task(project: &str) -> Failure {
    Failure::new(Exit::Refused, format!("no task waits or runs in {project}"))
        .code(ErrorCode::NoTask.as_str())
        .hint("`handoff history` lists those that were: name one with --task")
}

/// The daemon stops, or has stopped.
fn is_leaving(error: &ClientError) -> bool {
    matches!(error, ClientError::Closed { .. }) || error.code() == Some(ErrorCode::ShuttingDown)
}

fn print(ctx: &mut Context, result: &WaitResult, as_json: bool) -> Exit {
    let exit = match (result.timed_out, result.status) {
        (true, _) => Exit::TimedOut,
        (false, TaskStatus::Complete) => Exit::Good,
        (false, _) => Exit::NotGood,
    };
    if as_json {
        ctx.out.json(result);
        return exit;
    }
    match &result.task {
        Some(task) => print_ended(ctx, task, result.verdict.as_deref()),
        None => {
            let state = result.state.map(|state| format!(", the project is {state}")).unwrap_or_default();
            let why = result.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            ctx.out.line(format!("not ended yet{state}{why}"));
        }
    }
    exit
}

fn print_ended(ctx: &mut Context, task: &EndedTask, verdict: Option<&str>) {
    let tone = if task.status == TaskStatus::Complete { Tone::Good } else { Tone::Bad };
    ctx.out.line(Line::of(tone, task.status.as_str()).plain(" ").and(Tone::Strong, &task.task_id));
    for (name, text) in [("result", &task.result), ("error", &task.error)] {
        if let Some(text) = text {
            ctx.out.line(Line::of(Tone::Dim, name).plain(": ").plain(text));
        }
    }
    if let Some(verdict) = verdict {
        ctx.out.line(Line::of(Tone::Dim, "verdict").plain(": ").and(Tone::Strong, verdict));
    }
}
