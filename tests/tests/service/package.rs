//! What the Debian package does to the service.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::Test;
use crate::fixture::{Home, SERVICE, SOCKET};

pub(crate) const TESTS: &[Test] =
    &[("a_package_that_is_removed_stops_the_service_first", a_package_that_is_removed_stops_the_service_first)];

/// The script of the package, with what would lead it from root to the manager of this user.
fn a_package_that_is_removed_stops_the_service_first() {
    let home = Home::installed();
    let work = home.at_work();
    let before = home.pid();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/cli/examples/deb/prerm");
    let invoke = home.write("bin/deb-systemd-invoke", "#!/bin/sh\nexec systemctl \"$@\"\n");
    fs::set_permissions(&invoke, fs::Permissions::from_mode(0o755)).unwrap();
    let run = |action: &str| {
        let mut sh = Command::new("sh");
        sh.arg(&script).arg(action).env("PATH", format!("{}:/usr/bin:/bin", home.path("bin").display()));
        assert!(sh.status().unwrap().success(), "{action}");
    };
    run("upgrade");
    assert_eq!((home.state().as_str(), home.pid()), ("active", before), "an update stops nothing");
    run("remove");
    for unit in [SERVICE, SOCKET] {
        assert_eq!(home.show(unit, "ActiveState"), "inactive");
    }
    assert_eq!(work.project.status(), "RUNNING");
    assert!(!home.socket().exists());
    // It is installed again.
    home.handoff(&["service", "install"]).good();
    work.ends_well_at(&home.socket());
}
