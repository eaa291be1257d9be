//! `handoff packet`: the packets that the roles of a team hand to each other. One file a subcommand.

mod check;
mod list;
mod show;
mod thread;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Look at what the roles of a team hand to each other
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Check(check::Args),
    List(list::Args),
    Show(show::Args),
    Thread(thread::Args),
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        match self.command {
            Command::Check(args) => args.run(ctx),
            Command::List(args) => args.run(ctx),
            Command::Show(args) => args.run(ctx),
            Command::Thread(args) => args.run(ctx),
        }
    }
}
