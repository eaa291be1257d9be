//! Putting file events on a project's two folders, or saying why it is polled instead.
//!
//! Only folders that were opened are armed, by the thread that opened them: so this never waits for a file system that
//! does not answer. A folder that was removed and made again is opened again, and armed again with it (F030).

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use store::{FsKind, ProjectDir, names};

use super::backend::{Backend, Fault, Open};
use super::dirty::Weight;
use super::watched::Watched;
use super::{Shared, lock};

/// How a project's changes are noticed.
#[derive(Debug, Clone)]
pub(super) enum How {
    /// Its folder has not been opened.
    NotOpened,
    /// By events on this folder and its `.pi`, and by the sweep.
    Events {
        /// The root as events spell it.
        root: Arc<Path>,
    },
    /// By the sweep alone.
    Poll(Why),
}

/// Why a project is polled.
#[derive(Debug, Clone)]
pub(super) enum Why {
    /// The configuration says so.
    Configured,
    /// Its file system sends no events, or not all (F035).
    FileSystem(FsKind),
    /// The system refused.
    Fault(Fault),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configured => f.write_str("watch.mode = \"poll\" in the configuration"),
            Self::FileSystem(kind) => match kind.events_note() {
                Some(note) => f.write_str(&note),
                None => write!(f, "{kind} sends no events"),
            },
            Self::Fault(fault) => write!(f, "{fault}"),
        }
    }
}

/// The one backend of all projects, made on first need.
pub(super) struct Events {
    /// `None`: events are not wanted.
    open: Option<Open>,
    backend: Option<Box<dyn Backend>>,
    /// Why the backend could not be made the last time.
    pub(super) fault: Option<Fault>,
}

impl Events {
    pub(super) fn new(open: Option<Open>) -> Self {
        Self { open, backend: None, fault: None }
    }

    pub(super) fn are_wanted(&self) -> bool {
        self.open.is_some()
    }

    fn remove(&mut self, root: &Path) {
        if let Some(backend) = &mut self.backend {
            backend.remove(&root.join(names::PI));
            backend.remove(root);
        }
    }
}

impl Shared {
    /// Puts events on the folder, as far as that is wanted and possible.
    pub(super) fn arm(self: &Arc<Self>, watched: &Arc<Watched>, folder: &ProjectDir) {
        let mut events = lock(&self.events);
        if watched.is_retired() {
            return;
        }
        self.disarm_in(&mut events, watched);
        let how = self.choose(&mut events, watched, folder);
        drop(events);
        if let How::Poll(Why::Fault(fault)) = &how {
            tracing::warn!(project = %watched.path().display(), "{fault}; meanwhile the project is polled");
        }
        watched.set_how(how);
        // Something may have happened between the opening and the first event.
        self.dirty.mark(watched, Weight::Compare);
    }

    fn choose(self: &Arc<Self>, events: &mut Events, watched: &Arc<Watched>, folder: &ProjectDir) -> How {
        if !events.are_wanted() {
            return How::Poll(Why::Configured);
        }
        if !folder.fs_kind().has_events() {
            return How::Poll(Why::FileSystem(folder.fs_kind()));
        }
        let root = watched.shared_path(folder.resolved_path());
        // The route comes first, so that no event is without one.
        self.routes.insert(root.clone(), watched.clone());
        match self.add(events, &root) {
            Ok(()) => How::Events { root },
            Err(fault) => {
                self.routes.remove(&root, watched);
                How::Poll(Why::Fault(fault))
            }
        }
    }

    fn add(self: &Arc<Self>, events: &mut Events, root: &Path) -> Result<(), Fault> {
        let backend = self.backend(events)?;
        backend.add(root)?;
        backend.add(&root.join(names::PI)).inspect_err(|_| backend.remove(root))
    }

    fn backend<'e>(self: &Arc<Self>, events: &'e mut Events) -> Result<&'e mut Box<dyn Backend>, Fault> {
        if events.backend.is_none()
            && let Some(open) = &events.open
        {
            let shared = Arc::downgrade(self);
            let sink = Arc::new(move |hint: &super::Hint<'_>| {
                if let Some(shared) = shared.upgrade() {
                    shared.hint(hint);
                }
            });
            let made = open(sink);
            events.fault = made.as_ref().err().cloned();
            events.backend = Some(made?);
        }
        events.backend.as_mut().ok_or_else(|| Fault::Other("events are off".into()))
    }

    /// Takes the events off a project that has left.
    pub(super) fn disarm(&self, watched: &Watched) {
        self.disarm_in(&mut lock(&self.events), watched);
        watched.set_how(How::NotOpened);
    }

    fn disarm_in(&self, events: &mut Events, watched: &Watched) {
        if let Some(root) = watched.armed()
            && self.routes.remove(&root, watched)
        {
            events.remove(&root);
        }
    }

    /// Tries again where a limit was in the way, until one is in the way again.
    pub(super) fn arm_again(self: &Arc<Self>) {
        let projects = lock(&self.projects).clone();
        for watched in projects {
            if !matches!(watched.how(), How::Poll(Why::Fault(fault)) if fault.is_limit()) {
                continue;
            }
            let Some(folder) = watched.folder() else { continue };
            let mut events = lock(&self.events);
            let how = self.choose(&mut events, &watched, &folder);
            drop(events);
            let succeeded = matches!(how, How::Events { .. });
            watched.set_how(how);
            if !succeeded {
                return;
            }
            tracing::info!(project = %watched.path().display(), "the project is watched by events again");
            self.dirty.mark(&watched, Weight::Compare);
        }
    }
}
