//! What `--fix` does: only what nobody can miss afterwards. Nothing of a planner is touched, no file of a person is changed,
//! and a file that is taken away goes to a backup. Each repair is listed before the first is done.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use handoffd::config::WorkLogSettings;
use handoffd::places::folder::{close, make_private};
use serde_json::{Value, json};
use store::sys::Sys;
use store::{PiFolder, ProjectDir, WorkLog};

use super::checks;
use super::finding::Finding;
use crate::commands::init;
use crate::context::Context;
use crate::text::{Line, Tone};

/// The most of a temporary that is moved; one of ours is far smaller.
const MAX_FILE: u64 = 64 << 20;

/// A repair that is safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Repair {
    /// Other users can look into a folder of ours, or write to it.
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
    /// Temporaries of a crash, which are never the only copy of anything.
    PutAway {
        /// The project that they lie in.
        project: PathBuf,
        /// The files.
        files: Vec<PathBuf>,
    },
    /// Our own copy of the Pi extension is of another version.
    RenewPi(PathBuf),
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CloseFolder(path) => write!(f, "close to all other users (mode 700): {}", path.display()),
            Self::MakeWorkLog { project, log } => write!(f, "make {} in {}", log.path, project.display()),
            Self::MakeProfiles(project) => {
                write!(f, "make the example profiles of {}, where none is", project.display())
            }
            Self::PutAway { project, files } => match files.as_slice() {
                [file] => write!(f, "move {} to the backup", file.display()),
                _ => write!(f, "move {} temporaries of {} to the backup", files.len(), project.display()),
            },
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
    let mut backup = None;
    repairs.into_iter().map(|repair| one(ctx, repair, &mut backup)).collect()
}

/// `backup`: the folder of this run, once something went there.
fn one(ctx: &Context, repair: &Repair, backup: &mut Option<PathBuf>) -> Done {
    let error = run(ctx, repair, backup).err();
    match &error {
        None => ctx.out.note(Line::of(Tone::Good, "Done:").plain(&format!(" {repair}"))),
        Some(error) => ctx.out.warn(&format!("not done: {repair}: {error}")),
    }
    Done { what: repair.to_string(), error }
}

fn run(ctx: &Context, repair: &Repair, backup: &mut Option<PathBuf>) -> Result<(), String> {
    match repair {
        Repair::CloseFolder(path) => close(path).map_err(|error| error.to_string()),
        Repair::MakeWorkLog { project, log } => make_work_log(project, log),
        Repair::MakeProfiles(project) => init::make_profiles(project),
        Repair::PutAway { project, files } => put_away(ctx, project, files, backup),
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
fn put_away(ctx: &Context, project: &Path, files: &[PathBuf], backup: &mut Option<PathBuf>) -> Result<(), String> {
    if checks::is_owned_at(project) {
        return Err("somebody owns the project now".to_owned());
    }
    let folder = match backup {
        Some(folder) => folder,
        None => backup.insert(make_backup(ctx)?),
    };
    let failed: Vec<String> = files.iter().filter_map(|file| move_to(folder, file).err()).collect();
    match failed.as_slice() {
        [] => Ok(()),
        [only] if files.len() == 1 => Err(only.clone()),
        [first, ..] => Err(format!("{} of {} stay: {first}", failed.len(), files.len())),
    }
}

/// A folder that no other run has.
fn make_backup(ctx: &Context) -> Result<PathBuf, String> {
    let all = ctx.places().map_err(|failure| failure.message)?.state_dir.join("doctor-backup");
    make_private(&all).map_err(|error| error.to_string())?;
    let name = ctx.now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let made = tempfile::Builder::new().prefix(&format!("{name}-")).tempdir_in(&all);
    let made = made.map_err(|error| format!("cannot make a folder in {}: {error}", all.display()))?;
    Ok(made.keep())
}

fn move_to(folder: &Path, file: &Path) -> Result<(), String> {
    let name = file.file_name().ok_or("it has no name")?;
    let bytes = handoffd::files::read_bounded(file, MAX_FILE, handoffd::files::Links::Refuse);
    let bytes =
        bytes.map_err(|error| error.to_string())?.ok_or_else(|| format!("{} is gone already", file.display()))?;
    let place = free(folder, name);
    handoffd::files::replace_durably(&place, &bytes).map_err(|error| error.to_string())?;
    std::fs::remove_file(file).map_err(|error| format!("cannot remove {}: {error}", file.display()))
}

/// Two projects may have a file of one name.
fn free(folder: &Path, name: &OsStr) -> PathBuf {
    let numbered = |number: u32| {
        let mut name = name.to_owned();
        name.push(format!("-{number}"));
        folder.join(name)
    };
    let places = std::iter::once(folder.join(name)).chain((2..).map(numbered));
    places.into_iter().find(|place| place.symlink_metadata().is_err()).unwrap_or_else(|| folder.join(name))
}
