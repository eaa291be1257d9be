//! The user's systemd, asked and told through `systemctl`. Questions have a limit; the jobs of a unit have those of systemd.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use super::{SERVICE, SOCKET};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::shell;
use crate::spawn;

/// What `systemctl show` is asked for.
const PROPERTIES: &str = "Id,LoadState,ActiveState,SubState,UnitFileState,FragmentPath,DropInPaths,NeedDaemonReload,\
                          MainPID,NRestarts,Result,ExecMainCode,ExecMainStatus,StatusText,ActiveEnterTimestamp,ExecStart";

/// The user's service manager, which answers.
#[derive(Debug)]
pub(super) struct Manager {
    runtime_dir: Option<PathBuf>,
    /// Of systemd.
    pub(super) version: u32,
    unit_path: Vec<PathBuf>,
    environment: BTreeMap<String, String>,
}

/// What systemd says of one unit. Values it does not know are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Unit(BTreeMap<String, String>);

/// A command of systemctl that failed: its own words.
#[derive(Debug)]
pub(super) struct Refused(pub(super) String);

impl Manager {
    /// Reaches the manager of this user.
    pub(super) fn open(ctx: &Context) -> Result<Self, Failure> {
        let mut manager =
            Self { runtime_dir: runtime_dir(ctx), version: 0, unit_path: Vec::new(), environment: BTreeMap::new() };
        let told = manager.ask(&["show", "--property=Version,UnitPath"])?;
        let told = Unit::parse(&told);
        manager.version = version(told.text("Version"));
        manager.unit_path = folders(told.text("UnitPath"));
        manager.environment = variables(&manager.ask(&["show-environment"])?);
        Ok(manager)
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
        let told = self.ask(&["show", &format!("--property={PROPERTIES}"), SERVICE, SOCKET])?;
        let mut units = told.split("\n\n").map(Unit::parse);
        Ok((units.next().unwrap_or_default(), units.next().unwrap_or_default()))
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

    fn ask(&self, arguments: &[&str]) -> Result<String, Failure> {
        let all: Vec<&str> = ["--user", "--no-pager"].into_iter().chain(arguments.iter().copied()).collect();
        let runtime_dir = self.runtime_dir.as_deref().and_then(Path::to_str).map(|dir| ("XDG_RUNTIME_DIR", dir));
        spawn::told("systemctl", &all, runtime_dir, ANSWER_WITHIN).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => unreachable(NO_SYSTEMCTL),
            _ => unreachable(&error.to_string()),
        })
    }

    fn run(&self, arguments: &[&str]) -> Result<(), Refused> {
        let mut command = spawn::command("systemctl", Path::new("/"));
        command.args(["--user", "--no-pager", "--no-ask-password", "--quiet"]).args(arguments).stdin(Stdio::null());
        // Under cron, su and sudo the variable is missing; the folder is where it always is (F102).
        command.envs(self.runtime_dir.iter().map(|folder| ("XDG_RUNTIME_DIR", folder)));
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

const ANSWER_WITHIN: Duration = Duration::from_secs(20);
const NO_SYSTEMCTL: &str = "there is no `systemctl`";

fn unreachable(words: &str) -> Failure {
    let failure = Failure::new(Exit::NotGood, format!("the systemd of this user cannot be reached: {words}"));
    if words == NO_SYSTEMCTL {
        return failure.hint("without systemd, start `handoffd` with what this machine has; it runs in the foreground");
    }
    failure
        .hint("log in as this user (console or ssh, not su or sudo), or let its manager run: `loginctl enable-linger`")
        .hint("where there is none, as in many containers, `handoffd` runs in a terminal just as well")
}

fn runtime_dir(ctx: &Context) -> Option<PathBuf> {
    let usual = || PathBuf::from(format!("/run/user/{}", rustix::process::getuid().as_raw()));
    Some(ctx.env.xdg_runtime_dir.clone().unwrap_or_else(usual)).filter(|folder| folder.is_dir())
}

fn version(text: &str) -> u32 {
    text.split(|c: char| !c.is_ascii_digit()).find_map(|number| number.parse().ok()).unwrap_or(0)
}

/// Those with a space are quoted.
fn folders(text: &str) -> Vec<PathBuf> {
    shell::split(text).unwrap_or_default().into_iter().map(PathBuf::from).collect()
}

/// `NAME=value` lines; a value that systemd quotes for a shell is none that we compare.
fn variables(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

impl Unit {
    fn parse(text: &str) -> Self {
        Self(variables(text))
    }

    pub(super) fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    pub(super) fn number(&self, name: &str) -> u32 {
        self.text(name).parse().unwrap_or(0)
    }

    pub(super) fn is_active(&self) -> bool {
        matches!(self.text("ActiveState"), "active" | "reloading")
    }

    /// Also one whose files are gone, or that has never been loaded.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self.text("LoadState"), "not-found" | "")
    }

    /// The program it starts.
    pub(super) fn program(&self) -> Option<&str> {
        let rest = self.text("ExecStart").split("path=").nth(1)?;
        rest.split(" ; argv[]=").next()
    }

    /// Why it does not run, in words, once it has failed.
    pub(super) fn why_it_failed(&self) -> Option<String> {
        if matches!(self.text("Result"), "success" | "") {
            return None;
        }
        let said = self.text("StatusText");
        let ended = match (self.text("Result"), self.text("ExecMainStatus")) {
            ("exit-code", "203") => format!("{} cannot be started", self.program().unwrap_or("its program")),
            // A start that failed for good has said all of it.
            ("exit-code", code @ ("2" | "3")) if !said.is_empty() => return Some(format!("{said} (exit code {code})")),
            ("exit-code", code) => format!("it ended with exit code {code}"),
            ("watchdog", _) => "it was stuck, and was ended by the watchdog".to_owned(),
            ("timeout", _) => "it was not ready in time".to_owned(),
            ("signal" | "core-dump", signal) => format!("it was ended by signal {signal}"),
            ("start-limit-hit" | "trigger-limit-hit", _) => "it was started too often in a short time".to_owned(),
            (result, _) => format!("systemd says `{result}`"),
        };
        Some(if said.is_empty() { ended } else { format!("{ended}: {said}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_unit_is_found_and_its_failure_put_into_words() {
        let unit = Unit::parse(
            "ExecStart={ path=/opt/a ; b/handoffd ; argv[]=/opt/a ; b/handoffd ; ignore_errors=no }\nResult=exit-code\n\
             ExecMainStatus=2\nStatusText=its configuration is invalid: line 3\n",
        );
        assert_eq!(unit.program(), Some("/opt/a ; b/handoffd"));
        let expected = "its configuration is invalid: line 3 (exit code 2)";
        assert_eq!(unit.why_it_failed().as_deref(), Some(expected));
        assert_eq!(Unit::parse("Result=success\nExecMainStatus=0").why_it_failed(), None);
    }

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
