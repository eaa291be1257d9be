//! What keeps a task from going on until a person does something, told beside a wait that would else be silent for ever.

use std::time::Duration;

use wire::status::{ProjectState, Status};

use crate::commands::next::suggestion;
use crate::context::Context;
use crate::daemon;
use crate::failure::Failure;

/// The first look; each is twice as late as the one before.
const FIRST: Duration = Duration::from_secs(1);
/// Looking costs the daemon a status, and what a person does takes longer.
const SLOWEST: Duration = Duration::from_secs(30);

/// Tells each hindrance once, as long as the wait lasts; never ends.
pub(super) async fn tell<T>(ctx: &Context, project: &str) -> T {
    let (mut pause, mut told) = (FIRST, None);
    loop {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(SLOWEST);
        // A help: that nobody answers is told by the wait itself.
        let Ok(status) = look(ctx).await else { continue };
        let hindrance = hindrance(ctx, &status, project);
        if let Some(text) = hindrance.as_ref().filter(|_| hindrance != told) {
            ctx.out.note(text.as_str());
        }
        told = hindrance;
    }
}

async fn look(ctx: &Context) -> Result<Status, Failure> {
    let (daemon, _) = daemon::connect(ctx).await?;
    daemon.status().await
}

/// One sentence, and the command that helps where it does.
fn hindrance(ctx: &Context, status: &Status, project: &str) -> Option<String> {
    let ours = status.projects.iter().find(|ours| ours.path == project && needs_a_person(ours.state))?;
    let why = ours.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let here = ctx.working_dir().ok();
    let next = suggestion::local(ours, &status.projects, here).filter(|next| suggestion::mends(next));
    let next = next.map(|next| format!("; next: {next}")).unwrap_or_default();
    Some(format!("the task does not go on, the project is {}{why}{next}", ours.state))
}

fn needs_a_person(state: ProjectState) -> bool {
    use ProjectState::{Blocked, Disabled, Halted, Held, Missing, Paused, Stuck, Unreadable};
    matches!(state, Blocked | Disabled | Halted | Held | Missing | Paused | Stuck | Unreadable)
}
