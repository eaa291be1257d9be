//! The service as the service manager tells it, and its environment, which is not that of a shell: no profile was read for
//! it. A daemon that runs is asked first (its own environment), then the unit, and only without either this shell counts.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use handoffd::env::Env;

use crate::shell;
use crate::systemctl::{self, SERVICE, SOCKET};

pub(super) use crate::systemctl::Unit;

/// The most of an environment that is read.
const MAX_ENVIRONMENT: u64 = 1024 * 1024;

/// What the service manager of this user says.
#[derive(Debug, Clone)]
pub(super) enum Manager {
    /// There is none here, or it cannot be reached; why.
    None(String),
    /// systemd.
    Systemd {
        /// The service.
        service: Unit,
        /// Its socket.
        socket: Unit,
    },
}

/// Whose environment counts as that of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The daemon that runs.
    Daemon(u32),
    /// The unit, and the environment that its manager hands on.
    Unit,
    /// Nobody knows of a service: this shell.
    Shell,
}

/// The environment of the service.
#[derive(Debug, Clone)]
pub(super) struct Environment {
    /// Where it was read.
    pub(super) source: Source,
    /// What handoffd takes from it.
    pub(super) env: Env,
}

impl Manager {
    /// Asks it.
    pub(super) fn ask(env: &Env) -> Self {
        if cfg!(target_os = "macos") {
            return Self::None("launchd tells no more than `handoff service status` shows".to_owned());
        }
        match (Unit::ask(env, SERVICE), Unit::ask(env, SOCKET)) {
            (Ok(service), Ok(socket)) => Self::Systemd { service, socket },
            (Err(error), _) | (_, Err(error)) => Self::None(error.to_string()),
        }
    }

    /// The service, if there is such a unit.
    pub(super) fn service(&self) -> Option<&Unit> {
        match self {
            Self::Systemd { service, .. } if service.is_loaded() => Some(service),
            Self::Systemd { .. } | Self::None(_) => None,
        }
    }
}

impl Environment {
    /// That of the daemon `pid`, else that of the unit, else this shell's.
    pub(super) fn find(pid: Option<u32>, manager: &Manager, shell: &Env) -> Self {
        let pid = pid.or_else(|| manager.service().and_then(Unit::main_pid));
        if let Some((pid, variables)) = pid.and_then(|pid| Some((pid, of_process(pid)?))) {
            return Self { source: Source::Daemon(pid), env: as_env(&variables, shell) };
        }
        if let Some(service) = manager.service()
            && let Ok(told) = systemctl::ask(shell, &["show-environment"])
        {
            let mut variables: Vec<(OsString, OsString)> = told.lines().filter_map(variable).collect();
            let own = shell::split(service.get("Environment")).unwrap_or_default();
            variables.extend(own.iter().filter_map(|word| variable(word)));
            return Self { source: Source::Unit, env: as_env(&variables, shell) };
        }
        Self { source: Source::Shell, env: shell.clone() }
    }
}

fn variable(line: &str) -> Option<(OsString, OsString)> {
    let (name, value) = line.split_once('=')?;
    // Odd values come as `$'…'`; of what we ask for, none is odd.
    let value = value.strip_prefix("$'").and_then(|rest| rest.strip_suffix('\'')).unwrap_or(value);
    Some((name.into(), value.into()))
}

/// The variables of a process of ours, as it was started.
fn of_process(pid: u32) -> Option<Vec<(OsString, OsString)>> {
    let path = Path::new("/proc").join(pid.to_string()).join("environ");
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(std::fs::File::open(path).ok()?, MAX_ENVIRONMENT), &mut bytes)
        .ok()?;
    let pair = |line: &[u8]| {
        let at = line.iter().position(|byte| *byte == b'=')?;
        Some((OsString::from_vec(line[..at].to_vec()), OsString::from_vec(line[at + 1..].to_vec())))
    };
    Some(bytes.split(|byte| *byte == 0).filter_map(pair).collect())
}

/// The last of two values counts. Without a home it is the user's, as the daemon finds it.
fn as_env(variables: &[(OsString, OsString)], shell: &Env) -> Env {
    let look = |name: &str| {
        let found = variables.iter().rfind(|(key, _)| key.as_bytes() == OsStr::new(name).as_bytes());
        found.map(|(_, value)| value.clone())
    };
    let mut env = Env::from_lookup(look);
    if env.home.is_none() {
        env.home.clone_from(&shell.home);
    }
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_of_a_process_is_read_from_the_process() {
        let variables = of_process(std::process::id()).unwrap();
        let path = as_env(&variables, &Env::default()).path;
        assert_eq!(path, Env::from_process().path);
    }
}
