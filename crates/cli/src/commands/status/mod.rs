//! `handoff status`: what every project is doing, why, and the one command next (promise 7).

pub(crate) mod table;

use std::ffi::OsString;

use serde_json::Value;
use wire::Raw;

use crate::context::Context;
use crate::daemon::{self, choose};
use crate::exit::Exit;
use crate::failure::Failure;

/// Show what every project is doing, why, and which command comes next
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Only this project, a path or a registered name [default: all]
    project: Option<OsString>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let (told, mut status) = ctx.block_on(async {
            let (daemon, _) = daemon::connect(ctx).await?;
            let told = daemon.status_as_told().await?;
            let status = daemon.understood(&told)?;
            Ok((told, status))
        })?;
        let only = match &self.project {
            Some(typed) => Some(choose(ctx, Some(typed), &status.projects)?),
            None => None,
        };
        if self.json {
            print_json(ctx, &told, only)?;
            return Ok(Exit::Good);
        }
        if let Some(only) = only {
            status.projects = vec![status.projects.swap_remove(only)];
        }
        for line in table::lines(&status, ctx.now(), ctx.out.width(), ctx.working_dir().ok()) {
            ctx.out.line(line);
        }
        if status.projects.is_empty() {
            ctx.out.note("no project is registered: `handoff init` in its folder");
        }
        Ok(Exit::Good)
    }
}

/// As the daemon told it, words of a newer one included.
fn print_json(ctx: &mut Context, told: &Raw, only: Option<usize>) -> Result<(), Failure> {
    let Some(only) = only else {
        ctx.out.json_text(told.get());
        return Ok(());
    };
    let mut document: Value = serde_json::from_str(told.get()).map_err(Failure::usage)?;
    if let Some(projects) = document["projects"].as_array_mut() {
        *projects = vec![projects.swap_remove(only)];
    }
    ctx.out.json(&document);
    Ok(())
}
