//! What was left out and why, for `doctor` and the log. Notes never change what is loaded.

use std::fmt;
use std::path::PathBuf;

/// One thing that was found and not used as it stands.
///
/// Path and texts come from files of the project and are not sanitized for a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The file or folder.
    pub path: PathBuf,
    /// Why it does not count.
    pub reason: Reason,
}

/// Why something does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// There is a description but no name.
    NoName,
    /// There is a name but no description.
    NoDescription,
    /// The file begins with a byte order mark; pi-subagents sees no front matter behind one.
    ByteOrderMark,
    /// pi-subagents refuses the profile, which also hides a valid one of that name from an earlier place (D56).
    ///
    /// Checked are all keys whose value is one word or number, `toolBudget`, and plain members of `runner` and
    /// `permissions`. Not checked are the content of `acceptance` and what takes a YAML reader.
    Invalid {
        /// The full name.
        name: String,
        /// What pi-subagents objects to.
        fault: String,
    },
    /// Over 64 KiB. A name in its first 64 KiB still hides an earlier profile of that name.
    TooLarge,
    /// A link, or a path of a package, leads out of the place it was found in and out of the home (D27).
    OutsidePlace,
    /// After the 256th profile of the precedence order (D27).
    PastLimit,
    /// The place holds more entries, levels, files or folders than are looked at.
    Cut {
        /// What was counted.
        what: &'static str,
        /// How many are looked at.
        limit: usize,
    },
    /// Its name is not UTF-8; pi-subagents cannot open it.
    NotUtf8,
    /// It is not a regular file.
    NotRegular,
    /// A place that is no folder.
    NotAFolder,
    /// It could not be read.
    Unreadable {
        /// The act that failed.
        act: &'static str,
        /// The system's words.
        error: String,
    },
    /// A settings file that pi-subagents cannot use: no agent can be launched at all (D56).
    SettingsUnusable(String),
    /// `agentOverridesByProvider` is set: it depends on the session's model and is not applied here.
    ProviderOverrides,
    /// The settings disable this agent.
    Disabled {
        /// The full name.
        name: String,
    },
    /// A text that fits two agents and therefore names none (D56).
    Ambiguous {
        /// The text.
        text: String,
        /// The full names it fits.
        agents: Vec<String>,
    },
}

impl Note {
    pub(crate) fn new(path: impl Into<PathBuf>, reason: Reason) -> Self {
        Self { path: path.into(), reason }
    }

    pub(crate) fn unreadable(path: impl Into<PathBuf>, act: &'static str, error: &std::io::Error) -> Self {
        Self::new(path, Reason::Unreadable { act, error: error.to_string() })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoName => f.write_str("has no `name`"),
            Self::NoDescription => f.write_str("has no `description`"),
            Self::ByteOrderMark => f.write_str("begins with a byte order mark, behind which no front matter is seen"),
            Self::Invalid { name, fault } => write!(f, "`{name}` is refused: {fault}"),
            Self::TooLarge => write!(f, "is over {} KiB", crate::read::MAX_PROFILE / 1024),
            Self::OutsidePlace => f.write_str("leads out of the place it was found in and out of the home"),
            Self::PastLimit => write!(f, "comes after the first {} profiles", crate::load::MAX_PROFILES),
            Self::Cut { what, limit } => write!(f, "has more than {limit} {what}, the rest is not looked at"),
            Self::NotUtf8 => f.write_str("has a name that is not UTF-8"),
            Self::NotRegular => f.write_str("is not a regular file"),
            Self::NotAFolder => f.write_str("is not a folder"),
            Self::Unreadable { act, error } => write!(f, "cannot {act}: {error}"),
            Self::SettingsUnusable(fault) => write!(f, "no agent can be launched: {fault}"),
            Self::ProviderOverrides => {
                f.write_str("`agentOverridesByProvider` depends on the session and is not applied")
            }
            Self::Disabled { name } => write!(f, "`{name}` is disabled by the settings"),
            Self::Ambiguous { text, agents } => write!(f, "`{text}` fits several agents: {}", agents.join(", ")),
        }
    }
}
