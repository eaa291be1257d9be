//! The user's systemd, asked and told through `systemctl`. Questions have a limit; the jobs of a unit have those of systemd.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use handoffd::env::Env;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::shell;
use crate::spawn;
use crate::systemctl::{self, SERVICE, SOCKET, Unit};

/// The user's service manager, which answers.
#[derive(Debug)]
pub(super) struct Manager {
    env: Env,
    /// Of systemd.
    pub(super) version: u32,
    unit_path: Vec<PathBuf>,
    environment: BTreeMap<String, String>,
}

/// A command of systemctl that failed: its own words.
#[derive(Debug)]
pub(super) struct Refused(pub(super) String);

impl Manager {
    /// Reaches the manager of this user.
    pub(super) fn open(ctx: &Context) -> Result<Self, Failure> {
        let ask = |arguments: &[&str]| systemctl::ask(&ctx.env, arguments).map_err(|error| unreachable(&error));
        let told = Unit::parse(&ask(&["show", "--property=Version,UnitPath"])?);
        Ok(Self {
            env: ctx.env.clone(),
            version: version(told.get("Version")),
            unit_path: folders(told.get("UnitPath")),
            environment: systemctl::variables(&ask(&["show-environment"])?),
        })
    }

    /// A variable that every service of this user gets.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str)
    }

    /// Where a person's own units belong, as the manager sees it: it may have another environment than the shell.
    pub(super) fn user_folder(&self, ctx: &Context) -> Result<PathBuf, Failure> {
        let home = ctx.env.home.as_deref().map(|home| home.join(".config"));
        let candidates = [ctx.env.xdg_config_home.clone(), home];
        let folders = candidates.into_iter().flatten().map(|config| config.join("systemd/user"));
        let known: Vec<PathBuf> = folders.filter(|folder| self.unit_path.contains(folder)).collect();
        let fault = || Failure::new(Exit::NotGood, "the user's systemd reads units from no folder in this home");
        known.into_iter().next().ok_or_else(fault)
    }

    /// The folders in which packages put units.
    pub(super) fn other_folders(&self, own: &Path) -> impl Iterator<Item = &PathBuf> {
        let is_package = |folder: &&PathBuf| folder.ends_with("systemd/user");
        let below_home = own.ancestors().nth(3).unwrap_or(own).to_path_buf();
        self.unit_path.iter().filter(is_package).filter(move |folder| !folder.starts_with(&below_home))
    }

    /// What it says of the service and the socket.
    pub(super) fn units(&self) -> Result<(Unit, Unit), Failure> {
        let unit = |name| Unit::ask(&self.env, name).map_err(|error| unreachable(&error));
        Ok((unit(SERVICE)?, unit(SOCKET)?))
    }

    /// Runs a command that changes something.
    pub(super) fn tell(&self, arguments: &[&str]) -> Result<(), Refused> {
        self.run(arguments)
    }

    /// As [`Manager::tell`], for a command whose failure ends everything.
    pub(super) fn must(&self, arguments: &[&str]) -> Result<(), Failure> {
        self.tell(arguments).map_err(|Refused(words)| {
            Failure::new(Exit::NotGood, format!("`systemctl --user {}` failed: {words}", arguments.join(" ")))
        })
    }

    fn run(&self, arguments: &[&str]) -> Result<(), Refused> {
        let mut command = spawn::command("systemctl", Path::new("/"));
        command.args(["--user", "--no-pager", "--no-ask-password", "--quiet"]).args(arguments).stdin(Stdio::null());
        command.envs(systemctl::runtime_dir(&self.env).map(|folder| ("XDG_RUNTIME_DIR", folder)));
        let output = command.output().map_err(|error| {
            Refused(match error.kind() {
                io::ErrorKind::NotFound => NO_SYSTEMCTL.to_owned(),
                _ => format!("cannot start systemctl: {error}"),
            })
        })?;
        if output.status.success() {
            return Ok(());
        }
        let told = String::from_utf8_lossy(&output.stderr);
        let told = told.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("; ");
        Err(Refused(if told.is_empty() { output.status.to_string() } else { told }))
    }
}

const NO_SYSTEMCTL: &str = "there is no `systemctl`";

fn unreachable(error: &io::Error) -> Failure {
    let none = error.kind() == io::ErrorKind::NotFound;
    let words = if none { NO_SYSTEMCTL.to_owned() } else { error.to_string() };
    let failure = Failure::new(Exit::NotGood, format!("the systemd of this user cannot be reached: {words}"));
    if none {
        return failure.hint("without systemd, start `handoffd` with what this machine has; it runs in the foreground");
    }
    failure
        .hint("log in as this user (console or ssh, not su or sudo), or let its manager run: `loginctl enable-linger`")
        .hint("where there is none, as in many containers, `handoffd` runs in a terminal just as well")
}

fn version(text: &str) -> u32 {
    text.split(|c: char| !c.is_ascii_digit()).find_map(|number| number.parse().ok()).unwrap_or(0)
}

/// Those with a space are quoted.
fn folders(text: &str) -> Vec<PathBuf> {
    shell::split(text).unwrap_or_default().into_iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_distributions_are_numbers() {
        for (text, expected) in [("252.38-1~deb12u1", 252), ("257", 257), ("v256-rc1", 256), ("", 0)] {
            assert_eq!(version(text), expected, "{text}");
        }
    }

    #[test]
    fn a_home_with_a_space_has_its_folder_of_units() {
        let text = "\"/home/my home/.config/systemd/user\" /etc/systemd/user";
        assert_eq!(folders(text), ["/home/my home/.config/systemd/user", "/etc/systemd/user"].map(PathBuf::from));
    }
}
