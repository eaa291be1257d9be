//! Where to look, as plain values. Never put a read of the environment here: the caller passes what it read.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The folders that decide which profiles a session of one project sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The session's working directory, which is the project's root (D72); absolute.
    pub root: PathBuf,
    /// The user's home; absolute.
    pub home: PathBuf,
    /// Pi's own folder.
    pub agent_dir: PathBuf,
    /// Further folders of the user, lowest precedence first.
    pub extra_dirs: Vec<PathBuf>,
}

impl Places {
    /// The usual places: Pi's folder is `~/.pi/agent`, and there are no extra folders.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>, home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        Self { root: root.into(), agent_dir: home.join(".pi/agent"), home, extra_dirs: Vec::new() }
    }

    /// Takes the text of `PI_CODING_AGENT_DIR`; empty keeps the default, `~` and `~/…` are the home.
    #[must_use]
    pub fn with_agent_dir(mut self, text: &OsStr) -> Self {
        if !text.is_empty() {
            self.agent_dir = self.root.join(expand_home(Path::new(text), &self.home));
        }
        self
    }

    /// Takes the text of `PI_SUBAGENT_EXTRA_AGENT_DIRS`, separated like `PATH`. A `~` means nothing here, as in the
    /// package.
    #[must_use]
    pub fn with_extra_dirs(mut self, text: &OsStr) -> Self {
        self.extra_dirs = std::env::split_paths(text)
            .map(|dir| dir.to_str().map_or_else(|| dir.clone(), |text| PathBuf::from(text.trim())))
            .filter(|dir| !dir.as_os_str().is_empty())
            .map(|dir| self.root.join(dir))
            .collect();
        self
    }
}

/// `path` with a leading `~` part replaced by the home.
pub(crate) fn expand_home(path: &Path, home: &Path) -> PathBuf {
    path.strip_prefix("~").map_or_else(
        |_| path.to_path_buf(),
        |rest| if rest.as_os_str().is_empty() { home.to_path_buf() } else { home.join(rest) },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places::new("/work", "/home/u")
    }

    #[test]
    fn the_agent_dir_follows_the_variable() {
        assert_eq!(places().agent_dir, Path::new("/home/u/.pi/agent"));
        for (text, expected) in
            [("", "/home/u/.pi/agent"), ("~", "/home/u"), ("~/pi", "/home/u/pi"), ("/x", "/x"), ("pi", "/work/pi")]
        {
            assert_eq!(places().with_agent_dir(OsStr::new(text)).agent_dir, Path::new(expected), "{text}");
        }
    }

    #[test]
    fn extra_dirs_are_separated_like_path() {
        let dirs = places().with_extra_dirs(OsStr::new("/a: /b ::c")).extra_dirs;
        assert_eq!(dirs, [Path::new("/a"), Path::new("/b"), Path::new("/work/c")]);
    }
}
