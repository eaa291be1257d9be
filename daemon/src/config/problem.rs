//! What is wrong, or only odd, in a configuration file: always with file, line and key.
//!
//! Only the shape of such a message lives here; the rules that raise it are in `reader` and `value`.

use std::fmt;
use std::path::PathBuf;

/// One thing found in a configuration file. As an error it makes the file invalid; as a warning the file is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; `None` when the file as a whole is meant.
    pub line: Option<usize>,
    /// The dotted key, `project[0].task.max_runtime`; `None` when no key is meant.
    pub key: Option<String>,
    /// What is wrong, beginning with the key in back-quotes where there is one.
    pub message: String,
}

/// A finding that makes the file invalid.
pub type ConfigProblem = Finding;
/// A finding that is told and otherwise survived.
pub type Warning = Finding;

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}
