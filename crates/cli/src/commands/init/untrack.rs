//! A `tasks.json` that git tracks is held by the daemon, because a pull could start work here (D65). Untracking changes
//! the user's repository, so it is offered and never done unasked.

use std::path::Path;

use handoffd::git::{TrackedCache, Tracking};

use crate::context::Context;
use crate::spawn;

/// Asks whether to untrack, if there is something to untrack.
pub(super) fn offer(ctx: &mut Context, root: &Path, yes: bool) {
    if TrackedCache::default().look_up(root, "tasks.json") != Tracking::Tracked {
        return;
    }
    ctx.out.warn("git tracks tasks.json, so a pull could start work on this machine: the daemon holds such a queue");
    // By force: else git refuses where the file has changed since it was added, and it changes with each task.
    let command = "git rm --cached --force -- tasks.json";
    if !yes && !ctx.confirm(&format!("Untrack it with `{command}` (the file stays)?")) {
        ctx.out.note(format!("untrack it with `{command}`, or set `queue.allow_tracked` in your configuration"));
        return;
    }
    match spawn::quietly("git", &["rm", "--quiet", "--cached", "--force", "--", "tasks.json"], root) {
        Ok(()) => ctx.out.line("untracked tasks.json; commit that to finish it"),
        Err(error) => ctx.out.warn(&format!("`{command}` did not work: {error}")),
    }
}
