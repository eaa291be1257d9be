//! `handoff log rotate`: moves the old lines of a project's work log to a file of their own (D67). No daemon is needed.

use std::ffi::OsString;
use std::sync::Arc;

use jiff::tz::TimeZone;
use store::sys::Sys;
use store::{PiFolder, ProjectDir, Rotated, WorkLog};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::projects;

/// Look after a project's work log
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Move all lines below the heading to `handoff-log-<date>.md`
    Rotate {
        /// The project, a path or a registered name [default: the working folder]
        project: Option<OsString>,
    },
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let Command::Rotate { project } = self.command;
        let root = projects::root(ctx, project.as_deref())?;
        let dir = Arc::new(
            ProjectDir::open(&root, &Sys::real(), PiFolder::Require).map_err(|error| Failure::not_opened(&error))?,
        );
        let settings = projects::settings(ctx, dir.resolved_path())?.work_log;
        let refuse = |error: store::LogError| Failure::new(Exit::NotGood, error.to_string());
        let log = WorkLog::new(&dir, &settings.path, &settings.heading).map_err(refuse)?;
        let today = ctx.now().to_zoned_datetime(TimeZone::UTC).date();
        let helped = |error: store::LogError| {
            let remedy = log.remedy(&error).map(|command| format!("run `{command}`"));
            Failure { hints: remedy.into_iter().collect(), ..refuse(error) }
        };
        match log.rotate(today).map_err(helped)? {
            Rotated::Nothing => ctx.out.line("there is no line to move"),
            Rotated::Moved(path) => ctx.out.line(format!("moved the lines to {}", path.display())),
        }
        Ok(Exit::Good)
    }
}
