//! Whether the user's services go on after the last session ends (F130). Only looked at: it is the person's to decide.

use std::path::Path;

use handoffd::env::Env;

use super::WITHIN;
use crate::spawn;

/// What to run for it.
pub(crate) const REMEDY: &str = "loginctl enable-linger";

/// `None` if nobody knows.
pub(crate) fn is_on(env: &Env) -> Option<bool> {
    asked().or_else(|| {
        let user = env.user.as_ref()?;
        let marks = Path::new("/var/lib/systemd/linger");
        // The folder is made with the first mark.
        Some(marks.join(user).exists())
    })
}

fn asked() -> Option<bool> {
    let user = rustix::process::getuid().as_raw().to_string();
    let told = spawn::told("loginctl", &["show-user", &user, "--property=Linger"], None, WITHIN).ok()?;
    match told.trim() {
        "Linger=yes" => Some(true),
        "Linger=no" => Some(false),
        _ => None,
    }
}
