//! The environment of the service beside that of this shell: which variables lead it to other places, and whether it finds
//! the programs that it is to start.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use handoffd::config::Settings;
use handoffd::env::Env;

use super::{Finding, Source, World};
use crate::shell::quoted;

/// What differs, and what follows from that.
pub(super) fn check(world: &World) -> Vec<Finding> {
    let env = &world.service.env;
    let path = env.path.as_deref().unwrap_or(OsStr::new(""));
    let whose = match world.service.source {
        Source::Daemon(pid) => format!("the daemon (pid {pid})"),
        Source::Unit => "the service".to_owned(),
        Source::Shell => "this shell, which would start the daemon,".to_owned(),
    };
    let mut findings = vec![Finding::good(format!("{whose} has PATH={}", path.to_string_lossy()))];
    if world.service.source != Source::Shell {
        findings.extend(differences(&world.shell, env).into_iter().map(|(name, here, there)| {
            let what = format!("{name} is {here} in this shell and {there} for {whose}: they look in different places");
            Finding::warning(what, remedy(name, world))
        }));
    }
    findings.extend(notices(world, path));
    findings
}

type Value = Option<PathBuf>;

/// The variables that decide where something lies, with both values, as far as they differ.
fn differences(shell: &Env, service: &Env) -> Vec<(&'static str, String, String)> {
    let pairs = |env: &Env| -> [(&'static str, Value); 8] {
        [
            ("HOME", env.home.clone()),
            ("XDG_CONFIG_HOME", env.xdg_config_home.clone()),
            ("XDG_STATE_HOME", env.xdg_state_home.clone()),
            ("XDG_DATA_HOME", env.xdg_data_home.clone()),
            ("HANDOFFD_SOCKET", env.handoffd_socket.clone()),
            ("HANDOFF_HOME", env.handoff_home.clone()),
            ("PI_CODING_AGENT_DIR", env.pi_coding_agent_dir.clone()),
            ("PI_SUBAGENT_EXTRA_AGENT_DIRS", env.pi_subagent_extra_agent_dirs.clone().map(PathBuf::from)),
        ]
    };
    let shown = |value: &Value| value.as_ref().map_or_else(|| "not set".to_owned(), |path| path.display().to_string());
    let both = pairs(shell).into_iter().zip(pairs(service));
    both.filter(|(here, there)| here.1 != there.1)
        .map(|(here, there)| (here.0, shown(&here.1), shown(&there.1)))
        .collect()
}

fn remedy(name: &str, world: &World) -> String {
    match world.unit() {
        Some(_) => {
            format!(
                "`systemctl --user edit handoffd.service`: `[Service]` and `Environment={name}=…`, then `handoff service restart`; \
                 or unset it here"
            )
        }
        None => format!("start the daemon with the same {name}, or unset it here"),
    }
}

/// The commands of notices are found with the service's PATH.
fn notices(world: &World, path: &OsStr) -> Vec<Finding> {
    let all: Vec<Settings> = std::iter::once(world.config.settings(None, &Default::default()))
        .chain(world.projects.iter().map(|subject| subject.settings_without_file(&world.config)))
        .collect();
    let mut programs: Vec<&str> =
        all.iter().filter_map(|settings| settings.notify_command.first()).map(String::as_str).collect();
    programs.sort_unstable();
    programs.dedup();
    let missing = programs.into_iter().filter(|program| !is_found(program, path));
    missing
        .map(|program| {
            let what = format!("`notify.command` is not found by the service: {program}");
            Finding::fault(
                what,
                format!("name it with its whole path in the configuration; `command -v {}` tells it", quoted(program)),
            )
        })
        .collect()
}

fn is_found(program: &str, path: &OsStr) -> bool {
    let is_program =
        |path: &Path| path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    if program.contains('/') {
        return is_program(Path::new(program));
    }
    std::env::split_paths(path).any(|folder| is_program(&folder.join(program)))
}
