//! `handoff next`: runs the one command that `status` suggests for a project, after asking.

pub(crate) mod suggestion;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser as _;

use crate::args::Cli;
use crate::context::Context;
use crate::daemon;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::shell;

/// Run the one command that `status` suggests, after asking
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The project, a path or a registered name [default: the working folder]
    project: Option<OsString>,
    /// Run it without asking
    #[arg(long, short)]
    yes: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let project = ctx.block_on(async {
            let (daemon, _) = daemon::connect(ctx).await?;
            daemon.project(ctx, self.project.as_deref()).await
        })?;
        let why = project.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        ctx.out.note(format!("{} is {}{why}", project.name, project.state));
        let Some(next) = &project.next else {
            ctx.out.note("there is nothing to do");
            return Ok(Exit::Good);
        };
        let words = shell::split(next).filter(|words| words.first().is_some_and(|word| word == "handoff"));
        let Some(words) = words else {
            return Err(Failure::new(Exit::Refused, format!("run it yourself: {next}")));
        };
        if !self.yes && !ctx.confirm(&format!("Run `{next}`?")) {
            ctx.out.note(format!("not run: {next}"));
            return Ok(if ctx.can_ask() { Exit::Good } else { Exit::Usage });
        }
        // The command was written for the project's own folder.
        ctx.enter(PathBuf::from(&project.path));
        let cli = Cli::try_parse_from(&words)
            .map_err(|_| Failure::new(Exit::Refused, format!("this handoff does not know `{next}`")))?;
        cli.run(ctx)
    }
}
