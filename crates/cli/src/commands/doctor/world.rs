//! What the checks look at: gathered once, from the service's side where that can be known.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use handoffd::config::{Config, Invalid, ProjectConfig, ProjectFile, Settings, Warning};
use handoffd::env::Env;
use handoffd::places::{Places, PlacesError, config_file};
use handoffd::registry::{Project, Registry, StateFileError, merge_projects};
use handoffd::roots::Root;
use jiff::Timestamp;
use wire::status::{ProjectState, ProjectStatus, Status};

use super::patience::{ALL, PATIENCE, Question, ask_all};
use super::service::{Environment, Manager, Source, Unit};
use crate::context::Context;
use crate::daemon;
use crate::door;
use crate::failure::Failure;
use crate::systemctl::judge::{self, Listener};

/// Everything, gathered.
#[derive(Debug)]
pub(super) struct World {
    /// When.
    pub(super) now: Timestamp,
    /// The environment of this shell.
    pub(super) shell: Env,
    /// The places as this shell finds them.
    pub(super) shell_places: Result<Places, PlacesError>,
    /// The environment of the service.
    pub(super) service: Environment,
    /// The service manager.
    pub(super) manager: Manager,
    /// The daemon's own view, or why there is none.
    pub(super) daemon: Result<Box<Status>, Failure>,
    /// Who listens at the service's socket.
    pub(super) listener: Listener,
    /// Whether the daemon was found only by the service's environment: this shell looks for it elsewhere.
    pub(super) hidden: Hidden,
    /// The configuration file that the service reads.
    pub(super) config_path: Option<PathBuf>,
    /// What it says; the defaults if it is invalid.
    pub(super) config: Config,
    /// What is wrong with it, or odd in it.
    pub(super) config_problems: Result<Vec<Warning>, Invalid>,
    /// Where everything lies for the service.
    pub(super) places: Result<Places, PlacesError>,
    /// Why the list of projects cannot be read.
    pub(super) registry: Result<(), StateFileError>,
    /// The projects.
    pub(super) projects: Vec<Subject>,
}

/// Whether this shell finds the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hidden {
    /// It looks where the daemon listens.
    No,
    /// It looks elsewhere.
    Yes,
}

/// A project, to be looked at.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    /// Its root.
    pub(super) path: PathBuf,
    /// Its name.
    pub(super) name: String,
    /// The daemon's view.
    pub(super) status: Option<ProjectStatus>,
    /// Whether anything happens in it.
    pub(super) enabled: Enabled,
    config: Option<ProjectConfig>,
}

/// Whether a person switched it off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enabled {
    /// It is watched.
    Yes,
    /// It is not.
    No,
}

impl World {
    /// Looks at everything but the projects' own files.
    pub(super) fn gather(ctx: &Context) -> Self {
        let shell = ctx.env.clone();
        let manager = Manager::ask(&shell);
        let mut daemon = status(ctx);
        let mut hidden = Hidden::No;
        let shell_places = Places::find(&shell, ctx.config());
        let pid = match &daemon {
            Ok(status) => Some(status.daemon.pid),
            Err(_) => shell_places.as_ref().ok().and_then(holder),
        };
        let service = Environment::find(pid, &manager, &shell);
        let same = |theirs: &Places| {
            shell_places.as_ref().is_ok_and(|ours| ours.socket_candidates() == theirs.socket_candidates())
        };
        let elsewhere =
            daemon.is_err() && !Places::find(&service.env, &Config::default()).is_ok_and(|theirs| same(&theirs));
        if elsewhere && service.source != Source::Shell {
            let theirs = Context::of_call(service.env.clone(), Some(PathBuf::from("/")));
            if let Ok(status) = status(&theirs) {
                (daemon, hidden) = (Ok(status), Hidden::Yes);
            }
        }
        let told = daemon.as_ref().ok().and_then(|status| status.daemon.config.path.as_deref());
        let config_path = told.map(PathBuf::from).or_else(|| config_file(&service.env, None).ok());
        let (config, config_problems) = match config_path.as_deref().map(|path| Config::load(path, &service.env)) {
            Some(Ok((config, warnings))) => (config, Ok(warnings)),
            Some(Err(invalid)) => (Config::default(), Err(invalid)),
            None => (Config::default(), Ok(Vec::new())),
        };
        let places = Places::find(&service.env, &config);
        let runs = manager.service().is_some_and(Unit::is_active);
        let listener =
            places.as_ref().ok().filter(|_| runs).and_then(|places| door::listener(ctx, &places.socket.path));
        let (projects, registry) = projects(places.as_ref().ok(), &config, daemon.as_deref().ok());
        Self {
            now: ctx.now(),
            shell,
            shell_places,
            service,
            manager,
            daemon,
            listener: listener.map_or(Listener::Nobody, Listener::Process),
            hidden,
            config_path,
            config,
            config_problems,
            places,
            registry,
            projects,
        }
    }

    /// The daemon's view of itself.
    pub(super) fn running(&self) -> Option<&Status> {
        self.daemon.as_deref().ok()
    }

