//! The configuration that the service reads, and which one is in force.

use handoffd::config::{ConfigProblem, Warning};
use store::put_aside;

use super::{Finding, World, opened};
use crate::shell::quoted;

const EDIT: &str = "correct the file; `handoffd --check` judges it and starts nothing";

/// Problems, oddities, and a file that was refused.
pub(super) fn check(world: &World) -> Vec<Finding> {
    let daemon = world.running().map(|status| &status.daemon);
    let refused = daemon.and_then(|daemon| Some((daemon.pid, daemon.config.error.as_ref()?)));
    let mut findings = Vec::new();
    match (&world.config_problems, refused) {
        (Ok(warnings), refused) => {
            findings.extend(warnings.iter().map(odd));
            // It was corrected since, and not yet read again.
            findings.extend(refused.map(|(pid, error)| {
                let what = format!("the daemon refused the file as it was, and goes on with the one before: {error}");
                Finding::fault(what, reload(world, pid))
            }));
        }
        (Err(invalid), refused) => {
            let goes_on = refused.map(|_| "; the daemon goes on with the one before").unwrap_or_default();
            let told = |problem: &ConfigProblem| Finding::fault(format!("{problem}{goes_on}"), repair(problem));
            findings.extend(invalid.problems.iter().map(told));
        }
    }
    findings.extend(log_folder(world));
    if findings.is_empty() {
        findings.push(Finding::good(match &world.config_path {
            Some(path) if path.exists() => format!("{} is valid", path.display()),
            Some(path) => format!("there is no {}: the defaults count", path.display()),
            None => "there is no file: the defaults count".to_owned(),
        }));
    }
    findings
}

/// A file that cannot be read needs no correction.
fn repair(problem: &ConfigProblem) -> String {
    opened(&problem.file).unwrap_or_else(|| EDIT.to_owned())
}

/// What concerns no line is about the file's mode.
fn odd(warning: &Warning) -> Finding {
    let remedy = match (warning.line, &warning.key) {
        (None, None) => format!("chmod o-w {}", quoted(&warning.file.to_string_lossy())),
        _ => EDIT.to_owned(),
    };
    Finding::warning(warning.to_string(), remedy)
}

/// Without a folder for the log no daemon starts; with one that is closed it starts, and nobody reads why something failed.
fn log_folder(world: &World) -> Option<Finding> {
    let folder = &world.places.as_ref().ok()?.log_dir;
    if folder.exists() && !folder.is_dir() {
        let what = format!("the log folder {} is not a folder, so no daemon starts", folder.display());
        return Some(Finding::fault(what, put_aside(folder)));
    }
    let closed = store::allow(folder)?;
    Some(Finding::warning(format!("no log can be written to {}: permission is missing", folder.display()), closed))
}

fn reload(world: &World, pid: u32) -> String {
    match world.unit() {
        Some(_) => "handoff service reload".to_owned(),
        None => format!("kill -HUP {pid}"),
    }
}
