//! `handoff demo`: the main job on a throw-away project, in front of the user's eyes. `world` is the project and the
//! daemon, `worker` the scripted session; here the story is told.

mod worker;
mod world;

use std::time::Duration;

use serde_json::json;
use wire::client::Client;
use wire::control::{TaskWait, WaitResult};
use wire::status::TaskStatus;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::{Line, Tone, block};

use world::World;

/// Show the whole way of a task on a throw-away project
///
/// A daemon in this process, a planner's task, a scripted worker, its report, the work log. Nothing of yours is touched.
/// Exit 0 when the task ended COMPLETE.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// How long the whole story may take.
const WITHIN: Duration = Duration::from_secs(30);
const TASK_ID: &str = "DEMO-1";

impl Args {
    #[expect(clippy::unused_self, reason = "every command is run in the same way")]
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let world = World::make(ctx)?;
        step(ctx, 1, "a project", "as `handoff init` makes it: queue, work log, two example agents");
        aside(ctx, &world.root.display().to_string());
        let result = tell(ctx, &world);
        world.stop();
        let result = result?;
        let good = result.status == TaskStatus::Complete;
        let (tone, word) = if good { (Tone::Good, "COMPLETE") } else { (Tone::Bad, result.status.as_str()) };
        ctx.out.line(Line::of(tone, word).plain(": that was the whole way of a task"));
        ctx.out.note("yours begins with `handoff init`; the throw-away project is removed now");
        Ok(if good { Exit::Good } else { Exit::NotGood })
    }
}

fn tell(ctx: &mut Context, world: &World) -> Result<WaitResult, Failure> {
    let (runtime, connected) = ctx.start(async |_: &Context| world.connect().await)?;
    step(ctx, 2, "a daemon", "in this process; it holds the project's lock and watches its queue");
    aside(ctx, &world.socket.display().to_string());
    world.plan(ctx, &task())?;
    step(ctx, 3, "the planner's task", "written to tasks.json as PENDING, with a review as its gate");
    show(ctx, &json!({"task_id": TASK_ID, "instruction": task()["instruction"], "gate": task()["gate"]}).to_string());
    step(ctx, 4, "a worker", "a scripted session attaches; the daemon writes RUNNING durably, then hands over");
    let (client, inbox) = connected;
    let root = world.root.clone();
    let story = async {
        let worked = worker::work(&client, inbox, &root).await?;
        Ok((wait(&client, world).await?, worked))
    };
    let told = runtime.block_on(async { tokio::time::timeout(WITHIN, story).await });
    let late = || Failure::new(Exit::TimedOut, format!("the demo did not end within {} s", WITHIN.as_secs()));
    let (result, worked) = told.map_err(|_| late())??;
    aside(ctx, "the message that the session got begins:");
    show(ctx, &worked.message.lines().take(5).collect::<Vec<_>>().join("\n"));
    step(ctx, 5, "the report", "checked against the task, the agents' roles and the scope before it is believed");
    show(ctx, &worked.report);
    if let Some(verdict) = &result.verdict {
        ctx.out.line(Line::from("   the reviewer's verdict: ").and(Tone::Strong, verdict));
    }
    step(ctx, 6, "the work log", "one line for each task, in the project");
    show(ctx, &world.work_log());
    Ok(result)
}

async fn wait(client: &Client, world: &World) -> Result<WaitResult, Failure> {
    let call = TaskWait {
        project: world.root.display().to_string(),
        task_id: Some(TASK_ID.to_owned()),
        timeout_ms: u64::try_from(WITHIN.as_millis()).ok(),
    };
    client.call(&call).await.map_err(|error| Failure::new(Exit::NotGood, error.to_string()))
}

fn task() -> serde_json::Value {
    json!({
        "task_id": TASK_ID, "task_type": "IMPLEMENT", "required_role": "writer", "gate": "review-after",
        "gate_reason": "to show what a review looks like",
        "instruction": "Write a greeting into src/greeting.txt.", "working_dir": ".", "scope": ["src"],
        "acceptance_criteria": ["src/greeting.txt says hello"],
    })
}

fn step(ctx: &mut Context, number: u32, what: &str, how: &str) {
    ctx.out.line(Line::of(Tone::Strong, &format!("{number}. {what}")).plain(": ").plain(how));
}

fn aside(ctx: &mut Context, text: &str) {
    ctx.out.line(Line::of(Tone::Dim, &format!("   {text}")));
}

fn show(ctx: &mut Context, text: &str) {
    for line in block("     ", text) {
        ctx.out.line(line);
    }
}
