//! The service under `systemd --user`.

mod install;
mod linger;
mod manager;
mod restart;
mod status;
mod uninstall;
mod units;
mod variables;

pub(super) use self::install::install;
pub(super) use self::restart::restart;
pub(super) use self::status::status;
pub(super) use self::uninstall::uninstall;

/// The units.
const SERVICE: &str = "handoffd.service";
const SOCKET: &str = "handoffd.socket";
