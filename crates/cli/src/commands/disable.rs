//! `handoff disable`: keep a project registered, own nothing in it (D71).

use wire::control::ProjectDisable;

use crate::commands::changed::Which;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Keep a project registered, but do nothing in it
///
/// A running task is brought to its end first; with --now it is cancelled. The lock is released then.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// Cancel its task first instead of waiting for it
    #[arg(long)]
    now: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        self.which.change(ctx, "disabled", |project| ProjectDisable { project, now: self.now })
    }
}
