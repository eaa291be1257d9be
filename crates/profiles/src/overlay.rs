//! What the settings do to a profile that precedence has chosen. The project's word counts over the user's (D56).

use queue::Thinking;

use crate::definition::Definition;
use crate::settings::{Change, Override, Settings};

/// Both settings of one session.
pub(crate) struct Overlay {
    pub(crate) user: Settings,
    pub(crate) project: Settings,
}

/// Whether an agent can still be launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Launch {
    Possible,
    /// By an entry of its own.
    Disabled,
    /// With all builtins at once.
    DisabledInBulk,
}

impl Overlay {
    /// No run thinks harder than this.
    pub(crate) fn ceiling(&self) -> Option<Thinking> {
        self.project.max_thinking.or(self.user.max_thinking)
    }

    /// A profile from a file: the user's entry, then the project's, key by key.
    pub(crate) fn apply(&self, definition: &mut Definition) -> Launch {
        let name = definition.full_name();
        let mut disabled = false;
        for entry in [&self.user, &self.project].into_iter().filter_map(|settings| settings.overrides.get(&name)) {
            entry.apply(definition);
            disabled = entry.disabled.unwrap_or(disabled);
        }
        if disabled { Launch::Disabled } else { Launch::Possible }
    }

    /// A builtin: the first that speaks of project's entry, project's switch, user's entry, user's switch; whole.
    pub(crate) fn apply_to_builtin(&self, definition: &mut Definition) -> Launch {
        let (entry, by_project) = match self.project.overrides.get(&definition.name) {
            Some(entry) => (Some(entry), true),
            None if self.project.disable_builtins == Some(true) => return Launch::DisabledInBulk,
            None => (self.user.overrides.get(&definition.name), false),
        };
        let Some(entry) = entry else {
            let by_user = self.project.disable_builtins.is_none() && self.user.disable_builtins == Some(true);
            self.thin(definition);
            return if by_user { Launch::DisabledInBulk } else { Launch::Possible };
        };
        entry.apply(definition);
        let explicit = entry.thinking != Change::Keep && (by_project || self.project.disable_thinking.is_none());
        if !explicit {
            self.thin(definition);
        }
        if entry.disabled == Some(true) { Launch::Disabled } else { Launch::Possible }
    }

    /// `disableThinking` takes the level away from builtins.
    fn thin(&self, definition: &mut Definition) {
        if self.project.disable_thinking.or(self.user.disable_thinking) == Some(true) {
            definition.thinking = None;
        }
    }
}

impl Override {
    fn apply(&self, definition: &mut Definition) {
        self.role.apply(&mut definition.role);
        self.model.apply(&mut definition.model);
        self.thinking.apply(&mut definition.thinking);
    }
}

impl<T: Clone> Change<T> {
    fn apply(&self, property: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *property = None,
            Self::Set(value) => *property = Some(value.clone()),
        }
    }
}
