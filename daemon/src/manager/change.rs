//! What clients change: made durable in the registry first, then passed on to the project's actor, which answers (D77).

use std::path::{Path, PathBuf};
use std::time::Duration;

use lifecycle::Admin;
use wire::control::ProjectResult;
use wire::error::{ErrorCode, ErrorObject, Refusal};

use super::State;
use super::known::{Configured, Known, Standing};
use crate::actor::mail::{Control, Mail};
use crate::peer::Responder;
use crate::projects::ask_status;
use crate::registry::{Added, ByOption, Change, Entry, ProjectList, RegistryError};

/// How long a new project may take to say how it is.
const FIRST_STATE: Duration = Duration::from_secs(1);

impl State {
    /// `project.add`
    pub(super) async fn add(&mut self, path: PathBuf, answer: Responder) {
        self.keep_list().await;
        let registry = self.registry.clone();
        let added = self.hub.pool.run(move || registry.add(&path, None)).await;
        let entry = match added {
            Ok(Ok(Added::New(entry) | Added::Known(entry))) => entry,
            Ok(Err(error)) => return answer.error(refusal(&error)),
            Err(error) => return answer.error(ErrorObject::internal(&error.to_string())),
        };
        self.look_again().await;
        // The actor is asked beside the manager's other work.
        let hub = self.hub.clone();
        tokio::spawn(async move {
            let project = hub.projects.by_path(&entry.path).map(|entry| entry.project);
            let status = match &project {
                Some(project) => ask_status(project, FIRST_STATE).await,
                None => None,
            };
            match status {
                Some(status) => answer.result(&ProjectResult {
                    path: status.path,
                    name: status.name,
                    state: status.state,
                    reason: status.reason,
                    why: status.why,
                    next: status.next,
                    lifted: None,
                }),
                None => answer.error(ErrorObject::internal("the project is registered, but does not say how it is")),
            }
        });
    }

    /// `project.remove`, `.enable`, `.disable`, `.pause`, `.resume`
    pub(super) async fn change(&mut self, path: &Path, change: Control, answer: Responder) {
        let Some(at) = self.known.iter().position(|known| &*known.project.path == path) else {
            return answer.error(Refusal::unknown_project("the project has left", None));
        };
        if let Err(refusal) = self.known[at].allows(&change) {
            return answer.error(refusal);
        }
        if !self.known[at].is_for_this_run()
            && let Err(error) = self.make_durable(path, &change).await
        {
            return answer.error(error);
        }
        let before = self.known[at].standing;
        match &change {
            Control::Pause => self.pause(at, true),
            Control::Resume => self.pause(at, false),
            Control::Enable => self.enable(path).await,
            Control::Disable { .. } if before == Standing::Active => self.disable(path),
            Control::Remove { .. } => self.forget(at),
            _ => {}
        }
        let removed = matches!(change, Control::Remove { .. });
        self.known[at].write(Mail::Control { request: change, answer });
        if removed && before == Standing::Disabled {
            self.known[at].write(Mail::Shutdown);
        }
    }

    fn pause(&mut self, at: usize, paused: bool) {
        self.known[at].paused = paused;
        self.hub.projects.set_paused(&self.known[at].project.path, paused);
    }

    /// Notes that a project is not wanted any more.
    fn forget(&mut self, at: usize) {
        let known = &mut self.known[at];
        known.standing = Standing::Removing;
        known.registered = false;
        let path = &known.project.path;
        self.hub.projects.set_admin(path, Admin::Leaving);
        self.dismissed.push(path.to_path_buf());
    }

    async fn make_durable(&mut self, path: &Path, change: &Control) -> Result<(), ErrorObject> {
        self.keep_list().await;
        let (registry, path) = (self.registry.clone(), path.to_path_buf());
        let change = match change {
            Control::Pause => Some(Change::Pause),
            Control::Resume => Some(Change::Resume),
            Control::Enable => Some(Change::Enable),
            Control::Disable { .. } => Some(Change::Disable),
            _ => None,
        };
        let write = move || {
            registry.update(|list| {
                match change {
                    Some(change) => apply(list, path, change),
                    None => list.projects.retain(|entry| entry.path != path),
                }
                Ok(list.clone())
            })
        };
        match self.hub.pool.run(write).await {
            Ok(Ok(list)) => {
                self.list = list;
                Ok(())
            }
            Ok(Err(error)) => Err(refusal(&error)),
            Err(error) => Err(ErrorObject::internal(&error.to_string())),
        }
    }
}

impl Known {
    /// A project that the configuration names is the configuration's to remove, and to enable when that says no.
    fn allows(&self, change: &Control) -> Result<(), ErrorObject> {
        let why = match (change, self.configured) {
            (Control::Remove { .. }, Some(Configured { line, .. })) => format!(
                "line {line} of the configuration names this project: remove it there and reload, or `handoff disable` it"
            ),
            (Control::Enable, Some(Configured { line, enabled: false })) => {
                format!("line {line} of the configuration disables this project: enable it there and reload")
            }
            _ => return Ok(()),
        };
        let problem = wire::error::Problem { field: None, code: "invalid_config".to_owned(), message: why.clone() };
        Err(Refusal::with_problems(ErrorCode::InvalidConfig, why, vec![problem]).into())
    }

    /// Only `--project` names it: nothing about it outlives this run (D77).
    fn is_for_this_run(&self) -> bool {
        self.by_option == ByOption::Named && !self.registered && self.configured.is_none()
    }
}

/// A project that only the configuration names gets an entry when there is something to keep about it.
fn apply(list: &mut ProjectList, path: PathBuf, change: Change) {
    let at = list.position(&path);
    match at {
        Some(at) => {
            list.projects[at].apply(change);
        }
        None => {
            let mut entry = Entry::new(path, None);
            if entry.apply(change) {
                list.projects.push(entry);
            }
        }
    }
}

fn refusal(error: &RegistryError) -> ErrorObject {
    let code = match error {
        RegistryError::NoFolder { .. } | RegistryError::NotUtf8 { .. } | RegistryError::Everything => {
            ErrorCode::NotAFolder
        }
        _ => ErrorCode::CannotWrite,
    };
    Refusal::new(code, error.to_string()).into()
}
