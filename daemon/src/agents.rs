//! The agents of a project, as pi-subagents would load them now; for the projects that were asked about last without
//! reading their profiles again.
//!
//! What was read counts for as long as every file and folder that it depends on has the stamp it had then, and what
//! was not there is still not there. No event is relied on. Two equal stamps mean the same content except within one
//! tick of the file system's clock ("racily clean"), so a loading is relied on only if its stamps had been seen at
//! least a tick before it began. File systems that other machines write to are read each time: their stamps may be old.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use profiles::{Looks, Places};
use queue::Agent;
use store::FsKind;

use crate::env::Env;
use crate::watch;

/// So many projects are remembered. Many more may be idle, and those cost nothing.
const MOST: usize = 8;

/// What is known of the projects that were asked about last, the latest at the end.
#[derive(Debug, Default)]
pub struct Agents(Mutex<VecDeque<Known>>);

#[derive(Debug)]
struct Known {
    root: Arc<Path>,
    agents: Arc<[Agent]>,
    looks: Looks,
    /// Since when these looks are known.
    since: Instant,
    /// The agents were read a tick after that, or later.
    is_reliable: bool,
}

/// The agents of the project in `root`. Blocking.
#[must_use]
pub fn load(root: &Path, env: &Env) -> Vec<Agent> {
    profiles::load(&places(root, env)).agents
}

impl Agents {
    /// As [`load`]; a few stats if nothing has changed since it was asked before.
    #[must_use]
    pub fn load(&self, root: &Arc<Path>, env: &Env) -> Arc<[Agent]> {
        self.load_at(root, env, Instant::now)
    }

    fn load_at(&self, root: &Arc<Path>, env: &Env, now: impl Fn() -> Instant) -> Arc<[Agent]> {
        let before = self.take(root);
        if let Some(known) = before.as_ref().filter(|known| known.is_reliable && known.looks.still_hold()) {
            let agents = known.agents.clone();
            self.keep(before);
            return agents;
        }
        let places = places(root, env);
        let began = now();
        let (loaded, looks) = profiles::load_and_remember(&places);
        let agents: Arc<[Agent]> = loaded.agents.into();
        self.keep(looks.map(|looks| {
            let since = before.filter(|before| before.looks == looks).map_or_else(&now, |before| before.since);
            let is_old = began.saturating_duration_since(since) >= watch::tick(looks.are_coarse());
            let is_reliable = is_old && are_local(&places, &looks);
            Known { root: root.clone(), agents: agents.clone(), looks, since, is_reliable }
        }));
        agents
    }

    fn take(&self, root: &Path) -> Option<Known> {
        let mut all = self.lock();
        let at = all.iter().position(|known| *known.root == *root)?;
        all.remove(at)
    }

    fn keep(&self, known: Option<Known>) {
        let mut all = self.lock();
        all.extend(known);
        if all.len() > MOST {
            all.pop_front();
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the session of the project in `root` looks for agents.
#[must_use]
pub fn places(root: &Path, env: &Env) -> Places {
    let mut places = Places::new(root, env.home.clone().unwrap_or_default());
    if let Some(dir) = &env.pi_coding_agent_dir {
        places = places.with_agent_dir(dir.as_os_str());
    }
    if let Some(dirs) = &env.pi_subagent_extra_agent_dirs {
        places = places.with_extra_dirs(dirs);
    }
    places
}

/// Whether all that was looked at, and the places of what is not there, are on this machine's own file systems.
fn are_local(places: &Places, looks: &Looks) -> bool {
    let Places { root, home, agent_dir, extra_dirs } = places;
    let named = [root, home, agent_dir].into_iter().chain(extra_dirs).map(std::path::PathBuf::as_path);
    named.chain(looks.devices()).all(is_local)
}

/// Of a path that does not exist, the nearest folder above it decides.
fn is_local(path: &Path) -> bool {
    let kind = path.ancestors().find_map(|path| FsKind::of(path).ok());
    kind.is_some_and(FsKind::is_local)
}

#[cfg(test)]
mod tests;
