//! `handoff resume`: see the wire protocol's `project.resume`.

use wire::control::ProjectResume;

use crate::commands::changed::Which;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Lift what holds a project up: pause, halt, hold, runs of an ended task
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        self.which.change(ctx, "resumed", |project| ProjectResume { project })
    }
}
