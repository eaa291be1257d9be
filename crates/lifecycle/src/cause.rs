//! Why something cannot be done now, for people (promise 7).

/// One sentence without a final stop, and the one command that helps, where the one who found the fault knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The sentence.
    pub words: String,
    /// The command.
    pub next: Option<String>,
}

impl<T: Into<String>> From<T> for Cause {
    fn from(words: T) -> Self {
        Self { words: words.into(), next: None }
    }
}
