//! What is wrong with the units, with its remedy: judged here, for `handoff service status` and `handoff doctor` alike.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{SERVICE, SOCKET, Unit};
use crate::text::counted;

pub(crate) const AGAIN: &str = "handoff service restart";
pub(crate) const INSTALL: &str = "handoff service install";

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// It does not run, as after `systemctl --user stop`. Whoever asks the daemon itself knows that.
    Rest,
    /// It works, with less than it could.
    Warning,
    /// It does not work, or will not.
    Fault,
}

/// One thing that somebody should look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) weight: Weight,
    /// One sentence, without a final stop.
    pub(crate) what: String,
    /// A command.
    pub(crate) remedy: String,
}

/// Who listens at the socket's path, while the service runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    /// The process.
    Process(u32),
    /// Nobody, or it was not asked.
    Nobody,
}

/// What is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) service: &'a Unit,
    pub(crate) socket: &'a Unit,
    /// The process of the daemon that answers.
    pub(crate) answers: Option<u32>,
    pub(crate) listener: Listener,
}

/// What starts it: a unit that a package has just brought, or that was uninstalled, is to be enabled first.
pub(crate) fn again(service: &Unit) -> &'static str {
    match (service.unmask(), service.starts_at_login()) {
        (Some(unmask), _) => unmask,
        (None, true) => AGAIN,
        (None, false) => INSTALL,
    }
}

/// Everything, for a unit that there is.
pub(crate) fn judge(seen: Seen<'_>) -> Vec<Trouble> {
    let Seen { service, socket, .. } = seen;
    if let Some(trouble) = not_loaded(service) {
        // Nothing else can be seen of it, or helps.
        return vec![trouble];
    }
    let troubles = [state(service), another(seen), program(service), deaf(seen), changed(service), changed(socket)];
    let mut troubles: Vec<Trouble> = troubles.into_iter().flatten().collect();
    if !service.starts_at_login() && service.masked_on_disk().is_none() {
        let how = if socket.starts_at_login() { ", only when a client connects" } else { "" };
        let what = format!("{SERVICE} is {}: it does not start when you log in{how}", enabled(service));
        troubles.push(warning(what, INSTALL));
    }
    troubles
}

fn warning(what: String, remedy: impl Into<String>) -> Trouble {
    Trouble { weight: Weight::Warning, what, remedy: remedy.into() }
}

fn fault(what: String, remedy: impl Into<String>) -> Trouble {
    Trouble { weight: Weight::Fault, what, remedy: remedy.into() }
}

fn enabled(unit: &Unit) -> &str {
    match unit.get("UnitFileState") {
        "" => "not enabled",
        word => word,
    }
}

/// Masked, gone or broken.
fn not_loaded(service: &Unit) -> Option<Trouble> {
    let runs = if service.is_active() { "; it runs on until it is stopped" } else { "" };
    if let Some(unmask) = service.unmask() {
        let masked = service.masked_on_disk().unwrap_or_else(|| format!("{SERVICE} is masked"));
        let what = format!("{masked}: nothing starts it{runs}");
        return Some(warning(what, format!("{unmask} && {INSTALL}")));
    }
    match service.get("LoadState") {
        "loaded" => None,
        "not-found" => Some(fault(format!("the file of {SERVICE} is gone{runs}"), INSTALL)),
        word => {
            let what = format!("systemd cannot load the unit ({word}): {}{runs}", service.get("LoadError"));
            Some(fault(what, format!("systemd-analyze --user verify {SERVICE}")))
        }
    }
}

/// Systemd goes on with what it has read.
fn changed(unit: &Unit) -> Option<Trouble> {
    let masked = unit.masked_on_disk().filter(|_| unit.unmask().is_none());
    match masked {
        _ if unit.get("NeedDaemonReload") != "yes" => None,
        Some(masked) => {
            let what = format!("{masked}; it is as before until systemd reads it");
            Some(warning(what, format!("systemctl --user unmask {SERVICE} {SOCKET} && {INSTALL}")))
        }
        None => Some(warning(format!("{} has changed since systemd read it", unit.get("Id")), AGAIN)),
    }
}

