//! `handoff next`: runs the one command that `status` suggests for a project, after asking.

pub(crate) mod suggestion;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser as _;

use crate::args::Cli;
use crate::commands::doctor;
use crate::context::Context;
use crate::daemon::{self, is_absent};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::projects;
use crate::shell;

/// Run the one command that `status` suggests, after asking
///
/// Where the daemon knows of nothing, what `handoff doctor` finds counts. Exit 0 when there is nothing to do; the exit code of the
/// command when one was run; 1 when something is to be done and was not: by hand, or because you said no. What is to be done
/// by hand is printed to standard output. A task is never ended: the command that would do it is only named.
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
        let asked = ctx.block_on(async {
            let (daemon, _) = daemon::connect(ctx).await?;
            daemon.project(ctx, self.project.as_deref()).await
        });
        let project = match asked {
            Ok(project) => project,
            Err(failure) if is_absent(&failure) => return self.without_daemon(ctx, failure),
            Err(failure) => return Err(failure),
        };
        let why = project.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        ctx.out.note(format!("{} is {}{why}", project.name, project.state));
        let root = PathBuf::from(&project.path);
        match &project.next {
            Some(next) if suggestion::mends(next) => self.offer(ctx, root, next),
            // It goes on by itself, or by what its words say: whatever else may be wrong comes first.
            next => self.remedy(ctx, root, next.as_deref()),
        }
    }

    /// The daemon knows nothing that mends: whatever else is wrong, as `handoff doctor` says it.
    fn remedy(&self, ctx: &mut Context, root: PathBuf, next: Option<&str>) -> Result<Exit, Failure> {
        let found = doctor::remedy(ctx, Some(&root));
        match found.and_then(|finding| Some((finding.what, finding.remedy?))) {
            Some((what, remedy)) => {
                ctx.out.note(what);
                self.offer(ctx, root, &remedy)
            }
            None => Ok(match next.filter(|next| suggestion::ends_a_task(next)) {
                Some(cancel) => {
                    ctx.out.note(format!("to be done by hand; or, to end the task: {cancel}"));
                    Exit::NotGood
                }
                None => {
                    ctx.out.note("there is nothing to do");
                    Exit::Good
                }
            }),
        }
    }

    /// Without a daemon, what brings it back; what was asked for still did not work.
    fn without_daemon(&self, ctx: &mut Context, failure: Failure) -> Result<Exit, Failure> {
        let root = projects::root(ctx, self.project.as_deref())?;
        let found = doctor::remedy(ctx, Some(&root)).and_then(|finding| Some((finding.what, finding.remedy?)));
        let Some((what, remedy)) = found else { return Err(failure) };
        let is_ours = remedy.starts_with("handoff ");
        if !is_ours || !(self.yes || ctx.can_ask()) {
            let hint = if is_ours { format!("run `{remedy}`") } else { remedy };
            let problems = if what.contains(&failure.message) { Vec::new() } else { vec![what] };
            return Err(Failure { problems, hints: vec![hint], ..failure });
        }
        ctx.out.note(what);
        self.offer(ctx, root, &remedy)
    }

    /// Runs it, if it is a command of ours and the person agrees.
    fn offer(&self, ctx: &mut Context, root: PathBuf, next: &str) -> Result<Exit, Failure> {
        let words = shell::split(next).filter(|words| words.first().is_some_and(|word| word == "handoff"));
        let Some(cli) = words.and_then(|words| Cli::try_parse_from(&words).ok()) else {
            ctx.out.note("to be done by hand:");
            ctx.out.line(next);
            return Ok(Exit::NotGood);
        };
        if !self.yes && !ctx.confirm(&format!("Run `{next}`?")) {
            let asked = if ctx.can_ask() { "" } else { " (nobody could be asked; `--yes` runs it)" };
            ctx.out.note(format!("not run: {next}{asked}"));
            return Ok(Exit::NotGood);
        }
        // The command was written for the project's own folder.
        ctx.enter(root);
        cli.run(ctx)
    }
}
