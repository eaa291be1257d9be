//! What the systemd of this user says, asked through `systemctl`: for `handoff service` and `handoff doctor` alike. Nothing
//! is changed here, and nothing is started by asking.

pub(crate) mod judge;
pub(crate) mod linger;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handoffd::env::Env;

use crate::spawn;

/// The units.
pub(crate) const SERVICE: &str = "handoffd.service";
pub(crate) const SOCKET: &str = "handoffd.socket";

/// What is asked of a unit. Older versions leave out what they do not know.
const PROPERTIES: &str = "--property=Id,LoadState,LoadError,ActiveState,SubState,UnitFileState,FragmentPath,DropInPaths,\
                          NeedDaemonReload,MainPID,NRestarts,RestartUSec,RestartUSecNext,StateChangeTimestampMonotonic,\
                          Result,ExecMainCode,ExecMainStatus,StatusText,ExecStart,Environment";
const WITHIN: Duration = Duration::from_secs(10);

/// What systemd says of one unit. Values it does not know are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Unit(BTreeMap<String, String>);

/// Asks it.
pub(crate) fn ask(env: &Env, arguments: &[&str]) -> io::Result<String> {
    let all: Vec<&str> = ["--user", "--no-pager"].into_iter().chain(arguments.iter().copied()).collect();
    let runtime_dir = runtime_dir(env);
    let variable = runtime_dir.as_deref().and_then(Path::to_str).map(|folder| ("XDG_RUNTIME_DIR", folder));
    spawn::told("systemctl", &all, variable, WITHIN)
}

/// By this folder `systemctl` finds the manager. Under cron, su and sudo the variable is missing; the folder is where it
/// always is (F102).
pub(crate) fn runtime_dir(env: &Env) -> Option<PathBuf> {
    let usual = || PathBuf::from(format!("/run/user/{}", rustix::process::getuid().as_raw()));
    Some(env.xdg_runtime_dir.clone().unwrap_or_else(usual)).filter(|folder| folder.is_dir())
}

