//! `handoff events`: the event stream, one line each.

pub(crate) mod line;

use std::ffi::OsString;
use std::time::Duration;

use tokio::time::timeout;
use wire::calls::DaemonNotification;
use wire::client::FromDaemon;
use wire::control::EventsSubscribe;

use crate::context::Context;
use crate::daemon;
use crate::exit::Exit;
use crate::failure::Failure;

/// How often it looks whether somebody still reads when nothing happens.
const LOOK: Duration = Duration::from_secs(1);

/// Print what happens, as it happens
///
/// Ends when the daemon stops (exit 3), or when nobody reads any more.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this project, a path or a registered name [default: all]
    project: Option<OsString>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(crate) fn run(self, ctx: &mut Context) -> Result<Exit, Failure> {
        let (runtime, connected) = ctx.start(async |ctx: &Context| {
            let (daemon, inbox) = daemon::connect(ctx).await?;
            let project = match &self.project {
                Some(typed) => Some(daemon.project(ctx, Some(typed)).await?.path),
                None => None,
            };
            daemon.call(&EventsSubscribe { project }).await?;
            Ok((daemon, inbox))
        })?;
        let (_daemon, mut inbox) = connected;
        while !ctx.out.is_closed() {
            let event = match runtime.block_on(async { timeout(LOOK, inbox.next()).await }) {
                Ok(Some(FromDaemon::Notification(DaemonNotification::Event(event)))) => event,
                Ok(Some(_)) | Err(_) => continue,
                Ok(None) => {
                    return Err(Failure::new(Exit::Unreachable, "the daemon has ended the connection"));
                }
            };
            if self.json {
                ctx.out.json(&event);
            } else {
                ctx.out.line(line::of(&event));
            }
        }
        Ok(Exit::Good)
    }
}
