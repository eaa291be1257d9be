//! From what all places say to what runs: start what is new, tell what changed, bring to an end what nobody names (D71).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lifecycle::Admin;

use super::State;
use super::folders::Seen;
use super::known::{Known, Standing};
use crate::actor::mail::{Control, Mail};
use crate::actor::{self, ProjectSpec};
use crate::config::{Config, Settings};
use crate::files::FileError;
use crate::projects::Entry;
use crate::registry::{ByOption, Index, Project, ProjectList, StateFileError, merge_projects};

/// Folders by the path that names them.
type Looked = HashMap<PathBuf, Seen>;

impl State {
    /// The round of the start. Projects that the last daemon owned and nobody names any more are taken up to let go.
    pub(super) async fn first_round(&mut self) -> Result<(), StateFileError> {
        let owned = self.owned.paths();
        self.reconcile_with(&owned).await
    }

    /// Compares what is wanted with what runs.
    pub(super) async fn reconcile(&mut self) -> Result<(), StateFileError> {
        self.reconcile_with(&[]).await
    }

    async fn reconcile_with(&mut self, owned: &[PathBuf]) -> Result<(), StateFileError> {
        self.keep_list().await;
        // Of before the reading: what cannot be read is told once, and what comes meanwhile is seen.
        self.stamp = self.registry.stamp();
        // One that is gone was not emptied: `handoff projects remove` leaves a file.
        let list = self.read_list().await?.unwrap_or_else(|| self.list.clone());
        self.list.clone_from(&list);
        let config = self.hub.config();
        let looked = self.folders.look_at(self.named_paths(&list, &config)).await;
        let look = |path: &Path| looked.get(path).map_or_else(|| Seen::unknown(path).root, |seen| seen.root.clone());
        let mut wanted = merge_projects(&list, &config, &self.options, look);
        // A project that only `--project` names and that a client removed stays away until the next start.
        let named_again = |project: &Project| project.entry.is_some() || project.config.is_some();
        wanted.retain(|project| named_again(project) || !self.dismissed.contains(&project.path));
        let by_root: Looked = looked.into_values().map(|seen| (seen.root.path.clone(), seen)).collect();
        self.end_unwanted(&wanted);
        let new = self.update_known(wanted, &by_root, &config).await;
        self.start_all(new, owned, &by_root, &config).await;
        self.shown.set_owned_error(self.owned.error.clone());
        Ok(())
    }

    /// Somebody deleted the list, or put a damaged one aside: it is written as it was read last.
    pub(super) async fn keep_list(&mut self) {
        let is_told = self.unkept.take().is_some();
        if self.list.projects.is_empty() || self.registry.stamp().is_some() {
            return;
        }
        let (registry, list) = (self.registry.clone(), self.list.clone());
        let write = move || {
            registry.update(|now| {
                if now.projects.is_empty() {
                    *now = list;
                }
                Ok(())
            })
        };
        let written = self.hub.pool.run(write).await.map_err(|error| error.to_string());
        let file = self.hub.places.projects_file();
        let file = file.display();
        let Err(error) = written.and_then(|written| written.map_err(|error| error.to_string())) else {
            tracing::warn!(%file, "the list of projects was gone; it was written again as it was");
            return;
        };
        let told = format!("the list of projects is gone and cannot be written again: {error}");
        // It is tried again and again, and said once.
        if !is_told {
            tracing::error!(%file, "{told}");
        }
        self.unkept = Some(told);
    }

    async fn read_list(&self) -> Result<Option<ProjectList>, StateFileError> {
        let registry = self.registry.clone();
        match self.hub.pool.run(move || registry.read_if_there()).await {
            Ok(result) => result,
            Err(error) => {
                Err(FileError::io("read", &self.hub.places.projects_file(), std::io::Error::other(error)).into())
            }
        }
    }

    fn named_paths(&self, list: &ProjectList, config: &Config) -> BTreeSet<PathBuf> {
        let registered = list.projects.iter().map(|entry| &entry.path);
        let configured = config.projects.iter().map(|project| &project.path);
        registered.chain(configured).chain(&self.options).cloned().collect()
    }

