//! Pi, pi-subagents and the extension: whether they are there and fit each other. Pi runs in a shell, so this shell's PATH
//! counts. Who has no Pi and has not asked for the extension works in another way, which is no fault.

use super::{Finding, World};
use crate::commands::init::pi;

/// Pi and its packages.
pub(super) fn check(world: &World) -> Vec<Finding> {
    let extension = pi::installed(&world.shell);
    let there = pi::versions(&world.shell);
    if extension.is_none() && there.pi.is_none() {
        let what = "Pi is not here: a session is `handoff attach`, or a client of yours";
        return vec![Finding::note(what).remedy("once Pi is installed: `handoff init --pi`")];
    }
    let mut findings: Vec<Finding> =
        there.remarks.iter().map(|(what, remedy)| Finding::warning(what.clone(), remedy.clone())).collect();
    // Who has not asked for the extension may have no use for Pi.
    let finding = if extension.is_some() { Finding::fault } else { Finding::warning };
    findings.extend(there.cannot_start.iter().map(|(what, remedy)| finding(what.clone(), remedy.clone())));
    // An unreadable list of packages says nothing of the extension.
    if extension.is_none() && there.settings_fault.is_none() {
        let what = "Pi is here and the extension is not: a session of Pi takes no task";
        findings.push(Finding::warning(what, "handoff init --pi"));
    }
    if let Some(fault) = &there.settings_fault {
        findings.push(Finding::fault(fault.clone(), "mend the file: Pi cannot read it either"));
    }
    if findings.is_empty() {
        let version = there.pi.flatten().unwrap_or_else(|| "of unknown version".to_owned());
        let with = there.subagents.map(|version| format!(" with pi-subagents {version}")).unwrap_or_default();
        findings.push(Finding::good(format!("Pi {version}{with} and the extension")));
    }
    findings
}
