//! What the manager knows of one project that runs.

use std::sync::Arc;

use crate::actor::mail::{Control, Mail, ProjectRef};
use crate::config::Settings;
use crate::folder_id::FolderId;
use crate::peer::Responder;
use crate::registry::{ByOption, Project};

/// One project with a running actor.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) project: ProjectRef,
    pub(super) folder: Option<FolderId>,
    pub(super) settings: Arc<Settings>,
    pub(super) standing: Standing,
    pub(super) paused: bool,
    pub(super) registered: bool,
    /// Its `[[project]]`.
    pub(super) configured: Option<Configured>,
    pub(super) by_option: ByOption,
}

/// What the configuration says of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Configured {
    /// The line of its `[[project]]`.
    pub(super) line: usize,
    /// Whether it may take part.
    pub(super) enabled: bool,
}

/// How a project stands with the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It takes part.
    Active,
    /// It was disabled and may still hold its lock (D71).
    Disabling,
    /// It is disabled and holds nothing.
    Disabled,
    /// It is no longer configured, and ends when it has let go (D71).
    Removing,
}

impl Known {
    /// Takes over which places name it.
    pub(super) fn is_named_by(&mut self, wanted: &Project) {
        self.registered = wanted.entry.is_some();
        self.configured = wanted
            .config
            .as_ref()
            .map(|config| Configured { line: config.line, enabled: config.enabled.unwrap_or(true) });
        self.by_option = wanted.by_option;
    }

    /// Writes to its actor without waiting for room. Letters keep their order: whoever waits for room is served in turn.
    pub(super) fn write(&self, letter: Mail) {
        let mail = self.project.mail.clone();
        tokio::spawn(async move { mail.send(Box::new(letter)).await.ok() });
    }

    /// Asks for a change that no client asked for.
    pub(super) fn ask(&self, request: Control) {
        self.write(Mail::Control { request, answer: Responder::nobody() });
    }

    /// Makes it leave for good. One that holds nothing has nothing to let go of, so its actor is ended.
    pub(super) fn remove(&mut self) {
        let ends_at_once = self.standing == Standing::Disabled;
        self.standing = Standing::Removing;
        self.write(Mail::Leave);
        if ends_at_once {
            self.write(Mail::Shutdown);
        }
    }
}
