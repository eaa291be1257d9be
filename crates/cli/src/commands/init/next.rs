//! What is still to do once a folder is a project.

use std::path::Path;
use std::time::{Duration, Instant};

use super::is_same;
use crate::context::Context;
use crate::daemon;
use crate::text::{Line, Tone};

/// How long a daemon that runs may take to see a new project.
const NOTICED_WITHIN: Duration = Duration::from_secs(3);
const AGAIN: Duration = Duration::from_millis(50);

/// Says what comes before a task is worked on.
pub(super) fn say(ctx: &Context, root: &Path, has_extension: bool) {
    let mut steps = Vec::new();
    if !seen_by_daemon(ctx, root) {
        // Another one could not start beside it (F122).
        steps.push(match ctx.places().ok().as_ref().and_then(daemon::holder) {
            Some(holder) => {
                format!("see with `handoff doctor` why the daemon (pid {}) has not taken it up yet", holder.pid)
            }
            None => "run the daemon: `handoff service install` once, or `handoffd` in a terminal of its own".to_owned(),
        });
    }
    let session = if has_extension { "`pi`" } else { "`pi` or `handoff attach`" };
    steps.push(format!("open the worker's session: {session} in {}", root.display()));
    steps.push("give it a task: `handoff submit`, or from the planner".to_owned());
    for (index, step) in steps.iter().enumerate() {
        let label = if index == 0 { "Next: " } else { "      " };
        ctx.out.note(Line::of(Tone::Strong, label).plain(step));
    }
}

/// Whether a daemon runs and has taken the project up; it sees the list within a second. So what comes next in a script
/// finds the project there. Without a daemon, or when one does not answer, nothing is waited for.
fn seen_by_daemon(ctx: &Context, root: &Path) -> bool {
    let seen = ctx.block_on(async {
        let (daemon, _) = daemon::connect(ctx).await?;
        let give_up = Instant::now() + NOTICED_WITHIN;
        loop {
            let status = daemon.status().await?;
            if status.projects.iter().any(|project| is_same(Path::new(&project.path), root)) {
                return Ok(true);
            }
            if Instant::now() >= give_up {
                return Ok(false);
            }
            tokio::time::sleep(AGAIN).await;
        }
    });
    seen.unwrap_or(false)
}
