//! The command line of handoffd, the program `handoff`: for people and scripts.
//!
//! `args` is the tree of commands, `commands` has a file for each of them; the rest is what they share. No rule about
//! tasks lives here: offline commands ask the crates `queue` and `store`, the others ask the daemon.

mod args;
mod commands;
mod context;
mod daemon;
mod door;
mod exit;
mod failure;
mod output;
mod packets;
mod projects;
mod queue_file;
mod read;
mod redact;
mod reference;
mod remarks;
mod shell;
mod spawn;
mod systemctl;
mod text;
mod time;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

pub use crate::reference::reference;

use crate::args::Cli;
use crate::context::Context;
use crate::exit::Exit;

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs the command that this process was started with.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse_from(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Good };
            // A reader that went away needs no help.
            error.print().ok();
            return exit.into();
        }
    };
    let mut ctx = Context::of_process();
    let exit = match cli.run(&mut ctx) {
        Ok(exit) => exit,
        Err(failure) => {
            ctx.out.failure(&failure);
            failure.exit
        }
    };
    ctx.out.finish(exit).into()
}

/// The whole command tree, for the reference and the manual pages.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}
