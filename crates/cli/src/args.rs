//! The tree of commands. What each one takes and does stands in its own file under `commands`.

use clap::{Parser, Subcommand};

use crate::commands::{
    attach, cancel, completions, demo, disable, doctor, enable, events, history, hook, init, lint, log, logs, mcp,
    next, packet, pause, projects, prompt, report, resume, retry, schema, service, show, status, submit, take, team,
    unlock, wait, watch,
};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Hand tasks from a planner to a worker, and watch them
///
/// Without a command it is `handoff status`.
///
/// PROJECT is a path or a registered name; without it, the project whose root is the working folder. Results go to
/// standard output, everything else to standard error.
///
/// Exit codes: 0 good, 1 the thing asked about is not good, 2 usage, 3 daemon not reachable (no answer within 5 s counts,
/// and one that is stopping), 4 refused by the daemon, 5 timed out.
#[derive(Debug, Parser)]
#[command(name = "handoff", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Status(status::Args),
    Watch(watch::Args),
    Next(next::Args),
    Submit(Box<submit::Args>),
    Wait(wait::Args),
    Show(show::Args),
    History(history::Args),
    Cancel(cancel::Args),
    Retry(retry::Args),
    Pause(pause::Args),
    Resume(resume::Args),
    Enable(enable::Args),
    Disable(disable::Args),
    Unlock(unlock::Args),
    Take(take::Args),
    Attach(attach::Args),
    Doctor(doctor::Args),
    Init(init::Args),
    Demo(demo::Args),
    Lint(lint::Args),
    Report(report::Args),
    Packet(packet::Args),
    Mcp(mcp::Args),
    Hook(hook::Args),
    Team(team::Args),
    Prompt(prompt::Args),
    Projects(projects::Args),
    Service(service::Args),
    Logs(logs::Args),
    Log(log::Args),
    Events(events::Args),
    Schema(schema::Args),
    Completions(completions::Args),
}

impl Command {
    /// Whether it makes files in projects or in this user's folders by itself.
    const fn makes_files(&self) -> bool {
        matches!(self, Self::Init(_) | Self::Submit(_) | Self::Team(_) | Self::Mcp(_) | Self::Log(_))
    }
}

impl Cli {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let command = self.command.unwrap_or_else(|| Command::Status(status::Args::default()));
        if command.makes_files() {
            ctx.own_places()?;
        }
        match command {
            Command::Status(args) => args.run(ctx),
            Command::Watch(args) => args.run(ctx),
            Command::Next(args) => args.run(ctx),
            Command::Submit(args) => args.run(ctx),
            Command::Wait(args) => args.run(ctx),
            Command::Show(args) => args.run(ctx),
            Command::History(args) => args.run(ctx),
            Command::Cancel(args) => args.run(ctx),
            Command::Retry(args) => args.run(ctx),
            Command::Pause(args) => args.run(ctx),
            Command::Resume(args) => args.run(ctx),
            Command::Enable(args) => args.run(ctx),
            Command::Disable(args) => args.run(ctx),
            Command::Unlock(args) => args.run(ctx),
            Command::Take(args) => args.run(ctx),
            Command::Attach(args) => args.run(ctx),
            Command::Doctor(args) => args.run(ctx),
            Command::Init(args) => args.run(ctx),
            Command::Demo(args) => args.run(ctx),
            Command::Lint(args) => args.run(ctx),
            Command::Report(args) => args.run(ctx),
            Command::Packet(args) => args.run(ctx),
            Command::Mcp(args) => args.run(ctx),
            Command::Hook(args) => args.run(ctx),
            Command::Team(args) => args.run(ctx),
            Command::Prompt(args) => args.run(ctx),
            Command::Projects(args) => args.run(ctx),
            Command::Service(args) => args.run(ctx),
            Command::Logs(args) => args.run(ctx),
            Command::Log(args) => args.run(ctx),
            Command::Events(args) => args.run(ctx),
            Command::Schema(args) => args.run(ctx),
            Command::Completions(args) => args.run(ctx),
        }
    }
}