    fn end_unwanted(&mut self, wanted: &[Project]) {
        let index = Index::of(wanted.iter().map(|project| (&*project.path, project.id)));
        let unwanted = |known: &&mut Known| {
            known.standing != Standing::Removing && index.find(&known.project.path, known.folder).is_none()
        };
        for known in self.known.iter_mut().filter(unwanted) {
            tracing::info!(project = %known.project.path.display(), "the project is no longer configured; it leaves");
            known.registered = false;
            known.configured = None;
            known.by_option = ByOption::NotNamed;
            self.hub.projects.set_admin(&known.project.path, Admin::Leaving);
            known.remove();
        }
    }

    /// Tells running projects what changed, and answers which ones do not run yet.
    async fn update_known(&mut self, wanted: Vec<Project>, seen: &Looked, config: &Config) -> Vec<Project> {
        let mut new = Vec::new();
        let index = Index::of(self.known.iter().map(|known| (known.project.path.clone(), known.folder)));
        for project in wanted {
            let Some(at) = self.position(&index, &project) else {
                new.push(project);
                continue;
            };
            if self.known[at].project.mail.is_closed() {
                let ended = self.known.swap_remove(at);
                self.hub.projects.remove(&ended.project.path);
                new.push(project);
                continue;
            }
            self.update(at, &project, seen.get(&project.path), config).await;
        }
        new
    }

    /// Where the running one is. The list may have changed a little since it was indexed.
    fn position(&self, index: &Index<Arc<Path>>, project: &Project) -> Option<usize> {
        let indexed = index.find(&project.path, project.id);
        let still = indexed.filter(|&at| self.known.get(at).is_some_and(|known| is_same(known, project)));
        still.or_else(|| self.known.iter().position(|known| is_same(known, project)))
    }

    async fn update(&mut self, at: usize, wanted: &Project, seen: Option<&Seen>, config: &Config) {
        let known = &mut self.known[at];
        known.is_named_by(wanted);
        if let Some(seen) = seen {
            let appeared = known.folder.is_none() && seen.root.id.is_some();
            if known.folder != seen.root.id {
                known.folder = seen.root.id;
                self.hub.projects.set_folder(&known.project.path, known.folder);
            }
            if appeared {
                self.refused.appeared(&known.project.path, known.folder);
            }
            let settings = config.settings(wanted.config.as_ref(), &seen.own);
            if settings != *known.settings {
                tell_warnings(&known.project.path, seen);
                known.settings = Arc::new(settings);
                self.hub.projects.set_settings(&known.project.path, &known.settings);
                known.write(Mail::Configure(known.settings.clone()));
            }
        }
        if wanted.paused() != known.paused {
            known.paused = wanted.paused();
            self.hub.projects.set_paused(&known.project.path, known.paused);
            known.ask(if known.paused { Control::Pause } else { Control::Resume });
        }
        let path = known.project.path.clone();
        match (wanted.enabled(), known.standing) {
            (true, Standing::Active) | (false, Standing::Disabling | Standing::Disabled) => {}
            (true, _) => {
                self.enable(&path).await;
                self.ask(&path, Control::Enable);
            }
            (false, _) => {
                self.disable(&path);
                self.ask(&path, Control::Disable { now: false });
            }
        }
    }

    fn ask(&self, path: &Path, request: Control) {
        if let Some(known) = self.known.iter().find(|known| &*known.project.path == path) {
            known.ask(request);
        }
    }

    /// Notes that a project takes part from now on; its lock may be taken after this.
    pub(super) async fn enable(&mut self, path: &Path) {
        self.owned.add(vec![path.to_path_buf()]).await;
        if let Some(known) = self.known.iter_mut().find(|known| &*known.project.path == path) {
            known.standing = Standing::Active;
            self.hub.projects.set_admin(path, Admin::Active);
            self.refused.appeared(path, known.folder);
        }
    }

    /// Notes that a project is to let go.
    pub(super) fn disable(&mut self, path: &Path) {
        if let Some(known) = self.known.iter_mut().find(|known| &*known.project.path == path) {
            known.standing = Standing::Disabling;
            self.hub.projects.set_admin(path, Admin::Leaving);
        }
    }

    async fn start_all(&mut self, new: Vec<Project>, owned: &[PathBuf], seen: &Looked, config: &Config) {
        let active = new.iter().filter(|project| project.enabled());
        self.owned.add(active.map(|project| project.path.clone()).collect()).await;
        let before: HashSet<&Path> = owned.iter().map(PathBuf::as_path).collect();
        for project in new {
            let owned_before = before.contains(project.path.as_path());
            self.start(&project, owned_before, seen.get(&project.path), config);
        }
        let running: HashSet<Arc<Path>> = self.known.iter().map(|known| known.project.path.clone()).collect();
        for path in owned.iter().filter(|path| !running.contains(path.as_path())) {
            self.take_up_to_leave(path, config);
        }
    }

