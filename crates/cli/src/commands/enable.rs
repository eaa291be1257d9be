//! `handoff enable`: see the wire protocol's `project.enable`.

use wire::control::ProjectEnable;

use crate::commands::changed::Which;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Take a disabled project up again
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        self.which.change(ctx, "enabled", |project| ProjectEnable { project })
    }
}
