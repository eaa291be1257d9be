//! Which project a path belongs to, and whether its name matters to us at all.
//!
//! A project tree may be as busy as it likes: names that cannot change what is dispatched end here, before anybody is
//! woken. That includes our own temporaries, the guard, the work log and `.pi/handoff.toml` (read at its own times).

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use store::names;

use super::backend::About;
use super::dirty::Weight;
use super::watched::Watched;

/// Root folders, as the events spell them, and their projects.
#[derive(Default)]
pub(super) struct Routes(RwLock<HashMap<Arc<Path>, Arc<Watched>>>);

impl Routes {
    pub(super) fn insert(&self, root: Arc<Path>, watched: Arc<Watched>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(root, watched);
    }

    /// Takes the route out if it is still this project's.
    pub(super) fn remove(&self, root: &Path, watched: &Watched) -> bool {
        let mut routes = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let ours = routes.get(root).is_some_and(|known| std::ptr::eq(&raw const **known, watched));
        if ours {
            routes.remove(root);
        }
        ours
    }

    /// The project that a hint concerns, if it concerns one.
    pub(super) fn find(&self, path: &Path, about: About) -> Option<(Arc<Watched>, Weight)> {
        let routes = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let of_folder = match about {
            About::Content => Weight::Compare,
            About::Metadata => Weight::Always,
        };
        if let Some(watched) = routes.get(path) {
            return Some((watched.clone(), of_folder));
        }
        let (parent, name) = (path.parent()?, path.file_name()?);
        if name == names::LOCK {
            let root = parent.parent().filter(|_| parent.file_name().is_some_and(|name| name == names::PI))?;
            return routes.get(root).map(|watched| (watched.clone(), Weight::Compare));
        }
        let weight = match name.to_str()? {
            names::QUEUE => Weight::Compare,
            names::PI => of_folder,
            _ => return None,
        };
        routes.get(parent).map(|watched| (watched.clone(), weight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::tests::support::cell;

    #[track_caller]
    fn check(path: &str, about: About, expected: Option<Weight>) {
        let routes = Routes::default();
        routes.insert(Path::new("/home/you/P").into(), cell("/home/you/P"));
        let found = routes.find(Path::new(path), about).map(|(_, weight)| weight);
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn f022_f050_only_names_that_matter_are_heard() {
        for name in ["tasks.json", ".pi", ".pi/pi-claude-handoff.lock", ""] {
            check(&format!("/home/you/P/{name}"), About::Content, Some(Weight::Compare));
        }
        for name in [
            "tasks.json~",
            ".#tasks.json",
            ".tasks.json.0123456789abcdef0123456789abcdef.new",
            ".tasks.json.0123456789abcdef0123456789abcdef.swap",
            "src/tasks.json",
            "pi-claude-handoff.lock",
            ".pi/tasks.json",
            ".pi/pi-claude-handoff.lock.guard",
            ".pi/handoff-log.md",
            ".pi/handoff.toml",
            ".pi/agents/a.md",
            "../tasks.json",
            "src/.pi/pi-claude-handoff.lock",
            "handoffd.log",
        ] {
            check(&format!("/home/you/P/{name}"), About::Content, None);
        }
        check("/", About::Content, None);
    }

    #[test]
    fn a_change_of_a_folders_mode_is_a_reason_to_try_again() {
        check("/home/you/P", About::Metadata, Some(Weight::Always));
        check("/home/you/P/.pi", About::Metadata, Some(Weight::Always));
        check("/home/you/P/tasks.json", About::Metadata, Some(Weight::Compare));
    }

    #[test]
    fn a_route_is_removed_only_by_its_own_project() {
        let (routes, root) = (Routes::default(), Path::new("/p"));
        let (old, new) = (cell("/p"), cell("/p"));
        routes.insert(root.into(), old.clone());
        routes.insert(root.into(), new.clone());
        assert!(!routes.remove(root, &old));
        assert!(routes.remove(root, &new));
        assert!(routes.find(Path::new("/p"), About::Content).is_none());
    }
}
