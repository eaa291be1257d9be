//! `handoff init --pi`: the Pi extension, and its entry in Pi's settings. `package` is about its files, `settings` about the
//! entry, `versions` about the Pi that is there, `node` about what starts it.
//!
//! `pi install PATH` would do the same with the entry; it needs a Pi that can be started, this does not.

mod node;
mod package;
mod settings;
mod versions;

use std::path::{Path, PathBuf};

use handoffd::env::Env;
use handoffd::files::{FileError, Links, read_bounded, replace_durably};

use super::Made;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::{Line, Tone};
use settings::{Edit, SettingsLock};

/// The most of Pi's settings that is read.
const MAX_SETTINGS: u64 = 1024 * 1024;

/// Where the extension is, as Pi's settings name it.
pub(crate) struct Installed {
    /// Its folder.
    pub(crate) folder: PathBuf,
    /// It is the copy that this program makes and renews.
    pub(crate) is_copy: bool,
}

/// The extension, if Pi's settings name one.
pub(crate) fn installed(env: &Env) -> Option<Installed> {
    let agent_dir = env.pi_agent_dir().filter(|dir| dir.is_absolute())?;
    let named = settings::packages(&read(&agent_dir.join("settings.json")).ok()?).ok()?;
    let folder = named.iter().find_map(|source| package::of_source(source, &agent_dir, env.home.as_deref()))?;
    let is_copy = package::copy_place(env).is_ok_and(|copy| is_copy(&copy, &folder));
    Some(Installed { folder, is_copy })
}

/// Writes the copy of the extension anew, as far as it is another one.
pub(crate) fn renew(folder: &Path) -> Result<(), FileError> {
    package::copy(folder).map(|_| ())
}

/// Which Pi and which pi-subagents are there, and what does not fit.
pub(crate) struct Versions {
    /// `Some(None)`: a Pi that does not say which.
    pub(crate) pi: Option<Option<String>>,
    /// pi-subagents.
    pub(crate) subagents: Option<String>,
    /// What does not fit, and what to do about it.
    pub(crate) remarks: Vec<(String, String)>,
    /// Why Pi cannot be started, and what to do about it.
    pub(crate) cannot_start: Option<(String, String)>,
    /// Why Pi's settings cannot be read.
    pub(crate) settings_fault: Option<String>,
}

/// Looks for them; only Node is started, for its version.
pub(crate) fn versions(env: &Env) -> Versions {
    let nothing = Versions { pi: None, subagents: None, remarks: Vec::new(), cannot_start: None, settings_fault: None };
    let Some(agent_dir) = env.pi_agent_dir().filter(|dir| dir.is_absolute()) else { return nothing };
    let path = agent_dir.join("settings.json");
    let named = read(&path)
        .map_err(|failure| failure.message)
        .and_then(|text| settings::packages(&text).map_err(|why| format!("{}: {why}", path.display())));
    let (named, settings_fault) = match named {
        Ok(named) => (named, None),
        Err(fault) => (Vec::new(), Some(fault)),
    };
    Versions { settings_fault, ..versions::find(env, &agent_dir, &named) }
}

/// Installs the extension for this user and says what was done and what is missing.
pub(super) fn install(ctx: &mut Context) -> Result<(), Failure> {
    let agent_dir = ctx.env.pi_agent_dir().filter(|dir| dir.is_absolute()).ok_or_else(|| {
        Failure::usage(
            "where Pi keeps its settings is not known: neither HOME nor an absolute PI_CODING_AGENT_DIR is set",
        )
    })?;
    std::fs::create_dir_all(&agent_dir)
        .map_err(|error| Failure::new(Exit::NotGood, FileError::io("make", &agent_dir, error).to_string()))?;
    let path = agent_dir.join("settings.json");
    let lock = SettingsLock::take(&path)?;
    let text = read(&path)?;
    let named = settings::packages(&text).map_err(|why| not_ours_to_mend(&path, &why))?;
    let found = named.iter().find_map(|source| package::of_source(source, &agent_dir, ctx.env.home.as_deref()));
    let copy = package::copy_place(&ctx.env)?;
    match found {
        // Ours from an earlier run, which may be an older version.
        Some(found) if is_copy(&copy, &found) => say_copied(ctx, &copy)?,
        Some(found) => {
            let line =
                Line::of(Tone::Dim, "kept").plain(&format!(" the Pi extension as it is, from {}", found.display()));
            ctx.out.line(line);
        }
        None => {
            let place = match package::shared() {
                Some(shared) => shared,
                None => {
                    say_copied(ctx, &copy)?;
                    copy
                }
            };
            add(ctx, &path, &text, &place)?;
        }
    }
    drop(lock);
    versions::tell(ctx, &agent_dir, &named);
    ctx.out.note("A new session of Pi has the extension; one that runs takes it up with /reload.");
    Ok(())
}

/// Whether what was found is our own copy; a link in its place leads to somebody's own.
fn is_copy(copy: &Path, found: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    !package::is_link(copy) && real(copy) == real(found)
}

fn say_copied(ctx: &mut Context, copy: &Path) -> Result<(), Failure> {
    let made = package::copy(copy).map_err(|error| Failure::new(Exit::NotGood, error.to_string()))?;
    super::say(ctx, &format!("the Pi extension in {}", copy.display()), &made);
    Ok(())
}

/// The settings as they are; an empty text when there are none.
fn read(path: &Path) -> Result<String, Failure> {
    let bytes = read_bounded(path, MAX_SETTINGS, Links::Follow).map_err(Failure::usage)?.unwrap_or_default();
    String::from_utf8(bytes).map_err(|_| not_ours_to_mend(path, "it is not UTF-8"))
}

/// Adds the entry. The file may be a link into a folder of dotfiles: what it leads to is replaced.
fn add(ctx: &mut Context, path: &Path, text: &str, place: &Path) -> Result<(), Failure> {
    let source = place.to_str().ok_or_else(|| Failure::usage(format!("{} is not UTF-8", place.display())))?;
    let Edit(edited) = settings::with_package(text, source).map_err(|why| not_ours_to_mend(path, &why))?;
    let real: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mode = std::fs::metadata(&real).map(|meta| meta.permissions()).ok();
    replace_durably(&real, edited.as_bytes()).map_err(|error| Failure::new(Exit::NotGood, error.to_string()))?;
    if let Some(mode) = mode {
        // Without its old mode it is still readable for its owner.
        std::fs::set_permissions(&real, mode).ok();
    }
    let line = format!(" {source} to `packages` in {}", path.display());
    ctx.out.line(Line::of(Tone::Good, "added").plain(&line));
    Ok(())
}

fn not_ours_to_mend(path: &Path, why: &str) -> Failure {
    Failure::new(Exit::NotGood, format!("{} is left alone: {why}", path.display()))
        .hint("mend it, Pi cannot read it either; then run this again")
}
