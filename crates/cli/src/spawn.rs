//! The only place of the command line that starts programs: `git rm` when the user agreed to it, and the COMMAND of
//! `handoff attach --exec`.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// A program to be started in a folder, with nothing set up yet.
#[expect(clippy::disallowed_methods, reason = "this module is the home of starting programs in the command line")]
pub(crate) fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    command
}

/// Runs a program to its end without input or output; its first error line, if it fails, is the error.
pub(crate) fn quietly(program: &str, arguments: &[&str], folder: &Path) -> io::Result<()> {
    let output = command(program, folder).args(arguments).stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(told.lines().next().unwrap_or("it failed").to_owned()))
}