    fn start(&mut self, project: &Project, owned_before: bool, seen: Option<&Seen>, config: &Config) {
        if let Some(seen) = seen {
            tell_warnings(&project.path, seen);
        }
        let standing = match (project.enabled(), owned_before) {
            (true, _) => Standing::Active,
            (false, true) => Standing::Disabling,
            (false, false) => Standing::Disabled,
        };
        let own = seen.map(|seen| seen.own.clone()).unwrap_or_default();
        let settings = self.shared(config.settings(project.config.as_ref(), &own));
        let mut known = self.spawn(project, settings, standing);
        known.is_named_by(project);
        if standing == Standing::Disabling {
            known.ask(Control::Disable { now: false });
        }
        self.known.push(known);
    }

    /// Most projects have the same settings: each takes those of the one before it, if they are.
    fn shared(&self, settings: Settings) -> Arc<Settings> {
        let last = self.known.last().map(|known| &known.settings).filter(|known| ***known == settings);
        last.map_or_else(|| Arc::new(settings), Arc::clone)
    }

    /// A project that the last daemon owned and nobody names: its lock is recovered, its task brought to an end (D71).
    fn take_up_to_leave(&mut self, path: &Path, config: &Config) {
        tracing::info!(project = %path.display(), "the project is no longer configured; what the last daemon began is ended");
        let root = Seen::unknown(path).root;
        let (entry, by_option) = (None, ByOption::NotNamed);
        let project = Project { path: root.path, id: None, entry, config: None, by_option };
        let settings = Arc::new(config.settings(None, &crate::config::ProjectFile::default()));
        let mut known = self.spawn(&project, settings, Standing::Removing);
        known.remove();
        self.known.push(known);
    }

    /// Starts the actor. A project that is to leave begins as an active one: only that takes up what a dead owner left,
    /// and no session is attached yet that a task could go to.
    fn spawn(&self, project: &Project, settings: Arc<Settings>, standing: Standing) -> Known {
        let (admin, shown) = match standing {
            Standing::Active => (Admin::Active, Admin::Active),
            Standing::Disabling | Standing::Removing => (Admin::Active, Admin::Leaving),
            Standing::Disabled => (Admin::Disabled, Admin::Disabled),
        };
        let spec = ProjectSpec {
            path: Arc::from(project.path.as_path()),
            name: Arc::from(project.name()),
            settings: settings.clone(),
            admin,
            paused: project.paused(),
        };
        let handle = actor::spawn(&self.hub, spec);
        self.hub.projects.insert(Entry {
            project: handle.clone(),
            folder: project.id,
            admin: shown,
            paused: project.paused(),
            settings: settings.clone(),
        });
        self.refused.appeared(&project.path, project.id);
        Known {
            project: handle,
            folder: project.id,
            settings,
            standing,
            paused: project.paused(),
            registered: false,
            configured: None,
            by_option: project.by_option,
        }
    }

    /// A project's actor let go of its lock.
    pub(super) async fn has_gone(&mut self, path: &Path) {
        let Some(at) = self.known.iter().position(|known| &*known.project.path == path) else { return };
        match self.known[at].standing {
            // It was wanted again while it left, and its actor has ended: the next round starts another.
            Standing::Active if self.known[at].project.mail.is_closed() => self.look_again().await,
            Standing::Active | Standing::Disabled => {}
            Standing::Disabling => {
                self.known[at].standing = Standing::Disabled;
                self.hub.projects.set_admin(path, Admin::Disabled);
                self.owned.remove(path.to_path_buf()).await;
            }
            Standing::Removing => {
                self.known.swap_remove(at);
                self.owned.remove(path.to_path_buf()).await;
                self.hub.projects.remove(path);
                tracing::info!(project = %path.display(), "the project has left");
            }
        }
    }
}

fn is_same(known: &Known, project: &Project) -> bool {
    *known.project.path == *project.path || (project.id.is_some() && project.id == known.folder)
}

fn tell_warnings(path: &Path, seen: &Seen) {
    for warning in &seen.warnings {
        tracing::warn!(project = %path.display(), "{warning}");
    }
}
