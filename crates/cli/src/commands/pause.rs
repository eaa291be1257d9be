//! `handoff pause`: see the wire protocol's `project.pause`.

use wire::control::ProjectPause;

use crate::commands::changed::Which;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Start no new task; what runs goes on
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        self.which.change(ctx, "paused", |project| ProjectPause { project })
    }
}
