//! All places that name projects, as one list: registry, `[[project]]`, `--project` (D77).
//!
//! One folder is one project wherever and however often it is named (D72). This is a view; it writes nothing.

use std::path::{Path, PathBuf};

use super::index::Index;
use super::list::{Entry, ProjectList};
use super::select::Candidate;
use crate::config::{Config, ProjectConfig};
use crate::folder_id::FolderId;
use crate::roots::{Root, Roots};

/// A project that this run knows, with what each place says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// Its root: links resolved where it exists, else as it was named.
    pub path: PathBuf,
    /// The folder now; `None` while there is none (not mounted, removed).
    pub id: Option<FolderId>,
    /// The registry's entry.
    pub entry: Option<Entry>,
    /// The `[[project]]` of the configuration.
    pub config: Option<ProjectConfig>,
    /// `--project` names it.
    pub by_option: ByOption,
}

/// Whether `--project` named a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByOption {
    /// For this run.
    Named,
    /// Only other places name it.
    NotNamed,
}

impl Project {
    /// Whether anything happens in it: no place says otherwise. `handoff disable` outlives a restart with `--project`.
    #[must_use]
    pub fn enabled(&self) -> bool {
        let registered = self.entry.as_ref().is_none_or(|entry| entry.enabled);
        registered && self.config.as_ref().and_then(|config| config.enabled).unwrap_or(true)
    }

    /// Whether dispatching is paused (`handoff pause`).
    #[must_use]
    pub fn paused(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.paused)
    }

    /// The given name: the configuration's before the registry's.
    #[must_use]
    pub fn given_name(&self) -> Option<&str> {
        let configured = self.config.as_ref().and_then(|config| config.name.as_deref());
        configured.or_else(|| self.entry.as_ref().and_then(|entry| entry.name.as_deref()))
    }

    /// The name to show: the given one, else the folder's own.
    #[must_use]
    pub fn name(&self) -> String {
        let own = || self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned();
        self.given_name().map_or_else(own, str::to_owned)
    }

    /// As far as choosing one needs it.
    #[must_use]
    pub fn candidate(&self) -> Candidate<'_> {
        Candidate { path: &self.path, name: self.given_name() }
    }
}

/// Every project, registered ones first. Each folder is looked at once; one that does not answer is one that is not there.
#[must_use]
pub fn all_projects(list: &ProjectList, config: &Config, options: &[PathBuf]) -> Vec<Project> {
    let registered = list.projects.iter().map(|entry| &*entry.path);
    let configured = config.projects.iter().map(|project| &*project.path);
    let roots = Roots::look_at(registered.chain(configured).chain(options.iter().map(|path| &**path)));
    merge_projects(list, config, options, |path| roots.root(path))
}

/// As [`all_projects`], with paths looked at by `look`.
#[must_use]
pub fn merge_projects(
    list: &ProjectList,
    config: &Config,
    options: &[PathBuf],
    look: impl Fn(&Path) -> Root,
) -> Vec<Project> {
    let mut merged = Merged { projects: Vec::new(), index: Index::of([]), look };
    for entry in &list.projects {
        merged.at(&entry.path).entry.get_or_insert_with(|| entry.clone());
    }
    for configured in &config.projects {
        merged.at(&configured.path).config = Some(configured.clone());
    }
    for path in options {
        merged.at(path).by_option = ByOption::Named;
    }
    merged.projects
}

/// What has been put together so far.
struct Merged<L> {
    projects: Vec<Project>,
    index: Index<PathBuf>,
    look: L,
}

impl<L: Fn(&Path) -> Root> Merged<L> {
    /// The project that this path names; a new one if it is the first time.
    fn at(&mut self, path: &Path) -> &mut Project {
        let Root { path: root, id } = (self.look)(path);
        let at = self.index.find(path, id).unwrap_or_else(|| {
            let at = self.projects.len();
            self.index.add(root.clone(), id, at);
            self.projects.push(Project { path: root, id, entry: None, config: None, by_option: ByOption::NotNamed });
            at
        });
        &mut self.projects[at]
    }
}
