//! What `--fix` does: only what nobody can miss afterwards. Nothing of a planner is touched, no file of a person is changed,
//! and a file that is taken away goes to a backup. Each repair is listed before the first is done.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use handoffd::config::WorkLogSettings;
use handoffd::places::folder::make_private;
use serde_json::{Value, json};
use store::sys::Sys;
use store::{PiFolder, ProjectDir, WorkLog};

use super::checks;
use super::finding::Finding;
use crate::commands::init;
use crate::context::Context;
use crate::text::{Line, Tone};

/// A repair that is safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Repair {
    /// Other users can write to a folder of ours.
    CloseFolder(PathBuf),
    /// A project has no work log.
    MakeWorkLog {
        /// Its root.
        project: PathBuf,
        /// As the service is configured, which this shell may see otherwise.
        log: WorkLogSettings,
    },
    /// A project has no profile with a role.
    MakeProfiles(PathBuf),
    /// A temporary of a crash, which is never the only copy of anything.
    PutAway {
        /// The project that it lies in.
        project: PathBuf,
        /// The file.
        file: PathBuf,
    },
    /// Our own copy of the Pi extension is of another version.
    RenewPi(PathBuf),
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CloseFolder(path) => write!(f, "take the right to write from others: {}", path.display()),
            Self::MakeWorkLog { project, log } => write!(f, "make {} in {}", log.path, project.display()),
            Self::MakeProfiles(project) => {
                write!(f, "make the example profiles of {}, where none is", project.display())
            }
            Self::PutAway { file, .. } => write!(f, "move {} to the backup", file.display()),
            Self::RenewPi(folder) => write!(f, "renew the Pi extension in {}", folder.display()),
        }
    }
}

/// What became of a repair.
#[derive(Debug)]
pub(super) struct Done {
    what: String,
    error: Option<String>,
}

impl Done {
    /// `{what, done, error}`.
    pub(super) fn json(&self) -> Value {
        json!({"what": self.what, "done": self.error.is_none(), "error": self.error})
    }
}

/// Lists what can be repaired, then does it.
pub(super) fn all(ctx: &Context, findings: &[Finding]) -> Vec<Done> {
    let mut repairs: Vec<&Repair> = Vec::new();
    for repair in findings.iter().filter_map(|finding| finding.repair.as_ref()) {
        if !repairs.contains(&repair) {
            repairs.push(repair);
        }
    }
    if repairs.is_empty() {
        ctx.out.note("there is nothing that could be repaired without a person");
        return Vec::new();
    }
    for repair in &repairs {
        ctx.out.note(Line::of(Tone::Strong, "Will").plain(&format!(" {repair}")));
    }
    repairs.into_iter().map(|repair| one(ctx, repair)).collect()
}

fn one(ctx: &Context, repair: &Repair) -> Done {
    let error = run(ctx, repair).err();
    match &error {
        None => ctx.out.note(Line::of(Tone::Good, "Done:").plain(&format!(" {repair}"))),
        Some(error) => ctx.out.warn(&format!("not done: {repair}: {error}")),
    }
    Done { what: repair.to_string(), error }
}

fn run(ctx: &Context, repair: &Repair) -> Result<(), String> {
    match repair {
        Repair::CloseFolder(path) => make_private(path).map_err(|error| error.to_string()),
        Repair::MakeWorkLog { project, log } => make_work_log(project, log),
        Repair::MakeProfiles(project) => init::make_profiles(project),
        Repair::PutAway { project, file } => put_away(ctx, project, file),
        Repair::RenewPi(folder) => init::pi::renew(folder).map_err(|error| error.to_string()),
    }
}

fn make_work_log(root: &Path, settings: &WorkLogSettings) -> Result<(), String> {
    let text = |error: &dyn fmt::Display| error.to_string();
    let project = ProjectDir::open(root, &Sys::real(), PiFolder::Require).map_err(|error| text(&error))?;
    let log = WorkLog::new(&Arc::new(project), &settings.path, &settings.heading).map_err(|error| text(&error))?;
    log.create().map(|_| ()).map_err(|error| text(&error))
}

/// Looked at again: since the check somebody may have come to own the project.
fn put_away(ctx: &Context, project: &Path, file: &Path) -> Result<(), String> {
    if checks::is_owned_at(project) {
        return Err("somebody owns the project now".to_owned());
    }
    let state = ctx.places().map_err(|failure| failure.message)?.state_dir;
    let backup = state.join("doctor-backup").join(ctx.now().strftime("%Y%m%dT%H%M%SZ").to_string());
    make_private(&state).map_err(|error| error.to_string())?;
    make_private(&backup).map_err(|error| error.to_string())?;
    let name = file.file_name().ok_or("it has no name")?;
    let bytes = handoffd::files::read_bounded(file, 1 << 20, handoffd::files::Links::Refuse);
    let bytes = bytes.map_err(|error| error.to_string())?.ok_or("it is gone already")?;
    handoffd::files::replace_durably(&backup.join(name), &bytes).map_err(|error| error.to_string())?;
    std::fs::remove_file(file).map_err(|error| format!("cannot remove {}: {error}", file.display()))
}
