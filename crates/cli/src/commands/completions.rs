//! `handoff completions`: the script that teaches a shell the commands.

use clap_complete::Shell;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Print the completion script for a shell
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::command(), "handoff", &mut script);
        ctx.out.raw(&script);
        Ok(Exit::Good)
    }
}