/// `NAME=value` lines; a value that systemd quotes for a shell is none that we look at.
pub(crate) fn variables(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

impl Unit {
    /// Asks for it.
    pub(crate) fn ask(env: &Env, name: &str) -> io::Result<Self> {
        Ok(Self::parse(&ask(env, &["show", PROPERTIES, name])?))
    }

    pub(crate) fn parse(text: &str) -> Self {
        Self(variables(text))
    }

    /// A property, as `systemctl show` names it.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    pub(crate) fn number(&self, name: &str) -> u32 {
        self.get(name).parse().unwrap_or(0)
    }

    pub(crate) fn is_active(&self) -> bool {
        matches!(self.get("ActiveState"), "active" | "reloading")
    }

    /// Whether there is such a unit, and it can be started.
    pub(crate) fn is_loaded(&self) -> bool {
        self.get("LoadState") == "loaded"
    }

    /// Also one that must not be started, or whose files are gone while it runs.
    pub(crate) fn is_known(&self) -> bool {
        self.has_file() || !matches!(self.get("ActiveState"), "inactive" | "")
    }

    /// Whether systemd finds a file of it, be it a broken one.
    pub(crate) fn has_file(&self) -> bool {
        !matches!(self.get("LoadState"), "not-found" | "")
    }

    /// Of one that is a link of another name, systemd tells how that other is.
    pub(crate) fn starts_at_login(&self) -> bool {
        matches!(self.get("UnitFileState"), "enabled" | "enabled-runtime" | "alias")
    }

    /// The name by which it is enabled: that of the unit to which the name `name` leads.
    pub(crate) fn real_name<'a>(&'a self, name: &'a str) -> &'a str {
        Some(self.get("Id")).filter(|id| !id.is_empty()).unwrap_or(name)
    }

    /// Whether its file is masked by now, whatever systemd has read; in words.
    pub(crate) fn masked_on_disk(&self) -> Option<String> {
        let file = Path::new(self.get("FragmentPath"));
        if fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file() && meta.len() == 0) {
            return Some(format!("{} is empty, which is masked to systemd", file.display()));
        }
        let is_masked = self.get("UnitFileState").starts_with("masked")
            || fs::read_link(file).is_ok_and(|to| to == Path::new("/dev/null"));
        is_masked.then(|| format!("{} is masked", self.get("Id")))
    }

    /// Whether a person forbade to start it; the command that allows it again.
    pub(crate) fn unmask(&self) -> Option<&'static str> {
        match (self.get("LoadState"), self.get("UnitFileState")) {
            ("masked", "masked-runtime") => Some("systemctl --user unmask --runtime handoffd.service handoffd.socket"),
            ("masked", _) => Some("systemctl --user unmask handoffd.service handoffd.socket"),
            _ => None,
        }
    }

    /// The process of the service, if it runs.
    pub(crate) fn main_pid(&self) -> Option<u32> {
        Some(self.number("MainPID")).filter(|pid| *pid > 0)
    }

    /// The program that it starts: `{ path=/usr/bin/handoffd ; argv[]=… }`.
    pub(crate) fn program(&self) -> Option<PathBuf> {
        let rest = self.get("ExecStart").split("path=").nth(1)?;
        rest.split(" ; argv[]=").next().map(PathBuf::from)
    }

    /// In how many seconds it starts again by itself, never less than it takes; `None` if it is in no pause before that.
    pub(crate) fn starts_again_in(&self) -> Option<u64> {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let left = self.pause_after(Duration::try_from(now).unwrap_or_default())?;
        Some((left + Duration::from_millis(999)).as_secs())
    }

    /// How much of the pause is left at `now` of the monotonic clock.
    fn pause_after(&self, now: Duration) -> Option<Duration> {
        if !self.get("SubState").starts_with("auto-restart") {
            return None;
        }
        let pause = [self.get("RestartUSecNext"), self.get("RestartUSec")].into_iter().find(|text| !text.is_empty())?;
        let begun = Duration::from_micros(self.get("StateChangeTimestampMonotonic").parse().ok()?);
        Some((begun + humantime::parse_duration(pause).ok()?).saturating_sub(now))
    }

    /// Why it does not run, in words, once it has failed.
    pub(crate) fn why_it_failed(&self) -> Option<String> {
        let (result, status, said) = (self.get("Result"), self.get("ExecMainStatus"), self.get("StatusText"));
        let ended = match (result, status) {
            ("success" | "", _) => return None,
            // A start that failed for good has said all of it.
            ("exit-code", code @ ("2" | "3")) if !said.is_empty() => return Some(format!("{said} (exit code {code})")),
            ("exit-code", "203") => {
                let program = self.program().map_or("its program".to_owned(), |path| path.display().to_string());
                return Some(format!("{program} cannot be started"));
            }
            ("exit-code", code) => format!("it ended with exit code {code}"),
            ("watchdog", _) => "it was stuck, and was ended by the watchdog".to_owned(),
            ("timeout", _) => "it was not ready in time".to_owned(),
            ("signal" | "core-dump", signal) => format!("it was ended by signal {signal}"),
            ("start-limit-hit" | "trigger-limit-hit" | "service-start-limit-hit", _) => {
                "it was started too often in a short time".to_owned()
            }
            (result, _) => format!("systemd says `{result}`"),
        };
        Some(if said.is_empty() { ended } else { format!("{ended}: {said}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_systemctl_shows_is_understood() {
        let unit = Unit::parse(
            "LoadState=loaded\nMainPID=12\nExecStart={ path=/usr/bin/handoffd ; argv[]=/usr/bin/handoffd --x ; pid=0 }\n",
        );
        assert!(unit.is_loaded());
        assert_eq!(unit.main_pid(), Some(12));
        assert_eq!(unit.program(), Some("/usr/bin/handoffd".into()));
        let none = Unit::parse("LoadState=not-found\nMainPID=0\n");
        assert!(!none.is_loaded() && none.main_pid().is_none() && none.program().is_none());
    }

    #[test]
    fn the_program_of_a_unit_is_found_and_its_failure_put_into_words() {
        let unit = Unit::parse(
            "ExecStart={ path=/opt/a ; b/handoffd ; argv[]=/opt/a ; b/handoffd ; ignore_errors=no }\nResult=exit-code\n\
             ExecMainStatus=2\nStatusText=its configuration is invalid: line 3\n",
        );
        assert_eq!(unit.program(), Some("/opt/a ; b/handoffd".into()));
        let expected = "its configuration is invalid: line 3 (exit code 2)";
        assert_eq!(unit.why_it_failed().as_deref(), Some(expected));
        assert_eq!(Unit::parse("Result=success\nExecMainStatus=0").why_it_failed(), None);
    }

    #[test]
    fn the_pause_before_the_next_start_is_told_to_its_end() {
        let check = |pauses: &str, now: u64, left: Option<u64>| {
            let text = format!("SubState=auto-restart\nStateChangeTimestampMonotonic=60000000\n{pauses}\n");
            let now = Duration::from_millis(now);
            assert_eq!(Unit::parse(&text).pause_after(now), left.map(Duration::from_millis), "{pauses}");
        };
        check("RestartUSec=2s", 60_500, Some(1_500));
        check("RestartUSec=500ms", 60_100, Some(400));
        check("RestartUSec=1s\nRestartUSecNext=1min 2s", 60_000, Some(62_000));
        check("RestartUSec=2s", 63_000, Some(0));
        check("RestartUSec=infinity", 60_000, None);
        assert_eq!(Unit::parse("SubState=running\nRestartUSec=2s").pause_after(Duration::ZERO), None);
    }
}
