//! What a check says: one sentence, how bad it is, and what to do about it.

use serde_json::{Value, json};

use super::repair::Repair;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// As it should be.
    Good,
    /// Worth knowing.
    Note,
    /// It works, with less than it could; somebody should look.
    Warning,
    /// Something does not work, or will not.
    Fault,
}

impl State {
    /// The word in the table and in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Fault => "fault",
        }
    }
}

/// One thing that a check found.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    /// The check's name; the runner fills it in.
    pub(crate) check: &'static str,
    /// The project's root and name, for checks of a project; the runner fills it in.
    pub(crate) project: Option<Named>,
    /// How bad it is.
    pub(crate) state: State,
    /// One sentence, without a final stop.
    pub(crate) what: String,
    /// A command to copy, or a sentence.
    pub(crate) remedy: Option<String>,
    /// What `--fix` can do about it.
    pub(crate) repair: Option<Repair>,
}

/// A project in a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// Its root.
    pub(crate) path: String,
    /// Its name.
    pub(crate) name: String,
}

impl Finding {
    fn new(state: State, what: impl Into<String>) -> Self {
        Self { check: "", project: None, state, what: what.into(), remedy: None, repair: None }
    }

    /// All is well.
    pub(crate) fn good(what: impl Into<String>) -> Self {
        Self::new(State::Good, what)
    }

    /// Worth knowing.
    pub(crate) fn note(what: impl Into<String>) -> Self {
        Self::new(State::Note, what)
    }

    /// Somebody should look. There is always something to do about it.
    pub(crate) fn warning(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..Self::new(State::Warning, what) }
    }

    /// Something does not work. There is always something to do about it.
    pub(crate) fn fault(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..Self::new(State::Fault, what) }
    }

    /// With what `--fix` can do about it.
    pub(crate) fn repaired_by(mut self, repair: Repair) -> Self {
        self.repair = Some(repair);
        self
    }

    /// With a remedy.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// `{check, project, state, what, remedy, fix}`.
    pub(crate) fn json(&self) -> Value {
        json!({
            "check": self.check,
            "project": self.project.as_ref().map(|project| project.path.as_str()),
            "state": self.state.as_str(),
            "what": self.what,
            "remedy": self.remedy,
            "fix": self.repair.as_ref().map(ToString::to_string),
        })
    }
}
