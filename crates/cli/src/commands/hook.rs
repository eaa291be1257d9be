//! `handoff hook`: what a client's hooks run. A hook must never hold up or fail the session that it serves: it is quick, it is
//! silent when there is nothing to say, and its exit code is 0.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use handoffd::logging::sanitize::one_line;
use serde_json::{Value, json};
use wire::status::{ProjectState, ProjectStatus};

use crate::commands::next::suggestion;
use crate::commands::show::gather::{self, Found};
use crate::context::Context;
use crate::daemon::{self, is_absent};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::packets;

/// Answer a hook of a client, such as Claude Code
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Tell a planner's new session what is open: a task that waits, runs or has ended
    ///
    /// The hook's JSON comes on standard input, its answer goes to standard output. Without anything to tell, and in a folder
    /// that is no project, it says nothing. It always ends with 0 within seconds.
    SessionStart,
}

/// How long the hook's input may take.
const INPUT: Duration = Duration::from_secs(1);
/// How long the daemon may take.
const DAEMON: Duration = Duration::from_secs(2);
/// The most that is read of the input.
const INPUT_BYTES: u64 = 1024 * 1024;
/// Characters of a foreign text: it goes into a conversation that nobody asked to have it in.
const EXCERPT: usize = 160;

/// What is open: a sentence for both, and what the model can do about it.
struct Open {
    says: String,
    advice: String,
}

impl Args {
    #[expect(clippy::unnecessary_wraps, reason = "all commands have one signature")]
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let Command::SessionStart = self.command;
        let input = input().unwrap_or_default();
        if let Some(Open { says, advice }) = folder(ctx, &input).and_then(|folder| open(ctx, &folder)) {
            let context = format!("handoffd says: {says} {advice}");
            let context = json!({"hookEventName": "SessionStart", "additionalContext": context.trim_end()});
            // The person has read it before; the model has just forgotten it.
            let was_told = input["source"] == "compact";
            ctx.out.json(&match was_told {
                false => json!({"systemMessage": format!("handoff: {says}"), "hookSpecificOutput": context}),
                true => json!({"hookSpecificOutput": context}),
            });
        }
        Ok(Exit::Good)
    }
}

/// The folder of the session: that of the hook's input, else of the environment, else ours.
fn folder(ctx: &Context, input: &Value) -> Option<PathBuf> {
    let told = input["cwd"].as_str().map(PathBuf::from).filter(|folder| folder.is_absolute());
    told.or_else(|| ctx.env.claude_project_dir.clone()).or_else(|| ctx.working_dir().ok().map(Path::to_owned))
}

/// The hook's input, if it comes in time.
fn input() -> Option<Value> {
    if std::io::stdin().is_terminal() {
        return None;
    }
    let (sender, text) = channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(INPUT_BYTES).read_to_string(&mut text);
        // Nobody may listen any more.
        sender.send(read.ok().map(|_| text)).ok();
    });
    serde_json::from_str(&text.recv_timeout(INPUT).ok()??).ok()
}

/// What is open in a project; `None` for a folder that is none, and when there is nothing to say.
fn open(ctx: &Context, folder: &Path) -> Option<Open> {
    let reached = ctx.block_on(async {
        let asked = tokio::time::timeout(DAEMON, async {
            let (daemon, _) = daemon::connect(ctx).await?;
            daemon.project(ctx, Some(folder.as_os_str())).await
        });
        Ok(asked.await.ok())
    });
    let project = match reached.ok()?? {
        Ok(project) => Some(project),
        Err(failure) if is_absent(&failure) => None,
        // Not a project, or a daemon of another time: other commands say so when they are asked.
        Err(_) => return None,
    };
    let root = project.as_ref().map_or_else(|| folder.display().to_string(), |project| project.path.clone());
    let task = gather::without_daemon(&root, None, &packets::home(ctx).ok()?);
    match (&project, &task) {
        (Some(project), _) => with_daemon(project, task.as_ref()),
        (None, Some(task)) => alone(task),
        (None, None) => None,
    }
}

fn with_daemon(project: &ProjectStatus, task: Option<&Found>) -> Option<Open> {
    let why = project.why.as_deref().map(|why| format!(": {}", excerpt(why))).unwrap_or_default();
    let says = format!("{} is {}{why}.", project.name, project.state);
    let next = project.next.as_deref().filter(|next| suggestion::helps_a_planner(next));
    let next = next.map(|next| format!(" What helps: `{next}`.")).unwrap_or_default();
    match project.state {
        ProjectState::Idle => task.and_then(ended),
        ProjectState::Disabled | ProjectState::Starting | ProjectState::Leaving | ProjectState::Other => None,
        ProjectState::Running | ProjectState::Cancelling => {
            Some(Open { says, advice: "handoff_wait waits for its end.".to_owned() })
        }
        _ => Some(Open { says: says + &next, advice: "handoff_status says more.".to_owned() }),
    }
}

/// A task whose daemon does not run.
fn alone(task: &Found) -> Option<Open> {
    match task.status.as_str() {
        "PENDING" | "RUNNING" => {
            let (id, status) = (excerpt(&task.task_id), &task.status);
            let says = format!(
                "{id} is {status}, and the daemon is not running: nothing goes on until `handoffd` is started."
            );
            Some(Open { says, advice: String::new() })
        }
        _ => ended(task),
    }
}

/// A task that ended and that no other has followed.
fn ended(task: &Found) -> Option<Open> {
    let id = excerpt(&task.task_id);
    let how = match task.status.as_str() {
        "COMPLETE" => match task.verdict() {
            Some(verdict) => format!("COMPLETE; its reviewer began with \"{}\"", excerpt(verdict)),
            None => "COMPLETE".to_owned(),
        },
        "ERROR" => "ERROR".to_owned(),
        _ => return None,
    };
    let advice = format!("If its result has not been dealt with yet: handoff_show {id}.");
    Some(Open { says: format!("the last task, {id}, ended {how}."), advice })
}

fn excerpt(text: &str) -> String {
    let text = one_line(text);
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
