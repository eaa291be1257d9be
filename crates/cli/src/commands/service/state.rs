//! What becomes of the daemon's own files when its service goes and comes: kept beside the logs, taken back, or removed.

use std::ffi::OsString;

use handoffd::config::{Config, Invalid};
use handoffd::env::Env;
use handoffd::instance::{Instance, InstanceError};
use handoffd::keeping::{self, Fate, Left};
use handoffd::places::folder::make_private;
use handoffd::places::{Places, config_file};
use handoffd::registry::Registry;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::counted;

/// So many names of things that are not ours are told.
const MOST_NAMES: usize = 3;

/// Empties the state folder once the daemon is stopped, and says where everything is. `env` is that of the service.
pub(super) fn put_away(ctx: &mut Context, env: &Env, fate: Fate) -> Result<(), Failure> {
    let places = places_of(env).map_err(stays)?;
    if fate == Fate::Remove || places.state_dir.exists() {
        make_private(&places.state_dir).map_err(|error| stays(Failure::usage(error)))?;
        match Instance::acquire(&places.instance_lock(), &places.socket.path) {
            Err(error @ InstanceError::Held { .. }) => {
                ctx.out.warn(&format!("the state in {} stays as it is: {error}", places.state_dir.display()));
            }
            instance => {
                let instance = instance.map_err(|error| stays(Failure::usage(error)))?;
                let left = keeping::leave(&places, instance, fate);
                tell(ctx, &places, &left.map_err(|error| stays(Failure::usage(error)))?, fate);
            }
        }
    }
    tell_what_is_yours(ctx, env, &places);
    Ok(())
}

fn stays(failure: Failure) -> Failure {
    let message = format!("the service is removed, but not all of its state: {}", failure.message);
    let failure = Failure { exit: Exit::NotGood, message, ..failure };
    failure.hint("once that is repaired: `handoff service uninstall` again")
}

/// The places by this environment; a configuration that cannot be read does not say where they are.
fn places_of(env: &Env) -> Result<Places, Failure> {
    let path = config_file(env, None).map_err(Failure::usage)?;
    let invalid = |Invalid { problems, .. }: Invalid| {
        Failure::usage("the configuration is invalid").problems(problems.iter().map(ToString::to_string))
    };
    let (config, _) = Config::load(&path, env).map_err(invalid)?;
    Places::find(env, &config).map_err(Failure::usage)
}

fn tell(ctx: &mut Context, places: &Places, left: &Left, fate: Fate) {
    let state = places.state_dir.display();
    if fate == Fate::Remove {
        for path in &left.gone {
            ctx.out.line(format!("removed {}", path.display()));
        }
    }
    if let Some(kept) = Kept::look(places) {
        let (words, folder) = (kept.words(), keeping::folder(places));
        ctx.out.line(format!("kept: {words}, in {}; `handoff service install` takes it back", folder.display()));
    }
    if let [host, ..] = &left.hosts[..] {
        ctx.out.line(format!("left: the list of projects in {state}, which is that of the host {host}, too"));
    }
    if !left.unknown.is_empty() {
        let names: Vec<_> = left.unknown.iter().take(MOST_NAMES).map(|name| name.to_string_lossy()).collect();
        let more = left.unknown.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        ctx.out.line(format!("left: also in {state}: {}{more}", names.join(", ")));
    }
    if handoffd::logging::files(&places.log_dir).is_ok_and(|files| !files.is_empty()) {
        ctx.out.line(format!("left: the logs in {}", places.log_dir.display()));
    }
}

/// What no service made.
fn tell_what_is_yours(ctx: &mut Context, env: &Env, places: &Places) {
    let config = config_file(env, None).ok().filter(|path| path.symlink_metadata().is_ok());
    if let Some(path) = config {
        ctx.out.line(format!("left: your configuration {}", path.display()));
    }
    if places.team_home.exists() {
        ctx.out.line(format!("left: packets and copies of clients in {}", places.team_home.display()));
    }
}

/// What an uninstall has kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kept {
    names: Vec<OsString>,
    projects: usize,
}

impl Kept {
    pub(super) fn look(places: &Places) -> Option<Self> {
        let names = Some(keeping::waiting(places)).filter(|names| !names.is_empty())?;
        let list = Registry::new(&keeping::folder(places)).read();
        Some(Self { names, projects: list.map_or(0, |list| list.projects.len()) })
    }

    /// `the list of 2 projects and the journal`
    fn words(&self) -> String {
        let has = |part: &str| self.names.iter().any(|name| name.to_string_lossy().starts_with(part));
        let parts = [
            has("projects.").then(|| format!("the list of {}", counted(self.projects as u64, "project"))),
            has("journal-").then(|| "the journal".to_owned()),
            has("doctor-").then(|| "what `handoff doctor --fix` took away".to_owned()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.split_last() {
            None => "the list of projects that it held".to_owned(),
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        }
    }

    /// What the daemon that has started took back of it.
    pub(super) fn tell_back(before: Option<Self>, ctx: &mut Context, places: &Places) {
        let Some(Self { mut names, projects }) = before else { return };
        let now = Self::look(places);
        names.retain(|name| !now.iter().any(|now| now.names.contains(name)));
        if !names.is_empty() {
            let came = Self { names, projects }.words();
            ctx.out.line(format!("took back {came}, which an uninstall had kept"));
        }
        if let Some(now) = now {
            let folder = keeping::folder(places);
            ctx.out.note(format!(
                "{} in {} stays there: there is a newer one, or it could not be moved",
                now.words(),
                folder.display()
            ));
        }
    }
}
