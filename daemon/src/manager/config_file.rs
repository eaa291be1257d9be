//! The user's configuration file, to be read again at a reload.

use std::path::PathBuf;

use crate::config::{Config, Invalid, Warning};
use crate::env::Env;

/// Which file, and whether a person named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigFile {
    /// None: the defaults, as `handoff demo` and tests use them.
    None,
    /// The usual place; the file need not exist.
    Usual(PathBuf),
    /// `--config`
    Given(PathBuf),
}

impl ConfigFile {
    /// Reads it. Blocks.
    ///
    /// # Errors
    /// [`Invalid`] with all problems.
    pub fn load(&self, env: &Env) -> Result<(Config, Vec<Warning>), Invalid> {
        match self {
            Self::None => Ok((Config::default(), Vec::new())),
            Self::Usual(path) => Config::load(path, env),
            Self::Given(path) => Config::load_given(path, env),
        }
    }

    /// The path for people, if there is a file or should be one.
    #[must_use]
    pub fn shown(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Usual(path) | Self::Given(path) => Some(path.display().to_string()),
        }
    }
}
