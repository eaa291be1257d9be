//! Which project a command means when there is no daemon to ask: registry, configuration and paths (D72, D77).

use std::ffi::OsStr;
use std::path::PathBuf;

use handoffd::config::{ProjectFile, Settings};
use handoffd::registry::{Candidate, Project, Registry, Selector, all_projects, select};

use crate::context::Context;
use crate::failure::Failure;

/// Every project that registry and configuration name.
pub(crate) fn known(ctx: &Context) -> Result<Vec<Project>, Failure> {
    let list = Registry::new(&ctx.places()?.state_dir).read().map_err(Failure::usage)?;
    Ok(all_projects(&list, ctx.config(), &[]))
}

/// The root of the project that is meant. A folder need not be registered; a name must be.
pub(crate) fn root(ctx: &Context, typed: Option<&OsStr>) -> Result<PathBuf, Failure> {
    match Selector::new(typed, ctx.working_dir()?) {
        Selector::Path(path) => Ok(path),
        selector @ Selector::Name { .. } => by_name(ctx, &selector),
    }
}

fn by_name(ctx: &Context, selector: &Selector) -> Result<PathBuf, Failure> {
    // Without a state folder there are no names, but there still are folders.
    let projects = known(ctx).unwrap_or_default();
    let candidates: Vec<Candidate<'_>> = projects.iter().map(Project::candidate).collect();
    match (select(&candidates, selector), selector) {
        (Ok(index), _) => Ok(projects[index].path.clone()),
        (Err(_), Selector::Name { path, .. }) if path.is_dir() => Ok(path.clone()),
        (Err(error), _) => Err(Failure::usage(error)),
    }
}

/// The settings that a project has: the user's configuration before its own file.
pub(crate) fn settings(ctx: &Context, root: &std::path::Path) -> Result<Settings, Failure> {
    let (own, warnings) = ProjectFile::load(root).map_err(Failure::usage)?;
    for warning in warnings {
        ctx.out.warn(&warning.to_string());
    }
    let config = ctx.config();
    Ok(config.settings(config.project_at(root), &own))
}
