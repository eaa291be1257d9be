//! `handoff mcp planner`: the planner's tools for an MCP client: submit, status, wait, cancel, show.
//!
//! One file a tool; `words` and `schema` are what a client is told about them, `arguments` reads what it sends, `answer` makes
//! what it gets, `task` tells of one task. No rule about tasks lives here: each tool does what the command of its name does.

mod answer;
mod arguments;
mod cancel;
mod schema;
mod show;
mod status;
mod submit;
mod task;
mod wait;
mod words;

use std::path::PathBuf;
use std::sync::Arc;

use handoffd::env::Env;
use mcp::{Answer, Call, Definition, Outcome, Tool, Toolbox};

use crate::VERSION;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use answer::Told;
use arguments::Arguments;

/// Serve the planner's tools: handoff_submit, _status, _wait, _cancel, _show
///
/// A call is about the project that its parameter `project` names (a path or a registered name), else about the folder in
/// CLAUDE_PROJECT_DIR, else about the working folder. Without a daemon a task is written all the same, and the answers say what
/// is missing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let folder = match &ctx.env.claude_project_dir {
            Some(folder) => Some(folder.clone()),
            // One that is gone is the business of the calls that need it.
            None => ctx.working_dir().ok().map(PathBuf::from),
        };
        let desk = Arc::new(Desk { env: ctx.env.clone(), folder });
        let toolbox = Toolbox::new(words::SERVER, VERSION, words::INSTRUCTIONS);
        let tools = Kind::ALL.into_iter().map(|kind| PlannerTool { kind, desk: Arc::clone(&desk) });
        super::serve(ctx, tools.fold(toolbox, Toolbox::with))
    }
}

/// On whose behalf calls are made.
struct Desk {
    env: Env,
    folder: Option<PathBuf>,
}

/// The tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Submit,
    Status,
    Wait,
    Cancel,
    Show,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Submit, Self::Status, Self::Wait, Self::Cancel, Self::Show];
}

struct PlannerTool {
    kind: Kind,
    desk: Arc<Desk>,
}

impl Tool for PlannerTool {
    fn definition(&self) -> Definition {
        words::definition(self.kind)
    }

    /// Each call has a thread and surroundings of its own: a disk that hangs keeps no other call, and what was changed in the
    /// configuration counts from the next call on.
    fn call(self: Arc<Self>, call: Call) -> Answer {
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || self.answer(&call)).await;
            done.unwrap_or_else(|_| Outcome::Refused {
                code: "internal_error".to_owned(),
                message: "the call broke off; nothing is known of what it did: see handoff_status".to_owned(),
            })
        })
    }
}

impl PlannerTool {
    fn answer(&self, call: &Call) -> Outcome {
        let ctx = Context::of_call(self.desk.env.clone(), self.desk.folder.clone());
        let arguments = Arguments::new(&call.arguments, schema::parameters(self.kind));
        let told = match self.kind {
            Kind::Submit => submit::answer(&ctx, &arguments),
            Kind::Status => whole(&ctx, call, status::answer(&ctx, &arguments)),
            Kind::Wait => whole(&ctx, call, wait::answer(&ctx, &arguments, &call.progress)),
            Kind::Cancel => ctx.block_on(cancel::answer(&ctx, &arguments)),
            Kind::Show => whole(&ctx, call, show::answer(&ctx, &arguments)),
        };
        match told {
            Ok(told) => told.into_outcome(),
            Err(failure) => answer::refused(&failure),
        }
    }
}

/// Runs what changes nothing until it ends or is taken back.
fn whole(ctx: &Context, call: &Call, work: impl Future<Output = Result<Told, Failure>>) -> Result<Told, Failure> {
    ctx.block_on(async {
        tokio::select! {
            told = work => told,
            () = call.cancellation.cancelled() => {
                Err(Failure::new(Exit::NotGood, "the call was taken back").code("cancelled"))
            }
        }
    })
}
