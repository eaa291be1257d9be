//! Why a command could not do its work: the message, what is wrong one by one, and hints as data. How it looks on a
//! terminal is the business of `output`; which exit code fits what the daemon said is that of `daemon`.

use store::OpenError;

use crate::exit::Exit;

/// An error on its way to the person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    /// The exit code that it leads to.
    pub(crate) exit: Exit,
    /// The stable word for programs, where there is one.
    pub(crate) code: Option<&'static str>,
    /// Lower case, without a final stop.
    pub(crate) message: String,
    /// All faults, where there can be several.
    pub(crate) problems: Vec<String>,
    /// What to do about it, one sentence each.
    pub(crate) hints: Vec<String>,
}

impl Failure {
    /// A failure with nothing but its message.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, code: None, message: message.into(), problems: Vec::new(), hints: Vec::new() }
    }

    /// Something that the command line names cannot be used.
    pub(crate) fn usage(error: impl std::fmt::Display) -> Self {
        Self::new(Exit::Usage, error.to_string())
    }

    /// A project that cannot be opened, with what mends it.
    pub(crate) fn not_opened(error: &OpenError) -> Self {
        let told = matches!(error, OpenError::NoPiFolder(_));
        let remedy = error.remedy().filter(|_| !told).map(|command| format!("run `{command}`"));
        Self { hints: remedy.into_iter().collect(), ..Self::usage(error) }
    }

    /// With a stable word.
    pub(crate) const fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// With one more hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// With all faults.
    pub(crate) fn problems(mut self, problems: impl IntoIterator<Item = String>) -> Self {
        self.problems.extend(problems);
        self
    }
}