/// Why it does not run.
fn state(service: &Unit) -> Option<Trouble> {
    let rest = |what: &str, remedy: &str| {
        Some(Trouble { weight: Weight::Rest, what: what.to_owned(), remedy: remedy.to_owned() })
    };
    let restarts = match service.number("NRestarts") {
        0 => String::new(),
        number => format!(" after {}", counted(number.into(), "restart")),
    };
    let why = service.why_it_failed();
    if let Some(seconds) = service.starts_again_in() {
        let why = why.as_deref().unwrap_or("it ended");
        let what = format!("the service is down{restarts}: {why}; it starts again by itself in {seconds} s, or now");
        return Some(fault(what, AGAIN));
    }
    let said = service.get("StatusText");
    match (service.get("ActiveState"), why) {
        ("active" | "reloading", _) => None,
        // It tells clients the same, and ends.
        ("activating", _) if !said.is_empty() => Some(fault(format!("it cannot start: {said}"), AGAIN)),
        ("activating", _) => rest("it is starting: look again in a moment", "handoff logs -f"),
        ("deactivating", _) => rest("it is stopping", AGAIN),
        (_, Some(why)) => Some(fault(format!("the service has failed{restarts}: {why}"), AGAIN)),
        ("failed", None) => Some(fault(format!("the service has failed{restarts}"), "handoff logs")),
        (_, None) => rest("it does not run", again(service)),
    }
}

fn another(seen: Seen<'_>) -> Option<Trouble> {
    let answers = seen.answers?;
    let what = match (seen.service.is_active(), seen.service.main_pid()) {
        (true, pid) if pid == Some(answers) || pid.is_none() => return None,
        (true, _) => format!("another handoffd answers (pid {answers}), not that of the service"),
        (false, _) => {
            format!("the handoffd that answers (pid {answers}) was started by hand, while the service is stopped")
        }
    };
    Some(warning(what, format!("kill {answers}; {AGAIN}")))
}

