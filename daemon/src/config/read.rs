//! Reading the user's configuration file: every problem in one go, each with file, line and key.
//!
//! A missing file is the defaults, and so is every missing key (F282). What a value may be is said in `value`.

use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::overrides::Overrides;
use super::problem::{ConfigProblem, Finding, Warning};
use super::reader::{Findings, Section};
use super::value::{self, DurationRange};
use super::{
    Config, DaemonConfig, LogConfig, LogFormat, LogLevel, MAX_CONFIG, ProjectConfig, SecretsConfig, TeamConfig,
    TeamLanguage, WatchConfig, WatchMode,
};
use crate::env::Env;
use crate::files::{FileError, Links, read_bounded};
use crate::folder_id::FolderId;
use crate::roots::Roots;

/// Each round of the sweep costs one stat a project or more; slower than a minute is no longer a watcher.
const SWEEP: DurationRange = DurationRange { min: Duration::from_millis(100), max: Duration::from_secs(60) };
const KIB: u64 = 1 << 10;
const GIB: u64 = 1 << 30;

/// A configuration that cannot be used. A running daemon keeps its last good one (F280).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// What makes it unusable; never empty.
    pub problems: Vec<ConfigProblem>,
    /// What would only have been told.
    pub warnings: Vec<Warning>,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Invalid {}

impl Config {
    /// Reads the file; one that does not exist is an empty one. `env` is asked for the home only, for `~/`.
    ///
    /// # Errors
    /// [`Invalid`] with all problems at once: unreadable, a link that leads nowhere, over 16 KiB, not UTF-8, not TOML, a value of the wrong type
    /// or outside its words, two `[[project]]` for one folder. Unknown keys and clamped values are only warnings.
    pub fn load(path: &Path, env: &Env) -> Result<(Self, Vec<Warning>), Invalid> {
        let whole = |message: String| {
            let problem = Finding { file: path.to_path_buf(), line: None, key: None, message };
            Invalid { problems: vec![problem], warnings: Vec::new() }
        };
        let bytes = match read_bounded(path, MAX_CONFIG, Links::Follow) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(FileError::TooLarge { limit, .. }) => {
                return Err(whole(format!("is larger than the limit of {} KiB", limit / KIB)));
            }
            Err(FileError::NotRegular(_)) => return Err(whole("is not a regular file".to_owned())),
            Err(FileError::Dangling { link, to }) if link == path => {
                return Err(whole(format!("is a link to {}, where nothing is", to.display())));
            }
            Err(error) => return Err(whole(error.to_string())),
        };
        match std::str::from_utf8(&bytes) {
            Ok(text) => Self::parse(text, path, env).map(|(config, mut warnings)| {
                warnings.splice(0..0, writable_by_others(path));
                (config, warnings)
            }),
            Err(error) => {
                let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
                let mut invalid = whole("is not UTF-8 from here on".to_owned());
                invalid.problems[0].line = Some(line);
                Err(invalid)
            }
        }
    }

    /// As [`Config::load`], for a path that a person gave (`--config`): a missing file is still the defaults, and that
    /// is told, because the path may be mistyped.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load_given(path: &Path, env: &Env) -> Result<(Self, Vec<Warning>), Invalid> {
        let (config, mut warnings) = Self::load(path, env)?;
        if path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            let message = "does not exist; the defaults are used".to_owned();
            warnings.push(Finding { file: path.to_path_buf(), line: None, key: None, message });
        }
        Ok((config, warnings))
    }

    /// Reads the text of a configuration; `path` is for messages.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(text: &str, path: &Path, env: &Env) -> Result<(Self, Vec<Warning>), Invalid> {
        let mut findings = Findings::new(path, text);
        let table = findings.parse();
        let config = read(Section::root(&table), &mut findings, env);
        findings.conclude(config)
    }
}

/// The file names a program that the daemon runs: whoever can write it, can run programs as this user.
fn writable_by_others(path: &Path) -> Option<Warning> {
    let mode = std::fs::metadata(path).ok()?.mode();
    let message = "can be written by every user: run `chmod o-w` on it".to_owned();
    (mode & 0o002 != 0).then(|| Finding { file: path.to_path_buf(), line: None, key: None, message })
}

/// Every dotted key of the configuration, in the order it is read; those of a project begin with `project.`.
#[must_use]
pub fn known_keys() -> Vec<String> {
    let text = "[[project]]\npath = \"/\"";
    let mut findings = Findings::new(Path::new(""), text);
    let table = findings.parse();
    read(Section::root(&table), &mut findings, &Env::default());
    findings.asked
}

fn read(mut root: Section<'_>, findings: &mut Findings<'_>, env: &Env) -> Config {
    let config = Config {
        daemon: read_daemon(root.section(findings, "daemon"), findings, env),
        watch: read_watch(root.section(findings, "watch"), findings),
        shared: Overrides::read(&mut root, findings, env),
        log: read_log(root.section(findings, "log"), findings, env),
        secrets: read_secrets(root.section(findings, "secrets"), findings),
        team: read_team(root.section(findings, "team"), findings, env),
        projects: read_projects(root.sections(findings, "project"), findings, env),
    };
    root.finish(findings);
    config
}

