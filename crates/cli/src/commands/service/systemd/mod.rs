//! The service under `systemd --user`.

mod install;
mod manager;
mod problems;
mod restart;
mod status;
mod uninstall;
mod units;
mod variables;

use std::path::PathBuf;

use handoffd::env::Env;

use crate::systemctl::SERVICE;

pub(super) use self::install::install;
pub(super) use self::restart::restart;
pub(super) use self::status::status;
pub(super) use self::uninstall::uninstall;

/// Where packages put units, and administrators.
const SYSTEM: [&str; 4] =
    ["/etc/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user", "/lib/systemd/user"];

/// Whether there is a unit, be it masked: who asks wants to know whom to ask further, and systemd may be out of reach.
pub(super) fn is_there(env: &Env) -> bool {
    let usual = |variable: &Option<PathBuf>, below: &str| {
        variable.clone().or_else(|| Some(env.home.as_ref()?.join(below))).map(|folder| folder.join("systemd/user"))
    };
    let own = [usual(&env.xdg_config_home, ".config"), usual(&env.xdg_data_home, ".local/share")];
    let mut folders = own.into_iter().flatten().chain(SYSTEM.map(PathBuf::from));
    folders.any(|folder| folder.join(SERVICE).symlink_metadata().is_ok())
}
