//! A queue that git tracks: a pull could start work on this machine, so the daemon holds it (D65).

use handoffd::git::{TrackedCache, Tracking};

use super::{Finding, Subject, World};
use crate::queue_file::QUEUE;
use crate::shell::quoted;

/// Reads the index itself; git is not run.
pub(super) fn check(world: &World, subject: &Subject) -> Vec<Finding> {
    let allowed = subject.settings_without_file(&world.config).allow_tracked;
    let root = quoted(&subject.path.to_string_lossy());
    vec![match TrackedCache::default().look_up(&subject.path, QUEUE) {
        Tracking::NotTracked => Finding::good("git does not track tasks.json"),
        Tracking::Tracked if allowed => {
            Finding::note("git tracks tasks.json and `queue.allow_tracked` lets it start work: a pull can, too")
        }
        Tracking::Tracked => Finding::fault(
            "git tracks tasks.json: a pull could start work here, so every task is held; untrack it (the file stays), or set \
             `queue.allow_tracked`",
            format!("git -C {root} rm --cached --force -- tasks.json"),
        ),
        Tracking::Unknown(why) => Finding::warning(
            format!("whether git tracks tasks.json cannot be told, and it counts as not tracked: {why}"),
            format!("git -C {root} ls-files tasks.json"),
        ),
    }]
}
