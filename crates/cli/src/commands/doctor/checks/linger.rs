//! Whether the service outlives the login: without lingering, systemd ends a user's services with the last session.

use std::time::Duration;

use super::{Finding, World};
use crate::spawn;

/// Only where a service is installed.
pub(super) fn check(world: &World) -> Vec<Finding> {
    if world.unit().is_none() {
        return Vec::new();
    }
    let uid = rustix::process::getuid().as_raw().to_string();
    let told = spawn::told("loginctl", &["show-user", &uid, "--property=Linger"], None, Duration::from_secs(5));
    match told.as_deref().map(str::trim) {
        Ok("Linger=yes") => vec![Finding::good("the service goes on after logout")],
        Ok("Linger=no") => {
            let what = "the service ends when you log out, and starts only when you log in";
            vec![Finding::warning(what, "loginctl enable-linger")]
        }
        Ok(_) => vec![Finding::note("loginctl does not say whether the service goes on after logout")],
        Err(error) => {
            vec![Finding::note(format!("whether the service goes on after logout cannot be asked ({error})"))]
        }
    }
}