    /// The daemon's process: that of the one that answers, else of the one that holds the instance lock.
    pub(super) fn daemon_pid(&self) -> Option<u32> {
        let running = self.running().map(|status| status.daemon.pid);
        running.or_else(|| self.places.as_ref().ok().and_then(holder))
    }

    /// The unit, if there is one.
    pub(super) fn unit(&self) -> Option<&Unit> {
        self.manager.service()
    }

    /// What to do about a daemon that lives and whose socket is gone: it makes that again by itself (F104).
    pub(super) fn after_ten_seconds(&self, pid: u32) -> String {
        let else_do = match self.unit() {
            Some(_) => self.restart().to_owned(),
            None => format!("end it with `kill {pid}` and start it again"),
        };
        format!("wait ten seconds, in which the daemon makes it again; if it is still not there: {else_do}")
    }

    /// Whether the socket's file is not there.
    pub(super) fn has_no_socket(&self) -> bool {
        self.places.as_ref().is_ok_and(|places| places.socket.path.symlink_metadata().is_err())
    }

    /// The command that starts, or starts again, the daemon as it is installed here.
    pub(super) fn restart(&self) -> &'static str {
        match &self.manager {
            Manager::Systemd { service, .. } => judge::again(service),
            Manager::None(_) if self.daemon_pid().is_some() => {
                "end the daemon that runs, and start it again as it was started"
            }
            Manager::None(_) => "run `handoffd` in a terminal of its own, or under a service manager",
        }
    }
}

impl Subject {
    /// The settings that it has now, and what its own file does wrong.
    pub(super) fn settings(&self, config: &Config) -> (Settings, Result<Vec<Warning>, Invalid>) {
        let (own, told) = match ProjectFile::load(&self.path) {
            Ok((own, warnings)) => (own, Ok(warnings)),
            Err(invalid) => (ProjectFile::default(), Err(invalid)),
        };
        (config.settings(self.config.as_ref(), &own), told)
    }

    /// As [`Subject::settings`], without its own file: what only the user may set.
    pub(super) fn settings_without_file(&self, config: &Config) -> Settings {
        config.settings(self.config.as_ref(), &ProjectFile::default())
    }

    /// Whether the daemon says that its file system does not answer. Where it is switched off nobody asks any more.
    pub(super) fn is_stuck(&self) -> bool {
        self.enabled == Enabled::Yes && self.status.as_ref().is_some_and(|status| status.state == ProjectState::Stuck)
    }
}

/// The process of the daemon that holds the instance lock.
pub(super) fn holder(places: &Places) -> Option<u32> {
    daemon::holder(places).map(|holder| holder.pid)
}

fn status(ctx: &Context) -> Result<Box<Status>, Failure> {
    ctx.block_on(async {
        let (daemon, _) = daemon::connect(ctx).await?;
        daemon.status().await.map(Box::new)
    })
}

/// The daemon's projects, and what the registry names besides.
fn projects(
    places: Option<&Places>,
    config: &Config,
    running: Option<&Status>,
) -> (Vec<Subject>, Result<(), StateFileError>) {
    let read = places.map_or(Ok(Default::default()), |places| Registry::new(&places.state_dir).read());
    let (list, fault) = match read {
        Ok(list) => (list, Ok(())),
        Err(error) => (Default::default(), Err(error)),
    };
    let statuses = running.map(|status| status.projects.as_slice()).unwrap_or_default();
    let status_of = |path: &Path| statuses.iter().find(|status| Path::new(&status.path) == path).cloned();
    let registered = list.projects.iter().map(|entry| &entry.path);
    let paths = registered.chain(config.projects.iter().map(|project| &project.path));
    // Of those of which the daemon says so already nothing is asked.
    let answers = |path: &&PathBuf| status_of(path).is_none_or(|status| status.state != ProjectState::Stuck);
    let roots = roots(paths.filter(answers).cloned().collect());
    let root = |path: &Path| roots.get(path).cloned().unwrap_or_else(|| Root::unknown(path));
    let known = merge_projects(&list, config, &[], root);
    let mut subjects: Vec<Subject> = known.into_iter().map(|project| subject(project, status_of)).collect();
    for status in statuses {
        if !subjects.iter().any(|subject| subject.path == Path::new(&status.path)) {
            let (path, name) = (PathBuf::from(&status.path), status.name.clone());
            subjects.push(Subject { path, name, status: Some(status.clone()), enabled: Enabled::Yes, config: None });
        }
    }
    (subjects, fault)
}

fn subject(project: Project, status_of: impl Fn(&Path) -> Option<ProjectStatus>) -> Subject {
    let enabled = if project.enabled() { Enabled::Yes } else { Enabled::No };
    let status = status_of(&project.path);
    Subject { name: project.name(), status, enabled, config: project.config, path: project.path }
}

/// Where each of the paths leads, as far as it answers.
fn roots(paths: Vec<PathBuf>) -> HashMap<PathBuf, Root> {
    let look = |path: &PathBuf| {
        let path = path.clone();
        Question::new(PATIENCE, move || Root::look_at(&path))
    };
    let answers = ask_all(paths.iter().map(look).collect(), ALL);
    paths.into_iter().zip(answers).filter_map(|(path, answer)| Some((path, answer.given()?))).collect()
}
