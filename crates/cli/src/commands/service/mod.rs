//! `handoff service`: the daemon as a user service of this machine, under systemd or launchd (D85).
//!
//! What both have in common is here: which programs, files that may have been edited, the answer of the daemon. Each
//! manager has a module of its own.

mod diff;
mod file;
mod launchd;
mod programs;
mod reload;
mod started;
mod state;
pub(crate) mod systemd;

use std::path::{Path, PathBuf};

use handoffd::env::Env;
use handoffd::keeping::Fate;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// Install, look at and restart the daemon as a service of this user
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Write the unit for this program, enable it and start it
    ///
    /// May be repeated: what is right stays as it is. A file that somebody edited is kept, and the difference is shown.
    Install {
        /// Replace files that somebody edited, too; what goes is shown
        #[arg(long)]
        replace: bool,
    },
    /// Stop the service and remove its files; nothing stays but the logs
    ///
    /// Beside the logs it keeps what cannot be made again, as the list of projects and the journal; `install` takes that back. It
    /// says where they are. Your configuration, your packets and what is in the projects are yours, and stay.
    Uninstall {
        /// Remove the logs and what is kept, too; each is named
        #[arg(long)]
        purge: bool,
    },
    /// Say whether it runs, from which file and program, and what would stop it
    Status {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Restart it, as after an update; tasks at work go on in their sessions
    Restart,
    /// Read the configuration again, and say what is wrong with it
    Reload,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let launchd = cfg!(target_os = "macos");
        match self.command {
            Command::Reload => reload::run(ctx),
            Command::Install { replace } if launchd => launchd::install(ctx, replace),
            Command::Install { replace } => systemd::install(ctx, replace),
            Command::Uninstall { purge } => {
                let fate = if purge { Fate::Remove } else { Fate::Keep };
                if launchd { launchd::uninstall(ctx, fate) } else { systemd::uninstall(ctx, fate) }
            }
            Command::Status { json } if launchd => launchd::status(ctx, json),
            Command::Status { json } => systemd::status(ctx, json),
            Command::Restart if launchd => launchd::restart(ctx),
            Command::Restart => systemd::restart(ctx),
        }
    }
}

/// Whether a service of this user is installed, as far as files tell: no service manager is asked.
pub(crate) fn is_there(env: &Env) -> bool {
    if cfg!(target_os = "macos") { launchd::is_there(env) } else { systemd::is_there(env) }
}

/// Where launchd puts what the daemon says before it has a log of its own.
pub(crate) fn launchd_log(home: &Path) -> PathBuf {
    launchd::log_file(home)
}
