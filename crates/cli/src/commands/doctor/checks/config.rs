//! The configuration that the service reads, and which one is in force.

use super::{Finding, World};

/// Problems, oddities, and a file that was refused.
pub(super) fn check(world: &World) -> Vec<Finding> {
    const EDIT: &str = "correct the file; `handoffd --check` judges it and starts nothing";
    let daemon = world.running().map(|status| &status.daemon);
    let refused = daemon.and_then(|daemon| Some((daemon.pid, daemon.config.error.as_ref()?)));
    let mut findings = Vec::new();
    match (&world.config_problems, refused) {
        (Ok(warnings), refused) => {
            findings.extend(warnings.iter().map(|warning| Finding::warning(warning.to_string(), EDIT)));
            // It was corrected since, and not yet read again.
            findings.extend(refused.map(|(pid, error)| {
                let what = format!("the daemon refused the file as it was, and goes on with the one before: {error}");
                Finding::fault(what, reload(world, pid))
            }));
        }
        (Err(invalid), refused) => {
            let goes_on = refused.map(|_| "; the daemon goes on with the one before").unwrap_or_default();
            let told = invalid.problems.iter().map(|problem| format!("{problem}{goes_on}"));
            findings.extend(told.map(|what| Finding::fault(what, EDIT)));
        }
    }
    if findings.is_empty() {
        findings.push(Finding::good(match &world.config_path {
            Some(path) if path.exists() => format!("{} is valid", path.display()),
            Some(path) => format!("there is no {}: the defaults count", path.display()),
            None => "there is no file: the defaults count".to_owned(),
        }));
    }
    findings
}

fn reload(world: &World, pid: u32) -> String {
    match world.unit() {
        Some(_) => "handoff service reload".to_owned(),
        None => format!("kill -HUP {pid}"),
    }
}
