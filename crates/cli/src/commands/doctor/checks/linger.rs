//! Whether the service outlives the login: without lingering, systemd ends a user's services with the last session.

use super::{Finding, World};
use crate::systemctl::linger;

/// Only where a service is installed.
pub(super) fn check(world: &World) -> Vec<Finding> {
    if world.unit().is_none() {
        return Vec::new();
    }
    vec![match linger::is_on(&world.shell) {
        Some(true) => Finding::good("the service goes on after logout"),
        Some(false) => {
            let what = "the service ends when you log out, and starts only when you log in";
            Finding::warning(what, linger::REMEDY)
        }
        None => Finding::note("nobody says whether the service goes on after logout").remedy(linger::REMEDY),
    }]
}
