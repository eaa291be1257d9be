//! Whether the user's services go on after the last session ends (F130). Only looked at: it is the person's to decide.

use std::path::Path;
use std::process::Stdio;

use crate::context::Context;
use crate::spawn;

/// What to run for it.
pub(super) const REMEDY: &str = "loginctl enable-linger";

/// `None` if nobody knows.
pub(super) fn is_on(ctx: &Context) -> Option<bool> {
    asked().or_else(|| {
        let user = ctx.env.user.as_ref()?;
        let marks = Path::new("/var/lib/systemd/linger");
        // The folder is made with the first mark.
        Some(marks.join(user).exists())
    })
}

fn asked() -> Option<bool> {
    let user = rustix::process::getuid().as_raw().to_string();
    let mut command = spawn::command("loginctl", Path::new("/"));
    command.args(["show-user", &user, "--property=Linger", "--value"]).stdin(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    match output.stdout.trim_ascii() {
        b"yes" => Some(true),
        b"no" => Some(false),
        _ => None,
    }
}
