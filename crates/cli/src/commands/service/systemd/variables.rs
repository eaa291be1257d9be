//! Variables that decide where handoffd finds its files: the service has those of the user's manager, not the shell's.

use std::path::Path;

use super::manager::Manager;
use crate::context::Context;

/// One sentence for each variable that the service sees otherwise than this shell.
pub(super) fn differences(ctx: &Context, manager: &Manager) -> Vec<String> {
    let env = &ctx.env;
    let pairs = [
        ("XDG_CONFIG_HOME", env.xdg_config_home.as_deref()),
        ("XDG_STATE_HOME", env.xdg_state_home.as_deref()),
        ("XDG_DATA_HOME", env.xdg_data_home.as_deref()),
        ("HANDOFFD_SOCKET", env.handoffd_socket.as_deref()),
        ("HANDOFF_HOME", env.handoff_home.as_deref()),
        ("PI_CODING_AGENT_DIR", env.pi_coding_agent_dir.as_deref()),
        ("PI_SUBAGENT_EXTRA_AGENT_DIRS", env.pi_subagent_extra_agent_dirs.as_deref().map(Path::new)),
    ];
    let differs = pairs.into_iter().filter(|(name, here)| manager.variable(name).map(Path::new) != *here);
    differs.map(|(name, here)| sentence(name, here, manager.variable(name))).collect()
}

fn sentence(name: &str, here: Option<&Path>, there: Option<&str>) -> String {
    let shown = |value: Option<String>| value.map_or("not set".to_owned(), |value| format!("`{value}`"));
    format!(
        "{name} is {} here and {} for the service: make them the same in ~/.config/environment.d/ or with \
         `systemctl --user edit handoffd`",
        shown(here.map(|path| path.display().to_string())),
        shown(there.map(str::to_owned))
    )
}
