//! The configuration that the service reads, and which one is in force.

use super::{Finding, World};

/// Problems, oddities, and a file that was refused.
pub(super) fn check(world: &World) -> Vec<Finding> {
    const EDIT: &str = "correct the file; `handoffd --check` judges it and starts nothing";
    let mut findings = Vec::new();
    match &world.config_problems {
        Ok(warnings) => {
            findings.extend(warnings.iter().map(|warning| Finding::warning(warning.to_string(), EDIT)));
        }
        Err(invalid) => {
            findings.extend(invalid.problems.iter().map(|problem| Finding::fault(problem.to_string(), EDIT)));
        }
    }
    let refused = world.running().and_then(|status| status.daemon.config.error.as_ref());
    if let Some(error) = refused {
        let what = format!("the daemon refused the file, the configuration before is in force: {error}");
        findings.push(Finding::fault(what, EDIT));
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
