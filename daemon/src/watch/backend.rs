//! What watches folders for us: the trait, its hints and its faults. Tests put their own behind it.
//!
//! Nothing here knows projects, and nothing here knows the library behind the real one; that is `native`.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Something that may have happened.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hint<'a> {
    /// At this path.
    Path {
        /// Where.
        path: &'a Path,
        /// What kind of change.
        about: About,
    },
    /// Anywhere: events were lost. Comes without a path (F023).
    Lost,
    /// That was all for now: it is time to look. Whoever says this never waits for a disk.
    #[cfg_attr(all(target_os = "linux", not(test)), expect(dead_code, reason = "for other systems' events"))]
    Wake,
    /// That was all for now: it is time to look, and this thread may do it, though a look can wait for a disk.
    Look(HandOver<'a>),
}

/// Lets another thread go on with the reading, so that this one has time for work; `false` when there is none.
#[derive(Clone, Copy)]
pub(super) struct HandOver<'a>(pub(super) &'a dyn Fn() -> bool);

impl fmt::Debug for HandOver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandOver")
    }
}

/// What a hint is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// A name or its bytes.
    Content,
    /// Mode, owner or attributes: a reason to try again what was refused (D70).
    Metadata,
}

/// Where hints go. Called on the backend's threads; blocks for nothing but [`Hint::Look`].
pub(super) type Sink = Arc<dyn Fn(&Hint<'_>) + Send + Sync>;

/// Makes the backend, on first need.
pub(super) type Open = Box<dyn Fn(Sink) -> Result<Box<dyn Backend>, Fault> + Send>;

/// Watches single folders, not what lies below them.
pub(super) trait Backend: Send {
    /// Starts to watch the folder.
    fn add(&mut self, folder: &Path) -> Result<(), Fault>;

    /// Stops to watch it; a folder that is not watched is none of its business.
    fn remove(&mut self, folder: &Path);
}

/// Why a folder is not watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The kernel's number of watches is used up. It says "no space left on device" (F020).
    Watches {
        /// `fs.inotify.max_user_watches` now.
        limit: Option<u64>,
    },
    /// The kernel's number of watching programs, or our number of open files, is used up.
    Instances {
        /// `fs.inotify.max_user_instances` now.
        limit: Option<u64>,
    },
    /// Anything else, in the system's words.
    Other(Arc<str>),
}

impl Fault {
    /// Whether another try may succeed without anything happening to the folder.
    pub(super) fn is_limit(&self) -> bool {
        !matches!(self, Self::Other(_))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, key, limit, more) = match self {
            Self::Other(words) => return write!(f, "the folder cannot be watched: {words}"),
            Self::Watches { limit } => ("watches", "fs.inotify.max_user_watches", limit, 524_288),
            Self::Instances { limit } => ("instances", "fs.inotify.max_user_instances", limit, 1024),
        };
        write!(f, "the kernel's limit of inotify {what} is used up ({key}")?;
        if let Some(limit) = limit {
            write!(f, " = {limit}")?;
        }
        let wanted = limit.map_or(more, |limit| limit.saturating_mul(2).max(more));
        write!(f, "): raise it with `sudo sysctl {key}={wanted}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fault: &Fault, expected: &str) {
        assert_eq!(fault.to_string(), expected);
    }

    #[test]
    fn f020_limits_are_named_with_value_and_remedy() {
        check(
            &Fault::Watches { limit: Some(8192) },
            "the kernel's limit of inotify watches is used up (fs.inotify.max_user_watches = 8192): raise it with `sudo \
             sysctl fs.inotify.max_user_watches=524288`",
        );
        check(
            &Fault::Watches { limit: Some(1_000_000) },
            "the kernel's limit of inotify watches is used up (fs.inotify.max_user_watches = 1000000): raise it with \
             `sudo sysctl fs.inotify.max_user_watches=2000000`",
        );
        check(
            &Fault::Instances { limit: None },
            "the kernel's limit of inotify instances is used up (fs.inotify.max_user_instances): raise it with `sudo \
             sysctl fs.inotify.max_user_instances=1024`",
        );
    }
}
