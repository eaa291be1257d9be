//! The unit of the service: whether it is there, and what is wrong with it.

use super::super::service::Manager;
use super::{Finding, World};
use crate::systemctl::judge::{INSTALL, Seen, Trouble, Weight, judge};

/// The unit and its state.
pub(super) fn check(world: &World) -> Vec<Finding> {
    let (service, socket) = match &world.manager {
        Manager::None(why) => {
            let what = format!("no service manager of this user can be asked ({why})");
            return vec![Finding::note(what)];
        }
        Manager::Systemd { service, socket } => (service, socket),
    };
    let answers = world.running().map(|status| status.daemon.pid);
    if !service.is_known() {
        return vec![not_installed(answers)];
    }
    let troubles = judge(Seen { service, socket, answers, listener: world.listener });
    // That nobody answers is told by `daemon`.
    let mut findings: Vec<Finding> = troubles.into_iter().filter(|it| it.weight != Weight::Rest).map(finding).collect();
    if findings.is_empty() {
        let what =
            format!("{} is {}, from {}", service.get("Id"), service.get("ActiveState"), service.get("FragmentPath"));
        findings.push(Finding::good(what));
    }
    findings
}

fn finding(trouble: Trouble) -> Finding {
    match trouble.weight {
        Weight::Fault => Finding::fault(trouble.what, trouble.remedy),
        Weight::Warning | Weight::Rest => Finding::warning(trouble.what, trouble.remedy),
    }
}

fn not_installed(answers: Option<u32>) -> Finding {
    let by_hand = |pid: u32| format!(": the daemon (pid {pid}) was started by hand and ends with its terminal");
    let how = answers.map(by_hand).unwrap_or_default();
    Finding::note(format!("handoffd is not installed as a service{how}")).remedy(INSTALL)
}
