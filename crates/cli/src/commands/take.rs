//! `handoff take`: gives the owner's place of a project to another session (D20).

use std::collections::HashSet;
use std::ffi::OsString;

use wire::control::{HistoryList, SessionTake};
use wire::event::SessionChange;
use wire::journal::{Entry, Row};
use wire::limits::HISTORY_MAX;
use wire::session::Ownership;

use crate::context::Context;
use crate::daemon::{self, Daemon};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::{Line, Tone};

/// Make another session the one that gets the tasks
///
/// Not while a task runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session's id [default: the next in line]
    session: Option<String>,
    /// The project, a path or a registered name [default: the working folder]
    #[arg(long, short, value_name = "PROJECT")]
    project: Option<OsString>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let answer = ctx.block_on(async {
            let (daemon, _) = daemon::connect(ctx).await?;
            let project = daemon.project(ctx, self.project.as_deref()).await?.path;
            let session_id = match &self.session {
                Some(id) => id.clone(),
                None => next_in_line(&daemon, &project).await?,
            };
            daemon.call(&SessionTake { project, session_id }).await
        })?;
        if self.json {
            ctx.out.json(&answer);
            return Ok(Exit::Good);
        }
        let from = answer.from.as_deref().map(|from| format!(", before it was {from}")).unwrap_or_default();
        let line = Line::of(Tone::Strong, &answer.session_id).plain(" gets the tasks now").plain(&from);
        ctx.out.line(line);
        Ok(Exit::Good)
    }
}

/// The session that has stood by for longest, by the journal: `status` only counts them.
async fn next_in_line(daemon: &Daemon, project: &str) -> Result<String, Failure> {
    let limit = u64::try_from(HISTORY_MAX).ok();
    let call = HistoryList { project: Some(project.to_owned()), task_id: None, limit };
    let rows = daemon.call(&call).await?.rows;
    let mut seen = HashSet::new();
    let mut standing_by = None;
    // Newest first: the first row of a session tells its place now, and the last one found has waited for longest.
    for row in rows {
        let Ok(Row { entry: Entry::Session(session), .. }) = Row::parse(row.get()) else { continue };
        let gone = matches!(session.change, SessionChange::Left | SessionChange::Lost);
        if seen.insert(session.session_id.clone()) && !gone && session.ownership == Some(Ownership::Standby) {
            standing_by = Some(session.session_id);
        }
    }
    standing_by.ok_or_else(|| Failure::new(Exit::Refused, format!("no session stands by in {project}")))
}