fn read_daemon(mut section: Section<'_>, findings: &mut Findings<'_>, env: &Env) -> DaemonConfig {
    let config = DaemonConfig {
        socket: section.get(findings, "socket", value::absolute_path(env)),
        state_dir: section.get(findings, "state_dir", value::absolute_path(env)),
    };
    section.finish(findings);
    config
}

fn read_watch(mut section: Section<'_>, findings: &mut Findings<'_>) -> WatchConfig {
    const MODES: [(&str, WatchMode); 2] = [("auto", WatchMode::Auto), ("poll", WatchMode::Poll)];
    let default = WatchConfig::default();
    let config = WatchConfig {
        mode: section.get(findings, "mode", value::word(&MODES)).unwrap_or(default.mode),
        sweep_interval: section
            .get(findings, "sweep_interval", value::duration(SWEEP))
            .unwrap_or(default.sweep_interval),
    };
    section.finish(findings);
    config
}

fn read_log(mut section: Section<'_>, findings: &mut Findings<'_>, env: &Env) -> LogConfig {
    const LEVELS: [(&str, LogLevel); 5] = [
        ("error", LogLevel::Error),
        ("warn", LogLevel::Warn),
        ("info", LogLevel::Info),
        ("debug", LogLevel::Debug),
        ("trace", LogLevel::Trace),
    ];
    const FORMATS: [(&str, LogFormat); 4] = [
        ("auto", LogFormat::Auto),
        ("pretty", LogFormat::Pretty),
        ("plain", LogFormat::Plain),
        ("json", LogFormat::Json),
    ];
    let default = LogConfig::default();
    let config = LogConfig {
        dir: section.get(findings, "dir", value::absolute_path(env)),
        level: section.get(findings, "level", value::word(&LEVELS)).unwrap_or(default.level),
        format: section.get(findings, "format", value::word(&FORMATS)).unwrap_or(default.format),
        max_size: section.get(findings, "max_size", value::size(64 * KIB, GIB)).unwrap_or(default.max_size),
        max_total: section.get(findings, "max_total", value::size(64 * KIB, 64 * GIB)).unwrap_or(default.max_total),
        keep: section.get(findings, "keep", value::count(1, 1_000)).unwrap_or(default.keep),
    };
    section.finish(findings);
    config
}

fn read_secrets(mut section: Section<'_>, findings: &mut Findings<'_>) -> SecretsConfig {
    let default = SecretsConfig::default();
    let config = SecretsConfig { check: section.get(findings, "check", value::boolean).unwrap_or(default.check) };
    section.finish(findings);
    config
}

fn read_team(mut section: Section<'_>, findings: &mut Findings<'_>, env: &Env) -> TeamConfig {
    const LANGUAGES: [(&str, TeamLanguage); 2] = [("zh", TeamLanguage::Chinese), ("en", TeamLanguage::English)];
    let default = TeamConfig::default();
    let config = TeamConfig {
        home: section.get(findings, "home", value::absolute_path(env)),
        language: section.get(findings, "language", value::word(&LANGUAGES)).unwrap_or(default.language),
    };
    section.finish(findings);
    config
}

fn read_projects(sections: Vec<Section<'_>>, findings: &mut Findings<'_>, env: &Env) -> Vec<ProjectConfig> {
    let mut read = Vec::new();
    for section in sections {
        let (span, key) = (section.span.clone(), section.name_of("path"));
        read.extend(read_project(section, findings, env).map(|project| (project, span, key)));
    }
    let roots = Roots::look_at(read.iter().map(|(project, ..)| &*project.path));
    let mut seen: Vec<Seen> = Vec::new();
    let mut projects = Vec::new();
    for (project, span, key) in read {
        let folder = Seen { path: project.path.clone(), id: roots.id(&project.path), line: project.line };
        match seen.iter().find(|earlier| earlier.is(&folder)) {
            Some(earlier) => findings.problem(&key, &span, &format!("is the folder of line {} again", earlier.line)),
            None => projects.push(project),
        }
        seen.push(folder);
    }
    projects
}

fn read_project(mut section: Section<'_>, findings: &mut Findings<'_>, env: &Env) -> Option<ProjectConfig> {
    let path = section.get(findings, "path", value::absolute_path(env));
    if !section.has("path") {
        section.missing(findings, "path");
    }
    let line = findings.line(&section.span);
    let name = section.get(findings, "name", value::project_name);
    let enabled = section.get(findings, "enabled", value::boolean);
    let overrides = Overrides::read(&mut section, findings, env);
    section.finish(findings);
    Some(ProjectConfig { path: path?, line, name, enabled, overrides })
}

/// A project folder that the file named already: one folder is one project, however it is spelled (D72).
struct Seen {
    path: PathBuf,
    id: Option<FolderId>,
    line: usize,
}

impl Seen {
    fn is(&self, other: &Self) -> bool {
        self.path.components().eq(other.path.components()) || (self.id.is_some() && self.id == other.id)
    }
}
