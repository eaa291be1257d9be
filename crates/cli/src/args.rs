//! The tree of commands. What each one takes and does stands in its own file under `commands`.

use clap::{Parser, Subcommand};

use crate::commands::{completions, init, lint, projects, report, schema, submit, wait};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Hand tasks from a planner to a worker, and watch them
///
/// PROJECT is a path or a registered name; without it, the project whose root is the working folder. Results go to
/// standard output, everything else to standard error.
///
/// Exit codes: 0 good, 1 the thing asked about is not good, 2 usage, 3 daemon not reachable (no answer within 5 s counts),
/// 4 refused by the daemon, 5 timed out.
#[derive(Debug, Parser)]
#[command(name = "handoff", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    Submit(Box<submit::Args>),
    Lint(lint::Args),
    Report(report::Args),
    Wait(wait::Args),
    Projects(projects::Args),
    Schema(schema::Args),
    Completions(completions::Args),
}

impl Cli {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        match self.command {
            Command::Init(args) => args.run(ctx),
            Command::Submit(args) => args.run(ctx),
            Command::Lint(args) => args.run(ctx),
            Command::Report(args) => args.run(ctx),
            Command::Wait(args) => args.run(ctx),
            Command::Projects(args) => args.run(ctx),
            Command::Schema(args) => args.run(ctx),
            Command::Completions(args) => args.run(ctx),
        }
    }
}