/// What `ExecStart` names must be there and be a program.
fn program(service: &Unit) -> Option<Trouble> {
    let what = match service.program() {
        None => "the unit starts no program".to_owned(),
        Some(program) if is_program(&program) => return None,
        Some(program) if program.exists() => format!("the unit starts {}, which is no program", program.display()),
        Some(program) => format!("its program {} is gone", program.display()),
    };
    Some(fault(what, INSTALL))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Without systemd's socket, clients are refused while the daemon restarts, and none starts it.
fn deaf(seen: Seen<'_>) -> Option<Trouble> {
    let is_own = |listener| Some(listener) == seen.service.main_pid();
    let (how, remedy) = match (seen.socket.unmask(), seen.listener) {
        (Some(unmask), _) => (format!("{SOCKET} is masked"), format!("{unmask} && {AGAIN}")),
        (None, _) if !seen.socket.is_active() => (format!("{SOCKET} does not listen"), again(seen.service).to_owned()),
        (None, Listener::Process(listener)) if is_own(listener) => {
            (format!("the file of {SOCKET} was removed, and the daemon listens there itself"), AGAIN.to_owned())
        }
        (None, _) => return None,
    };
    Some(warning(format!("{how}: a restart loses connection attempts"), remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "Id=handoffd.service\nLoadState=loaded\nActiveState=active\nMainPID=12\nUnitFileState=enabled\n\
                        ExecStart={ path=/bin/sh ; argv[]=/bin/sh }\n";

    /// `more`: properties that take the place of the good ones.
    fn told(more: &str, socket: &str, answers: Option<u32>, listener: u32) -> Vec<String> {
        let socket =
            format!("Id=handoffd.socket\nLoadState=loaded\nActiveState=active\nUnitFileState=enabled\n{socket}");
        let (service, socket) = (Unit::parse(&format!("{GOOD}{more}")), Unit::parse(&socket));
        let seen = Seen { service: &service, socket: &socket, answers, listener: Listener::Process(listener) };
        let line = |trouble: Trouble| format!("{:?}: {} | {}", trouble.weight, trouble.what, trouble.remedy);
        judge(seen).into_iter().map(line).collect()
    }

    /// One sentence that begins and ends so.
    #[track_caller]
    fn check(more: &str, begin: &str, end: &str) {
        let told = told(more, "", None, 1);
        assert!(told.len() == 1 && told[0].starts_with(begin) && told[0].ends_with(end), "{told:?}");
    }

    #[test]
    fn a_unit_as_it_should_be_has_no_trouble() {
        assert_eq!(told("", "", Some(12), 1), [""; 0]);
        assert_eq!(told("UnitFileState=enabled-runtime", "", Some(12), 1), [""; 0]);
    }

    #[test]
    fn each_state_has_one_sentence_and_one_command() {
        check("ActiveState=inactive\nMainPID=0", "Rest: it does not run", " | handoff service restart");
        check("ActiveState=activating\nMainPID=0", "Rest: it is starting", " | handoff logs -f");
        let failed = "ActiveState=failed\nMainPID=0\nResult=exit-code\nExecMainStatus=7\nNRestarts=3";
        let why = "Fault: the service has failed after 3 restarts: it ended with exit code 7";
        check(failed, why, " | handoff service restart");
        check(
            "ExecStart={ path=/no/such ; argv[]= }",
            "Fault: its program /no/such is gone",
            " | handoff service install",
        );
        check(
            "ExecStart={ path=/etc/passwd ; argv[]= }",
            "Fault: the unit starts /etc/passwd, which is no program",
            "install",
        );
        check("NeedDaemonReload=yes", "Warning: handoffd.service has changed since", " | handoff service restart");
    }

    #[test]
    fn what_does_not_start_at_login_is_told_whatever_systemd_calls_it() {
        for word in ["disabled", "linked", "indirect", "static", ""] {
            let end = "it does not start when you log in, only when a client connects | handoff service install";
            check(&format!("UnitFileState={word}"), "Warning: handoffd.service is", end);
        }
    }

    #[test]
    fn a_unit_that_is_not_loaded_is_told_by_that_alone() {
        let masked = "LoadState=masked\nUnitFileState=masked\nActiveState=inactive";
        check(masked, "Warning: handoffd.service is masked: nothing starts it | systemctl --user unmask", INSTALL);
        check("LoadState=not-found", "Fault: the file of handoffd.service is gone; it runs on until", INSTALL);
        check("LoadState=bad-setting\nLoadError=x", "Fault: systemd cannot load the unit (bad-setting): x", "");
    }

    #[test]
    fn a_unit_that_was_emptied_is_told_as_that_before_and_after_systemd_reads_it() {
        let empty = tempfile::NamedTempFile::new().unwrap();
        let path = format!("UnitFileState=masked\nFragmentPath={}\n", empty.path().display());
        let begin = format!("Warning: {} is empty, which is masked to systemd", empty.path().display());
        check(&format!("{path}LoadState=masked"), &begin, INSTALL);
        check(&format!("{path}NeedDaemonReload=yes"), &begin, INSTALL);
        let not_seen = format!("FragmentPath={}\nNeedDaemonReload=yes", empty.path().display());
        check(&not_seen, &begin, INSTALL);
    }

    #[test]
    fn who_answers_and_who_listens_is_told() {
        let one = |answers, listener, socket: &str| told("", socket, answers, listener).concat();
        assert!(one(Some(13), 1, "").starts_with("Warning: another handoffd answers (pid 13)"));
        assert!(one(Some(12), 12, "").contains("the daemon listens there itself"));
        assert!(one(Some(12), 12, "ActiveState=inactive").contains("handoffd.socket does not listen"));
        assert!(one(None, 1, "LoadState=masked").contains("handoffd.socket is masked"));
    }
}
