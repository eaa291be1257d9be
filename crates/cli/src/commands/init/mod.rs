//! `handoff init`: makes a folder a project. It needs no daemon and never overwrites anything: what is there stays.
//!
//! `files` makes the files, `agents` holds the example profiles, `untrack` is about a queue that git tracks, `pi` installs the
//! Pi extension, `next` says what is still to do.

mod agents;
mod files;
mod next;
pub(crate) mod pi;
mod untrack;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use handoffd::config::WorkLogSettings;
use handoffd::registry::{Added, Candidate, Project, Registry, RegistryError, enclosing};
use jiff::Timestamp;
use queue::AcceptanceRole;
use store::sys::Sys;
use store::{PiFolder, ProjectDir};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::projects;
use crate::text::{Line, Tone};

/// Make a folder a project: queue, work log, example agents, registration
///
/// Makes `.pi/`, an IDLE `tasks.json`, the work log, `.gitignore` lines and two example agent profiles, and registers the
/// project. What is there already stays as it is. No daemon is needed. With `--pi` the Pi extension is installed for this user,
/// too.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The project's root [default: the working folder]
    dir: Option<PathBuf>,
    /// Install the Pi extension, or renew it: its files, and an entry in Pi's settings
    #[arg(long)]
    pi: bool,
    /// Answer yes to what would be asked
    #[arg(long, short)]
    yes: bool,
}

/// What became of one thing that a project needs.
enum Made {
    New,
    Kept,
    /// It could not be made; the rest goes on.
    Failed(String),
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        // The registry's place must be certain before anything is made.
        ctx.valid_config()?;
        let dir = match &self.dir {
            Some(dir) => ctx.absolute(dir)?,
            None => ctx.working_dir()?.to_owned(),
        };
        if self.dir.is_none() && ctx.env.home.as_deref().is_some_and(|home| is_same(home, &dir)) {
            if !self.pi {
                let failure = Failure::usage("this is your home and no project");
                return Err(failure.hint("go to the project's root first; `handoff init DIR` takes any folder"));
            }
            ctx.out.note("this is your home and no project: only the Pi extension is installed");
            return pi::install(ctx).map(|()| Exit::Good);
        }
        if is_same(Path::new("/"), &dir) {
            return Err(Failure::usage(RegistryError::Everything).hint("go to the project's root first"));
        }
        let project =
            ProjectDir::open(&dir, &Sys::real(), PiFolder::Create).map_err(|error| Failure::not_opened(&error))?;
        let root = project.resolved_path().to_owned();
        let failed = Self::make_all(ctx, &Arc::new(project), &root)?;
        untrack::offer(ctx, &root, self.yes);
        register(ctx, &root)?;
        if self.pi {
            pi::install(ctx)?;
        }
        if failed {
            return Ok(Exit::NotGood);
        }
        next::say(ctx, &root, self.pi);
        Ok(Exit::Good)
    }

    /// Makes what is missing and says so; whether anything failed.
    fn make_all(ctx: &mut Context, project: &Arc<ProjectDir>, root: &Path) -> Result<bool, Failure> {
        let settings = projects::settings(ctx, root)?;
        let mut failed = false;
        for (name, made) in make(project, root, &settings.work_log, ctx.now()) {
            failed |= matches!(made, Made::Failed(_));
            say(ctx, &name, &made);
        }
        Ok(failed)
    }
}

/// Every file of a project by name, made or kept.
fn make(project: &Arc<ProjectDir>, root: &Path, log: &WorkLogSettings, now: Timestamp) -> Vec<(String, Made)> {
    let mut things = vec![
        ("tasks.json".to_owned(), files::queue(project, now)),
        (log.path.clone(), files::work_log(project, log)),
        (".gitignore".to_owned(), files::git_ignore(root)),
    ];
    things.extend(agents::make(project));
    things
}

/// The files of a project without a word, for the demo.
pub(crate) fn make_quietly(
    project: &Arc<ProjectDir>,
    root: &Path,
    log: &WorkLogSettings,
    now: Timestamp,
) -> Result<(), Failure> {
    let failed = make(project, root, log, now).into_iter().find_map(|(_, made)| match made {
        Made::Failed(why) => Some(Failure::new(Exit::NotGood, why)),
        Made::New | Made::Kept => None,
    });
    failed.map_or(Ok(()), Err)
}

/// The example profiles, where none of that name is.
pub(crate) fn make_profiles(root: &Path) -> Result<(), String> {
    let project = ProjectDir::open(root, &Sys::real(), PiFolder::Create).map_err(|error| error.to_string())?;
    let failed = agents::make(&project).into_iter().find_map(|(_, made)| match made {
        Made::Failed(why) => Some(why),
        Made::New | Made::Kept => None,
    });
    failed.map_or(Ok(()), Err)
}

/// Whether the example profile of this role would be made.
pub(crate) fn lacks_example(root: &Path, role: AcceptanceRole) -> bool {
    ProjectDir::open(root, &Sys::real(), PiFolder::Require).is_ok_and(|project| agents::would_make(&project, role))
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

fn say(ctx: &mut Context, name: &str, made: &Made) {
    match made {
        Made::New => ctx.out.line(Line::of(Tone::Good, "made").plain(" ").plain(name)),
        Made::Kept => ctx.out.line(Line::of(Tone::Dim, "kept").plain(" ").plain(name).plain(" as it is")),
        Made::Failed(why) => ctx.out.warn(why),
    }
}

fn register(ctx: &mut Context, root: &Path) -> Result<(), Failure> {
    let around = around(ctx, root);
    let added = Registry::new(&ctx.places()?.state_dir).add(root, None).map_err(Failure::usage)?;
    let (word, entry) = match &added {
        Added::New(entry) => ("registered", entry),
        Added::Known(entry) => ("registered before:", entry),
    };
    let line = Line::of(Tone::Good, word).plain(" ").plain(&entry.path.display().to_string());
    ctx.out.line(line);
    if let (Added::New(_), Some(around)) = (&added, around) {
        let around = around.display();
        ctx.out.warn(&format!(
            "it lies in the project {around}, and is one of its own now, with its own tasks and session"
        ));
        let undo = format!("if you meant that one: `handoff projects remove {}`, and go there", entry.path.display());
        ctx.out.note(Line::of(Tone::Strong, "Hint:").plain(" ").plain(&undo));
    }
    Ok(())
}

/// The project that the folder lies in.
fn around(ctx: &Context, root: &Path) -> Option<PathBuf> {
    let known = projects::known(ctx).ok()?;
    let candidates: Vec<Candidate<'_>> = known.iter().map(Project::candidate).collect();
    enclosing(&candidates, root).map(Path::to_owned)
}
