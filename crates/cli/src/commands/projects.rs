//! `handoff projects`: the registry (D77). A daemon is not needed; one that runs notices changes by itself, and brings a
//! task to its end when its project is removed (D71).

use std::ffi::OsString;
use std::path::PathBuf;

use handoffd::registry::{Added, Project, Registry, Selector};
use serde_json::json;
use wire::control::ProjectRemove;
use wire::status::ProjectState;

use crate::context::Context;
use crate::daemon::{self, is_absent};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::projects;
use crate::text::{Line, Tone};

/// List, register and remove projects
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the projects that registry and configuration name
    List {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Register a folder
    Add {
        /// The project's root
        dir: PathBuf,
        /// A name for the command line [default: the folder's]
        #[arg(long)]
        name: Option<String>,
    },
    /// Take a project off the list; its folder stays as it is
    ///
    /// A running task is brought to its end first; with --now it is cancelled.
    Remove {
        /// A path or a registered name
        project: OsString,
        /// Cancel its task first instead of waiting for it
        #[arg(long)]
        now: bool,
    },
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        match self.command {
            Command::List { json } => list(ctx, json),
            Command::Add { dir, name } => add(ctx, &dir, name.as_deref()),
            Command::Remove { project, now } => remove(ctx, &project, now),
        }
    }
}

fn list(ctx: &mut Context, as_json: bool) -> Result<Exit, Failure> {
    let projects = projects::known(ctx)?;
    if as_json {
        let one = |project: &Project| {
            json!({
                "path": project.path, "name": project.name(), "enabled": project.enabled(), "paused": project.paused(),
                "registered": project.entry.is_some(), "configured": project.config.is_some(),
                "exists": project.id.is_some(),
            })
        };
        ctx.out.json(&json!({"projects": projects.iter().map(one).collect::<Vec<_>>()}));
        return Ok(Exit::Good);
    }
    let width = projects.iter().map(|project| Line::from(project.name()).width()).max().unwrap_or(0);
    for project in &projects {
        let line = Line::of(Tone::Strong, &project.name()).padded(width + 2);
        ctx.out.line(line.plain(&project.path.display().to_string()).and(Tone::Warning, &remarks(project)));
    }
    if projects.is_empty() {
        ctx.out.note("no project is registered: `handoff init` in its folder, or `handoff projects add DIR`");
    }
    Ok(Exit::Good)
}

fn remarks(project: &Project) -> String {
    let remarks = [
        (!project.enabled(), "disabled"),
        (project.paused(), "paused"),
        (project.id.is_none(), "missing"),
        (project.entry.is_none(), "by configuration"),
    ];
    let words: Vec<&str> = remarks.into_iter().filter_map(|(fits, word)| fits.then_some(word)).collect();
    if words.is_empty() { String::new() } else { format!("  ({})", words.join(", ")) }
}

fn add(ctx: &mut Context, dir: &std::path::Path, name: Option<&str>) -> Result<Exit, Failure> {
    ctx.valid_config()?;
    let registry = Registry::new(&ctx.places()?.state_dir);
    let added = registry.add(&ctx.absolute(dir)?, name).map_err(Failure::usage)?;
    let (word, entry) = match &added {
        Added::New(entry) => ("registered", entry),
        Added::Known(entry) => ("registered before:", entry),
    };
    ctx.out.line(format!("{word} {}", entry.path.display()));
    if !entry.path.join(".pi").is_dir() {
        ctx.out
            .note(format!("it has no `.pi` yet: `handoff init {}` makes what a project needs", entry.path.display()));
    }
    Ok(Exit::Good)
}

fn remove(ctx: &mut Context, project: &OsString, now: bool) -> Result<Exit, Failure> {
    ctx.valid_config()?;
    if let Some(exit) = remove_through_daemon(ctx, project, now)? {
        return Ok(exit);
    }
    let which = Selector::new(Some(project), ctx.working_dir()?);
    let registry = Registry::new(&ctx.places()?.state_dir);
    let removed = registry.remove(ctx.valid_config()?, &which).map_err(Failure::usage)?;
    ctx.out.line(format!("removed {} from the registry", removed.entry.path.display()));
    if let Some(line) = removed.still_configured {
        ctx.out.warn(&format!("line {line} of the configuration names it, so it stays a project"));
    }
    Ok(Exit::Good)
}

/// `None` when there is no daemon: then the registry alone is changed.
fn remove_through_daemon(ctx: &mut Context, project: &OsString, now: bool) -> Result<Option<Exit>, Failure> {
    let asked = ctx.block_on(async {
        let (daemon, _) = match daemon::connect(ctx).await {
            Ok(connected) => connected,
            Err(failure) if is_absent(&failure) => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let project = daemon.project(ctx, Some(project)).await?.path;
        daemon.call(&ProjectRemove { project, now }).await.map(Some)
    })?;
    let Some(answer) = asked else { return Ok(None) };
    ctx.out.line(format!("removed {}", answer.path));
    // One that has left already is disabled in its last moment; no person did that.
    if let Some(why) = answer.why.filter(|_| answer.state != ProjectState::Disabled) {
        ctx.out.note(why);
    }
    Ok(Some(Exit::Good))
}
